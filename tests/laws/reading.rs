//! Strategies that are told by events and settled by a read. No built-in contract has both, so a contract is altered.

use std::time::Duration;

use lastword_config::Config;
use lastword_contracts::ResourceRules;
use lastword_domain::name::{IntegrationName, ResourceType};
use lastword_domain::{Outcome, Strategy};
use lastword_local::machine::{Machine, Worker};
use serde_json::json;

use crate::shop::*;
use crate::world::*;

const PATH: &str = "/v1/subscriptions/sub_1";

/// Stripe's subscription, as a provider would have it that also tells this.
fn altered(strategy: Strategy, alter: impl FnOnce(&mut ResourceRules)) -> Config {
    let mut config = shop_config(SHOP);
    let billing = IntegrationName::parse("billing").unwrap();
    let kind = ResourceType::parse("subscription").unwrap();
    let integration = config.integrations.get_mut(&billing).unwrap();
    let resource = integration.resources.get_mut(&kind).unwrap();
    resource.strategy = strategy;
    alter(&mut resource.rules);
    config
}

fn at<T: serde::de::DeserializeOwned>(pointer: &str) -> T {
    serde_json::from_value(json!(pointer)).unwrap()
}

async fn deployed(strategy: Strategy, alter: impl FnOnce(&mut ResourceRules)) -> Machine {
    let mut machine = shop().await;
    machine.deploy(altered(strategy, alter)).unwrap();
    machine
}

fn body(event: &str, object: &str) -> String {
    format!(
        r#"{{"id":"{event}","object":"event","type":"customer.subscription.updated","livemode":true,"data":{{"object":{object}}}}}"#
    )
}

fn numbered(event: &str, number: u32) -> String {
    let change = format!(r#"{{"n{number}":{number},"status":"s{number}"}}"#);
    body(
        event,
        &format!(r#"{{"id":"sub_1","number":{number},"change":{change}}}"#),
    )
}

async fn tell(machine: &Machine, worker: &Worker, body: &str) {
    assert_eq!(post(machine, worker, body).await.status_code, 200);
    machine.settle(worker).await.unwrap();
}

fn source(machine: &Machine, version: u32, status: &str) {
    let object = format!(r#"{{"id":"sub_1","version":{version},"status":"{status}"}}"#);
    machine.standin.show(PATH, object);
}

fn stripe(event: &str) -> lastword_domain::EventRef {
    event_of("stripe", "acct_1", event)
}

fn sequenced(rules: &mut ResourceRules) {
    rules.number = Some(at("/data/object/number"));
    rules.change = Some(at("/data/object/change"));
    rules.read_version = Some(at("/version"));
    rules.patience_seconds = Some(0);
}

#[tokio::test]
async fn a_gap_that_outlives_its_patience_is_replaced_by_a_read_and_what_waited_behind_it_follows()
{
    let machine = deployed(Strategy::Sequence, sequenced).await;
    let worker = machine.worker().unwrap();
    source(&machine, 1, "s1");
    tell(&machine, &worker, &numbered("e1", 1)).await;
    assert_eq!(machine.standin.reads(), 0);
    // Two is missing; the source is at three.
    source(&machine, 3, "read3");
    for (event, number) in [("e4", 4), ("e3", 3)] {
        assert_eq!(
            post(&machine, &worker, &numbered(event, number))
                .await
                .status_code,
            200
        );
    }
    machine.settle(&worker).await.unwrap();
    let told = story(&machine, &worker, &subscription("sub_1")).await;
    assert_eq!(says(&told), "s4");
    let held = told.projection.as_ref().unwrap();
    assert_eq!(held.version.as_ref().unwrap().as_str(), "4");
    assert!(!held.waiting);
    assert_eq!(open(&told.reviews), Vec::<String>::new());
    assert_eq!(counted(&told), [("applied", 3)].into());
    // The missing one is late, and changes nothing.
    tell(&machine, &worker, &numbered("e2", 2)).await;
    let told = story(&machine, &worker, &subscription("sub_1")).await;
    assert_eq!(says(&told), "s4");
    assert_eq!(decided(&told, &stripe("e2")), Some(Outcome::Stale));
}

#[tokio::test]
async fn a_gap_that_the_source_cannot_fill_now_loses_no_change() {
    let machine = deployed(Strategy::Sequence, sequenced).await;
    let worker = machine.worker().unwrap();
    tell(&machine, &worker, &numbered("e1", 1)).await;
    machine.standin.answer_with(PATH, 500);
    assert_eq!(
        post(&machine, &worker, &numbered("e3", 3))
            .await
            .status_code,
        200
    );
    let exhausted = async || {
        let told = story(&machine, &worker, &subscription("sub_1")).await;
        counted(&told).get("exhausted") == Some(&1)
    };
    until(&machine, &worker, "the third is exhausted", exhausted).await;
    // The missing one comes after all: nothing that came is passed over.
    tell(&machine, &worker, &numbered("e2", 2)).await;
    let told = story(&machine, &worker, &subscription("sub_1")).await;
    assert_eq!(says(&told), "s3", "{told:?}");
}

#[tokio::test]
async fn two_changes_under_one_number_are_settled_by_a_read_that_reaches_it() {
    let machine = deployed(Strategy::Sequence, sequenced).await;
    let worker = machine.worker().unwrap();
    tell(&machine, &worker, &numbered("e1", 1)).await;
    source(&machine, 2, "settled");
    tell(&machine, &worker, &numbered("e2", 2)).await;
    let other = numbered("e2b", 2).replace("s2", "other");
    tell(&machine, &worker, &other).await;
    let told = story(&machine, &worker, &subscription("sub_1")).await;
    assert_eq!(says(&told), "settled");
    assert_eq!(open(&told.reviews), Vec::<String>::new());
}

fn proving(rules: &mut ResourceRules) {
    rules.version = Some(at("/data/object/version"));
    rules.read_version = Some(at("/version"));
}

fn proves(event: &str, version: u32) -> String {
    body(
        event,
        &format!(r#"{{"id":"sub_1","version":{version},"status":"told"}}"#),
    )
}

#[tokio::test]
async fn a_read_that_is_older_than_what_a_body_proves_is_kept_out_and_looked_at_again() {
    let machine = deployed(Strategy::Current, proving).await;
    let worker = machine.worker().unwrap();
    source(&machine, 1, "v1");
    tell(&machine, &worker, &proves("e1", 1)).await;
    // The event says two; the source's replica is still at one.
    assert_eq!(
        post(&machine, &worker, &proves("e2", 2)).await.status_code,
        200
    );
    machine.relay(&worker, 100).await.unwrap();
    let batch = machine.receive().await.unwrap().unwrap();
    assert_eq!(machine.handle(&worker, &batch).await.unwrap().len(), 1);
    let told = story(&machine, &worker, &subscription("sub_1")).await;
    assert_eq!((says(&told).as_str(), outcomes(&told).len()), ("v1", 1));
    source(&machine, 2, "v2");
    assert_eq!(machine.reconcile(&worker, &batch).await.unwrap(), 0);
    let told = story(&machine, &worker, &subscription("sub_1")).await;
    assert_eq!(says(&told), "v2");
    assert_eq!(decided(&told, &stripe("e2")), Some(Outcome::Applied));
    // A late event does not make a read of an older replica count either.
    source(&machine, 1, "v1");
    assert_eq!(
        post(&machine, &worker, &proves("e0", 1)).await.status_code,
        200
    );
    machine.relay(&worker, 100).await.unwrap();
    let batch = machine.receive().await.unwrap().unwrap();
    machine.handle(&worker, &batch).await.unwrap();
    let told = story(&machine, &worker, &subscription("sub_1")).await;
    assert_eq!(says(&told), "v2");
}

#[tokio::test]
async fn a_tie_of_versions_is_settled_by_the_source_and_waits_while_that_is_behind() {
    let machine = deployed(Strategy::Version, |rules| {
        proving(rules);
        rules.snapshot = Some(at("/data/object"));
    })
    .await;
    let worker = machine.worker().unwrap();
    tell(&machine, &worker, &proves("e5", 5)).await;
    assert_eq!(machine.standin.reads(), 0);
    source(&machine, 4, "behind");
    let other = proves("e5b", 5).replace("told", "other");
    assert_eq!(post(&machine, &worker, &other).await.status_code, 200);
    machine.relay(&worker, 100).await.unwrap();
    let batch = machine.receive().await.unwrap().unwrap();
    assert_eq!(machine.handle(&worker, &batch).await.unwrap().len(), 1);
    let told = story(&machine, &worker, &subscription("sub_1")).await;
    assert_eq!(says(&told), "told");
    source(&machine, 5, "other");
    assert_eq!(machine.reconcile(&worker, &batch).await.unwrap(), 0);
    let told = story(&machine, &worker, &subscription("sub_1")).await;
    assert_eq!(says(&told), "other");
    assert_eq!(open(&told.reviews), Vec::<String>::new());
}

#[tokio::test]
async fn a_late_signal_of_a_read_that_takes_its_time_does_not_restore_an_older_version() {
    let machine = deployed(Strategy::Current, proving).await;
    let (slow, fast) = (machine.worker().unwrap(), machine.worker().unwrap());
    source(&machine, 1, "v1");
    assert_eq!(
        post(&machine, &slow, &proves("e1", 1)).await.status_code,
        200
    );
    machine.relay(&slow, 100).await.unwrap();
    let batch = machine.receive().await.unwrap().unwrap();
    let held = machine.standin.hold_next(PATH);
    let stalled = machine.handle(&slow, &batch);
    let meanwhile = async {
        held.reached().await;
        source(&machine, 2, "v2");
        assert!(machine.handle(&fast, &batch).await.unwrap().is_empty());
        held.release();
    };
    let (left, ()) = tokio::time::timeout(Duration::from_secs(20), async {
        tokio::join!(stalled, meanwhile)
    })
    .await
    .unwrap();
    assert!(left.unwrap().is_empty());
    let told = story(&machine, &slow, &subscription("sub_1")).await;
    assert_eq!(says(&told), "v2");
}

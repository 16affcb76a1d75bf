//! A rebuild beside live signals, other rebuilds, stale reads and crashes: nothing is lost, and nothing regresses.

use lastword_domain::{Owner, Part, Rebuilt};
use lastword_local::machine::{Machine, Worker};

use super::world::*;
use crate::effects::{bill, mail, of_order, shop, thing};
use crate::faults::{Fault, Faults};
use crate::shop::{order_story, story_of, the_order, verdict};
use crate::world::{about, outcomes, post, says, show, story, subscription};

#[tokio::test]
async fn a_rebuild_whose_read_is_stale_loses_to_the_signal_that_came_meanwhile() {
    let machine = crate::world::machine().await;
    let worker = machine.worker().unwrap();
    show(&machine, "sub_1", "active");
    post(&machine, &worker, &about("sub_1", "evt_1")).await;
    machine.settle(&worker).await.unwrap();
    let resource = subscription("sub_1");
    let held = machine.standin.hold_next("/v1/subscriptions/sub_1");
    ask(
        &machine,
        "billing",
        &[Owner::Resource(resource.clone())],
        "r",
    )
    .await;
    let batch = machine.receive().await.unwrap().unwrap();
    let rebuilding = machine.reconcile(&worker, &batch);
    let meanwhile = async {
        held.reached().await;
        // The rebuild has read "active", and its answer is on its way.
        show(&machine, "sub_1", "canceled");
        let other = machine.worker().unwrap();
        post(&machine, &other, &about("sub_1", "evt_2")).await;
        let signal = lastword_domain::Signal {
            integration: lastword_domain::name::IntegrationName::parse("billing").unwrap(),
            resource: resource.clone(),
            events: vec![crate::shop::event_of("stripe", "acct_1", "evt_2")],
            cause: lastword_domain::Cause::Webhook,
        };
        assert_eq!(
            crate::shop::handle(&other, &signal, crate::shop::AMPLE).await,
            0
        );
        held.release();
    };
    let (left, ()) = tokio::join!(rebuilding, meanwhile);
    assert_eq!(left.unwrap(), 0);
    machine.settle(&worker).await.unwrap();
    let told = story(&machine, &worker, &resource).await;
    assert_eq!(says(&told), "canceled");
    assert_eq!(outcomes(&told).len(), 2);
    let report = reported(&worker, &Owner::Resource(resource)).await;
    assert_eq!(came_to(&report), (Rebuilt::Same, vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn rebuilds_beside_live_signals_end_as_without_them() {
    let machine = shop().await;
    let (one, other) = (machine.worker().unwrap(), machine.worker().unwrap());
    let (bill_of, order) = (thing("bill", "b1"), the_order("o1"));
    let owners = [
        Owner::Resource(bill_of.clone()),
        Owner::Resource(thing("payment", "payment-o1")),
        Owner::Resource(thing("shipment", "shipment-o1")),
        Owner::Subject(order),
    ];
    for version in 1..=20 {
        let status = ["open", "overdue", "paid"][version as usize % 3];
        let paid = version == 20;
        for body in [
            bill(&format!("e{version}"), "changed", "b1", version, status),
            of_order("payment", "o1", version, if paid { "paid" } else { "open" }),
            of_order("shipment", "o1", version, "packed"),
        ] {
            send(&machine, &one, &body).await;
        }
        ask(&machine, "shop", &owners, &format!("r{version}")).await;
        let settled = tokio::join!(machine.settle(&one), machine.settle(&other));
        settled.0.unwrap();
        settled.1.unwrap();
    }
    machine.give_back().await;
    machine.settle_all(&one).await.unwrap();
    let told = story_of(&machine, &one, "bill", "b1").await;
    assert_eq!(outcomes(&told).len(), 20);
    assert_eq!(told.projection.unwrap().version.unwrap().as_str(), "20");
    let told = order_story(&one, "o1").await;
    assert_eq!(verdict(&told)["allowed"][0], "confirm");
    // Each once: the bill became overdue and the order was paid, whoever looked at them when.
    for (key, times) in mail(&machine).actions() {
        assert_eq!(times, 1, "{key}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_rebuilds_of_one_resource_at_once_put_it_right_once() {
    let machine = shop().await;
    let (one, other) = (machine.worker().unwrap(), machine.worker().unwrap());
    for round in 0..10 {
        let id = format!("b{round}");
        send(&machine, &one, &bill(&id, "paid", &id, 1, "paid")).await;
        machine.settle_all(&one).await.unwrap();
        let resource = thing("bill", &id);
        let (before, sent) = (stored(&machine).await, sends(&machine).0);
        spoil(&machine, resource.hash().as_str(), "projection", |item| {
            let wrong = aws_sdk_dynamodb::types::AttributeValue::S("{}".to_owned());
            item.insert("state".to_owned(), wrong);
        })
        .await;
        ask(&machine, "shop", &[Owner::Resource(resource.clone())], "r").await;
        let batch = machine.receive().await.unwrap().unwrap();
        let both = tokio::join!(machine.handle(&one, &batch), machine.handle(&other, &batch));
        assert!(both.0.unwrap().is_empty() && both.1.unwrap().is_empty());
        machine.delete(&batch, &[]).await.unwrap();
        machine.settle_all(&one).await.unwrap();
        let report = reported(&one, &Owner::Resource(resource)).await;
        assert_eq!(came_to(&report), (Rebuilt::Changed, vec![Part::Contents]));
        assert_same(&stored(&machine).await, &before);
        assert_eq!(sends(&machine).0, sent);
    }
}

/// A bill with a fact and an order, all sent; then all of them are spoiled.
async fn spoiled() -> (Machine, Worker, Vec<Owner>) {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    for body in [
        bill("e1", "paid", "b1", 1, "paid"),
        of_order("payment", "o1", 1, "paid"),
        of_order("shipment", "o1", 1, "packed"),
    ] {
        send(&machine, &worker, &body).await;
        machine.settle_all(&worker).await.unwrap();
    }
    until_sent(&machine, &worker, 2).await;
    let payment = thing("payment", "payment-o1");
    let bill_of = thing("bill", "b1");
    let table = lastword_local::machine::STATE_TABLE;
    assert_eq!(
        remove(&machine, table, bill_of.hash().as_str(), "fact#").await,
        1
    );
    spoil(&machine, payment.hash().as_str(), "projection", |item| {
        let wrong = r#"{"id":"payment-o1","version":1,"status":"open","order":"o2"}"#;
        let wrong = aws_sdk_dynamodb::types::AttributeValue::S(wrong.to_owned());
        item.insert("state".to_owned(), wrong);
    })
    .await;
    let order = Owner::Subject(the_order("o1"));
    (
        machine,
        worker,
        vec![Owner::Resource(bill_of), Owner::Resource(payment), order],
    )
}

async fn ends_well(machine: &Machine, worker: &Worker, owners: &[Owner], what: &str) {
    machine.settle_all(worker).await.unwrap();
    let told = story_of(machine, worker, "payment", "payment-o1").await;
    assert_eq!(says(&told), "paid", "{what}");
    assert_eq!(
        story_of(machine, worker, "bill", "b1").await.facts.len(),
        1,
        "{what}"
    );
    let told = order_story(worker, "o1").await;
    assert_eq!(verdict(&told)["state"], "present present", "{what}");
    assert_eq!(sends(machine).0, 2, "{what}");
    for (owner, part) in owners.iter().zip([Part::Facts, Part::Contents]) {
        let report = reported(worker, owner).await;
        assert_eq!(report.outcome, Rebuilt::Changed, "{what}: {owner}");
        assert!(report.differs.contains(&part), "{what}: {report:?}");
    }
}

#[tokio::test]
async fn a_crash_at_any_request_of_a_rebuild_loses_nothing_and_sends_nothing() {
    let mut crashes = 0;
    for fault in [Fault::CrashBefore, Fault::CrashAfter] {
        for step in 0.. {
            let (machine, healthy, owners) = spoiled().await;
            ask(&machine, "shop", &owners, "r").await;
            let faults = Faults::strike("", step, 1, fault);
            let dying = machine.worker_over(Some(faults.client())).unwrap();
            let died = tokio::select! {
                settled = machine.settle(&dying) => { settled.unwrap(); false }
                () = faults.crashed() => true,
            };
            drop(dying);
            if died {
                crashes += 1;
                machine.give_back().await;
            }
            ends_well(&machine, &healthy, &owners, &format!("{fault:?} at {step}")).await;
            if !died {
                break;
            }
        }
    }
    println!("{crashes} crashes");
    assert!(crashes > 20, "{crashes}");
}

#[tokio::test]
async fn a_lost_answer_a_throttle_and_a_conflict_at_any_request_of_a_rebuild_end_the_same() {
    let faults = [
        Fault::LostResponse,
        Fault::LostRequest,
        Fault::Throttled,
        Fault::Conflict,
    ];
    for fault in faults {
        for operation in ["BatchGetItem", "Query", "TransactWriteItems"] {
            if fault == Fault::Conflict && operation != "TransactWriteItems" {
                continue;
            }
            // Once, and so often that the SDK gives up: then the messages are left.
            for times in [1, 8] {
                let (machine, healthy, owners) = spoiled().await;
                ask(&machine, "shop", &owners, "r").await;
                let faults = Faults::strike(operation, 0, times, fault);
                let struck = machine.worker_over(Some(faults.client())).unwrap();
                machine.settle(&struck).await.unwrap();
                assert!(faults.struck() > 0);
                machine.give_back().await;
                let what = format!("{operation} {fault:?} {times}");
                ends_well(&machine, &healthy, &owners, &what).await;
            }
        }
    }
}

#[tokio::test]
async fn a_store_that_is_busy_leaves_the_message_in_the_queue_and_reports_nothing() {
    let (machine, healthy, owners) = spoiled().await;
    ask(&machine, "shop", &owners[..1], "r").await;
    let faults = Faults::strike("Query", 0, 1000, Fault::Throttled);
    let struck = machine.worker_over(Some(faults.client())).unwrap();
    let batch = machine.receive().await.unwrap().unwrap();
    assert_eq!(machine.reconcile(&struck, &batch).await.unwrap(), 1);
    let hashes: Vec<_> = owners.iter().map(Owner::hash).collect();
    assert!(healthy.state.reports(&hashes).await.unwrap().is_empty());
    machine.give_back().await;
    machine.settle(&healthy).await.unwrap();
    assert_eq!(
        reported(&healthy, &owners[0]).await.outcome,
        Rebuilt::Changed
    );
}

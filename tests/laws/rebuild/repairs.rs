//! What differs is put right and named, whatever it is; and nothing is sent by it, then or later, but what then begins.

use aws_sdk_dynamodb::types::AttributeValue;
use lastword_config::Config;
use lastword_domain::EffectStatus::{Done, Pending, Superseded};
use lastword_domain::{Part, Rebuilt};
use lastword_local::machine::{Machine, STATE_TABLE, Worker};

use super::world::*;
use crate::effects::{
    EFFECTS, acted, at, bill, effects_of_bill, effects_of_order, of_order, refund, shop, thing,
};
use crate::shop::{order_story, story_of, the_order, verdict};

/// A paid bill, and a paid and packed order; everything is sent.
async fn settled() -> (Machine, Worker) {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    for body in [
        bill("e1", "changed", "b1", 1, "open"),
        bill("e2", "paid", "b1", 2, "paid"),
        of_order("payment", "o1", 1, "paid"),
        of_order("shipment", "o1", 1, "packed"),
    ] {
        send(&machine, &worker, &body).await;
        machine.settle_all(&worker).await.unwrap();
    }
    until_sent(&machine, &worker, 2).await;
    (machine, worker)
}

fn text(text: &str) -> AttributeValue {
    AttributeValue::S(text.to_owned())
}

#[tokio::test]
async fn a_state_that_somebody_wrote_by_hand_is_put_right_and_named() {
    let (machine, worker) = settled().await;
    let (before, sent) = (stored(&machine).await, sends(&machine));
    let resource = thing("bill", "b1");
    spoil(&machine, resource.hash().as_str(), "projection", |item| {
        let wrong = r#"{"id":"b1","version":2,"status":"overdue","amount":120}"#;
        item.insert("state".to_owned(), text(wrong));
    })
    .await;
    let report = rebuild(&machine, &worker, &resource, "r").await;
    assert_eq!(came_to(&report), (Rebuilt::Changed, vec![Part::Contents]));
    machine.settle_all(&worker).await.unwrap();
    assert_same(&stored(&machine).await, &before);
    assert_eq!(sends(&machine).0, sent.0);
    let report = rebuild(&machine, &worker, &resource, "again").await;
    assert_eq!(came_to(&report), (Rebuilt::Same, vec![]));
}

#[tokio::test]
async fn a_projection_that_is_missing_is_made_again_from_what_was_decided() {
    let (machine, worker) = settled().await;
    for (version, status) in [(2, "sent"), (1, "open")] {
        let body = bill(&format!("c{version}"), "changed", "b2", version, status);
        send(&machine, &worker, &body).await;
        machine.settle_all(&worker).await.unwrap();
    }
    let (before, sent) = (stored(&machine).await, sends(&machine).0);
    let resource = thing("bill", "b2");
    let pk = resource.hash();
    assert_eq!(
        remove(&machine, STATE_TABLE, pk.as_str(), "projection").await,
        1
    );
    let report = rebuild(&machine, &worker, &resource, "r").await;
    assert_eq!(
        came_to(&report),
        (Rebuilt::Changed, vec![Part::Contents, Part::Version])
    );
    machine.settle_all(&worker).await.unwrap();
    let mut after = stored(&machine).await;
    let mut before = before;
    // The marks that stood in it went with it.
    for all in [&mut before, &mut after] {
        let item = all.get_mut(&(pk.to_string(), "projection".to_owned()));
        item.unwrap().remove("recent");
    }
    assert_same(&after, &before);
    assert_eq!(sends(&machine).0, sent);
}

#[tokio::test]
async fn a_fact_that_is_missing_is_recorded_again_and_calls_for_nothing() {
    let (machine, worker) = settled().await;
    let resource = thing("bill", "b1");
    let pk = resource.hash();
    let before = story_of(&machine, &worker, "bill", "b1").await.facts;
    assert_eq!(remove(&machine, STATE_TABLE, pk.as_str(), "fact#").await, 1);
    assert_eq!(
        remove(&machine, STATE_TABLE, pk.as_str(), "effect#").await,
        1
    );
    let report = rebuild(&machine, &worker, &resource, "r").await;
    assert_eq!(came_to(&report), (Rebuilt::Changed, vec![Part::Facts]));
    machine.settle_all(&worker).await.unwrap();
    let told = story_of(&machine, &worker, "bill", "b1").await;
    let contents = |facts: &[lastword_store::KeptFact]| {
        let facts = facts.iter();
        facts
            .map(|fact| (fact.id.clone(), fact.content.clone(), fact.event.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(contents(&told.facts), contents(&before));
    // The effect was lost with it. A rebuild makes none, and the fact is not new to whoever tells it again.
    assert_eq!(told.effects, []);
    send(&machine, &worker, &bill("e3", "paid", "b1", 2, "paid")).await;
    machine.settle_all(&worker).await.unwrap();
    assert_eq!(effects_of_bill(&machine, &worker, "b1").await, []);
    assert_eq!(sends(&machine).0, 2);
}

#[tokio::test]
async fn many_facts_that_are_missing_are_all_recorded_again() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    for number in 0..70 {
        let body = refund(&format!("e{number}"), "b1", 1, &format!("r{number}"));
        send(&machine, &worker, &body).await;
    }
    machine.settle_all(&worker).await.unwrap();
    let resource = thing("bill", "b1");
    let before = (stored(&machine).await, sends(&machine));
    let gone = remove(&machine, STATE_TABLE, resource.hash().as_str(), "fact#").await;
    assert_eq!(gone, 70);
    let report = rebuild(&machine, &worker, &resource, "r").await;
    assert_eq!(came_to(&report), (Rebuilt::Changed, vec![Part::Facts]));
    machine.settle_all(&worker).await.unwrap();
    let facts = |all: &std::collections::BTreeMap<(String, String), _>| {
        let keys = all.keys().filter(|key| key.1.starts_with("fact#"));
        keys.cloned().collect::<Vec<_>>()
    };
    assert_eq!(facts(&stored(&machine).await), facts(&before.0));
    assert_eq!(sends(&machine).0, before.1.0);
}

#[tokio::test]
async fn a_member_s_copy_that_is_wrong_or_missing_is_written_again_and_its_subject_decided() {
    let (machine, worker) = settled().await;
    let before = stored(&machine).await;
    let resource = thing("payment", "payment-o1");
    let order = the_order("o1");
    let sort = format!("member#payment#{}", resource.hash());
    for (at, missing) in [false, true].into_iter().enumerate() {
        if missing {
            remove(&machine, STATE_TABLE, order.hash().as_str(), &sort).await;
        } else {
            spoil(&machine, order.hash().as_str(), &sort, |item| {
                let wrong = r#"{"id":"payment-o1","version":1,"status":"open","order":"o1"}"#;
                item.insert("state".to_owned(), text(wrong));
            })
            .await;
        }
        // Whatever it leads to: the subject follows from the copy.
        let subject = rebuild_subject(&machine, &worker, &order, &format!("s{at}")).await;
        assert_eq!(came_to(&subject), (Rebuilt::Changed, vec![Part::Verdict]));
        let report = rebuild(&machine, &worker, &resource, &format!("r{at}")).await;
        assert_eq!(came_to(&report), (Rebuilt::Changed, vec![Part::Members]));
        machine.settle_all(&worker).await.unwrap();
        let told = order_story(&worker, "o1").await;
        assert_eq!(verdict(&told)["state"], "present present");
        assert_eq!(verdict(&told)["allowed"][0], "confirm");
        assert_eq!(at_of(&worker).await, [("confirmation".to_owned(), Done)]);
        assert_eq!(sends(&machine).0, 2);
    }
    // All but by which revision of it the copy and the subject came. Whoever spoils a copy is heard as any change, so
    // that what is remembered of what was called for may be another; what is done is done all the same.
    let mut after = stored(&machine).await;
    let mut before = before;
    for all in [&mut before, &mut after] {
        for item in all.values_mut() {
            item.remove("basis");
            item.remove("rebuild");
            item.remove("called");
        }
    }
    assert_same(&after, &before);
    send(&machine, &worker, &of_order("payment", "o1", 2, "paid")).await;
    machine.settle_all(&worker).await.unwrap();
    assert_eq!(sends(&machine).0, 2);
}

async fn at_of(worker: &Worker) -> Vec<(String, lastword_domain::EffectStatus)> {
    at(&effects_of_order(worker, "o1").await)
}

fn with(change: impl Fn(&str) -> String) -> Config {
    let text = change(EFFECTS);
    assert_ne!(text, EFFECTS);
    Config::parse("lastword.toml", &text).unwrap()
}

#[tokio::test]
async fn a_verdict_of_old_rules_is_decided_by_those_of_now_and_sends_nothing() {
    let (mut machine, _) = settled().await;
    let rules = "\n[integrations.shop.rules.bill]\nstate = \"'is ' + state.status\"\n";
    machine
        .deploy(with(|text| format!("{text}{rules}")))
        .unwrap();
    let worker = machine.worker().unwrap();
    let report = rebuild(&machine, &worker, &thing("bill", "b1"), "r").await;
    assert_eq!(came_to(&report), (Rebuilt::Changed, vec![Part::Verdict]));
    let told = story_of(&machine, &worker, "bill", "b1").await;
    let meaning = told.projection.unwrap().meaning;
    assert!(meaning.verdict.unwrap().as_str().contains("is paid"));
    assert_eq!(sends(&machine).0, 2);
}

#[tokio::test]
async fn links_of_old_rules_are_left_and_others_made() {
    let (mut machine, _) = settled().await;
    let moved = |text: &str| {
        text.replace(
            "from = \"shop/payment\"\nlink = \"state.order\"",
            "from = \"shop/payment\"\nlink = \"'x' + state.order\"",
        )
    };
    machine.deploy(with(moved)).unwrap();
    let worker = machine.worker().unwrap();
    let report = rebuild(&machine, &worker, &thing("payment", "payment-o1"), "r").await;
    assert_eq!(came_to(&report), (Rebuilt::Changed, vec![Part::Links]));
    machine.settle_all(&worker).await.unwrap();
    for (order, state) in [("o1", "missing present"), ("xo1", "present missing")] {
        let told = order_story(&worker, order).await;
        assert_eq!(verdict(&told)["state"], state);
    }
    // The new order is paid, and that began in a rebuild: nothing is called for, then or by what comes later.
    let body = of_order("payment", "o1", 2, "paid");
    send(&machine, &worker, &body).await;
    machine.settle_all(&worker).await.unwrap();
    assert_eq!(at(&effects_of_order(&worker, "xo1").await), []);
    assert_eq!(sends(&machine).0, 2);
}

#[tokio::test]
async fn what_a_rule_of_now_calls_for_is_created_by_the_next_event_only_when_it_begins_then() {
    let (mut machine, worker) = settled().await;
    send(
        &machine,
        &worker,
        &bill("f1", "changed", "b2", 1, "overdue"),
    )
    .await;
    machine.settle_all(&worker).await.unwrap();
    let rule = "\n[effects.alarm]\non = \"shop/bill\"\nwhen = 'state.status == \"overdue\"'\nto = \"plain\"\ndata.bill = \"resource.id\"\n";
    machine
        .deploy(with(|text| format!("{text}{rule}")))
        .unwrap();
    let worker = machine.worker().unwrap();
    for id in ["b1", "b2"] {
        let report = rebuild(&machine, &worker, &thing("bill", id), "r").await;
        assert_eq!(came_to(&report), (Rebuilt::Same, vec![]));
    }
    machine.settle_all(&worker).await.unwrap();
    let plain = machine.destination("plain").unwrap();
    assert_eq!(plain.bodies().len(), 0);
    // It was so before the rule was: nothing begins. Of the other one it begins now.
    for body in [
        bill("f2", "changed", "b2", 2, "overdue"),
        bill("e4", "changed", "b1", 3, "overdue"),
    ] {
        send(&machine, &worker, &body).await;
        machine.settle_all(&worker).await.unwrap();
    }
    assert_eq!(plain.bodies().len(), 1);
    assert_eq!(acted(plain), 1);
}

#[tokio::test]
async fn a_pending_effect_and_a_superseded_one_are_left_as_they_are() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    send(&machine, &worker, &of_order("payment", "o1", 1, "paid")).await;
    machine.settle(&worker).await.unwrap();
    assert_eq!(at_of(&worker).await, [("confirmation".to_owned(), Pending)]);
    let before = effects_of_order(&worker, "o1").await;
    rebuild_subject(&machine, &worker, &the_order("o1"), "r1").await;
    assert_eq!(effects_of_order(&worker, "o1").await, before);
    machine.settle_all(&worker).await.unwrap();
    assert_eq!(
        at_of(&worker).await,
        [("confirmation".to_owned(), Superseded)]
    );
    // Now it is wanted again; but it is a rebuild that finds out.
    let order = the_order("o1");
    let shipment = thing("shipment", "shipment-o1");
    send(&machine, &worker, &of_order("shipment", "o1", 1, "packed")).await;
    machine.relay(&worker, 100).await.unwrap();
    let batch = machine.receive().await.unwrap().unwrap();
    machine.reconcile(&worker, &batch).await.unwrap();
    // Before the member's own signal is there.
    let subject = rebuild_subject_alone(&machine, &worker, &order).await;
    assert_eq!(came_to(&subject), (Rebuilt::Changed, vec![Part::Verdict]));
    assert_eq!(
        at_of(&worker).await,
        [("confirmation".to_owned(), Superseded)]
    );
    assert_eq!(sends(&machine).0, 0);
    // The member's signal is news, and takes it up.
    machine.settle_all(&worker).await.unwrap();
    assert_eq!(at_of(&worker).await, [("confirmation".to_owned(), Done)]);
    assert_eq!(sends(&machine).0, 1);
    rebuild(&machine, &worker, &shipment, "r2").await;
    machine.settle_all(&worker).await.unwrap();
    assert_eq!(sends(&machine).0, 1);
}

/// Without reading the streams.
async fn rebuild_subject_alone(
    machine: &Machine,
    worker: &Worker,
    order: &lastword_domain::SubjectKey,
) -> lastword_domain::Report {
    let owner = lastword_domain::Owner::Subject(order.clone());
    ask(machine, "shop", std::slice::from_ref(&owner), "alone").await;
    let batch = machine.receive().await.unwrap().unwrap();
    machine.reconcile(worker, &batch).await.unwrap();
    reported(worker, &owner).await
}

//! Whatever the strategy and the order of arrival: a rebuild finds what is held, and puts back what was spoiled.

use aws_sdk_dynamodb::types::AttributeValue;
use lastword_domain::{Part, Rebuilt, ResourceKey};
use lastword_local::machine::{Machine, Worker};
use lastword_local::stores::Place;
use serde_json::{Value, json};

use super::world::*;
use crate::own_api;
use crate::shop::{orders, shop, thing, told};
use crate::world::{NOW, key, says, story};

/// Histories of one thing each: its kind, and its events without their ids.
fn histories() -> Vec<(&'static str, Vec<Value>)> {
    let versions = |pairs: &[(u32, &str)]| {
        let object =
            |(version, status): &(u32, &str)| json!({"version": version, "status": status});
        pairs.iter().map(object).collect::<Vec<_>>()
    };
    let numbers = |pairs: &[(u32, &str)]| {
        let object =
            |(number, text): &(u32, &str)| json!({"number": number, "change": {"status": text}});
        pairs.iter().map(object).collect::<Vec<_>>()
    };
    let statuses = |all: &[(&str, &str)]| {
        let object = |(status, note): &(&str, &str)| json!({"status": status, "note": note});
        all.iter().map(object).collect::<Vec<_>>()
    };
    let lines = |all: &[(u32, &str)]| {
        let object = |(line, text): &(u32, &str)| json!({"line": line, "text": text});
        all.iter().map(object).collect::<Vec<_>>()
    };
    vec![
        (
            "page",
            versions(&[(1, "a"), (2, "public"), (2, "public"), (3, "suspicious")]),
        ),
        ("page", versions(&[(1, "a"), (2, "b"), (2, "c"), (1, "d")])),
        (
            "page",
            versions(&[(1, "a"), (2, "deleted"), (3, "c"), (2, "d")]),
        ),
        ("draft", versions(&[(1, "a"), (2, "deleted"), (3, "b")])),
        ("draft", versions(&[(1, "a"), (3, "deleted"), (2, "b")])),
        ("ledger", numbers(&[(1, "a"), (2, "b"), (3, "c")])),
        ("hasty", numbers(&[(1, "a"), (2, "b"), (4, "d"), (5, "e")])),
        ("hasty", numbers(&[(1, "a"), (2, "b"), (2, "c"), (3, "d")])),
        ("hasty", numbers(&[(1, "a"), (2, "deleted"), (3, "c")])),
        ("lasting", numbers(&[(1, "a"), (2, "deleted"), (3, "c")])),
        (
            "parcel",
            statuses(&[("packed", ""), ("sent", ""), ("arrived", "")]),
        ),
        (
            "parcel",
            statuses(&[("packed", ""), ("arrived", ""), ("refused", "")]),
        ),
        (
            "parcel",
            statuses(&[("sent", "x"), ("sent", "y"), ("unheard of", "")]),
        ),
        (
            "parcel",
            statuses(&[("packed", ""), ("deleted", ""), ("sent", "")]),
        ),
        ("note", lines(&[(1, "x"), (1, "y"), (2, "x"), (2, "x")])),
    ]
}

fn body(kind: &str, id: &str, at: usize, event: &Value) -> String {
    let mut object = event.clone();
    object["id"] = json!(id);
    let change = event["change"]["status"].as_str();
    let deleted = event["status"] == "deleted" || change == Some("deleted");
    let what = if deleted { "deleted" } else { "changed" };
    told(
        &format!("{id}-{at}"),
        &format!("{kind}.{what}"),
        &object.to_string(),
    )
}

/// Plays every history in several orders; gives back what there is then.
async fn played(machine: &Machine, worker: &Worker) -> Vec<ResourceKey> {
    let mut all = Vec::new();
    for (number, (kind, events)) in histories().iter().enumerate() {
        let numbered: Vec<_> = events.iter().enumerate().collect();
        for (way, order) in orders(&numbered, 3).iter().enumerate() {
            let id = format!("{kind}{number}-{way}");
            for (at, event) in order {
                send(machine, worker, &body(kind, &id, *at, event)).await;
                machine.settle(worker).await.unwrap();
            }
            all.push(thing(kind, &id));
        }
    }
    all
}

#[tokio::test]
async fn every_strategy_comes_to_what_is_held_in_whichever_order_it_came() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    let all = played(&machine, &worker).await;
    assert!(all.len() >= 60, "{}", all.len());
    let before = at_rest(&machine, &worker).await;
    for resource in &all {
        let report = rebuild(&machine, &worker, resource, "r").await;
        let told = story(&machine, &worker, resource).await;
        assert_eq!(
            came_to(&report),
            (Rebuilt::Same, vec![]),
            "{report:?} {told:#?}"
        );
    }
    assert_same(&stored(&machine).await, &before);
}

#[tokio::test]
async fn what_was_spoiled_under_every_strategy_comes_back_as_it_was() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    let all = played(&machine, &worker).await;
    let before = at_rest(&machine, &worker).await;
    let mut put_right = 0;
    for resource in &all {
        let hash = resource.hash();
        if resource.kind.as_str() == "note" {
            continue;
        }
        let mut is_plain = false;
        spoil(&machine, hash.as_str(), "projection", |item| {
            if let Some(state) = item.get_mut("state") {
                is_plain = true;
                *state = AttributeValue::S(r#"{"id":"wrong","status":"wrong"}"#.to_owned());
            }
        })
        .await;
        if !is_plain {
            continue;
        }
        let report = rebuild(&machine, &worker, resource, "r").await;
        assert_eq!(report.outcome, Rebuilt::Changed, "{resource}: {report:?}");
        assert!(report.differs.contains(&Part::Contents));
        put_right += 1;
    }
    assert!(put_right > 20, "{put_right}");
    // A review of what was never so is not opened by a rebuild that puts it right.
    assert_same(&stored(&machine).await, &before);
}

async fn source() -> (Machine, Worker) {
    let machine = Machine::start(Place::Temporary, own_api::CONFIG, NOW)
        .await
        .unwrap();
    let worker = machine.worker().unwrap();
    (machine, worker)
}

fn of(kind: &str) -> ResourceKey {
    key("generic-hmac", "main", "live", kind, "1")
}

async fn deliver(machine: &Machine, worker: &Worker, bodies: &[Value]) {
    for body in bodies {
        let body = body.to_string();
        let reply = machine.deliver(worker, "erp", &[], &body).await.unwrap();
        assert_eq!(reply.status_code, 200, "{}", reply.body);
        machine.settle(worker).await.unwrap();
    }
}

fn stock(event: &str, number: u32, status: &str) -> Value {
    json!({"id": event, "type": "stock.changed", "stock": {"id": "1"}, "number": number,
        "change": {"id": "1", "status": status}})
}

/// What the source showed once is not taken back because the events alone say less.
#[tokio::test]
async fn a_state_that_was_read_over_a_gap_is_read_again_and_not_taken_back() {
    let (machine, worker) = source().await;
    let show = |number: u32, status: &str| {
        let object = json!({"id": "1", "number": number, "status": status});
        machine.standin.show("/stocks/1", object.to_string());
    };
    show(3, "as read");
    deliver(
        &machine,
        &worker,
        &[stock("e1", 1, "new"), stock("e3", 3, "moved")],
    )
    .await;
    deliver(&machine, &worker, &[stock("e4", 4, "later")]).await;
    assert_eq!(says(&story(&machine, &worker, &of("stock")).await), "later");
    let before = stored(&machine).await;
    // The source lags, fails, or shows just what is held: what is held stays.
    let report = rebuild_of(&machine, &worker, "erp", &of("stock"), "behind").await;
    assert_eq!(report.outcome, Rebuilt::Kept, "{report:?}");
    machine.standin.answer_with("/stocks/1", 500);
    let report = rebuild_of(&machine, &worker, "erp", &of("stock"), "failed").await;
    assert_eq!(report.outcome, Rebuilt::Kept, "{report:?}");
    assert!(report.why.unwrap().contains("500"));
    show(4, "later");
    machine
        .standin
        .show("/stocks/1", r#"{"id":"1","number":4,"status":"later"}"#);
    let report = rebuild_of(&machine, &worker, "erp", &of("stock"), "same").await;
    assert_ne!(report.outcome, Rebuilt::Kept, "{report:?}");
    let mut after = stored(&machine).await;
    let mut before_states = before.clone();
    for all in [&mut after, &mut before_states] {
        all.values_mut().for_each(|item| drop(item.remove("state")));
    }
    assert_eq!(after, before_states);
    assert_eq!(says(&story(&machine, &worker, &of("stock")).await), "later");
    show(6, "newer");
    let report = rebuild_of(&machine, &worker, "erp", &of("stock"), "newer").await;
    assert_eq!(
        came_to(&report),
        (Rebuilt::Changed, vec![Part::Contents, Part::Version])
    );
    assert_eq!(says(&story(&machine, &worker, &of("stock")).await), "newer");
}

#[tokio::test]
async fn a_deletion_that_an_event_tells_is_not_undone_by_a_source_that_still_shows_it() {
    let machine = crate::world::machine().await;
    let worker = machine.worker().unwrap();
    let resource = crate::world::subscription("sub_1");
    let path = "/v1/subscriptions/sub_1";
    crate::world::show(&machine, "sub_1", "active");
    crate::world::post(&machine, &worker, &crate::world::about("sub_1", "evt_1")).await;
    machine.settle(&worker).await.unwrap();
    let known = stored(&machine).await;
    let report = rebuild_of(&machine, &worker, "billing", &resource, "same").await;
    assert_eq!(came_to(&report), (Rebuilt::Same, vec![]));
    assert_eq!(stored(&machine).await, known);
    // By hand: as if it had been deleted for good. The source still shows it; nobody takes a tombstone back.
    spoil(&machine, resource.hash().as_str(), "projection", |item| {
        item.remove("state");
        item.insert("deleted".to_owned(), AttributeValue::Bool(true));
        item.insert("proof".to_owned(), AttributeValue::S("absence".to_owned()));
    })
    .await;
    let report = rebuild_of(&machine, &worker, "billing", &resource, "shown").await;
    assert_eq!(report.outcome, Rebuilt::Kept, "{report:?}");
    assert_eq!(says(&story(&machine, &worker, &resource).await), "deleted");
    machine.standin.answer_with(path, 404);
    let report = rebuild_of(&machine, &worker, "billing", &resource, "absent").await;
    assert_eq!(report.outcome, Rebuilt::Same, "{report:?}");
}

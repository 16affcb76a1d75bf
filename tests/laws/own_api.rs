//! Strategies that believe the body, beside a read API of the sender's own: what the events leave open, a read settles;
//! and no read is taken that is older than what an event proves.

use lastword_domain::{Outcome, Reason, ResourceKey};
use lastword_local::machine::{Machine, Worker};
use lastword_local::stores::Place;
use lastword_store::Story;
use serde_json::{Value, json};

use crate::world::*;

pub const CONFIG: &str = r#"
[retry]
attempts = 5
first_delay_seconds = 600
longest_delay_seconds = 600

[integrations.erp]
contract = "generic-hmac"
account = "main"
environment = "live"
signing_secrets = ["env:ERP"]
api = { host = "https://erp.example.com", authorization = "Bearer {secret}", absent = { 404 = "deleted-if-told" } }
api_key = "env:ERP_KEY"

[integrations.erp.define.order]
events = ["order.*"]
id = "body:/order/id"
strategies = ["current"]
read = "/orders/{0}"
read_id = "/id"
version = "/order/version"
read_version = "/version"

[integrations.erp.define.stock]
events = ["stock.*"]
id = "body:/stock/id"
strategies = ["sequence"]
number = "/number"
change = "/change"
patience_seconds = 0
read = "/stocks/{0}"
read_id = "/id"
read_version = "/number"

[integrations.erp.define.parcel]
events = ["parcel.*"]
id = "body:/parcel/id"
strategies = ["transition"]
snapshot = "/parcel"
status = "/parcel/status"
statuses = { sent = ["delivered", "lost"] }
read = "/parcels/{0}"
read_id = "/id"
read_status = "/status"
"#;

async fn start() -> (Machine, Worker) {
    let machine = Machine::start(Place::Temporary, CONFIG, NOW).await.unwrap();
    let worker = machine.worker().unwrap();
    (machine, worker)
}

async fn deliver(machine: &Machine, worker: &Worker, body: &Value) {
    let body = body.to_string();
    let reply = machine.deliver(worker, "erp", &[], &body).await.unwrap();
    assert_eq!(reply.status_code, 200, "{}", reply.body);
    machine.settle(worker).await.unwrap();
}

fn of(kind: &str) -> ResourceKey {
    key("generic-hmac", "main", "live", kind, "1")
}

fn order_told(event: &str, version: u32) -> Value {
    json!({"id": event, "type": "order.changed", "order": {"id": "1", "version": version}})
}

fn show_order(machine: &Machine, version: u32, status: &str) {
    let object = json!({"id": "1", "version": version, "status": status});
    machine.standin.show("/orders/1", object.to_string());
}

/// The reasons of all decisions that stand on record, by their words.
fn reasons(story: &Story) -> Vec<&'static str> {
    let own = story.decisions.iter().filter_map(|it| it.reason);
    let recent = story.projection.iter().flat_map(|it| &it.recent);
    own.chain(recent.map(|mark| mark.reason))
        .map(Reason::as_str)
        .collect()
}

#[tokio::test]
async fn a_read_that_is_older_than_what_its_event_proves_is_kept_out_and_looked_at_again() {
    let (machine, worker) = start().await;
    show_order(&machine, 1, "new");
    deliver(&machine, &worker, &order_told("e1", 1)).await;
    // The source's replica is behind: the event speaks of version 2 already.
    deliver(&machine, &worker, &order_told("e2", 2)).await;
    let behind = story(&machine, &worker, &of("order")).await;
    assert_eq!(says(&behind), "new");
    assert!(!outcomes(&behind).contains(&Outcome::Unchanged));
    show_order(&machine, 2, "paid");
    machine.give_back().await;
    machine.settle(&worker).await.unwrap();
    let settled = story(&machine, &worker, &of("order")).await;
    assert_eq!(says(&settled), "paid");
    assert_eq!(outcomes(&settled), [Outcome::Applied, Outcome::Applied]);
    // An older event later changes nothing, and the read that answers it may be newer than it.
    deliver(&machine, &worker, &order_told("e0", 1)).await;
    assert_eq!(says(&story(&machine, &worker, &of("order")).await), "paid");
}

fn stock_told(event: &str, number: u32, change: Value) -> Value {
    json!({"id": event, "type": "stock.changed", "stock": {"id": "1"}, "number": number, "change": change})
}

fn show_stock(machine: &Machine, number: u32, status: &str) {
    let object = json!({"id": "1", "number": number, "status": status});
    machine.standin.show("/stocks/1", object.to_string());
}

#[tokio::test]
async fn a_gap_that_outlives_its_patience_is_replaced_by_a_snapshot_of_the_source() {
    let (machine, worker) = start().await;
    deliver(
        &machine,
        &worker,
        &stock_told("e1", 1, json!({"id": "1", "status": "new"})),
    )
    .await;
    // Change 2 does not come, and the source does not show it yet.
    show_stock(&machine, 1, "new");
    deliver(
        &machine,
        &worker,
        &stock_told("e3", 3, json!({"status": "moved"})),
    )
    .await;
    show_stock(&machine, 3, "moved, as read");
    machine.give_back().await;
    machine.settle(&worker).await.unwrap();
    let read = story(&machine, &worker, &of("stock")).await;
    assert_eq!(says(&read), "moved, as read", "{read:?}");
    assert!(
        reasons(&read).contains(&"sequence-read"),
        "{:?}",
        reasons(&read)
    );
    assert!(!read.projection.as_ref().unwrap().waiting);
    // The missing change comes late: it is part of what was read. The next one goes on from there.
    deliver(
        &machine,
        &worker,
        &stock_told("e2", 2, json!({"status": "counted"})),
    )
    .await;
    deliver(
        &machine,
        &worker,
        &stock_told("e4", 4, json!({"status": "empty"})),
    )
    .await;
    let end = story(&machine, &worker, &of("stock")).await;
    assert_eq!(says(&end), "empty", "{end:?}");
    assert!(end.reviews.is_empty());
}

#[tokio::test]
async fn a_snapshot_that_holds_the_missing_change_is_taken_and_what_waited_applied_onto_it() {
    let (machine, worker) = start().await;
    deliver(
        &machine,
        &worker,
        &stock_told("e1", 1, json!({"id": "1", "status": "new"})),
    )
    .await;
    show_stock(&machine, 2, "counted");
    deliver(
        &machine,
        &worker,
        &stock_told("e3", 3, json!({"status": "moved"})),
    )
    .await;
    let end = story(&machine, &worker, &of("stock")).await;
    assert_eq!(says(&end), "moved", "{end:?}");
    assert!(
        reasons(&end).contains(&"sequence-next"),
        "{:?}",
        reasons(&end)
    );
    assert_eq!(machine.standin.reads(), 1);
}

#[tokio::test]
async fn two_changes_of_one_number_are_settled_by_a_read_in_either_order() {
    let told =
        |event: &str, status: &str| stock_told(event, 1, json!({"id": "1", "status": status}));
    for order in [["a", "b"], ["b", "a"]] {
        let (machine, worker) = start().await;
        show_stock(&machine, 1, "as read");
        for status in order {
            deliver(&machine, &worker, &told(&format!("e-{status}"), status)).await;
        }
        let end = story(&machine, &worker, &of("stock")).await;
        assert_eq!(says(&end), "as read", "{end:?}");
        assert!(end.reviews.is_empty());
    }
}

fn parcel_told(event: &str, status: &str, note: &str) -> Value {
    json!({"id": event, "type": "parcel.moved", "parcel": {"id": "1", "status": status, "note": note}})
}

#[tokio::test]
async fn statuses_that_do_not_compare_are_settled_by_a_read_and_one_that_is_behind_is_not_taken() {
    let (machine, worker) = start().await;
    deliver(&machine, &worker, &parcel_told("e1", "delivered", "")).await;
    let show = |status: &str| {
        let object = json!({"id": "1", "status": status});
        machine.standin.show("/parcels/1", object.to_string());
    };
    show("sent");
    deliver(&machine, &worker, &parcel_told("e2", "lost", "")).await;
    let behind = story(&machine, &worker, &of("parcel")).await;
    assert_eq!(says(&behind), "delivered");
    show("lost");
    machine.give_back().await;
    machine.settle(&worker).await.unwrap();
    let end = story(&machine, &worker, &of("parcel")).await;
    assert_eq!(says(&end), "lost");
    assert!(end.reviews.is_empty(), "{:?}", end.reviews);
}

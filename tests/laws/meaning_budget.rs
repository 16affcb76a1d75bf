//! The budget of the design by strategy, with facts and with members, counted from what the store reports.

use lastword_domain::Outcome;
use lastword_local::machine::{Machine, Worker};

use crate::faults::Faults;
use crate::shop::*;
use crate::world::*;

/// What one event cost from receipt to its decision, and its subject's decision after that.
#[derive(Debug, Clone, Copy)]
struct Cost {
    units: f64,
    requests: usize,
    subject_units: f64,
    subject_requests: usize,
}

struct Counter {
    machine: Machine,
    worker: Worker,
    faults: Faults,
}

impl Counter {
    async fn new() -> Self {
        let machine = shop().await;
        let faults = Faults::none();
        let worker = machine.worker_over(Some(faults.client())).unwrap();
        Self {
            machine,
            worker,
            faults,
        }
    }

    fn read(&self) -> (f64, usize) {
        let units = self.worker.inbox.meter.read().units + self.worker.state.writes.read().units;
        (units, self.faults.seen().len())
    }

    /// From receipt to decision; then whatever a subject has to be told.
    async fn cost(&self, what: &str, body: &str) -> Cost {
        let start = self.read();
        send(&self.machine, &self.worker, body).await;
        self.machine.relay(&self.worker, 100).await.unwrap();
        while let Some(batch) = self.machine.receive().await.unwrap() {
            self.machine.reconcile(&self.worker, &batch).await.unwrap();
        }
        let decided = self.read();
        self.machine.settle(&self.worker).await.unwrap();
        let end = self.read();
        let cost = Cost {
            units: decided.0 - start.0,
            requests: decided.1 - start.1,
            subject_units: end.0 - decided.0,
            subject_requests: end.1 - decided.1,
        };
        println!(
            "{what}: {} write units, {} requests; its subject {} and {}",
            cost.units, cost.requests, cost.subject_units, cost.subject_requests
        );
        cost
    }

    async fn at_most(&self, what: &str, units: f64, body: &str) {
        let body = padded(body);
        let cost = self.cost(what, &body).await;
        assert!(cost.units <= units, "{what}: {cost:?}");
        let again = self.cost(&format!("{what}, delivered again"), &body).await;
        assert!(
            again.units <= 2.0 && again.requests == 1,
            "{what}: {again:?}"
        );
        assert_eq!(again.subject_requests, 0);
    }
}

/// A review, and its place among the open ones; at most as much as the design allows for one more item.
const REVIEW: f64 = 2.0;

fn page(version: u32, status: &str) -> String {
    let body = versioned(&format!("r{version}"), "page", "p", version, status);
    body.replace("\"status\"", "\"amount\":1,\"status\"")
}

/// The same as an event of 1 KB, most of which is no part of the object.
fn padded(body: &str) -> String {
    let filler = noise(1024 - body.len() - 12);
    body.replacen('{', &format!("{{\"filler\":\"{filler}\","), 1)
}

#[tokio::test]
async fn an_event_of_each_strategy_costs_what_the_design_allows() {
    let counter = Counter::new().await;
    for (what, units, body) in [
        ("version, first", 7.0, versioned("v1", "draft", "d", 2, "a")),
        (
            "version, changing",
            7.0,
            versioned("v2", "draft", "d", 3, "b"),
        ),
        (
            "version, the same",
            5.0,
            versioned("v3", "draft", "d", 3, "b"),
        ),
        ("version, stale", 5.0, versioned("v4", "draft", "d", 1, "c")),
        ("rules, first", 7.0, page(1, "public")),
        ("rules, changing", 7.0, page(2, "private")),
        (
            "rules that open a review",
            7.0 + REVIEW,
            page(3, "suspicious"),
        ),
        ("rules that withdraw it", 7.0 + REVIEW, page(4, "private")),
        ("sequence, first", 7.0, change("s1", "hasty", "h", 1)),
        ("sequence, next", 7.0, change("s2", "hasty", "h", 2)),
        ("sequence, the same", 5.0, change("s3", "hasty", "h", 2)),
    ] {
        counter.at_most(what, units, &body).await;
    }
    for (what, units, id, status) in [
        ("transition, first", 7.0, "t1", "packed"),
        ("transition, further", 7.0, "t2", "sent"),
        ("transition, the same", 5.0, "t3", "sent"),
        ("transition, stale", 5.0, "t4", "packed"),
    ] {
        let object = format!(r#"{{"id":"p","status":"{status}"}}"#);
        counter
            .at_most(what, units, &told(id, "parcel.changed", &object))
            .await;
    }
}

#[tokio::test]
async fn an_event_that_waits_costs_its_place_in_the_count_and_one_that_is_contested_its_review() {
    let counter = Counter::new().await;
    counter
        .at_most("sequence, first", 7.0, &change("s1", "ledger", "l", 1))
        .await;
    counter
        .at_most("sequence, waiting", 8.0, &change("s3", "ledger", "l", 3))
        .await;
    counter
        .at_most(
            "version, first",
            7.0,
            &versioned("v1", "draft", "d", 1, "a"),
        )
        .await;
    let tie = versioned("v2", "draft", "d", 1, "b");
    counter
        .at_most("version, contested, with its review", 9.0, &tie)
        .await;
}

#[tokio::test]
async fn a_fact_costs_two_more_and_one_that_is_known_nothing() {
    let counter = Counter::new().await;
    let paid = |event: &str, receipt: u32, version: u32| {
        format!(
            r#"{{"id":"{event}","type":"bill.paid","paid":{{"receipt":{receipt}}},"object":{{"id":"b","version":{version}}}}}"#
        )
    };
    for (what, units, body) in [
        ("version and a fact, first", 9.0, paid("b1", 1, 1)),
        ("version and a fact, changing", 9.0, paid("b2", 2, 2)),
        ("version and a known fact, the same", 5.0, paid("b3", 2, 2)),
        (
            "fact alone, first",
            9.0,
            told("n1", "note.written", r#"{"id":"n","line":1}"#),
        ),
        (
            "fact alone, another",
            9.0,
            told("n2", "note.written", r#"{"id":"n","line":2}"#),
        ),
        (
            "fact alone, known",
            5.0,
            told("n3", "note.written", r#"{"id":"n","line":2}"#),
        ),
    ] {
        counter.at_most(what, units, &body).await;
    }
}

#[tokio::test]
async fn a_member_s_event_and_its_subject_s_decision_cost_what_is_printed() {
    let counter = Counter::new().await;
    for (what, units, body) in [
        (
            "member, first",
            7.0,
            of_order("payment", "p", 1, "open", "o"),
        ),
        (
            "member, changing",
            7.0,
            of_order("payment", "p", 2, "paid", "o"),
        ),
        (
            "member, stale",
            5.0,
            of_order("payment", "p", 1, "old", "o"),
        ),
        (
            "second member, first",
            7.0,
            of_order("shipment", "s", 1, "sent", "o"),
        ),
        (
            "second member, with the subject's review",
            7.0,
            of_order("shipment", "s", 2, "cancelled", "o"),
        ),
        (
            "member, moving to another subject",
            8.0,
            of_order("payment", "p", 3, "paid", "o2"),
        ),
    ] {
        let body = padded(&body);
        let cost = counter.cost(what, &body).await;
        assert!(cost.units <= units, "{what}: {cost:?}");
        assert!(cost.subject_units <= 8.0, "{what}: {cost:?}");
    }
    // Many changes of one member: marks move to pages, and it still costs no more.
    for version in 4..30 {
        let body = padded(&of_order("payment", "p", version, "paid", "o2"));
        let cost = counter.cost("member, changing again", &body).await;
        assert!(cost.units <= 7.0, "{version}: {cost:?}");
        assert!(cost.subject_units <= 2.0, "{version}: {cost:?}");
    }
    let told = story_of(&counter.machine, &counter.worker, "payment", "p").await;
    assert_eq!(outcomes(&told).len(), 30);
    let applied = outcomes(&told)
        .iter()
        .filter(|o| **o == Outcome::Applied)
        .count();
    assert_eq!(applied, 29);
}

//! Laws 3, 9 and 11: an event has one decision, in one place, whatever failed before or after it.

use std::collections::BTreeMap;
use std::time::Duration;

use lastword_domain::name::{Account, Environment, EventId, IntegrationName, Provider};
use lastword_domain::{
    Cause, EventIdentity, EventRef, Evidence, Mark, Outcome, Reason, ResourceKey, Signal,
};
use lastword_local::machine::Worker;
use lastword_queue::OutgoingMessage;
use lastword_store::{Bodies, Commit, Committed, LoadedEvent, Moment};
use serde_json::json;

use crate::faults::{Fault, Faults};
use crate::world::*;

const PATH: &str = "/v1/subscriptions/sub_1";

fn event(id: &str) -> EventRef {
    let identity = EventIdentity {
        provider: Provider::parse("stripe").unwrap(),
        account: Account::parse("acct_1").unwrap(),
        environment: Environment::parse("live").unwrap(),
        id: EventId::parse(id).unwrap(),
    };
    EventRef::first(&identity.hash())
}

fn redrive(resource: &ResourceKey, event: EventRef, run: &str) -> Signal {
    Signal {
        integration: IntegrationName::parse("billing").unwrap(),
        resource: resource.clone(),
        events: vec![event],
        cause: Cause::Redrive(run.to_owned()),
    }
}

/// Hands signals to reconcile as one batch; says how many messages are left.
async fn handle(worker: &Worker, signals: &[Signal], time: Duration) -> usize {
    left(worker, signals, time).await.len()
}

/// As [`handle`]; says which are left.
async fn left(worker: &Worker, signals: &[Signal], time: Duration) -> Vec<String> {
    let record = |(number, signal): (usize, &Signal)| {
        let message = OutgoingMessage::new(&signal.clone().into()).unwrap();
        json!({
            "messageId": format!("m{number}"), "receiptHandle": format!("r{number}"), "body": message.body,
            "attributes": {"MessageGroupId": message.group},
        })
    };
    let records: Vec<_> = signals.iter().enumerate().map(record).collect();
    let reply = worker
        .reconcile
        .handle_text(&json!({"Records": records}).to_string(), time)
        .await
        .unwrap();
    let failures = reply.batch_item_failures.into_iter();
    failures.map(|failure| failure.item_identifier).collect()
}

const AMPLE: Duration = Duration::from_secs(20);

async fn loaded(worker: &Worker, id: &str) -> LoadedEvent {
    let loaded = worker
        .state
        .load(&subscription("sub_1"), &[event(id)], Bodies::Without, &[])
        .await
        .unwrap();
    loaded.events[0].clone()
}

fn counted(outcomes: &[Outcome]) -> BTreeMap<&'static str, usize> {
    let mut counted = BTreeMap::new();
    for outcome in outcomes {
        *counted.entry(outcome.as_str()).or_default() += 1;
    }
    counted
}

#[tokio::test]
async fn an_exhausted_event_driven_again_is_exhausted_no_longer_also_when_its_read_changes_nothing()
{
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    machine.standin.answer_with(PATH, 500);
    post(&machine, &worker, &about("sub_1", "evt_1")).await;
    machine.settle(&worker).await.unwrap();
    assert_eq!(
        loaded(&worker, "evt_1").await.decided,
        Some(Outcome::Exhausted)
    );
    show(&machine, "sub_1", "active");
    post(&machine, &worker, &about("sub_1", "evt_2")).await;
    machine.settle(&worker).await.unwrap();
    let again = redrive(&subscription("sub_1"), event("evt_1"), "r1");
    assert_eq!(handle(&worker, &[again], AMPLE).await, 0);
    assert_eq!(
        loaded(&worker, "evt_1").await.decided,
        Some(Outcome::Unchanged)
    );
    let told = story(&machine, &worker, &subscription("sub_1")).await;
    assert!(!outcomes(&told).contains(&Outcome::Exhausted), "{told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_attempt_that_stalls_does_not_overwrite_what_was_decided_meanwhile() {
    let machine = machine().await;
    let (slow, fast) = (machine.worker().unwrap(), machine.worker().unwrap());
    show(&machine, "sub_1", "active");
    post(&machine, &slow, &about("sub_1", "evt_1")).await;
    machine.settle(&slow).await.unwrap();
    post(&machine, &slow, &about("sub_1", "evt_2")).await;
    machine.relay(&slow, 100).await.unwrap();
    let batch = machine.receive().await.unwrap().unwrap();
    // Two of three attempts are used up; the slow worker reads the outage a third time, and stalls.
    machine.standin.answer_with(PATH, 500);
    machine.handle(&slow, &batch).await.unwrap();
    machine.handle(&slow, &batch).await.unwrap();
    let held = machine.standin.hold_next(PATH);
    let stalled = machine.handle(&slow, &batch);
    let meanwhile = async {
        held.reached().await;
        show(&machine, "sub_1", "active");
        assert!(machine.handle(&fast, &batch).await.unwrap().is_empty());
        held.release();
    };
    let (left, ()) = tokio::join!(stalled, meanwhile);
    assert!(left.unwrap().is_empty());
    assert_eq!(
        loaded(&slow, "evt_2").await.decided,
        Some(Outcome::Unchanged)
    );
}

#[tokio::test]
async fn decisions_on_pages_are_not_undone_by_an_outage_when_their_messages_come_again() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    show(&machine, "sub_1", "active");
    for number in 0..60 {
        post(&machine, &worker, &about("sub_1", &format!("evt_{number}"))).await;
    }
    machine.relay(&worker, 100).await.unwrap();
    let batch = machine.receive().await.unwrap().unwrap();
    assert!(machine.handle(&worker, &batch).await.unwrap().is_empty());
    // The answer was lost, and the provider is down.
    machine.standin.answer_with(PATH, 500);
    for _ in 0..3 {
        assert!(machine.handle(&worker, &batch).await.unwrap().is_empty());
    }
    let told = story(&machine, &worker, &subscription("sub_1")).await;
    assert_eq!(counted(&outcomes(&told)), BTreeMap::from([("applied", 60)]));
}

#[tokio::test]
async fn an_event_that_failed_once_and_was_then_decided_does_not_look_as_if_it_were_still_tried() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    show(&machine, "sub_1", "active");
    post(&machine, &worker, &about("sub_1", "evt_0")).await;
    machine.settle(&worker).await.unwrap();
    post(&machine, &worker, &about("sub_1", "evt_1")).await;
    machine.relay(&worker, 100).await.unwrap();
    let batch = machine.receive().await.unwrap().unwrap();
    machine.standin.answer_with(PATH, 500);
    machine.handle(&worker, &batch).await.unwrap();
    show(&machine, "sub_1", "active");
    assert!(machine.handle(&worker, &batch).await.unwrap().is_empty());
    // Eleven more that change nothing move older marks to a page.
    for number in 2..13 {
        post(&machine, &worker, &about("sub_1", &format!("evt_{number}"))).await;
        machine.settle(&worker).await.unwrap();
    }
    assert_eq!(
        loaded(&worker, "evt_1").await.decided,
        Some(Outcome::Unchanged)
    );
}

#[tokio::test]
async fn a_failed_event_driven_again_during_an_outage_is_counted_and_ends() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    let resource = subscription("sub_1");
    post(&machine, &worker, &about("sub_1", "evt_1")).await;
    let held = worker
        .state
        .load(&resource, &[event("evt_1")], Bodies::Without, &[])
        .await
        .unwrap();
    let marks = [Mark {
        event: event("evt_1"),
        outcome: Outcome::Failed,
        reason: Reason::Unconfigured,
    }];
    let commit = Commit {
        resource: &resource,
        loaded: &held,
        next: None,
        marks: &marks,
        facts: &[],
        changes: &[],
        evidence: &Evidence::new(),
        now: Moment::from_unix_ms(0),
        called: &held.beside.called,
        effects: &[],
        rebuild: None,
    };
    assert!(matches!(
        worker.state.commit(&commit).await.unwrap(),
        Committed::Done(_)
    ));
    machine.standin.answer_with(PATH, 500);
    let again = redrive(&resource, event("evt_1"), "r");
    let mut tries = 1;
    while handle(&worker, std::slice::from_ref(&again), AMPLE).await > 0 {
        tries += 1;
        assert!(tries < 10, "it is tried for ever");
    }
    assert_eq!(
        (tries, loaded(&worker, "evt_1").await.decided),
        (3, Some(Outcome::Exhausted))
    );
}

#[tokio::test]
async fn a_state_that_the_store_does_not_take_is_refused_with_a_decision_that_says_so() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    let scan = noise(900_000);
    let body = order_event("evt_1", "o_1", 1, "new")
        .replace("\"version\"", &format!("\"scan\":\"{scan}\",\"version\""));
    assert_eq!(
        machine
            .deliver(&worker, "erp", &[], &body)
            .await
            .unwrap()
            .status_code,
        200
    );
    machine.settle(&worker).await.unwrap();
    let told = story(&machine, &worker, &order("o_1")).await;
    let [decision] = told.decisions.as_slice() else {
        panic!("one decision: {:?}", told.decisions)
    };
    assert_eq!(
        (decision.outcome, decision.reason),
        (Some(Outcome::Failed), Some(Reason::TooLarge))
    );
    // Nothing is held up: what fits is taken afterwards, and what was held before stays.
    let next = order_event("evt_2", "o_1", 2, "paid");
    machine.deliver(&worker, "erp", &[], &next).await.unwrap();
    machine.settle(&worker).await.unwrap();
    assert_eq!(says(&story(&machine, &worker, &order("o_1")).await), "paid");
}

#[tokio::test]
async fn many_large_contents_under_one_version_are_kept_side_by_side() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    for number in 0..12 {
        let note = "x".repeat(40_000);
        let body = order_event(&format!("evt_{number}"), "o_1", 1, &format!("s{number}"))
            .replace("\"version\"", &format!("\"note\":\"{note}\",\"version\""));
        assert_eq!(
            machine
                .deliver(&worker, "erp", &[], &body)
                .await
                .unwrap()
                .status_code,
            200
        );
        machine.settle(&worker).await.unwrap();
    }
    let told = story(&machine, &worker, &order("o_1")).await;
    assert_eq!(outcomes(&told).len(), 12);
    assert_eq!(
        told.projection.unwrap().contents.unwrap().iter().count(),
        12
    );
}

#[tokio::test]
async fn a_duplicate_costs_at_most_two_units_whatever_its_size() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    let scan = noise(1_500_000);
    let body =
        order_event("evt_1", "o_1", 1, "new").replacen('{', &format!("{{\"scan\":\"{scan}\","), 1);
    machine.deliver(&worker, "erp", &[], &body).await.unwrap();
    let first = worker.inbox.meter.read().units;
    assert_eq!(
        machine
            .deliver(&worker, "erp", &[], &body)
            .await
            .unwrap()
            .body,
        r#"{"received":"duplicate"}"#
    );
    let second = worker.inbox.meter.read().units - first;
    assert!(second <= 2.0, "{first}, then {second}");
}

#[tokio::test]
async fn a_signal_that_was_never_begun_has_no_failed_attempt() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    show(&machine, "sub_1", "active");
    for number in 0..2 {
        post(&machine, &worker, &about("sub_1", &format!("evt_{number}"))).await;
    }
    machine.standin.take_time(Duration::from_secs(3));
    let signals: Vec<_> = (0..2)
        .map(|n| {
            redrive(
                &subscription("sub_1"),
                event(&format!("evt_{n}")),
                &n.to_string(),
            )
        })
        .collect();
    assert_eq!(handle(&worker, &signals, Duration::from_secs(3)).await, 2);
    assert_eq!(machine.standin.reads(), 1);
    let attempts = [
        loaded(&worker, "evt_0").await.attempts,
        loaded(&worker, "evt_1").await.attempts,
    ];
    assert_eq!(attempts, [1, 0]);
}

#[tokio::test]
async fn a_deletion_that_the_source_does_not_show_yet_does_not_hold_up_its_neighbours() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    let body = |action: &str| {
        format!(
            r#"{{"action":"{action}","issue":{{"number":7}},"repository":{{"id":99,"owner":{{"id":10}}}}}}"#
        )
    };
    machine.standin.show(
        "/repositories/99/issues/7",
        r#"{"number":7,"status":"open"}"#,
    );
    for (guid, action) in [("g1", "opened"), ("g2", "deleted"), ("g3", "edited")] {
        let headers = [("X-GitHub-Event", "issues"), ("X-GitHub-Delivery", guid)];
        assert_eq!(
            machine
                .deliver(&worker, "code", &headers, &body(action))
                .await
                .unwrap()
                .status_code,
            200
        );
    }
    machine.settle(&worker).await.unwrap();
    let told = story(
        &machine,
        &worker,
        &key("github", "10", "main", "issue", "99/7"),
    )
    .await;
    assert_eq!(says(&told), "open");
    assert_eq!(
        counted(&outcomes(&told)),
        BTreeMap::from([("applied", 2), ("exhausted", 1)])
    );
}

#[tokio::test]
async fn a_panic_over_one_message_of_ten_leaves_that_message_and_no_other() {
    let machine = machine().await;
    let healthy = machine.worker().unwrap();
    let mut signals = Vec::new();
    for number in 0..10 {
        let (id, event_id) = (format!("sub_{number}"), format!("evt_{number}"));
        show(&machine, &id, "active");
        post(&machine, &healthy, &about(&id, &event_id)).await;
        signals.push(redrive(&subscription(&id), event(&event_id), "run"));
    }
    let faults = Faults::strike("TransactWriteItems", 3, 1, Fault::Panic);
    let struck = machine.worker_over(Some(faults.client())).unwrap();
    let left = left(&struck, &signals, AMPLE).await;
    assert!(faults.spent());
    assert_eq!(left.len(), 1, "{left:?}");
    let mut decided = 0;
    for number in 0..10 {
        let known = story(&machine, &healthy, &subscription(&format!("sub_{number}"))).await;
        decided += known
            .projection
            .iter()
            .filter(|held| held.contents.is_some())
            .count();
    }
    assert_eq!(decided, 9);
    // The process lives, and the message comes again.
    assert_eq!(handle(&struck, &signals, AMPLE).await, 0);
}

#[tokio::test]
async fn an_event_whose_mark_is_on_a_page_and_that_is_decided_anew_is_told_once_and_as_decided_last()
 {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    show(&machine, "sub_1", "active");
    // The first changes the projection, nine change nothing: eight marks are copied to a page by the ninth.
    for number in 0..10 {
        post(&machine, &worker, &about("sub_1", &format!("evt_{number}"))).await;
        machine.settle(&worker).await.unwrap();
    }
    let before = story(&machine, &worker, &subscription("sub_1")).await;
    assert!(
        before.paged.iter().any(|mark| mark.event == event("evt_1")),
        "{before:?}"
    );
    show(&machine, "sub_1", "past_due");
    let again = redrive(&subscription("sub_1"), event("evt_1"), "run");
    assert_eq!(handle(&worker, &[again], AMPLE).await, 0);
    let after = story(&machine, &worker, &subscription("sub_1")).await;
    assert_eq!(says(&after), "past_due");
    assert_eq!(outcomes(&after).len(), 10, "{after:?}");
    assert!(
        after
            .decisions
            .iter()
            .any(|decision| decision.event == event("evt_1"))
    );
    assert!(after.paged.iter().all(|mark| mark.event != event("evt_1")));
}

//! A crash after any step, a lost response after any write, a conflict and a throttle at any write: the
//! end is the same, and nothing is lost.

use lastword_domain::Outcome;
use lastword_local::machine::{Machine, ReceivedBatch, Worker};

use crate::faults::{Fault, Faults};
use crate::world::*;

/// What a history must end as, whatever happened on the way.
async fn ends_well(machine: &Machine, worker: &Worker, id: &str, what: &str) {
    let story = story(machine, worker, &subscription(id)).await;
    assert_eq!(says(&story), "canceled", "{what}");
    let outcomes = outcomes(&story);
    assert_eq!(outcomes.len(), 2, "{what}: {story:?}");
    let settled = |outcome: &Outcome| matches!(outcome, Outcome::Applied | Outcome::Unchanged);
    assert!(outcomes.iter().all(settled), "{what}: {outcomes:?}");
}

/// Two events walk the whole way on a worker whose connections are struck.
async fn walk(machine: &Machine, worker: &Worker, id: &str) {
    for (event, status) in [("1", "active"), ("2", "canceled")] {
        show(machine, id, status);
        let body = about(id, &format!("{id}-{event}"));
        // The provider tries again until it is acknowledged.
        while post(machine, worker, &body).await.status_code != 200 {}
        machine.settle(worker).await.unwrap();
    }
}

#[tokio::test]
async fn a_crash_before_or_after_any_request_loses_nothing() {
    let machine = machine().await;
    let healthy = machine.worker().unwrap();
    let mut crashes = 0;
    for fault in [Fault::CrashBefore, Fault::CrashAfter] {
        for step in 0.. {
            let id = format!("sub_{fault:?}_{step}");
            let faults = Faults::strike("", step, 1, fault);
            let dying = machine.worker_over(Some(faults.client())).unwrap();
            let died = tokio::select! {
                () = walk(&machine, &dying, &id) => false,
                () = faults.crashed() => true,
            };
            drop(dying);
            if !died {
                break;
            }
            crashes += 1;
            machine.give_back().await;
            machine.rewind().await;
            // The provider saw no acknowledgement, or lost it: it sends both again. The source has moved on.
            show(&machine, &id, "canceled");
            for event in ["1", "2"] {
                let body = about(&id, &format!("{id}-{event}"));
                assert_eq!(post(&machine, &healthy, &body).await.status_code, 200);
            }
            machine.settle(&healthy).await.unwrap();
            ends_well(
                &machine,
                &healthy,
                &id,
                &format!("{fault:?} at request {step}"),
            )
            .await;
        }
    }
    // Put, send, load, commit and tell of two events, before and after each.
    assert_eq!(crashes, 20);
}

#[tokio::test]
async fn a_crash_after_the_commit_before_the_message_is_deleted_decides_nothing_twice() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    show(&machine, "sub_1", "active");
    post(&machine, &worker, &about("sub_1", "evt_1")).await;
    machine.relay(&worker, 100).await.unwrap();
    let batch: ReceivedBatch = machine.receive().await.unwrap().unwrap();
    assert!(machine.handle(&worker, &batch).await.unwrap().is_empty());
    let before = story(&machine, &worker, &subscription("sub_1")).await;
    // The message is seen again, by another worker.
    let other = machine.worker().unwrap();
    assert!(machine.handle(&other, &batch).await.unwrap().is_empty());
    let after = story(&machine, &worker, &subscription("sub_1")).await;
    assert_eq!(before.projection, after.projection);
    assert_eq!(machine.standin.reads(), 1);
}

#[tokio::test]
async fn a_response_lost_after_any_write_a_conflict_and_a_throttle_at_any_write_end_the_same() {
    let machine = machine().await;
    let healthy = machine.worker().unwrap();
    for operation in [
        "PutItem",
        "SendMessageBatch",
        "BatchGetItem",
        "TransactWriteItems",
    ] {
        for fault in [
            Fault::LostResponse,
            Fault::LostRequest,
            Fault::Throttled,
            Fault::Conflict,
        ] {
            // A conflict is an answer of the tables' writes only.
            if fault == Fault::Conflict && !matches!(operation, "PutItem" | "TransactWriteItems") {
                continue;
            }
            // Once, so that the SDK's own retry meets the write done; and so often that it gives up.
            for times in [1, 5] {
                let id = format!("sub_{operation}_{fault:?}_{times}");
                let faults = Faults::strike(operation, 0, times, fault);
                let struck = machine.worker_over(Some(faults.client())).unwrap();
                until_done(&machine, &struck, &id).await;
                assert!(faults.spent(), "{operation} {fault:?} {times}");
                ends_well(
                    &machine,
                    &healthy,
                    &id,
                    &format!("{operation} {fault:?} {times}"),
                )
                .await;
            }
        }
    }
}

/// As [`walk`], where a step may fail and its caller tries again, as the mappings do.
async fn until_done(machine: &Machine, worker: &Worker, id: &str) {
    for (event, status) in [("1", "active"), ("2", "canceled")] {
        show(machine, id, status);
        let body = about(id, &format!("{id}-{event}"));
        let mut answers = Vec::new();
        loop {
            let status = post(machine, worker, &body).await.status_code;
            answers.push(status);
            if status == 200 {
                break;
            }
            assert_eq!(status, 503);
            assert!(answers.len() < 10, "{answers:?}");
        }
        for _ in 0..20 {
            machine.settle(worker).await.unwrap();
            machine.give_back().await;
        }
    }
}

#[tokio::test]
async fn an_update_that_changes_nothing_survives_the_same_faults() {
    let machine = machine().await;
    let healthy = machine.worker().unwrap();
    for fault in [
        Fault::LostResponse,
        Fault::LostRequest,
        Fault::Throttled,
        Fault::Conflict,
    ] {
        for times in [1, 5] {
            let id = format!("sub_{fault:?}_{times}");
            show(&machine, &id, "active");
            post(&machine, &healthy, &about(&id, &format!("{id}-1"))).await;
            machine.settle(&healthy).await.unwrap();
            let faults = Faults::strike("UpdateItem", 0, times, fault);
            let struck = machine.worker_over(Some(faults.client())).unwrap();
            post(&machine, &struck, &about(&id, &format!("{id}-2"))).await;
            for _ in 0..20 {
                machine.settle(&struck).await.unwrap();
                machine.give_back().await;
            }
            // A write whose answers are all lost is done: whoever looks next finds it decided.
            assert!(faults.struck() > 0, "{fault:?} {times}");
            let story = story(&machine, &healthy, &subscription(&id)).await;
            assert_eq!(outcomes(&story).len(), 2, "{fault:?} {times}: {story:?}");
            assert_eq!(says(&story), "active");
        }
    }
}

#[tokio::test]
async fn marks_on_their_way_to_a_page_survive_a_crash_at_any_step_and_are_told_once() {
    let machine = machine().await;
    let healthy = machine.worker().unwrap();
    let faults = [
        Fault::CrashBefore,
        Fault::CrashAfter,
        Fault::LostResponse,
        Fault::Throttled,
    ];
    for fault in faults {
        // The copy to the page is the second write of its kind after the webhook's own; the update follows.
        for (operation, after) in [("PutItem", 1), ("UpdateItem", 0)] {
            let id = format!("sub_{fault:?}_{operation}");
            show(&machine, &id, "active");
            for event in 0..9 {
                post(&machine, &healthy, &about(&id, &format!("{id}-{event}"))).await;
                machine.settle(&healthy).await.unwrap();
            }
            let faults = Faults::strike(operation, after, 1, fault);
            let struck = machine.worker_over(Some(faults.client())).unwrap();
            let last = about(&id, &format!("{id}-9"));
            let walk = async {
                assert_eq!(post(&machine, &struck, &last).await.status_code, 200);
                machine.settle(&struck).await.unwrap();
            };
            tokio::select! {
                () = walk => {}
                () = faults.crashed() => {}
            }
            assert!(faults.spent(), "{fault:?} {operation}");
            drop(struck);
            machine.give_back().await;
            machine.settle(&healthy).await.unwrap();
            let story = story(&machine, &healthy, &subscription(&id)).await;
            assert_eq!(
                outcomes(&story).len(),
                10,
                "{fault:?} {operation}: {story:?}"
            );
        }
    }
}

//! A crash at any step of an effect's life, and an answer that is lost at any of them. A destination that knows keys and
//! one that can be asked act exactly once; one that does neither acts once at most, and then it may be that only a person
//! can say.

use std::time::Duration;

use lastword_domain::EffectStatus::{self, Ambiguous, Done};
use lastword_local::destination::{Destination, Next};
use lastword_local::machine::{Machine, Worker};
use lastword_store::KeptEffect;

use super::world::*;
use crate::faults::{Fault, Faults};

/// The effects of the configuration that lead to each kind of destination.
const ALL: [(&str, &str); 3] = [("receipt", "mail"), ("ticket", "desk"), ("fax", "plain")];

/// A bill that calls for the effect, ready to be sent.
async fn ready(machine: &Machine, worker: &Worker, effect: &str, id: &str) -> KeptEffect {
    let body = match effect {
        "receipt" => bill(&format!("e-{id}"), "paid", id, 1, "paid"),
        _ => refund(&format!("e-{id}"), id, 1, id),
    };
    send(machine, worker, &body).await;
    machine.settle(worker).await.unwrap();
    the(machine, worker, effect, id).await
}

async fn the(machine: &Machine, worker: &Worker, effect: &str, id: &str) -> KeptEffect {
    let effects = effects_of_bill(machine, worker, id).await;
    let mut all = effects.into_iter();
    all.find(|found| found.key.rule.name.as_str() == effect)
        .unwrap()
}

/// Others get the message again and again until nothing follows by itself.
async fn finished(machine: &Machine, worker: &Worker, effect: &KeptEffect) -> EffectStatus {
    for _ in 0..20 {
        if let Some(status) = settled(machine, worker, effect).await {
            return status;
        }
    }
    panic!("it is never settled: {:?}", effect.key);
}

/// What destinations did, and what is said of it.
fn once(to: &Destination, name: &str, effect: &KeptEffect, status: EffectStatus, what: &str) {
    let actions = to.actions().get(&key_of(effect)).copied().unwrap_or(0);
    if name == "plain" {
        assert!(actions <= 1, "{what}: {actions}");
        if status == Done {
            assert_eq!(actions, 1, "{what}");
        } else {
            assert_eq!(status, Ambiguous, "{what}");
        }
    } else {
        assert_eq!((actions, status), (1, Done), "{what} to {name}");
    }
}

#[tokio::test]
async fn a_crash_before_or_after_any_request_of_the_store_never_sends_twice_or_loses() {
    let machine = shop().await;
    let healthy = machine.worker().unwrap();
    let mut crashes = 0;
    for (name, destination) in ALL {
        let to = machine.destination(destination).unwrap();
        for fault in [Fault::CrashBefore, Fault::CrashAfter] {
            for step in 0.. {
                let what = format!("{name}-{fault:?}-{step}");
                let effect = ready(&machine, &healthy, name, &what).await;
                let faults = Faults::strike("", step, 1, fault);
                let dying = machine.worker_over(Some(faults.client())).unwrap();
                let died = tokio::select! {
                    settled = machine.dispatch_these(&dying, std::slice::from_ref(&effect)) => {
                        settled.unwrap();
                        false
                    }
                    () = faults.crashed() => true,
                };
                drop(dying);
                if !died {
                    break;
                }
                crashes += 1;
                let status = finished(&machine, &healthy, &effect).await;
                once(to, destination, &effect, status, &what);
            }
        }
    }
    // Look, its fact, claim and record; before and after each, at three destinations.
    assert_eq!(crashes, 24);
}

#[tokio::test]
async fn an_answer_of_the_store_that_is_lost_refused_or_late_never_sends_twice_or_loses() {
    let machine = shop().await;
    let healthy = machine.worker().unwrap();
    let mut struck = 0;
    for (name, destination) in ALL {
        let to = machine.destination(destination).unwrap();
        for operation in ["BatchGetItem", "GetItem", "UpdateItem"] {
            for fault in [
                Fault::LostResponse,
                Fault::LostRequest,
                Fault::Throttled,
                Fault::Conflict,
            ] {
                if fault == Fault::Conflict && operation != "UpdateItem" {
                    continue;
                }
                // The first or the second request of its kind; once, and so often that the SDK gives up.
                for (after, times) in [(0, 1), (1, 1), (0, 5), (1, 5)] {
                    let what = format!("{name}-{operation}-{fault:?}-{after}-{times}");
                    let effect = ready(&machine, &healthy, name, &what).await;
                    let faults = Faults::strike(operation, after, times, fault);
                    let worker = machine.worker_over(Some(faults.client())).unwrap();
                    // The message is left where the store could not be used.
                    drop(
                        machine
                            .dispatch_these(&worker, std::slice::from_ref(&effect))
                            .await,
                    );
                    struck += faults.struck();
                    let status = finished(&machine, &healthy, &effect).await;
                    once(to, destination, &effect, status, &what);
                }
            }
        }
    }
    assert!(struck > 100, "{struck}");
}

#[tokio::test]
async fn a_claim_whose_answer_was_lost_is_known_as_one_s_own_and_nothing_is_in_doubt() {
    let machine = shop().await;
    let healthy = machine.worker().unwrap();
    let effect = ready(&machine, &healthy, "fax", "b1").await;
    let faults = Faults::strike("UpdateItem", 0, 1, Fault::LostResponse);
    let worker = machine.worker_over(Some(faults.client())).unwrap();
    machine
        .dispatch_these(&worker, std::slice::from_ref(&effect))
        .await
        .unwrap();
    assert!(faults.spent());
    assert_eq!(the(&machine, &healthy, "fax", "b1").await.status, Done);
}

#[tokio::test]
async fn a_dispatcher_that_dies_while_its_request_is_under_way_leaves_no_second_action() {
    let machine = shop().await;
    let healthy = machine.worker().unwrap();
    for (name, destination) in ALL {
        let to = machine.destination(destination).unwrap();
        for before_acting in [true, false] {
            let what = format!("{name}-{before_acting}");
            let effect = ready(&machine, &healthy, name, &what).await;
            let held = match before_acting {
                true => to.hold_next_before_acting(),
                false => to.hold_next(),
            };
            let dying = machine.worker().unwrap();
            tokio::select! {
                _ = machine.dispatch_these(&dying, std::slice::from_ref(&effect)) => panic!("it was held"),
                () = held.reached() => {}
            }
            // The request arrives although its sender is gone.
            held.release();
            let acted = async || to.actions().contains_key(&key_of(&effect));
            until_so("the destination acted", acted).await;
            let status = finished(&machine, &healthy, &effect).await;
            once(to, destination, &effect, status, &what);
            assert_eq!(to.actions()[&key_of(&effect)], 1, "{what}");
        }
    }
}

#[tokio::test]
async fn whatever_a_destination_answers_and_does_it_acts_once_at_most_and_what_is_said_is_true() {
    let machine = shop().await;
    let healthy = machine.worker().unwrap();
    let answers = [
        Next::ActAndDrop,
        Next::Drop,
        Next::ActAndAnswer(500),
        Next::Answer(500),
        Next::ActAndAnswer(503),
        Next::Answer(503),
        Next::Answer(429),
        Next::Answer(408),
    ];
    for (name, destination) in ALL {
        let to = machine.destination(destination).unwrap();
        for (at, first) in answers.into_iter().enumerate() {
            for (and_then, second) in answers.into_iter().enumerate() {
                let what = format!("{name}-{at}-{and_then}");
                let effect = ready(&machine, &healthy, name, &what).await;
                to.next(first);
                if name == "receipt" {
                    to.next(second);
                }
                let status = finished(&machine, &healthy, &effect).await;
                once(
                    to,
                    destination,
                    &effect,
                    status,
                    &format!("{what}: {first:?}, {second:?}"),
                );
                if name != "receipt" {
                    break;
                }
            }
        }
    }
}

#[tokio::test]
async fn what_a_destination_refuses_is_failed_and_was_not_acted_on() {
    let machine = shop().await;
    let healthy = machine.worker().unwrap();
    for (name, destination) in ALL {
        let to = machine.destination(destination).unwrap();
        for status in [400, 401, 403, 404, 409, 422, 301] {
            let effect = ready(&machine, &healthy, name, &format!("{name}-{status}")).await;
            to.next(Next::Answer(status));
            let found = finished(&machine, &healthy, &effect).await;
            assert_eq!(found, EffectStatus::Failed, "{name} {status}");
            assert!(!to.actions().contains_key(&key_of(&effect)));
            let kept = the(&machine, &healthy, name, &format!("{name}-{status}")).await;
            let error = kept.error.unwrap();
            assert!(error.contains(&status.to_string()), "{error}");
        }
    }
}

#[tokio::test]
async fn a_dispatcher_that_lost_its_lease_cannot_write_over_what_a_newer_one_wrote() {
    let machine = shop().await;
    let healthy = machine.worker().unwrap();
    for (name, destination) in ALL {
        let to = machine.destination(destination).unwrap();
        let effect = ready(&machine, &healthy, name, name).await;
        // It acted, and its answer takes longer than the lease.
        let held = to.hold_next();
        let slow = machine.worker().unwrap();
        let late = machine.dispatch_these(&slow, std::slice::from_ref(&effect));
        let meanwhile = async {
            held.reached().await;
            machine.go_on(Duration::from_secs(3600));
            let status = finished(&machine, &healthy, &effect).await;
            let kept = the(&machine, &healthy, name, name).await;
            held.release();
            (status, kept)
        };
        let (_, (status, kept)) = tokio::join!(late, meanwhile);
        once(to, destination, &effect, status, name);
        assert_eq!(to.actions()[&key_of(&effect)], 1, "{name}");
        let after = the(&machine, &healthy, name, name).await;
        assert_eq!(
            (after.status, after.claims),
            (kept.status, kept.claims),
            "{name}"
        );
    }
}

#[tokio::test]
async fn two_dispatchers_at_one_message_send_once() {
    let machine = shop().await;
    let healthy = machine.worker().unwrap();
    for (name, destination) in ALL {
        let to = machine.destination(destination).unwrap();
        for round in 0..8 {
            let effect = ready(&machine, &healthy, name, &format!("{name}-{round}")).await;
            let workers: Vec<_> = (0..4).map(|_| machine.worker().unwrap()).collect();
            let all = workers
                .iter()
                .map(|worker| machine.dispatch_these(worker, std::slice::from_ref(&effect)));
            futures_util::future::try_join_all(all).await.unwrap();
            let status = finished(&machine, &healthy, &effect).await;
            assert_eq!(status, Done);
            assert_eq!(to.actions()[&key_of(&effect)], 1, "{name}");
        }
    }
}

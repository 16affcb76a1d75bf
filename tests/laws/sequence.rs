//! Strategy `sequence` through the whole path: changes under a gapless count, in whatever order they come.

use lastword_domain::{Outcome, Reason};
use serde_json::json;

use crate::faults::{Fault, Faults};
use crate::shop::*;
use crate::world::*;

fn gap() -> Vec<String> {
    vec!["lastword.gap".to_owned()]
}

#[tokio::test]
async fn changes_in_any_order_and_repeated_end_in_one_state_and_every_event_is_decided() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    let orders = orders(&[1, 2, 3, 4, 5], 4);
    for step in 0..7 {
        for (at, order) in orders.iter().enumerate() {
            // The first comes again in the middle under its own event, the last at the end under another.
            let number = match step {
                0..3 => order[step],
                3 => order[0],
                4 | 5 => order[step - 1],
                _ => order[4],
            };
            let again = if step == 6 { "again" } else { "" };
            let event = format!("{at}-{number}{again}");
            let id = format!("l{at}");
            send(&machine, &worker, &change(&event, "hasty", &id, number)).await;
        }
        machine.settle(&worker).await.unwrap();
    }
    let all = json!({"n1":1,"n2":2,"n3":3,"n4":4,"n5":5,"last":5});
    for (at, order) in orders.iter().enumerate() {
        let id = format!("l{at}");
        let told = story_of(&machine, &worker, "hasty", &id).await;
        assert_eq!(counted(&told)["applied"], 5, "{order:?}: {told:?}");
        assert_eq!(state(&told), all, "{order:?}");
        assert_eq!(counted(&told)["duplicate"], 1, "{order:?}: {told:?}");
        assert_eq!(told.changes.len(), 5, "{order:?}: {:?}", told.changes);
        assert_eq!(open(&told.reviews), Vec::<String>::new(), "{order:?}");
    }
}

#[tokio::test]
async fn a_change_waits_visibly_for_the_one_before_it_and_is_applied_and_marked_when_that_comes() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    for number in [1, 3, 4] {
        let event_id = format!("e{number}");
        send(&machine, &worker, &change(&event_id, "ledger", "l", number)).await;
        let left = handle(&worker, &signal("ledger", "l", &[event(&event_id)]), AMPLE).await;
        // What waits is looked at again.
        assert_eq!(left, usize::from(number > 1));
    }
    let told = story_of(&machine, &worker, "ledger", "l").await;
    assert_eq!(state(&told)["last"], 1);
    assert_eq!(decided(&told, &event("e3")), Some(Outcome::Waiting));
    let waits = told.changes.iter().any(|c| c.number.as_str() == "3");
    assert!(waits, "{:?}", told.changes);
    assert!(told.projection.as_ref().unwrap().waiting);
    send(&machine, &worker, &change("e2", "ledger", "l", 2)).await;
    // The queue gives the messages of one group together.
    let together = signal("ledger", "l", &["e3", "e4", "e2"].map(event));
    assert_eq!(handle(&worker, &together, AMPLE).await, 0);
    let told = story_of(&machine, &worker, "ledger", "l").await;
    assert_eq!(state(&told), json!({"n1":1,"n2":2,"n3":3,"n4":4,"last":4}));
    assert!(!told.projection.unwrap().waiting);
}

#[tokio::test]
async fn a_gap_that_outlives_its_patience_opens_a_review_which_is_withdrawn_when_the_change_comes()
{
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    let bodies: Vec<_> = [1, 3, 5]
        .map(|number| change(&format!("e{number}"), "hasty", "h", number))
        .into();
    each(&machine, &worker, &bodies).await;
    let told = story_of(&machine, &worker, "hasty", "h").await;
    assert_eq!(open(&told.reviews), gap());
    assert_eq!(counted(&told)["waiting"], 2);
    // The second gap takes the place of the first.
    each(&machine, &worker, &[change("e2", "hasty", "h", 2)]).await;
    let told = story_of(&machine, &worker, "hasty", "h").await;
    assert_eq!(state(&told)["last"], 3);
    assert_eq!(open(&told.reviews), gap());
    assert_eq!(told.reviews.len(), 2, "{:?}", told.reviews);
    each(&machine, &worker, &[change("e4", "hasty", "h", 4)]).await;
    let told = story_of(&machine, &worker, "hasty", "h").await;
    assert_eq!(state(&told)["last"], 5);
    assert_eq!(counted(&told)["applied"], 5);
    assert_eq!(open(&told.reviews), Vec::<String>::new());
}

#[tokio::test]
async fn two_changes_under_one_number_are_contested_in_every_order_and_a_person_is_asked() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    let other = |id: &str| {
        let object = format!(r#"{{"id":"{id}","number":2,"change":{{"other":true}}}}"#);
        told(&format!("{id}-other"), "hasty.changed", &object)
    };
    let mut ends = Vec::new();
    for (at, order) in orders(&[1, 2, 3, 9], 1).into_iter().enumerate() {
        let id = format!("h{at}");
        let bodies: Vec<_> = order
            .iter()
            .map(|number| match number {
                9 => other(&id),
                number => change(&format!("{id}-{number}"), "hasty", &id, *number),
            })
            .collect();
        each(&machine, &worker, &bodies).await;
        let told = story_of(&machine, &worker, "hasty", &id).await;
        assert_eq!(says(&told), "contested", "{order:?}: {told:?}");
        let held = told.projection.as_ref().unwrap();
        let contents = format!(
            "{:?}",
            held.contents.as_ref().unwrap().iter().collect::<Vec<_>>()
        );
        ends.push((contents, open(&told.reviews)));
    }
    assert_eq!(ends[0].1, ["lastword.contested"]);
    assert!(
        ends.iter().all(|end| *end == ends[0]),
        "{:#?} {:#?}",
        ends[0],
        ends.iter().find(|end| **end != ends[0])
    );
}

#[tokio::test]
async fn a_number_of_39_digits_is_refused_and_nothing_else_suffers() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    let number = "1".repeat(39);
    let object = format!(r#"{{"id":"h","number":{number},"change":{{"bad":true}}}}"#);
    for body in [
        change("e1", "hasty", "h", 1),
        told("bad", "hasty.changed", &object),
        change("e2", "hasty", "h", 2),
    ] {
        send(&machine, &worker, &body).await;
    }
    machine.settle(&worker).await.unwrap();
    let told = story_of(&machine, &worker, "hasty", "h").await;
    assert_eq!(state(&told), json!({"n1":1,"n2":2,"last":2}));
    let bad = told.decisions.iter().find(|d| d.event == event("bad"));
    let bad = bad.unwrap();
    assert_eq!(
        (bad.outcome, bad.reason),
        (Some(Outcome::Failed), Some(Reason::Unparsable))
    );
    assert_eq!(open(&told.reviews), Vec::<String>::new());
}

#[tokio::test]
async fn what_comes_after_a_deletion_is_for_a_person_unless_it_comes_back_in_every_order() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    for kind in ["hasty", "lasting"] {
        let mut ends = Vec::new();
        for (at, order) in orders(&[1, 2, 3, 4], 1).into_iter().enumerate() {
            let id = format!("d{at}");
            let bodies: Vec<_> = order
                .iter()
                .map(|number| {
                    let body = change(&format!("{kind}-{id}-{number}"), kind, &id, *number);
                    match number {
                        3 => body.replace(".changed", ".deleted"),
                        _ => body,
                    }
                })
                .collect();
            each(&machine, &worker, &bodies).await;
            let told = story_of(&machine, &worker, kind, &id).await;
            let held = told.projection.as_ref().unwrap();
            ends.push((
                format!("{:?}", held.contents),
                held.version.clone(),
                open(&told.reviews),
            ));
            let unlike = &ends[0] != ends.last().unwrap();
            assert!(!unlike, "{kind} {order:?}: {:?} {:?}", ends[0], ends.last());
            match kind {
                "hasty" => {
                    assert_eq!(says(&told), "deleted");
                    assert_eq!(open(&told.reviews), ["lastword.changed-after-deletion"]);
                }
                _ => assert_eq!(state(&told), json!({"n4":4,"last":4})),
            }
        }
    }
}

#[tokio::test]
async fn a_waiting_change_whose_body_is_gone_is_neither_looked_for_without_end_nor_passed_over() {
    let machine = shop().await;
    let faults = Faults::none();
    let worker = machine.worker_over(Some(faults.client())).unwrap();
    let bodies = [1, 3].map(|n| change(&format!("e{n}"), "hasty", "h", n));
    each(&machine, &worker, &bodies).await;
    machine
        .stores
        .dynamodb()
        .delete_item()
        .table_name(lastword_local::machine::INBOX_TABLE)
        .key(
            "pk",
            aws_sdk_dynamodb::types::AttributeValue::S(event("e3").event().to_owned()),
        )
        .key(
            "sk",
            aws_sdk_dynamodb::types::AttributeValue::S("event".to_owned()),
        )
        .send()
        .await
        .unwrap();
    let before = faults.seen().len();
    let bodies = [2, 4].map(|n| change(&format!("e{n}"), "hasty", "h", n));
    each(&machine, &worker, &bodies).await;
    for _ in 0..5 {
        machine.give_back().await;
        machine.settle(&worker).await.unwrap();
    }
    let requests = faults.seen().len() - before;
    assert!(requests < 80, "{requests}");
    let told = story_of(&machine, &worker, "hasty", "h").await;
    assert_eq!(
        state(&told)["last"],
        2,
        "nothing is applied over the missing one"
    );
    assert_eq!(open(&told.reviews), gap(), "{told:?}");
    // The sender tells the same change again under another event.
    each(&machine, &worker, &[change("e3-again", "hasty", "h", 3)]).await;
    let told = story_of(&machine, &worker, "hasty", "h").await;
    assert_eq!(state(&told)["last"], 4, "{told:?}");
    assert_eq!(open(&told.reviews), Vec::<String>::new());
}

#[tokio::test]
async fn three_hundred_changes_in_reverse_are_all_applied_in_bounded_turns() {
    let machine = shop().await;
    let faults = Faults::none();
    let worker = machine.worker_over(Some(faults.client())).unwrap();
    for kind in ["ledger", "hasty"] {
        let mut events = Vec::new();
        for number in (1..=300).rev() {
            let id = format!("{kind}{number}");
            send(&machine, &worker, &change(&id, kind, "l", number)).await;
            events.push(event(&id));
        }
        let before = faults.seen().len();
        if kind == "ledger" {
            // All of them in one batch.
            assert_eq!(handle(&worker, &signal(kind, "l", &events), AMPLE).await, 0);
        }
        // As the queue gives them.
        machine.settle(&worker).await.unwrap();
        let requests = faults.seen().len() - before;
        println!("{kind}: {requests} requests for 300 changes in reverse");
        // Some for each twenty that are taken in, and some for each forty that are applied.
        assert!(requests <= 240, "{requests}");
        let told = story_of(&machine, &worker, kind, "l").await;
        assert_eq!(state(&told)["last"], 300);
        assert_eq!(counted(&told), [("applied", 300)].into());
        assert_eq!(told.changes.len(), 300);
        assert!(!told.projection.unwrap().waiting);
    }
}

#[tokio::test]
async fn a_crash_at_any_request_while_many_waiting_changes_are_applied_leaves_none_of_them_behind()
{
    let machine = shop().await;
    let healthy = machine.worker().unwrap();
    for fault in [Fault::CrashBefore, Fault::CrashAfter] {
        for step in 0.. {
            let id = format!("{fault:?}{step}");
            let body = |number| change(&format!("{id}-{number}"), "hasty", &id, number);
            for number in 2..=60 {
                send(&machine, &healthy, &body(number)).await;
            }
            machine.settle(&healthy).await.unwrap();
            send(&machine, &healthy, &body(1)).await;
            let first = signal("hasty", &id, &[event(&format!("{id}-1"))]);
            let faults = Faults::strike("", step, 1, fault);
            let dying = machine.worker_over(Some(faults.client())).unwrap();
            let died = tokio::select! {
                _ = handle(&dying, &first, AMPLE) => false,
                () = faults.crashed() => true,
            };
            drop(dying);
            assert_eq!(handle(&healthy, &first, AMPLE).await, 0);
            let told = story_of(&machine, &healthy, "hasty", &id).await;
            assert_eq!(state(&told)["last"], 60, "{id}");
            assert_eq!(counted(&told), [("applied", 60)].into(), "{id}");
            assert_eq!(open(&told.reviews), Vec::<String>::new(), "{id}");
            if !died {
                break;
            }
        }
    }
}

#[tokio::test]
async fn one_message_comes_back_for_all_that_waits_and_the_others_make_way_for_what_is_missing() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    let mut signals = Vec::new();
    for number in 2..=9 {
        let id = format!("e{number}");
        send(&machine, &worker, &change(&id, "ledger", "l", number)).await;
        signals.push(signal("ledger", "l", &[event(&id)]));
    }
    assert_eq!(left(&worker, &signals, AMPLE).await, ["m7"]);
    send(&machine, &worker, &change("e1", "ledger", "l", 1)).await;
    let behind = [
        signals.pop().unwrap(),
        signal("ledger", "l", &[event("e1")]),
    ];
    assert_eq!(left(&worker, &behind, AMPLE).await, Vec::<String>::new());
    let told = story_of(&machine, &worker, "ledger", "l").await;
    assert_eq!(
        told.projection
            .as_ref()
            .unwrap()
            .version
            .as_ref()
            .unwrap()
            .to_string(),
        "9"
    );
    assert_eq!(outcomes(&told), [Outcome::Applied; 9]);
}

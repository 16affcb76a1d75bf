//! Law 12: a subject is decided from its members as they are, whoever came first and whoever died on the way.

use lastword_domain::Standing;
use lastword_local::machine::{Machine, Worker};
use lastword_store::SubjectStory;
use serde_json::{Value, json};

use crate::faults::{Fault, Faults};
use crate::shop::*;
use crate::world::*;

/// What matters of a subject's end: verdict, members' roles and standings, open reviews.
fn end(story: &SubjectStory) -> (Value, Vec<String>, Vec<String>) {
    let members = story.loaded.members.iter();
    let mut members: Vec<_> = members
        .map(|member| {
            let standing = match member.contents.standing() {
                Standing::Present(json) => json.as_str().to_owned(),
                Standing::Deleted => "deleted".to_owned(),
                Standing::Contested(all) => format!("{} contested", all.iter().count()),
            };
            format!("{} {standing}", member.role)
        })
        .collect();
    members.sort();
    (verdict(story), members, open(&story.reviews))
}

fn state_of(story: &SubjectStory) -> Value {
    verdict(story)["state"].clone()
}

#[tokio::test]
async fn a_payment_and_a_cancelled_shipment_are_a_contradiction_in_every_order() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    let told = [
        ("payment", 1, "open"),
        ("payment", 2, "paid"),
        ("shipment", 1, "sent"),
        ("shipment", 2, "cancelled"),
    ];
    let mut ends = Vec::new();
    for (at, order) in orders(&told, 1).iter().enumerate() {
        let id = format!("o{at}");
        let bodies: Vec<_> = order
            .iter()
            .map(|(kind, version, status)| of_order(kind, &id, *version, status, &id))
            .collect();
        each(&machine, &worker, &bodies).await;
        let (verdict, members, open) = end(&order_story(&worker, &id).await);
        let members: Vec<_> = members.iter().map(|m| m.replace(&id, "")).collect();
        ends.push((verdict, members, open));
    }
    assert_eq!(ends[0].0["state"], "contradiction");
    assert_eq!(ends[0].0["allowed"], json!([]));
    assert_eq!(ends[0].2, ["paid-and-cancelled"]);
    assert!(ends.iter().all(|end| *end == ends[0]), "{ends:#?}");
}

#[tokio::test]
async fn a_link_that_only_the_read_shows_makes_a_member_and_another_link_moves_it() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    let path = "/v1/subscriptions/sub_1";
    let shows = |order: &str| {
        let object = format!(r#"{{"id":"sub_1","status":"active","order":"{order}"}}"#);
        machine.standin.show(path, object);
    };
    for (number, order) in [(1, "o1"), (2, "o2")] {
        shows(order);
        post(&machine, &worker, &about("sub_1", &format!("evt_{number}"))).await;
        machine.settle(&worker).await.unwrap();
        let story = order_story(&worker, order).await;
        assert_eq!(verdict(&story)["data"]["contract"], "present");
    }
    let left = order_story(&worker, "o1").await;
    assert_eq!(left.loaded.members, []);
    assert_eq!(verdict(&left), Value::Null);
}

#[tokio::test]
async fn a_deleted_member_is_missing_and_a_missing_one_is_shown_as_missing() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    let bodies = [
        of_order("payment", "p", 1, "paid", "o"),
        of_order("shipment", "s", 1, "sent", "o"),
    ];
    each(&machine, &worker, &bodies[..1]).await;
    let story = order_story(&worker, "o").await;
    assert_eq!(state_of(&story), "incomplete");
    let data = json!({"payment":"present","shipment":"missing","contract":"missing","remarks":0});
    assert_eq!(verdict(&story)["data"], data);
    each(&machine, &worker, &bodies[1..]).await;
    let story = order_story(&worker, "o").await;
    assert_eq!(verdict(&story)["allowed"], json!(["confirm"]));
    each(
        &machine,
        &worker,
        &[versioned("gone", "shipment", "s", 2, "deleted")],
    )
    .await;
    let story = order_story(&worker, "o").await;
    assert_eq!(verdict(&story)["data"], data);
    assert_eq!(verdict(&story)["allowed"], json!([]));
    assert_eq!(story.loaded.members.len(), 1);
}

#[tokio::test]
async fn several_in_a_role_for_one_are_shown_as_several_and_a_person_is_asked_until_one_leaves() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    let mut ends = Vec::new();
    for order in [["a", "b"], ["b", "a"]] {
        let o = format!("o{}", ends.len());
        let bodies = order.map(|id| of_order("payment", &format!("{o}{id}"), 1, "paid", &o));
        each(&machine, &worker, &bodies).await;
        let story = order_story(&worker, &o).await;
        assert_eq!(state_of(&story), "unclear");
        assert_eq!(verdict(&story)["data"]["payment"], "several");
        ends.push(open(&story.reviews));
    }
    assert!(
        ends.iter()
            .all(|open| open == &["lastword.several-members"])
    );
    each(
        &machine,
        &worker,
        &[of_order("payment", "o0a", 2, "paid", "other")],
    )
    .await;
    let story = order_story(&worker, "o0").await;
    assert_eq!(verdict(&story)["data"]["payment"], "present");
    assert_eq!(open(&story.reviews), Vec::<String>::new());
}

#[tokio::test]
async fn a_contested_member_is_shown_as_contested_in_either_order() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    for (o, statuses) in [("o1", ["paid", "open"]), ("o2", ["open", "paid"])] {
        let mut bodies = vec![of_order("shipment", o, 1, "sent", o)];
        bodies.extend(statuses.map(|status| of_order("payment", o, 5, status, o)));
        each(&machine, &worker, &bodies).await;
        let story = order_story(&worker, o).await;
        assert_eq!(state_of(&story), "contested");
        assert_eq!(verdict(&story)["allowed"], json!([]));
        assert_eq!(verdict(&story)["data"]["payment"], "contested");
    }
}

/// Two members change.
async fn two_changes(machine: &Machine, worker: &Worker, o: &str) {
    for (kind, status) in [("payment", "paid"), ("shipment", "cancelled")] {
        send(machine, worker, &of_order(kind, o, 2, status, o)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_members_that_change_at_once_under_two_workers_are_decided_once_from_both() {
    let machine = shop().await;
    let (one, other) = (machine.worker().unwrap(), machine.worker().unwrap());
    for round in 0..20 {
        let o = format!("o{round}");
        let first = ["payment", "shipment"].map(|kind| of_order(kind, &o, 1, "open", &o));
        each(&machine, &one, &first).await;
        two_changes(&machine, &one, &o).await;
        machine.relay(&one, 100).await.unwrap();
        let batches = [
            machine.receive().await.unwrap(),
            machine.receive().await.unwrap(),
        ];
        let [Some(batch), None] = &batches else {
            panic!("one batch of two groups: {batches:?}");
        };
        // Both workers are handed everything, twice over: each message is at least once.
        let all = tokio::join!(machine.handle(&one, batch), machine.handle(&other, batch));
        assert!(all.0.unwrap().is_empty() && all.1.unwrap().is_empty());
        machine.delete(batch, &[]).await.unwrap();
        while machine.relay(&one, 100).await.unwrap() > 0 {}
        let batch = machine.receive().await.unwrap().unwrap();
        let all = tokio::join!(machine.handle(&one, &batch), machine.handle(&other, &batch));
        assert!(all.0.unwrap().is_empty() && all.1.unwrap().is_empty());
        machine.delete(&batch, &[]).await.unwrap();
        machine.settle(&one).await.unwrap();
        let story = order_story(&one, &o).await;
        assert_eq!(state_of(&story), "contradiction");
        assert_eq!(open(&story.reviews), ["paid-and-cancelled"]);
    }
}

#[tokio::test]
async fn a_subject_decided_from_older_members_loses_to_one_that_says_the_same_as_before() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    let bodies = ["payment", "shipment"].map(|kind| of_order(kind, "o", 1, "open", "o"));
    each(&machine, &worker, &bodies).await;
    // A stalled worker has loaded what was so.
    let stalled = worker.state.load_subject(&the_order("o")).await.unwrap();
    each(
        &machine,
        &worker,
        &[of_order("payment", "o", 2, "new", "o")],
    )
    .await;
    let after = worker.state.load_subject(&the_order("o")).await.unwrap();
    assert_eq!(after.meaning, stalled.meaning, "the verdict is the same");
    assert!(after.revision > stalled.revision);
    let commit = lastword_store::SubjectCommit {
        subject: &the_order("o"),
        held: &stalled,
        next: &stalled.meaning,
        evidence: &lastword_domain::Evidence::new(),
        now: lastword_store::Moment::from_unix_ms(0),
        called: &stalled.called,
        effects: &[],
        report: None,
    };
    let committed = worker.state.commit_subject(&commit).await.unwrap();
    assert_eq!(committed, lastword_store::Committed::Lost);
}

/// Two members come and change; whatever fails is tried again.
async fn walk(machine: &Machine, worker: &Worker, o: &str) {
    for (kind, version, status) in [
        ("payment", 1, "open"),
        ("shipment", 1, "sent"),
        ("payment", 2, "paid"),
        ("shipment", 2, "cancelled"),
    ] {
        let body = of_order(kind, o, version, status, o);
        let mut tries = 0;
        while machine
            .deliver(worker, "shop", &[], &body)
            .await
            .unwrap()
            .status_code
            != 200
        {
            tries += 1;
            assert!(tries < 10);
        }
        machine.settle(worker).await.unwrap();
    }
}

async fn ends_well(worker: &Worker, o: &str, what: &str) {
    let (verdict, members, open) = end(&order_story(worker, o).await);
    assert_eq!(verdict["state"], "contradiction", "{what}");
    assert_eq!(members.len(), 2, "{what}");
    assert_eq!(open, ["paid-and-cancelled"], "{what}");
}

#[tokio::test]
async fn a_crash_at_any_request_of_a_member_s_or_a_subject_s_decision_ends_the_same() {
    let mut crashes = 0;
    for fault in [Fault::CrashBefore, Fault::CrashAfter] {
        for step in 0.. {
            let machine = shop().await;
            let healthy = machine.worker().unwrap();
            let o = format!("{fault:?}{step}");
            let faults = Faults::strike("", step, 1, fault);
            let dying = machine.worker_over(Some(faults.client())).unwrap();
            let died = tokio::select! {
                () = walk(&machine, &dying, &o) => false,
                () = faults.crashed() => true,
            };
            drop(dying);
            if !died {
                break;
            }
            crashes += 1;
            machine.give_back().await;
            machine.rewind().await;
            walk(&machine, &healthy, &o).await;
            ends_well(&healthy, &o, &o).await;
        }
    }
    println!("{crashes} crashes");
    assert!(crashes > 50, "{crashes}");
}

#[tokio::test]
async fn a_lost_answer_a_throttle_and_a_conflict_at_any_request_end_the_same() {
    let faults = [
        Fault::LostResponse,
        Fault::LostRequest,
        Fault::Throttled,
        Fault::Conflict,
    ];
    for fault in faults {
        let machine = shop().await;
        let healthy = machine.worker().unwrap();
        for operation in [
            "GetItem",
            "Query",
            "PutItem",
            "TransactWriteItems",
            "SendMessageBatch",
        ] {
            let writes = matches!(operation, "PutItem" | "TransactWriteItems");
            if fault == Fault::Conflict && !writes {
                continue;
            }
            for (after, times) in [(0, 1), (1, 1), (0, 5)] {
                let o = format!("{fault:?}{operation}{after}{times}");
                let faults = Faults::strike(operation, after, times, fault);
                let struck = machine.worker_over(Some(faults.client())).unwrap();
                walk(&machine, &struck, &o).await;
                assert!(faults.struck() > 0, "{o}");
                for _ in 0..5 {
                    machine.give_back().await;
                    machine.settle(&healthy).await.unwrap();
                }
                ends_well(&healthy, &o, &o).await;
            }
        }
    }
}

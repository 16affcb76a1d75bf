//! Law 11: every accepted event ends in a decision, and nothing blocks its neighbours for ever.

use lastword_domain::{Outcome, Reason};

use crate::world::*;

#[tokio::test]
async fn one_poison_resource_among_a_hundred_is_set_aside_and_the_others_finish() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    for number in 0..100 {
        let id = format!("sub_{number}");
        show(&machine, &id, "active");
        assert_eq!(
            post(&machine, &worker, &about(&id, &format!("evt_{number}")))
                .await
                .status_code,
            200
        );
    }
    machine.standin.answer_with("/v1/subscriptions/sub_50", 500);
    machine.settle(&worker).await.unwrap();
    for number in 0..100 {
        let story = story(&machine, &worker, &subscription(&format!("sub_{number}"))).await;
        if number == 50 {
            assert_eq!(says(&story), "nothing");
            let decision = &story.decisions[0];
            assert_eq!(
                (decision.outcome, decision.reason),
                (Some(Outcome::Exhausted), Some(Reason::Unreadable))
            );
            assert_eq!(decision.attempts, 3);
            assert_eq!(decision.event_id.as_deref(), Some("evt_50"));
            assert!(
                decision
                    .last_error
                    .as_deref()
                    .unwrap_or_default()
                    .contains("500"),
                "{decision:?}"
            );
        } else {
            assert_eq!(outcomes(&story), [Outcome::Applied], "{number}");
        }
    }
    assert_eq!(machine.standin.reads_of("/v1/subscriptions/sub_50"), 3);
    // Its later events are not held up by it either.
    show(&machine, "sub_50", "active");
    post(&machine, &worker, &about("sub_50", "evt_late")).await;
    machine.settle(&worker).await.unwrap();
    assert_eq!(
        says(&story(&machine, &worker, &subscription("sub_50")).await),
        "active"
    );
}

#[tokio::test]
async fn no_answer_but_an_object_or_the_contract_s_evidence_changes_a_projection() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    show(&machine, "sub_1", "active");
    post(&machine, &worker, &about("sub_1", "evt_0")).await;
    machine.settle(&worker).await.unwrap();
    for status in [401, 403, 404, 410, 429, 500, 503, 301, 204] {
        machine
            .standin
            .answer_with("/v1/subscriptions/sub_1", status);
        post(&machine, &worker, &about("sub_1", &format!("evt_{status}"))).await;
        machine.settle(&worker).await.unwrap();
        let story = story(&machine, &worker, &subscription("sub_1")).await;
        assert_eq!(says(&story), "active", "{status}");
        assert!(outcomes(&story).contains(&Outcome::Exhausted), "{status}");
    }
}

#[tokio::test]
async fn an_absence_is_a_tombstone_when_an_event_said_so_and_stays_one() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    let event = |action: &str| {
        format!(
            r#"{{"action":"{action}","issue":{{"number":7}},"repository":{{"id":99,"owner":{{"id":10}}}}}}"#
        )
    };
    let deliver = async |guid: &str, action: &str| {
        let headers = [("X-GitHub-Event", "issues"), ("X-GitHub-Delivery", guid)];
        let reply = machine
            .deliver(&worker, "code", &headers, &event(action))
            .await
            .unwrap();
        assert_eq!(reply.status_code, 200);
        machine.settle(&worker).await.unwrap();
    };
    let issue = key("github", "10", "main", "issue", "99/7");
    let path = "/repositories/99/issues/7";
    machine
        .standin
        .show(path, r#"{"number":7,"status":"open"}"#);
    deliver("guid-1", "opened").await;
    assert_eq!(says(&story(&machine, &worker, &issue).await), "open");
    // Not visible is not deleted.
    machine.standin.answer_with(path, 404);
    deliver("guid-2", "edited").await;
    assert_eq!(says(&story(&machine, &worker, &issue).await), "open");
    deliver("guid-3", "deleted").await;
    assert_eq!(says(&story(&machine, &worker, &issue).await), "deleted");
    deliver("guid-4", "edited").await;
    let told = story(&machine, &worker, &issue).await;
    assert_eq!(says(&told), "deleted");
    assert!(outcomes(&told).contains(&Outcome::Unchanged), "{told:?}");
}

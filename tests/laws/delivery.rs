//! Laws 1 and 3: acknowledged means durable, identity is whole.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use lastword_domain::{Outcome, Reason};

use crate::world::*;

#[tokio::test(flavor = "multi_thread")]
async fn thirty_two_identical_deliveries_at_once_are_one_row_and_thirty_two_acknowledgements() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    show(&machine, "sub_1", "active");
    let body = about("sub_1", "evt_1");
    let replies = join_all((0..32).map(|_| post(&machine, &worker, &body))).await;
    let mut counted: BTreeMap<String, usize> = BTreeMap::new();
    for reply in replies {
        assert_eq!(reply.status_code, 200, "{}", reply.body);
        *counted.entry(reply.body).or_default() += 1;
    }
    assert_eq!(counted[r#"{"received":"new"}"#], 1);
    assert_eq!(counted[r#"{"received":"duplicate"}"#], 31);
    // The stream has one record for each row.
    assert_eq!(machine.relay(&worker, 100).await.unwrap(), 1);
    machine.settle(&worker).await.unwrap();
    let story = story(&machine, &worker, &subscription("sub_1")).await;
    assert_eq!(outcomes(&story), [Outcome::Applied]);
    assert_eq!(says(&story), "active");
}

#[tokio::test]
async fn the_same_identity_with_other_bytes_is_kept_processed_and_told_apart() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    show(&machine, "sub_1", "active");
    let first = about("sub_1", "evt_1");
    let other = format!("{first} ");
    for (body, received) in [
        (&first, "new"),
        (&other, "variant"),
        (&other, "duplicate"),
        (&first, "duplicate"),
    ] {
        let reply = post(&machine, &worker, body).await;
        assert_eq!(
            (reply.status_code, reply.body),
            (200, format!(r#"{{"received":"{received}"}}"#))
        );
    }
    machine.settle(&worker).await.unwrap();
    let story = story(&machine, &worker, &subscription("sub_1")).await;
    assert_eq!(outcomes(&story).len(), 2, "{story:?}");
}

#[tokio::test]
async fn the_same_object_id_under_another_account_is_another_resource_and_read_with_its_own_key() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    show(&machine, "sub_1", "active");
    let own = about("sub_1", "evt_1");
    let other = own.replace("\"livemode\"", "\"account\":\"acct_2\",\"livemode\"");
    for body in [&own, &other] {
        assert_eq!(
            post(&machine, &worker, body).await.body,
            r#"{"received":"new"}"#
        );
    }
    machine.settle(&worker).await.unwrap();
    for account in ["acct_1", "acct_2"] {
        let resource = key("stripe", account, "live", "subscription", "sub_1");
        assert_eq!(says(&story(&machine, &worker, &resource).await), "active");
    }
    let credentials: std::collections::BTreeSet<_> =
        machine.standin.credentials().into_iter().collect();
    assert_eq!(credentials.len(), 2);
}

#[tokio::test]
async fn a_body_over_one_item_s_limit_is_kept_in_parts_and_read_back_whole() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    // Noise does not pack, so this is some 700 KB on disk: two parts.
    let noise = noise(900_000);
    let body = order_event("evt_1", "o_1", 1, "new").replacen(
        '{',
        &format!("{{\"noise\":\"{noise}\","),
        1,
    );
    assert_eq!(
        machine
            .deliver(&worker, "erp", &[], &body)
            .await
            .unwrap()
            .status_code,
        200
    );
    assert_eq!(
        machine
            .deliver(&worker, "erp", &[], &body)
            .await
            .unwrap()
            .body,
        r#"{"received":"duplicate"}"#
    );
    machine.settle(&worker).await.unwrap();
    let story = story(&machine, &worker, &order("o_1")).await;
    assert_eq!(says(&story), "new");
}

#[tokio::test]
async fn a_well_signed_body_that_is_no_json_is_acknowledged_and_ends_in_a_decision() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    let reply = post(&machine, &worker, "this is not json").await;
    assert_eq!(reply.status_code, 200);
    machine.settle(&worker).await.unwrap();
    let id = lastword_domain::Digest::of(b"this is not json").to_text();
    let resource = key("stripe", "acct_1", "live", "unreadable-event", &id);
    let story = story(&machine, &worker, &resource).await;
    assert_eq!(story.decisions.len(), 1, "{story:?}");
    let decision = &story.decisions[0];
    assert_eq!(
        (decision.outcome, decision.reason),
        (Some(Outcome::Failed), Some(Reason::Unparsable))
    );
}

#[tokio::test]
async fn versions_in_any_order_end_at_the_greatest_and_a_late_creation_reopens_nothing() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    for (event, version, status) in [
        ("e3", 3, "cancelled"),
        ("e1", 1, "created"),
        ("e2", 2, "paid"),
        ("e3", 3, "cancelled"),
    ] {
        machine
            .deliver(
                &worker,
                "erp",
                &[],
                &order_event(event, "o_1", version, status),
            )
            .await
            .unwrap();
        machine.settle(&worker).await.unwrap();
    }
    let story = story(&machine, &worker, &order("o_1")).await;
    assert_eq!(says(&story), "cancelled");
    let mut outcomes = outcomes(&story);
    outcomes.sort_by_key(|outcome| outcome.as_str());
    assert_eq!(outcomes, [Outcome::Applied, Outcome::Stale, Outcome::Stale]);
}

#[tokio::test]
async fn equal_versions_with_different_contents_are_contested_in_either_order_until_a_greater_one_comes()
 {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    for (id, order_of) in [("o_1", ["a", "b"]), ("o_2", ["b", "a"])] {
        for status in order_of {
            let body = order_event(&format!("{id}-{status}"), id, 5, status);
            machine.deliver(&worker, "erp", &[], &body).await.unwrap();
            machine.settle(&worker).await.unwrap();
        }
    }
    let one = story(&machine, &worker, &order("o_1"))
        .await
        .projection
        .unwrap();
    let two = story(&machine, &worker, &order("o_2"))
        .await
        .projection
        .unwrap();
    assert!(matches!(
        one.contents.as_ref().unwrap().standing(),
        lastword_domain::Standing::Contested(_)
    ));
    // Both hold both, whichever came first.
    for held in [one, two] {
        let texts = format!("{:?}", held.contents.unwrap().iter().collect::<Vec<_>>());
        for status in ["a", "b"] {
            assert!(
                texts.contains(&format!(r#"\"status\":\"{status}\""#)),
                "{texts}"
            );
        }
    }
    machine
        .deliver(&worker, "erp", &[], &order_event("e6", "o_1", 6, "settled"))
        .await
        .unwrap();
    machine.settle(&worker).await.unwrap();
    assert_eq!(
        says(&story(&machine, &worker, &order("o_1")).await),
        "settled"
    );
}

#[tokio::test]
async fn a_deletion_leaves_a_tombstone_that_a_late_update_does_not_lift() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    for (event, version, status) in [("e1", 1, "new"), ("e3", 3, "deleted"), ("e2", 2, "paid")] {
        machine
            .deliver(
                &worker,
                "erp",
                &[],
                &order_event(event, "o_1", version, status),
            )
            .await
            .unwrap();
        machine.settle(&worker).await.unwrap();
    }
    assert_eq!(
        says(&story(&machine, &worker, &order("o_1")).await),
        "deleted"
    );
}

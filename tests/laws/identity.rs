//! Laws 2, 3, 6 and 7: whose data it is, which event and which object, and what is believed of it.

use lastword_domain::{Outcome, Reason};
use lastword_local::machine::{Machine, Worker};

use crate::world::*;

const ISSUE_PATH: &str = "/repositories/99/issues/7";

fn issue() -> lastword_domain::ResourceKey {
    key("github", "10", "main", "issue", "99/7")
}

/// An event's body about the issue; `more` stands beside it.
fn issue_event(action: &str, more: &str) -> String {
    format!(
        r#"{{"action":"{action}","issue":{{"number":7}}{more},"repository":{{"id":99,"owner":{{"id":10}}}}}}"#
    )
}

/// Delivers under these event names and settles; what the sender was told.
async fn deliver(
    machine: &Machine,
    worker: &Worker,
    guid: &str,
    names: &[&str],
    body: &str,
) -> String {
    let mut headers = vec![("X-GitHub-Delivery", guid)];
    headers.extend(names.iter().map(|name| ("X-GitHub-Event", *name)));
    let reply = machine
        .deliver(worker, "code", &headers, body)
        .await
        .unwrap();
    assert_eq!(reply.status_code, 200, "{}", reply.body);
    machine.settle(worker).await.unwrap();
    reply.body
}

#[tokio::test]
async fn a_signed_comment_under_another_event_s_name_is_no_evidence_of_deletion() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    machine
        .standin
        .show(ISSUE_PATH, r#"{"number":7,"status":"open"}"#);
    let opened = issue_event("opened", "");
    deliver(&machine, &worker, "g1", &["issues"], &opened).await;
    // Captured as `issue_comment`, sent again as `issues` while the key has lost sight of the issue.
    let comment = issue_event("deleted", r#","comment":{"id":1}"#);
    machine.standin.answer_with(ISSUE_PATH, 404);
    deliver(&machine, &worker, "g2", &["issues"], &comment).await;
    let told = story(&machine, &worker, &issue()).await;
    assert_eq!(says(&told), "open");
    assert_eq!(outcomes(&told), [Outcome::Applied]);
    let itself = key("github", "10", "main", "unreadable-event", "g2");
    let told = story(&machine, &worker, &itself).await;
    assert_eq!(told.decisions[0].reason, Some(Reason::Unparsable));
}

#[tokio::test]
async fn a_forged_deletion_does_not_hold_up_a_genuine_event() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    machine
        .standin
        .show(ISSUE_PATH, r#"{"number":7,"status":"closed"}"#);
    let comment = issue_event("deleted", r#","comment":{"id":1}"#);
    deliver(&machine, &worker, "g2", &["issues"], &comment).await;
    let closed = issue_event("closed", "");
    deliver(&machine, &worker, "g1", &["issues"], &closed).await;
    let told = story(&machine, &worker, &issue()).await;
    assert_eq!(says(&told), "closed");
    assert_eq!(outcomes(&told), [Outcome::Applied]);
}

#[tokio::test]
async fn an_authentic_event_whose_type_is_missing_or_ambiguous_ends_in_a_decision() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    let body = issue_event("closed", "");
    for (guid, names) in [("g1", &[][..]), ("g2", &["issues,star"])] {
        let answer = deliver(&machine, &worker, guid, names, &body).await;
        assert_eq!(answer, r#"{"received":"new"}"#, "{names:?}");
        let itself = key("github", "10", "main", "unreadable-event", guid);
        let told = story(&machine, &worker, &itself).await;
        assert_eq!(outcomes(&told), [Outcome::Failed], "{names:?}");
    }
    // A gateway that joined two equal values changed nothing.
    machine
        .standin
        .show(ISSUE_PATH, r#"{"number":7,"status":"closed"}"#);
    deliver(&machine, &worker, "g3", &["issues,issues"], &body).await;
    assert_eq!(says(&story(&machine, &worker, &issue()).await), "closed");
}

#[tokio::test]
async fn two_senders_over_one_account_are_refused_at_the_start() {
    let erp = CONFIG.find("[integrations.erp]").unwrap();
    let carrier = CONFIG[erp..].replace("integrations.erp", "integrations.carrier");
    let text = format!("{CONFIG}{carrier}");
    let refused = lastword_config::Config::parse("lastword.toml", &text).unwrap_err();
    let told = refused.to_string();
    assert!(told.contains("erp and carrier both speak of"), "{told}");
}

/// An order, and the parcel that it may hold.
const PARCEL: &str = r#"
[integrations.erp.define.parcel]
events = ["order.*"]
id = "body:/parcel/id"
snapshot = "/parcel"
version = "/parcel/version"
strategies = ["version"]
"#;

#[tokio::test]
async fn an_event_about_two_things_of_which_one_is_not_in_it_still_tells_the_other() {
    let config = format!("{CONFIG}{PARCEL}");
    let machine = Machine::start(lastword_local::stores::Place::Temporary, &config, NOW)
        .await
        .unwrap();
    let worker = machine.worker().unwrap();
    let body = order_event("e1", "o_1", 1, "new");
    let reply = machine.deliver(&worker, "erp", &[], &body).await.unwrap();
    assert_eq!(reply.status_code, 200);
    machine.settle(&worker).await.unwrap();
    let told = story(&machine, &worker, &order("o_1")).await;
    assert_eq!(says(&told), "new");
    let itself = key("generic-hmac", "main", "live", "unreadable-event", "e1");
    let told = story(&machine, &worker, &itself).await;
    assert_eq!(outcomes(&told), [Outcome::Failed]);
}

#[tokio::test]
async fn a_snapshot_that_can_be_read_in_two_ways_proves_nothing() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    let doubled = r#"{"id":"e2","type":"order.changed","order":{"id":"o_1","version":2,"status":"cancelled","status":"paid"}}"#;
    let first = order_event("e1", "o_1", 1, "new");
    for body in [first.as_str(), doubled] {
        let reply = machine.deliver(&worker, "erp", &[], body).await.unwrap();
        assert_eq!(reply.status_code, 200);
        machine.settle(&worker).await.unwrap();
    }
    let told = story(&machine, &worker, &order("o_1")).await;
    assert_eq!(says(&told), "new");
    assert!(outcomes(&told).contains(&Outcome::Failed), "{told:?}");
}

#[tokio::test]
async fn an_answer_that_is_another_object_is_not_believed() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    show(&machine, "sub_1", "active");
    post(&machine, &worker, &about("sub_1", "evt_0")).await;
    machine.settle(&worker).await.unwrap();
    let path = "/v1/subscriptions/sub_1";
    for (number, answer) in [
        r#"{"id":"sub_2","status":"canceled"}"#,
        r#"{"status":"maintenance"}"#,
    ]
    .into_iter()
    .enumerate()
    {
        machine.standin.show(path, answer);
        let event = format!("evt_other_{number}");
        post(&machine, &worker, &about("sub_1", &event)).await;
        machine.settle(&worker).await.unwrap();
        let told = story(&machine, &worker, &subscription("sub_1")).await;
        assert_eq!(says(&told), "active", "{answer}");
        assert!(outcomes(&told).contains(&Outcome::Exhausted), "{answer}");
    }
}

//! What cannot be recomputed stays as it is, and the report says why.

use aws_sdk_dynamodb::types::AttributeValue;
use lastword_config::Config;
use lastword_domain::{Owner, Part, Rebuilt};
use lastword_local::machine::INBOX_TABLE;

use super::world::*;
use crate::effects::{EFFECTS, bill, of_order, shop, thing};
use crate::shop::{event, story_of, the_order};
use crate::world::{about, post, says, show, story, subscription};

#[tokio::test]
async fn a_state_whose_bodies_are_gone_is_kept_while_all_beside_it_is_rebuilt() {
    let mut machine = shop().await;
    let worker = machine.worker().unwrap();
    for body in [
        bill("e1", "changed", "b1", 1, "open"),
        bill("e2", "paid", "b1", 2, "paid"),
    ] {
        send(&machine, &worker, &body).await;
        machine.settle_all(&worker).await.unwrap();
    }
    let sent = sends(&machine).0;
    let (before, resource) = (stored(&machine).await, thing("bill", "b1"));
    // The greatest version's own event is gone from the inbox, as its retention says.
    assert_eq!(
        remove(&machine, INBOX_TABLE, event("e2").event(), "").await,
        1
    );
    let report = rebuild(&machine, &worker, &resource, "r").await;
    assert_eq!(came_to(&report), (Rebuilt::Kept, vec![]));
    let why = report.why.unwrap();
    assert!(
        why.contains("1 of its events are not in the inbox"),
        "{why}"
    );
    assert_same(&stored(&machine).await, &before);
    let rules = "\n[integrations.shop.rules.bill]\nstate = \"state.status\"\n";
    let config = Config::parse("lastword.toml", &format!("{EFFECTS}{rules}")).unwrap();
    machine.deploy(config).unwrap();
    let worker = machine.worker().unwrap();
    let report = rebuild(&machine, &worker, &resource, "rules").await;
    assert_eq!(came_to(&report), (Rebuilt::Kept, vec![Part::Verdict]));
    let told = story_of(&machine, &worker, "bill", "b1").await;
    assert_eq!(says(&told), "paid");
    assert_eq!(told.facts.len(), 1);
    assert_eq!(sends(&machine).0, sent);
}

#[tokio::test]
async fn a_version_that_no_event_tells_is_not_taken_back() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    send(&machine, &worker, &bill("e1", "changed", "b1", 3, "open")).await;
    machine.settle_all(&worker).await.unwrap();
    let resource = thing("bill", "b1");
    spoil(&machine, resource.hash().as_str(), "projection", |item| {
        let state = r#"{"id":"b1","version":9,"status":"later"}"#;
        item.insert("state".to_owned(), AttributeValue::S(state.to_owned()));
        item.insert("version".to_owned(), AttributeValue::N("9".to_owned()));
    })
    .await;
    let report = rebuild(&machine, &worker, &resource, "r").await;
    assert_eq!(came_to(&report), (Rebuilt::Kept, vec![]));
    assert_eq!(
        says(&story_of(&machine, &worker, "bill", "b1").await),
        "later"
    );
}

#[tokio::test]
async fn a_source_that_cannot_be_read_changes_nothing_counts_nothing_and_can_be_asked_again() {
    let machine = crate::world::machine().await;
    let worker = machine.worker().unwrap();
    show(&machine, "sub_1", "active");
    post(&machine, &worker, &about("sub_1", "evt_1")).await;
    machine.settle(&worker).await.unwrap();
    let before = stored(&machine).await;
    let resource = subscription("sub_1");
    for status in [500, 401, 429, 404] {
        machine
            .standin
            .answer_with("/v1/subscriptions/sub_1", status);
        let run = format!("r{status}");
        let report = rebuild_of(&machine, &worker, "billing", &resource, &run).await;
        assert_eq!(came_to(&report), (Rebuilt::Unread, vec![]), "{status}");
        let why = report.why.unwrap();
        assert!(status == 404 || why.contains(&status.to_string()), "{why}");
        assert!(machine.receive().await.unwrap().is_none(), "it is not left");
        assert_same(&stored(&machine).await, &before);
    }
    show(&machine, "sub_1", "past_due");
    let report = rebuild_of(&machine, &worker, "billing", &resource, "again").await;
    assert_eq!(came_to(&report), (Rebuilt::Changed, vec![Part::Contents]));
    assert_eq!(says(&story(&machine, &worker, &resource).await), "past_due");
}

#[tokio::test]
async fn what_is_not_configured_any_more_is_not_touched() {
    let mut machine = shop().await;
    let worker = machine.worker().unwrap();
    for body in [
        bill("e1", "changed", "b1", 1, "open"),
        of_order("payment", "o1", 1, "open"),
    ] {
        send(&machine, &worker, &body).await;
        machine.settle_all(&worker).await.unwrap();
    }
    let before = stored(&machine).await;
    let start = EFFECTS.find("[integrations.shop.define.bill]").unwrap();
    let end = EFFECTS.find("[integrations.shop.define.payment]").unwrap();
    let subjects = EFFECTS.find("[subjects").unwrap();
    let config = format!("{}{}", &EFFECTS[..start], &EFFECTS[end..subjects]);
    machine
        .deploy(Config::parse("lastword.toml", &config).unwrap())
        .unwrap();
    let worker = machine.worker().unwrap();
    let report = rebuild(&machine, &worker, &thing("bill", "b1"), "r").await;
    assert_eq!(came_to(&report), (Rebuilt::Unconfigured, vec![]));
    let report = rebuild_subject(&machine, &worker, &the_order("o1"), "r").await;
    assert_eq!(came_to(&report), (Rebuilt::Unconfigured, vec![]));
    assert_same(&stored(&machine).await, &before);
}

#[tokio::test]
async fn of_what_nothing_is_known_nothing_is_made() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    for report in [
        rebuild(&machine, &worker, &thing("bill", "none"), "r").await,
        rebuild_subject(&machine, &worker, &the_order("none"), "r").await,
    ] {
        assert_eq!(came_to(&report), (Rebuilt::Same, vec![]));
        assert_eq!(report.why.as_deref(), Some("nothing is known of it"));
    }
    assert!(stored(&machine).await.is_empty());
}

#[tokio::test]
async fn a_stored_item_that_cannot_be_read_fails_the_rebuild_of_its_own_resource_only() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    for id in ["b1", "b2"] {
        send(&machine, &worker, &bill(id, "changed", id, 1, "open")).await;
    }
    machine.settle_all(&worker).await.unwrap();
    let resource = thing("bill", "b1");
    spoil(&machine, resource.hash().as_str(), "projection", |item| {
        item.insert("recent".to_owned(), AttributeValue::Bool(true));
    })
    .await;
    let owners = ["b1", "b2"].map(|id| Owner::Resource(thing("bill", id)));
    ask(&machine, "shop", &owners, "r").await;
    machine.settle(&worker).await.unwrap();
    let report = reported(&worker, &owners[0]).await;
    assert_eq!(report.outcome, Rebuilt::Failed);
    assert!(report.why.unwrap().contains("projection is corrupt"));
    assert_eq!(reported(&worker, &owners[1]).await.outcome, Rebuilt::Same);
}

#[tokio::test]
async fn an_event_that_is_not_decided_is_left_to_its_own_signal() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    send(&machine, &worker, &bill("e1", "changed", "b1", 1, "open")).await;
    machine.settle_all(&worker).await.unwrap();
    // It is in the inbox, and nobody was told yet.
    send(&machine, &worker, &bill("e2", "paid", "b1", 2, "paid")).await;
    let resource = thing("bill", "b1");
    ask(&machine, "shop", &[Owner::Resource(resource.clone())], "r").await;
    let batch = machine.receive().await.unwrap().unwrap();
    assert_eq!(machine.reconcile(&worker, &batch).await.unwrap(), 0);
    let report = reported(&worker, &Owner::Resource(resource)).await;
    assert_eq!(came_to(&report), (Rebuilt::Same, vec![]));
    assert_eq!(sends(&machine).0, 0);
    machine.settle_all(&worker).await.unwrap();
    assert_eq!(
        says(&story_of(&machine, &worker, "bill", "b1").await),
        "paid"
    );
    assert_eq!(sends(&machine).0, 1);
}

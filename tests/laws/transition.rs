//! Strategy `transition` through the whole path: of two statuses the further one is true.

use lastword_domain::{Content, Outcome, Reason};
use serde_json::json;

use crate::shop::*;
use crate::world::*;

fn parcel(id: &str, status: &str, note: &str) -> String {
    let what = if status == "deleted" {
        "deleted"
    } else {
        "changed"
    };
    let object = format!(r#"{{"id":"{id}","status":"{status}","{note}":true}}"#);
    let event = format!("{id}-{status}-{note}");
    told(&event, &format!("parcel.{what}"), &object)
}

fn text(content: &Content) -> String {
    match content {
        Content::Present(json) => json.as_str().to_owned(),
        Content::Deleted => "deleted".to_owned(),
    }
}

#[tokio::test]
async fn statuses_in_any_order_and_repeated_end_at_the_furthest_with_no_field_of_an_earlier_one() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    for (at, order) in orders(&["packed", "sent", "arrived"], 1).iter().enumerate() {
        let id = format!("p{at}");
        let mut bodies: Vec<_> = order.iter().map(|s| parcel(&id, s, s)).collect();
        // Once more, as other events.
        let again = |s: &&str| parcel(&id, s, s).replacen("\"id\":\"", "\"id\":\"again-", 1);
        bodies.extend(order.iter().map(again));
        each(&machine, &worker, &bodies).await;
        let told = story_of(&machine, &worker, "parcel", &id).await;
        let only = json!({"id":id,"status":"arrived","arrived":true});
        assert_eq!(state(&told), only, "{order:?}");
        assert_eq!(open(&told.reviews), Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_tie_and_two_ways_apart_are_contested_in_every_order_until_something_further_comes() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    let cases = [
        [("packed", "x"), ("sent", "a"), ("sent", "b")],
        [("packed", "x"), ("sent", "a"), ("refused", "b")],
    ];
    for (case, statuses) in cases.iter().enumerate() {
        let mut ends = Vec::new();
        for (at, order) in orders(statuses, 1).iter().enumerate() {
            let id = format!("c{case}-{at}");
            let bodies: Vec<_> = order.iter().map(|(s, note)| parcel(&id, s, note)).collect();
            each(&machine, &worker, &bodies).await;
            let told = story_of(&machine, &worker, "parcel", &id).await;
            assert_eq!(says(&told), "contested", "{order:?}");
            let held = told.projection.as_ref().unwrap().contents.clone().unwrap();
            let mut texts: Vec<_> = held.iter().map(text).collect();
            texts.sort();
            let texts: Vec<_> = texts.iter().map(|text| text.replace(&id, "")).collect();
            ends.push((texts, open(&told.reviews)));
        }
        assert_eq!(ends[0].1, ["lastword.contested"]);
        assert_eq!(ends[0].0.len(), 2);
        assert!(ends.iter().all(|end| *end == ends[0]), "{ends:#?}");
    }
    // What both lead to settles it: for the tie.
    each(&machine, &worker, &[parcel("c0-0", "arrived", "z")]).await;
    let told = story_of(&machine, &worker, "parcel", "c0-0").await;
    assert_eq!(says(&told), "arrived");
    assert_eq!(open(&told.reviews), Vec::<String>::new());
}

#[tokio::test]
async fn an_unknown_status_is_refused_and_taken_when_it_is_driven_again_after_it_was_declared() {
    let mut machine = shop().await;
    let worker = machine.worker().unwrap();
    let bodies = [parcel("p", "sent", "a"), parcel("p", "lost", "b")];
    each(&machine, &worker, &bodies).await;
    let told = story_of(&machine, &worker, "parcel", "p").await;
    assert_eq!(says(&told), "sent");
    let lost = event("p-lost-b");
    let decision = told.decisions.iter().find(|d| d.event == lost).unwrap();
    assert_eq!(
        (decision.outcome, decision.reason),
        (Some(Outcome::Failed), Some(Reason::StatusUndeclared))
    );
    let declared = SHOP.replace("arrived = []", "arrived = [\"lost\"]\nlost = []");
    machine.deploy(shop_config(&declared)).unwrap();
    let worker = machine.worker().unwrap();
    assert_eq!(
        redrive(
            &worker,
            "shop",
            &thing("parcel", "p"),
            std::slice::from_ref(&lost)
        )
        .await,
        0
    );
    let told = story_of(&machine, &worker, "parcel", "p").await;
    assert_eq!(says(&told), "lost");
    assert_eq!(decided(&told, &lost), Some(Outcome::Applied));
}

#[tokio::test]
async fn a_deletion_stands_above_every_status_whenever_it_comes() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    for (at, order) in orders(&["packed", "arrived", "deleted"], 1)
        .iter()
        .enumerate()
    {
        let id = format!("d{at}");
        let bodies: Vec<_> = order.iter().map(|s| parcel(&id, s, s)).collect();
        each(&machine, &worker, &bodies).await;
        let told = story_of(&machine, &worker, "parcel", &id).await;
        assert_eq!(says(&told), "deleted", "{order:?}");
        assert_eq!(told.reviews, [], "{order:?}");
        assert_eq!(outcomes(&told).len(), 3, "{order:?}");
    }
}

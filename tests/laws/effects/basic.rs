//! What calls for an effect, and that it is sent once.

use lastword_domain::EffectStatus::{Done, Pending, Superseded};
use serde_json::json;

use super::world::*;

#[tokio::test]
async fn a_fact_calls_for_its_effect_once_however_often_and_by_whichever_event_it_is_told() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    for body in [
        bill("e1", "paid", "b1", 2, "paid"),
        bill("e1", "paid", "b1", 2, "paid"),
        bill("e2", "settled", "b1", 2, "paid"),
        bill("e3", "paid", "b1", 2, "paid"),
    ] {
        send(&machine, &worker, &body).await;
        machine.settle_all(&worker).await.unwrap();
    }
    let effects = effects_of_bill(&machine, &worker, "b1").await;
    assert_eq!(at(&effects), [("receipt".to_owned(), Done)]);
    assert_eq!(acted(mail(&machine)), 1);
    assert_eq!(mail(&machine).bodies().len(), 1);
    assert_eq!(
        data(mail(&machine))["receipt"],
        [json!({"amount": 120, "bill": "b1"})]
    );
}

#[tokio::test]
async fn two_contents_of_one_fact_in_one_batch_call_for_one_effect() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    for version in 1..=3 {
        let event = format!("e{version}");
        send(
            &machine,
            &worker,
            &bill(&event, "paid", "b1", version, "paid"),
        )
        .await;
    }
    machine.settle_all(&worker).await.unwrap();
    let effects = effects_of_bill(&machine, &worker, "b1").await;
    assert_eq!(at(&effects), [("receipt".to_owned(), Done)]);
    assert_eq!(mail(&machine).bodies().len(), 1);
}

#[tokio::test]
async fn two_bills_of_one_customer_are_two_receipts() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    for id in ["b1", "b2"] {
        send(
            &machine,
            &worker,
            &bill(&format!("e-{id}"), "paid", id, 1, "paid"),
        )
        .await;
    }
    machine.settle_all(&worker).await.unwrap();
    assert_eq!(mail(&machine).actions().len(), 2);
}

#[tokio::test]
async fn what_a_state_calls_for_is_sent_when_it_begins_to_and_only_then() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    let statuses = ["open", "overdue", "overdue", "paid", "overdue"];
    for (version, status) in (1..).zip(statuses) {
        let event = format!("e{version}");
        send(
            &machine,
            &worker,
            &bill(&event, "changed", "b1", version, status),
        )
        .await;
        machine.settle_all(&worker).await.unwrap();
    }
    assert_eq!(acted(mail(&machine)), 1);
}

#[tokio::test]
async fn an_effect_that_is_not_wanted_when_it_is_due_is_superseded_and_taken_up_when_it_is_again() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    each(&machine, &worker, &[of_order("payment", "o1", 1, "paid")]).await;
    let effects = effects_of_order(&worker, "o1").await;
    assert_eq!(at(&effects), [("confirmation".to_owned(), Pending)]);
    machine.settle_all(&worker).await.unwrap();
    let effects = effects_of_order(&worker, "o1").await;
    assert_eq!(at(&effects), [("confirmation".to_owned(), Superseded)]);
    assert_eq!(acted(mail(&machine)), 0);
    send(&machine, &worker, &of_order("shipment", "o1", 1, "packed")).await;
    machine.settle_all(&worker).await.unwrap();
    let effects = effects_of_order(&worker, "o1").await;
    assert_eq!(at(&effects), [("confirmation".to_owned(), Done)]);
    assert_eq!(
        data(mail(&machine))["confirmation"],
        [json!({"order": "o1", "payment": "paid", "shipment": "packed"})]
    );
}

#[tokio::test]
async fn others_are_told_of_what_changed_and_of_nothing_that_did_not() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    let first = bill("e1", "changed", "b1", 1, "open");
    for body in [&first, &bill("e2", "changed", "b1", 1, "open"), &first] {
        send(&machine, &worker, body).await;
        machine.settle_all(&worker).await.unwrap();
    }
    let told: Vec<_> = machine.bus.entries();
    assert_eq!(told.len(), 1, "{told:?}");
    let detail: serde_json::Value = serde_json::from_str(&told[0].detail).unwrap();
    assert_eq!(told[0].detail_type, "Lastword Resource Changed");
    assert_eq!(
        detail,
        json!({
            "version": 1,
            "resource": {"provider": "generic-hmac", "account": "main", "environment": "live", "type": "bill", "id": "b1"},
            "revision": 1,
            "standing": "present",
            "verdict": null,
        })
    );
}

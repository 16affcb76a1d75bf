//! Whoever sends and whoever decides meet at every step: what is wanted in the end is never lost, and what is not is not
//! sent by what was known.

use std::time::Duration;

use lastword_domain::EffectStatus::{Done, Superseded};
use lastword_local::machine::{Machine, Worker};

use super::world::*;
use crate::faults::{Fault, Faults};

/// An order whose confirmation is ready to be sent, and perhaps wanted.
async fn called_for(machine: &Machine, worker: &Worker, order: &str, is_packed: bool) {
    if is_packed {
        send(machine, worker, &of_order("shipment", order, 1, "packed")).await;
    }
    send(machine, worker, &of_order("payment", order, 1, "paid")).await;
    machine.settle(worker).await.unwrap();
}

/// Settles everything, the effect too, whoever was interrupted.
async fn at_rest(
    machine: &Machine,
    worker: &Worker,
    order: &str,
) -> Vec<lastword_domain::EffectStatus> {
    machine.give_back().await;
    machine.settle_all(worker).await.unwrap();
    for effect in effects_of_order(worker, order).await {
        for _ in 0..20 {
            if settled(machine, worker, &effect).await.is_some() {
                break;
            }
        }
    }
    let effects = effects_of_order(worker, order).await;
    effects.iter().map(|effect| effect.status).collect()
}

#[tokio::test]
async fn an_effect_that_is_wanted_again_while_it_is_laid_aside_is_sent() {
    let machine = shop().await;
    let healthy = machine.worker().unwrap();
    // The dispatcher stops before each of its requests: it reads the effect, the order and its members, and lays it aside.
    for step in 0..4 {
        let order = format!("a{step}");
        called_for(&machine, &healthy, &order, false).await;
        let effects = effects_of_order(&healthy, &order).await;
        let faults = Faults::strike("", step, 1, Fault::Wait);
        let slow = machine.worker_over(Some(faults.client())).unwrap();
        let late = machine.dispatch_these(&slow, &effects);
        let meanwhile = async {
            faults.waits().await;
            send(
                &machine,
                &healthy,
                &of_order("shipment", &order, 1, "packed"),
            )
            .await;
            machine.settle(&healthy).await.unwrap();
            faults.release();
        };
        let (_, ended) = tokio::join!(meanwhile, late);
        ended.unwrap();
        assert!(faults.spent());
        assert_eq!(
            at_rest(&machine, &healthy, &order).await,
            [Done],
            "at {step}"
        );
        assert_eq!(data_of(mail(&machine), &order).len(), 1, "at {step}");
    }
}

#[tokio::test]
async fn an_effect_that_is_laid_aside_while_it_is_wanted_again_is_sent() {
    let machine = shop().await;
    let healthy = machine.worker().unwrap();
    // Whoever decides the order stops before each request, from the relay of the webhook to the order's own commit;
    // meanwhile the effect is laid aside.
    let requests = {
        called_for(&machine, &healthy, "b", false).await;
        send(&machine, &healthy, &of_order("shipment", "b", 1, "packed")).await;
        let counted = Faults::none();
        let worker = machine.worker_over(Some(counted.client())).unwrap();
        machine.settle(&worker).await.unwrap();
        counted.seen().len()
    };
    assert!(requests > 6, "{requests}");
    for step in 0..requests {
        let order = format!("b{step}");
        called_for(&machine, &healthy, &order, false).await;
        let effects = effects_of_order(&healthy, &order).await;
        send(
            &machine,
            &healthy,
            &of_order("shipment", &order, 1, "packed"),
        )
        .await;
        let faults = Faults::strike("", step, 1, Fault::Wait);
        let slow = machine.worker_over(Some(faults.client())).unwrap();
        let late = machine.settle(&slow);
        let meanwhile = async {
            faults.waits().await;
            drop(machine.dispatch_these(&healthy, &effects).await.unwrap());
            faults.release();
        };
        let (_, ended) = tokio::join!(meanwhile, late);
        ended.unwrap();
        assert!(faults.spent());
        assert_eq!(
            at_rest(&machine, &healthy, &order).await,
            [Done],
            "at {step}"
        );
        assert_eq!(data_of(mail(&machine), &order).len(), 1, "at {step}");
    }
}

#[tokio::test]
async fn an_effect_that_is_laid_aside_between_an_order_s_load_and_its_commit_is_sent() {
    let machine = shop().await;
    let healthy = machine.worker().unwrap();
    called_for(&machine, &healthy, "d", false).await;
    let effects = effects_of_order(&healthy, "d").await;
    // The dispatcher has seen that it is not wanted, and is about to lay it aside.
    let dispatcher = Faults::strike("TransactWriteItems", 0, 1, Fault::Wait);
    let slow = machine.worker_over(Some(dispatcher.client())).unwrap();
    let laying_aside = machine.dispatch_these(&slow, &effects);
    // The shipment is packed: its own commit, and then its order's, which has seen the effect under way.
    let deciding = Faults::strike("TransactWriteItems", 1, 1, Fault::Wait);
    let other = machine.worker_over(Some(deciding.client())).unwrap();
    let meanwhile = async {
        dispatcher.waits().await;
        send(&machine, &healthy, &of_order("shipment", "d", 1, "packed")).await;
        let settling = machine.settle(&other);
        let between = async {
            deciding.waits().await;
            dispatcher.release();
            let laid_aside = async || at(&effects_of_order(&healthy, "d").await)[0].1 == Superseded;
            until_so("it is laid aside", laid_aside).await;
            deciding.release();
        };
        let (settled, ()) = tokio::join!(settling, between);
        settled.unwrap();
    };
    let both = async { tokio::join!(laying_aside, meanwhile) };
    let both = tokio::time::timeout(Duration::from_secs(20), both).await;
    let (ended, ()) = both.expect("each of them stops where it should");
    ended.unwrap();
    assert_eq!(at_rest(&machine, &healthy, "d").await, [Done]);
    assert_eq!(data_of(mail(&machine), "d").len(), 1);
}

#[tokio::test]
async fn what_is_cancelled_before_it_is_looked_at_is_not_sent_and_what_is_cancelled_later_was_true()
{
    let machine = shop().await;
    let healthy = machine.worker().unwrap();
    let (mut sent, mut kept_back) = (0, 0);
    for step in 0..5 {
        let order = format!("c{step}");
        called_for(&machine, &healthy, &order, true).await;
        let effects = effects_of_order(&healthy, &order).await;
        let faults = Faults::strike("", step, 1, Fault::Wait);
        let slow = machine.worker_over(Some(faults.client())).unwrap();
        let late = machine.dispatch_these(&slow, &effects);
        let meanwhile = async {
            faults.waits().await;
            send(
                &machine,
                &healthy,
                &of_order("shipment", &order, 2, "cancelled"),
            )
            .await;
            machine.settle(&healthy).await.unwrap();
            faults.release();
        };
        let (_, ended) = tokio::join!(meanwhile, late);
        ended.unwrap();
        assert!(faults.spent());
        let told = data_of(mail(&machine), &order);
        let status = at_rest(&machine, &healthy, &order).await;
        match told.as_slice() {
            [] => {
                assert_eq!(status, [Superseded], "at {step}");
                kept_back += 1;
            }
            [one] => {
                // It was looked at before: by what was known then it was so.
                assert_eq!(
                    (status.as_slice(), &one["shipment"]),
                    (&[Done][..], &"packed".into())
                );
                sent += 1;
            }
            more => panic!("sent twice: {more:?}"),
        }
    }
    // The effect, the order and its members are read; then it is claimed, and written down.
    assert_eq!((kept_back, sent), (3, 2));
}

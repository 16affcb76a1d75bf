//! Every order of arrival, with dispatchers at work at any moment: what is sent was true by what was known then, what is
//! wanted in the end is done, and what is not is not sent then.

use lastword_domain::EffectStatus::{Done, Superseded};
use lastword_local::machine::{Machine, Worker};
use serde_json::{Value, json};

use super::world::*;
use crate::shop::{order_story, orders};

/// Something that is told of an order: the sender, its version and status.
type Told = (&'static str, u32, &'static str);

const CANCELLED: &[Told] = &[
    ("payment", 1, "paid"),
    ("shipment", 1, "packed"),
    ("shipment", 2, "cancelled"),
];
const PACKED_AGAIN: &[Told] = &[
    ("payment", 1, "paid"),
    ("shipment", 1, "packed"),
    ("shipment", 2, "cancelled"),
    ("shipment", 3, "packed"),
];
const REFUNDED: &[Told] = &[
    ("payment", 1, "paid"),
    ("payment", 2, "refunded"),
    ("shipment", 1, "packed"),
];
const CONFIRMED: &[Told] = &[
    ("payment", 1, "open"),
    ("payment", 2, "paid"),
    ("shipment", 1, "packed"),
];

/// What is known of an order once these have arrived, told without the rules.
#[derive(Default)]
struct Known {
    payment: Option<(u32, &'static str)>,
    shipment: Option<(u32, &'static str)>,
}

impl Known {
    fn hear(&mut self, (kind, version, status): Told) {
        let held = match kind {
            "payment" => &mut self.payment,
            _ => &mut self.shipment,
        };
        if held.is_none_or(|(known, _)| known < version) {
            *held = Some((version, status));
        }
    }

    fn is_paid(&self) -> bool {
        matches!(self.payment, Some((_, "paid")))
    }

    fn is_wanted(&self) -> bool {
        self.is_paid() && matches!(self.shipment, Some((_, "packed")))
    }
}

/// Plays an order of arrival, with dispatch at work after those deliveries whose bit is set; and always at the end.
async fn play(machine: &Machine, worker: &Worker, order: &str, arrivals: &[Told], moments: u32) {
    let (mut known, mut sent): (_, Option<Value>) = (Known::default(), None);
    for (at, arrived) in arrivals.iter().enumerate() {
        let (kind, version, status) = *arrived;
        send(machine, worker, &of_order(kind, order, version, status)).await;
        machine.settle(worker).await.unwrap();
        known.hear(*arrived);
        let is_last = at + 1 == arrivals.len();
        if moments & (1 << at) == 0 && !is_last {
            continue;
        }
        machine.settle_all(worker).await.unwrap();
        let mine = data_of(mail(machine), order);
        assert!(mine.len() < 2, "{arrivals:?} {moments:b}: sent twice");
        let now = mine.into_iter().next();
        if sent.is_none() && now.is_some() {
            // By what was known at this moment it was true.
            assert!(known.is_wanted(), "{arrivals:?} {moments:b}");
            let expected = json!({"order": order, "payment": "paid", "shipment": "packed"});
            assert_eq!(now.as_ref(), Some(&expected));
        }
        if sent.is_none() {
            assert_eq!(now.is_some(), known.is_wanted(), "{arrivals:?} {moments:b}");
        }
        sent = now;
    }
    let story = order_story(worker, order).await;
    let statuses: Vec<_> = story.effects.iter().map(|effect| effect.status).collect();
    let what = format!("{arrivals:?} {moments:b}: {statuses:?}");
    match (sent.is_some(), known.is_paid()) {
        (true, _) => assert_eq!(statuses, [Done], "{what}"),
        // It is called for and not wanted: in every order there is an effect that says so.
        (false, true) => assert_eq!(statuses, [Superseded], "{what}"),
        // What called for it came and went: whoever saw that laid it aside.
        (false, false) => assert!(statuses.is_empty() || statuses == [Superseded], "{what}"),
    }
}

#[tokio::test]
async fn in_every_order_with_dispatch_at_any_moments_what_is_wanted_in_the_end_is_sent_once() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    let mut played = 0;
    for history in [CANCELLED, PACKED_AGAIN, REFUNDED, CONFIRMED] {
        for (number, arrivals) in orders(history, 1).iter().enumerate() {
            let all = 1 << (arrivals.len() - 1);
            for moments in 0..all {
                // Of the longer one, every third set of moments.
                if arrivals.len() > 3 && (moments + number) % 3 != 0 && moments != 0 {
                    continue;
                }
                let order = format!("o{played}");
                let moments = u32::try_from(moments).unwrap();
                play(&machine, &worker, &order, arrivals, moments).await;
                played += 1;
            }
        }
    }
    assert!(played > 150, "{played}");
}

#[tokio::test]
async fn fifty_deliveries_at_once_by_two_events_are_one_receipt() {
    let machine = shop().await;
    let workers: Vec<_> = (0..5).map(|_| machine.worker().unwrap()).collect();
    let bodies: Vec<_> = (0..50)
        .map(|at| match at % 3 {
            0 => bill("e1", "paid", "b1", 2, "paid"),
            1 => bill("e2", "settled", "b1", 2, "paid"),
            _ => bill(&format!("e{at}"), "paid", "b1", 2, "paid"),
        })
        .collect();
    let posted = bodies.iter().enumerate().map(|(at, body)| {
        let worker = &workers[at % workers.len()];
        machine.deliver(worker, "shop", &[], body)
    });
    for reply in futures_util::future::try_join_all(posted).await.unwrap() {
        assert_eq!(reply.status_code, 200);
    }
    let settled = workers.iter().map(|worker| machine.settle_all(worker));
    futures_util::future::try_join_all(settled).await.unwrap();
    machine.settle_all(&workers[0]).await.unwrap();
    assert_eq!(acted(mail(&machine)), 1);
    assert_eq!(mail(&machine).bodies().len(), 1);
    let effects = effects_of_bill(&machine, &workers[0], "b1").await;
    assert_eq!(at(&effects), [("receipt".to_owned(), Done)]);
}

#[tokio::test]
async fn a_fact_of_which_two_contents_are_told_calls_for_one_effect() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    let one = bill("e1", "paid", "b1", 2, "paid");
    let other = one
        .replace("\"amount\":120", "\"amount\":121")
        .replace("e1", "e2");
    for body in [&one, &other] {
        send(&machine, &worker, body).await;
        machine.settle(&worker).await.unwrap();
    }
    machine.settle_all(&worker).await.unwrap();
    assert_eq!(acted(mail(&machine)), 1);
    let story = crate::shop::story_of(&machine, &worker, "bill", "b1").await;
    assert_eq!((story.facts.len(), story.effects.len()), (2, 1));
}

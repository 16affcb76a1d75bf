//! What an effect costs, counted from what the store reports: up to the outbox, and for its dispatch.

use lastword_domain::EffectStatus::{Done, Superseded};
use lastword_local::machine::{Machine, Worker};

use super::world::*;
use crate::faults::Faults;
use crate::world::noise;

struct Counter {
    machine: Machine,
    worker: Worker,
    faults: Faults,
}

/// Write units and requests.
type Cost = (f64, usize);

impl Counter {
    async fn new() -> Self {
        let machine = shop().await;
        let faults = Faults::none();
        let worker = machine.worker_over(Some(faults.client())).unwrap();
        Self {
            machine,
            worker,
            faults,
        }
    }

    fn read(&self) -> Cost {
        let units = self.worker.inbox.meter.read().units + self.worker.state.writes.read().units;
        (units, self.faults.seen().len())
    }

    fn since(&self, start: Cost) -> Cost {
        let now = self.read();
        (now.0 - start.0, now.1 - start.1)
    }

    /// An event of 1 KB, from receipt to its decision and the outbox; then what dispatch needs.
    async fn event(&self, body: &str) -> (Cost, Cost) {
        let filler = noise(1024 - body.len() - 12);
        let body = body.replacen('{', &format!("{{\"filler\":\"{filler}\","), 1);
        let start = self.read();
        send(&self.machine, &self.worker, &body).await;
        self.machine.relay(&self.worker, 100).await.unwrap();
        while let Some(batch) = self.machine.receive().await.unwrap() {
            self.machine.reconcile(&self.worker, &batch).await.unwrap();
        }
        let outbox = self.since(start);
        self.machine.settle(&self.worker).await.unwrap();
        let start = self.read();
        while let Some(batch) = self.machine.receive_effects().await.unwrap() {
            self.machine.dispatch(&self.worker, &batch).await.unwrap();
        }
        (outbox, self.since(start))
    }
}

#[tokio::test]
async fn a_fact_with_an_effect_costs_nine_write_units_at_most_and_its_dispatch_four() {
    let counter = Counter::new().await;
    // The first event of a bill tells a fact: put, send, load and commit; look, claim and done.
    let first = counter.event(&bill("e1", "paid", "b1", 2, "paid")).await;
    assert_eq!(first, ((9.0, 4), (4.0, 3 + 1)));
    let effects = effects_of_bill(&counter.machine, &counter.worker, "b1").await;
    assert_eq!(at(&effects), [("receipt".to_owned(), Done)]);
    // A later one of a bill that is known, and the same fact again, which calls for nothing.
    let open = counter.event(&bill("e2", "changed", "b2", 1, "open")).await;
    assert_eq!(open, ((7.0, 4), (0.0, 0)));
    let later = counter.event(&bill("e3", "paid", "b2", 2, "paid")).await;
    assert_eq!(later, ((8.0, 4), (4.0, 4)));
    let again = counter.event(&bill("e4", "settled", "b2", 2, "paid")).await;
    assert_eq!(again, ((3.0, 5), (0.0, 0)));
}

#[tokio::test]
async fn an_effect_of_a_state_costs_as_much_as_one_item_more() {
    let counter = Counter::new().await;
    let first = counter
        .event(&bill("e1", "changed", "b1", 1, "overdue"))
        .await;
    assert_eq!(first.0, (7.0, 4));
    assert_eq!(first.1.0, 4.0);
    // A subject's decision with its effect; what is not wanted is laid aside in a transaction with its owner's check.
    let machine = &counter.machine;
    let paid = counter.event(&of_order("payment", "o1", 1, "paid")).await;
    let effects = effects_of_order(&counter.worker, "o1").await;
    assert_eq!(at(&effects), [("confirmation".to_owned(), Superseded)]);
    println!("a subject's effect: {paid:?}");
    assert_eq!(paid.1.0, 4.0);
    assert_eq!(acted(mail(machine)), 1);
}

//! The budget of the design over the example as it is delivered: what an event of 1 KB costs from receipt to its
//! decision, and the decision of the subject that follows, counted from what the store reports.

use lastword_config::BUILT_IN;
use lastword_local::machine::{Machine, Worker};
use lastword_local::stores::Place;
use serde_json::{Value, json};

use crate::faults::Faults;
use crate::world::*;

struct Shop {
    machine: Machine,
    worker: Worker,
    faults: Faults,
}

/// Write units and requests to the stores.
type Cost = (f64, usize);

impl Shop {
    async fn open() -> Self {
        let machine = Machine::start(Place::Temporary, BUILT_IN, NOW)
            .await
            .unwrap();
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

    /// What the event costs until it is decided, and what its subject's decision costs after that.
    async fn cost(&self, what: &str, integration: &str, body: &Value) -> (Cost, Cost) {
        let start = self.read();
        let body = padded(body);
        let reply = self
            .machine
            .deliver(&self.worker, integration, &[], &body)
            .await
            .unwrap();
        assert_eq!(reply.status_code, 200, "{}", reply.body);
        self.machine.relay(&self.worker, 100).await.unwrap();
        while let Some(batch) = self.machine.receive().await.unwrap() {
            self.machine.reconcile(&self.worker, &batch).await.unwrap();
        }
        let decided = self.read();
        self.machine.settle(&self.worker).await.unwrap();
        let end = self.read();
        let own = (decided.0 - start.0, decided.1 - start.1);
        let subject = (end.0 - decided.0, end.1 - decided.1);
        println!(
            "{what}: {} write units, {} requests; its subject {} and {}",
            own.0, own.1, subject.0, subject.1
        );
        (own, subject)
    }

    /// An object at Stripe, shown there and told by an event.
    fn stripe(&self, event: &str, kind: &str, path: &str, object: Value) -> Value {
        let id = object["id"].as_str().unwrap();
        self.machine
            .standin
            .show(&format!("/v1/{path}/{id}"), object.to_string());
        json!({"id": event, "object": "event", "type": kind, "created": 1, "livemode": false, "data": {"object": object}})
    }
}

/// The same as an event of 1 KB, most of which is no part of the object.
fn padded(body: &Value) -> String {
    let body = body.to_string();
    let filler = noise(1024 - body.len() - 12);
    body.replacen('{', &format!("{{\"filler\":\"{filler}\","), 1)
}

#[tokio::test]
async fn each_event_of_the_two_examples_costs_what_the_design_allows() {
    let shop = Shop::open().await;
    let subscription = |event: &str, kind: &str, status: &str| {
        let object =
            json!({"id": "sub_1", "object": "subscription", "status": status, "customer": "cus_1"});
        shop.stripe(event, kind, "subscriptions", object)
    };
    let payment = |event: &str, status: &str| {
        let object = json!({"id": "pi_1", "object": "payment_intent", "status": status, "metadata": {"order": "o-1"}});
        shop.stripe(event, "payment_intent.created", "payment_intents", object)
    };
    let order = |event: &str, version: u32, status: &str| json!({"id": event, "type": "order.changed", "order": {"id": "o-1", "version": version, "status": status}});
    let parcel = |event: &str, status: &str| json!({"id": event, "type": "parcel.moved", "parcel": {"id": "p-1", "order": "o-1", "status": status}});
    let invoice = |event: &str| {
        let object = json!({"id": "in_1", "object": "invoice", "status": "paid"});
        shop.stripe(event, "invoice.paid", "invoices", object)
    };
    // What is asked for: (name, endpoint, event, most units, most units of the subject).
    let cost = async |what: &str, integration: &str, body: Value, most: f64, of_subject: f64| {
        let ((units, _), (subject, _)) = shop.cost(what, integration, &body).await;
        assert!(
            units <= most && subject <= of_subject,
            "{what}: {units}, {subject}"
        );
    };
    let created = "customer.subscription.created";
    cost(
        "subscription, first",
        "billing",
        subscription("e1", created, "active"),
        7.0,
        3.0,
    )
    .await;
    let deleted = "customer.subscription.deleted";
    cost(
        "subscription, cancelled",
        "billing",
        subscription("e2", deleted, "canceled"),
        7.0,
        2.0,
    )
    .await;
    let late = "customer.subscription.updated";
    cost(
        "subscription, late",
        "billing",
        subscription("e3", late, "canceled"),
        5.0,
        0.0,
    )
    .await;
    cost(
        "invoice paid, with its fact",
        "billing",
        invoice("e4"),
        9.0,
        0.0,
    )
    .await;
    cost(
        "invoice paid, told again",
        "billing",
        invoice("e5"),
        5.0,
        0.0,
    )
    .await;
    cost("order, first", "erp", order("e6", 1, "created"), 7.0, 3.0).await;
    cost(
        "order, confirmed",
        "erp",
        order("e7", 2, "confirmed"),
        7.0,
        2.0,
    )
    .await;
    // From here on the order's decision is a transaction with its confirmation: created, or looked after.
    cost(
        "payment, first",
        "billing",
        payment("e8", "succeeded"),
        7.0,
        4.0,
    )
    .await;
    cost(
        "parcel, first",
        "carrier",
        parcel("e9", "collected"),
        7.0,
        4.0,
    )
    .await;
    cost(
        "parcel, further",
        "carrier",
        parcel("e10", "delivered"),
        7.0,
        4.0,
    )
    .await;
    cost(
        "parcel, behind",
        "carrier",
        parcel("e11", "moving"),
        5.0,
        0.0,
    )
    .await;
    // A decision that opens a review is a transaction.
    cost(
        "order, cancelled though paid",
        "erp",
        order("e12", 3, "cancelled"),
        7.0,
        8.0,
    )
    .await;
    cost("order, late", "erp", order("e13", 1, "created"), 5.0, 0.0).await;
}

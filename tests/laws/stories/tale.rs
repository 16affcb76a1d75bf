//! What senders tell: bodies, what their read APIs show meanwhile, and what each is about. Ids are short here and get
//! their history's number where they are used.

use lastword_config::Config;
use lastword_domain::name::{EventId, ResourceId, ResourceType};
use lastword_domain::{EventIdentity, EventRef, ResourceKey};
use serde_json::{Value, json};

/// One thing that happened, and the event that tells of it.
#[derive(Clone)]
pub struct Told {
    pub integration: &'static str,
    pub kind: &'static str,
    event: String,
    pub id: &'static str,
    object: Value,
    /// Where the read API has it.
    path: Option<&'static str>,
}

fn stripe(kind: &'static str, event: String, id: &'static str, object: Value) -> Told {
    let path = match kind {
        "subscription" => "/v1/subscriptions",
        "invoice" => "/v1/invoices",
        _ => "/v1/payment_intents",
    };
    Told {
        integration: "billing",
        kind,
        event,
        id,
        object,
        path: Some(path),
    }
}

pub fn subscription(id: &'static str, event: &str, status: &str) -> Told {
    let object = json!({"id": id, "object": "subscription", "customer": "cus", "status": status});
    let event = format!("customer.subscription.{event}");
    stripe("subscription", event, id, object)
}

pub fn invoice(id: &'static str) -> Told {
    let object = json!({"id": id, "object": "invoice", "status": "paid"});
    stripe("invoice", "invoice.paid".to_owned(), id, object)
}

/// Without an order it names none.
pub fn payment(id: &'static str, order: &str, status: &str) -> Told {
    let metadata = match order {
        "" => json!({}),
        order => json!({"order": order}),
    };
    let object =
        json!({"id": id, "object": "payment_intent", "status": status, "metadata": metadata});
    let event = format!("payment_intent.{status}");
    stripe("payment_intent", event, id, object)
}

pub fn erp(id: &'static str, version: u64, status: &str) -> Told {
    Told {
        integration: "erp",
        kind: "order",
        event: format!("order.{status}"),
        id,
        object: json!({"id": id, "version": version, "status": status}),
        path: None,
    }
}

pub fn carrier(id: &'static str, order: &str, status: &str) -> Told {
    Told {
        integration: "carrier",
        kind: "parcel",
        event: format!("parcel.{status}"),
        id,
        object: json!({"id": id, "order": order, "status": status}),
        path: None,
    }
}

/// The ids of one history: each with its number.
#[derive(Clone, Copy)]
pub struct Numbered(pub usize);

impl Numbered {
    pub fn id(self, id: &str) -> String {
        format!("{id}.{:05}", self.0)
    }

    /// Takes the number out of a text again.
    pub fn plain(self, text: &str) -> String {
        text.replace(&format!(".{:05}", self.0), "")
    }

    fn object(self, told: &Told) -> Value {
        let mut object = told.object.clone();
        for pointer in ["/id", "/order", "/customer", "/metadata/order"] {
            if let Some(place) = object.pointer_mut(pointer) {
                *place = json!(self.id(place.as_str().unwrap()));
            }
        }
        object
    }

    /// The body of the delivery that tells what happened at this place of the tale.
    pub fn body(self, told: &Told, at: usize) -> String {
        let (id, object) = (self.id(&format!("evt-{at}")), self.object(told));
        match told.integration {
            "billing" => json!({
                "id": id, "object": "event", "type": told.event, "livemode": false,
                "data": {"object": object},
            }),
            _ => json!({"id": id, "type": told.event, told.kind: object}),
        }
        .to_string()
    }

    /// What the source shows once it has come this far, and where.
    pub fn shown(self, told: &Told) -> Option<(String, String)> {
        let path = format!("{}/{}", told.path?, self.id(told.id));
        Some((path, self.object(told).to_string()))
    }

    pub fn resource(self, config: &Config, told: &Told) -> ResourceKey {
        let integration = config.integration(told.integration).unwrap();
        ResourceKey {
            provider: integration.contract.name.clone(),
            account: integration.account.clone(),
            environment: integration.environment.clone(),
            kind: ResourceType::parse(told.kind).unwrap(),
            id: ResourceId::parse(&self.id(told.id)).unwrap(),
        }
    }

    pub fn event(self, config: &Config, told: &Told, at: usize) -> EventRef {
        let integration = config.integration(told.integration).unwrap();
        let identity = EventIdentity {
            provider: integration.contract.name.clone(),
            account: integration.account.clone(),
            environment: integration.environment.clone(),
            id: EventId::parse(&self.id(&format!("evt-{at}"))).unwrap(),
        };
        EventRef::first(&identity.hash())
    }
}

/// The subjects that a tale may be about.
pub fn subjects(tale: &[Told]) -> Vec<(&'static str, String)> {
    let mut subjects: Vec<_> = tale
        .iter()
        .flat_map(|told| {
            let order = if told.kind == "order" {
                "/id"
            } else {
                "/order"
            };
            [
                ("customer", "/customer"),
                ("order", order),
                ("order", "/metadata/order"),
            ]
            .into_iter()
            .filter_map(|(kind, at)| Some((kind, told.object.pointer(at)?.as_str()?.to_owned())))
        })
        .collect();
    subjects.sort();
    subjects.dedup();
    subjects
}

//! One history of a story: its order of arrival, its ids, what its senders put on the wire and what is right.

use std::collections::BTreeSet;

use lastword_config::{Config, Integration};
use lastword_domain::name::{EventId, ResourceId, ResourceType, SubjectId, SubjectKind};
use lastword_domain::{EffectStatus, EventIdentity, EventRef, ResourceKey, SubjectKey};
use serde_json::{Value, json};

use super::plot::{Happening, Plot, Thing};
use crate::machine::Failure;

/// A history.
#[derive(Debug, Clone)]
pub(super) struct Run {
    /// Which story.
    pub(super) plot: &'static Plot,
    /// Makes its ids its own.
    pub(super) number: usize,
    /// What arrives, one after the other: every event, and one of them again.
    pub(super) arrivals: Vec<usize>,
}

/// What is right once these events have arrived.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Right {
    /// Whether the subject's rules allow what they are about.
    pub(super) allowed: bool,
    /// The identities of the facts.
    pub(super) facts: Vec<String>,
    /// The rules of the reviews that are open.
    pub(super) reviews: Vec<&'static str>,
    /// What becomes of what has to be done, once everything has come to rest.
    pub(super) effects: Vec<(String, EffectStatus)>,
}

impl Run {
    pub(super) fn happening(&self, event: usize) -> Result<&'static Happening, Failure> {
        let found = self.plot.happenings.get(event);
        found.ok_or_else(|| format!("{} has no event {event}", self.plot.name).into())
    }

    /// The subject that all of it is about.
    pub(super) fn subject(&self) -> Result<SubjectKey, Failure> {
        let id = match self.plot.subject {
            "order" => self.id(Thing::Order),
            _ => self.customer(),
        };
        Ok(SubjectKey {
            kind: SubjectKind::parse(self.plot.subject)?,
            id: SubjectId::parse(&id)?,
        })
    }

    fn customer(&self) -> String {
        format!("cus_story_{:04}", self.number)
    }

    /// The sender's id of a thing.
    pub(super) fn id(&self, thing: Thing) -> String {
        let prefix = match thing {
            Thing::FirstSubscription => "sub_first",
            Thing::SecondSubscription => "sub_second",
            Thing::Invoice => "in_story",
            Thing::Payment => "pi_story",
            Thing::Order => "order_story",
            Thing::Parcel => "parcel_story",
        };
        format!("{prefix}_{:04}", self.number)
    }

    fn event_id(&self, event: usize) -> String {
        format!("evt_story_{:04}_{event}", self.number)
    }

    /// The thing as it was after this event.
    pub(super) fn object(&self, event: usize) -> Result<Value, Failure> {
        let happening = self.happening(event)?;
        let (id, status) = (self.id(happening.thing), happening.status);
        Ok(match happening.thing {
            Thing::FirstSubscription | Thing::SecondSubscription => json!({
                "id": id, "object": "subscription", "customer": self.customer(), "status": status,
            }),
            Thing::Invoice => json!({
                "id": id, "object": "invoice", "customer": self.customer(), "status": status,
            }),
            Thing::Payment => json!({
                "id": id, "object": "payment_intent", "status": status,
                "metadata": {"order": self.id(Thing::Order)},
            }),
            // The ERP counts its versions: here they are the places of what happened.
            Thing::Order => json!({"id": id, "version": event + 1, "status": status}),
            Thing::Parcel => json!({"id": id, "order": self.id(Thing::Order), "status": status}),
        })
    }

    /// The body of this event's delivery.
    pub(super) fn body(&self, event: usize) -> Result<String, Failure> {
        let (happening, object) = (self.happening(event)?, self.object(event)?);
        let (id, kind) = (self.event_id(event), happening.kind);
        let body = match happening.thing {
            Thing::Order => json!({"id": id, "type": kind, "order": object}),
            Thing::Parcel => json!({"id": id, "type": kind, "parcel": object}),
            Thing::FirstSubscription
            | Thing::SecondSubscription
            | Thing::Invoice
            | Thing::Payment => json!({
                "id": id, "object": "event", "type": kind, "livemode": false,
                "data": {"object": object},
            }),
        };
        Ok(body.to_string())
    }

    /// The event as the Inbox knows it.
    pub(super) fn reference(&self, config: &Config, event: usize) -> Result<EventRef, Failure> {
        let integration = self.happening(event)?.thing.configured(config)?;
        let identity = EventIdentity {
            provider: integration.contract.name.clone(),
            account: integration.account.clone(),
            environment: integration.environment.clone(),
            id: EventId::parse(&self.event_id(event))?,
        };
        Ok(EventRef::first(&identity.hash()))
    }

    pub(super) fn resource(&self, config: &Config, thing: Thing) -> Result<ResourceKey, Failure> {
        let integration = thing.configured(config)?;
        Ok(ResourceKey {
            provider: integration.contract.name.clone(),
            account: integration.account.clone(),
            environment: integration.environment.clone(),
            kind: ResourceType::parse(thing.resource_type())?,
            id: ResourceId::parse(&self.id(thing))?,
        })
    }

    /// What is right once these have arrived, told from the story and not by the rules.
    pub(super) fn right(&self, delivered: &[usize]) -> Right {
        let told = |word| {
            let mut delivered = delivered.iter();
            delivered.any(|at| {
                self.plot
                    .happenings
                    .get(*at)
                    .is_some_and(|h| h.word == word)
            })
        };
        let contradicted = told("payment made") && told("order cancelled");
        let subscribed =
            told("second active") || (told("first active") && !told("first cancelled"));
        let confirmed = told("payment made") && told("order confirmed") && !told("order cancelled");
        let facts = told("invoice paid").then(|| self.id(Thing::Invoice));
        let receipt = told("invoice paid").then_some(("receipt", EffectStatus::Done));
        let confirmation = told("payment made").then_some(match confirmed {
            true => ("confirmation", EffectStatus::Done),
            false => ("confirmation", EffectStatus::Superseded),
        });
        let effects = receipt.into_iter().chain(confirmation);
        Right {
            allowed: subscribed || confirmed,
            facts: facts.into_iter().collect(),
            reviews: contradicted
                .then_some("paid-and-cancelled")
                .into_iter()
                .collect(),
            effects: effects
                .map(|(name, status)| (name.to_owned(), status))
                .collect(),
        }
    }

    /// In words, for a history that went wrong.
    pub(super) fn describe(&self) -> String {
        let words = self.arrivals.iter().map(|at| {
            let happening = self.plot.happenings.get(*at);
            happening.map_or("nothing", |happening| happening.word)
        });
        let words: Vec<_> = words.collect();
        format!("{} {}: {}", self.plot.name, self.number, words.join(", "))
    }
}

impl Thing {
    /// The endpoint that its sender posts to, as `lastword.toml` names it.
    pub(super) fn integration(self) -> &'static str {
        match self {
            Self::FirstSubscription | Self::SecondSubscription | Self::Invoice | Self::Payment => {
                "billing"
            }
            Self::Order => "erp",
            Self::Parcel => "carrier",
        }
    }

    fn configured(self, config: &Config) -> Result<&Integration, Failure> {
        let name = self.integration();
        let found = config.integration(name);
        found.ok_or_else(|| format!("lastword.toml has no integration {name}").into())
    }

    fn resource_type(self) -> &'static str {
        match self {
            Self::FirstSubscription | Self::SecondSubscription => "subscription",
            Self::Invoice => "invoice",
            Self::Payment => "payment_intent",
            Self::Order => "order",
            Self::Parcel => "parcel",
        }
    }

    /// The path under which its sender's read API has it; none where nothing is read.
    pub(super) fn path(self, id: &str) -> Option<String> {
        match self {
            Self::FirstSubscription | Self::SecondSubscription => {
                Some(format!("/v1/subscriptions/{id}"))
            }
            Self::Invoice => Some(format!("/v1/invoices/{id}")),
            Self::Payment => Some(format!("/v1/payment_intents/{id}")),
            Self::Order | Self::Parcel => None,
        }
    }
}

/// Every order of arrival of a story; each with one of its events again: the one that arrived first, so that the
/// oldest news comes last, and for a short story each of the others too. `from` is the first free number.
pub(super) fn all(plot: &'static Plot, from: usize) -> Vec<Run> {
    let short = plot.happenings.len() < 5;
    let again = |order: Vec<usize>| {
        let most = if short { order.len() } else { 1 };
        let repeated: BTreeSet<_> = order.iter().copied().take(most).collect();
        let one = move |event| [order.as_slice(), &[event]].concat();
        repeated.into_iter().map(one).collect::<Vec<_>>()
    };
    let orders = plot.orders().into_iter().flat_map(again);
    let run = |(at, arrivals)| Run {
        plot,
        number: from + at,
        arrivals,
    };
    orders.enumerate().map(run).collect()
}

//! | attribute | type | meaning | written by |
//! |---|---|---|---|
//! | `pk`, `sk` | S, S | hash of the resource's key, `decision#<event>` | reconcile |
//! | `outcome`, `reason` | S, S | what became of the signal and why; absent while it is still tried | reconcile |
//! | `revision` | N | the projection's revision after it | reconcile |
//! | `event_id`, `event_type` | S, S | the event's readable parts | reconcile |
//! | `attempts` | N | failed attempts | reconcile |
//! | `last_error`, `last_error_reason` | S, S | why the last attempt failed | reconcile |
//! | `next_attempt` | S | when it is tried again, for people | reconcile |
//! | `decided_at` | S | when it was concluded, for people | reconcile |
//! | `open` | S | index `open`: set while it is exhausted or failed | reconcile |

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use lastword_domain::{EventRef, Mark, Outcome, Reason, ResourceKey, Revision};

use super::LoadedEvent;
use crate::error::StoreError;
use crate::item::{self, Item, Reading};
use crate::moment::Moment;

const KIND: &str = "decision";
/// Where a resource's decisions stand in its partition.
pub(crate) const PREFIX: &str = "decision#";

/// What is recorded about one signal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Which event.
    pub event: EventRef,
    /// The event's id at its provider, where it was known.
    pub event_id: Option<String>,
    /// The event's type at its provider, where it was known.
    pub event_type: Option<String>,
    /// What became of it; `None` while it is still tried.
    pub outcome: Option<Outcome>,
    /// Why.
    pub reason: Option<Reason>,
    /// The projection's revision after it.
    pub revision: Option<u64>,
    /// Failed attempts.
    pub attempts: u32,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
    /// When it was decided, as text.
    pub decided_at: Option<String>,
}

/// A failed attempt, to be recorded.
#[derive(Debug, Clone)]
pub struct Failure {
    /// Which event.
    pub event: EventRef,
    /// Failed attempts, this one included.
    pub attempts: u32,
    /// Why.
    pub reason: Reason,
    /// A few words more; never content.
    pub detail: String,
    /// When it is tried again; `None` sets it aside as exhausted.
    pub next_attempt: Option<Moment>,
}

pub(crate) fn key(resource: &ResourceKey, event: &EventRef) -> Item {
    Item::from([
        ("pk".into(), item::text(resource.hash().as_str())),
        ("sk".into(), item::text(format!("{PREFIX}{event}"))),
    ])
}

fn shard(event: &EventRef) -> u8 {
    event.event().bytes().next().unwrap_or_default() % 4
}

pub(crate) fn encode(
    resource: &ResourceKey,
    mark: &Mark,
    revision: Revision,
    event: Option<&LoadedEvent>,
    now: Moment,
) -> Item {
    let mut item = key(resource, &mark.event);
    let mut put = |name: &str, value| item.insert(name.to_owned(), value);
    put("outcome", item::text(mark.outcome.as_str()));
    put("reason", item::text(mark.reason.as_str()));
    put("revision", item::number(revision));
    put("decided_at", item::text(now.to_text()));
    if let Some(attempts) = event
        .map(|event| event.attempts)
        .filter(|attempts| *attempts > 0)
    {
        put("attempts", item::number(attempts));
    }
    if let Some(event) = event.and_then(|event| event.stored.as_ref()) {
        put("event_id", item::text(event.identity.id.as_str()));
        put("event_type", item::text(event.kind.as_str()));
    }
    // A conflict has a review, which is open itself.
    if matches!(mark.outcome, Outcome::Failed | Outcome::Exhausted) {
        put(
            "open",
            item::text(format!("{}#{}", mark.outcome, shard(&mark.event))),
        );
    }
    item
}

/// The update that records a failed attempt, under the condition that the decision is still the one that
/// was loaded.
pub(crate) struct Recorded {
    pub(crate) update: String,
    pub(crate) condition: &'static str,
    pub(crate) names: Option<HashMap<String, String>>,
    pub(crate) values: Item,
}

pub(crate) fn failure(failure: &Failure, event: Option<&LoadedEvent>, now: Moment) -> Recorded {
    let mut update =
        "SET attempts = :attempts, last_error = :error, last_error_reason = :reason".to_owned();
    let mut names = None;
    let error = format!("{}: {}", failure.reason, failure.detail);
    let mut values = Item::from([
        (":attempts".into(), item::number(failure.attempts)),
        (":error".into(), item::text(error)),
        (":reason".into(), item::text(failure.reason.as_str())),
    ]);
    let condition = match event.and_then(|event| event.decided) {
        None => "attribute_not_exists(outcome)",
        Some(outcome) => {
            values.insert(":loaded".into(), item::text(outcome.as_str()));
            "outcome = :loaded"
        }
    };
    let mut set = |name: &str, value| {
        update.push_str(&format!(", {name} = :{name}"));
        values.insert(format!(":{name}"), value);
    };
    if let Some(event) = event.and_then(|event| event.stored.as_ref()) {
        set("event_id", item::text(event.identity.id.as_str()));
        set("event_type", item::text(event.kind.as_str()));
    }
    match failure.next_attempt {
        Some(next) => set("next_attempt", item::text(next.to_text())),
        None => {
            set("decided_at", item::text(now.to_text()));
            update.push_str(
                ", outcome = :exhausted, reason = :reason, #open = :open REMOVE next_attempt",
            );
            let open = format!("{}#{}", Outcome::Exhausted, shard(&failure.event));
            values.insert(":open".into(), item::text(open));
            let exhausted = item::text(Outcome::Exhausted.as_str());
            values.insert(":exhausted".into(), exhausted);
            names = Some(HashMap::from([("#open".into(), "open".into())]));
        }
    }
    Recorded {
        update,
        condition,
        names,
        values,
    }
}

pub(crate) fn decode(item: &Item) -> Result<Decision, StoreError> {
    let reading = Reading { kind: KIND, item };
    let event = reading.name("sk", |sort| {
        EventRef::parse(sort.strip_prefix(PREFIX).unwrap_or(sort))
            .map_err(|error| error.to_string())
    })?;
    let optional = |attribute| {
        reading
            .optional_text(attribute)
            .map(|text| text.map(str::to_owned))
    };
    let outcome = match reading.optional_text("outcome")? {
        None => None,
        Some(word) => {
            Some(Outcome::parse(word).ok_or_else(|| reading.corrupt("outcome", "is unknown"))?)
        }
    };
    let reason = match reading.optional_text("reason")? {
        None => None,
        Some(word) => {
            Some(Reason::parse(word).ok_or_else(|| reading.corrupt("reason", "is unknown"))?)
        }
    };
    Ok(Decision {
        event,
        event_id: optional("event_id")?,
        event_type: optional("event_type")?,
        outcome,
        reason,
        revision: reading.optional_number("revision")?,
        attempts: reading
            .optional_number("attempts")?
            .and_then(|n| u32::try_from(n).ok())
            .unwrap_or_default(),
        last_error: optional("last_error")?,
        decided_at: optional("decided_at")?,
    })
}

/// Whether an item of a resource's partition is a decision.
pub(crate) fn is_one(item: &Item) -> bool {
    matches!(item.get("sk"), Some(AttributeValue::S(sort)) if sort.starts_with(PREFIX))
}

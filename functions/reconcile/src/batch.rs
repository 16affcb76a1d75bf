//! A batch of queue messages, arranged by group. Plain functions.
//!
//! A batch may mix groups. Within one, a message that fails keeps back those after it; other groups go
//! on. A message that cannot be read fails alone, with what stands behind it in its own group.

use std::collections::{BTreeMap, BTreeSet};

use lastword_domain::{AnySignal, Cause, EventRef, ResourceKey, Signal, SubjectKey, SubjectSignal};
use lastword_queue::parse;
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Records<'a> {
    #[serde(rename = "Records", borrow)]
    records: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    message_id: String,
    #[serde(default)]
    receipt_handle: String,
    body: String,
    attributes: Attributes,
}

#[derive(Deserialize)]
struct Attributes {
    #[serde(rename = "MessageGroupId", default)]
    group: String,
    #[serde(rename = "ApproximateReceiveCount", default)]
    receives: String,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// By which its failure is reported; never empty.
    pub id: String,
    /// By which it is hidden for a while.
    pub receipt: String,
    /// How often it was received, this time included.
    pub receives: u32,
    /// What it says; `None` when it cannot be read.
    pub signal: Option<AnySignal>,
}

/// The batch cannot be answered message by message.
#[derive(Debug, thiserror::Error)]
pub enum UnreadableBatch {
    /// It is no batch of queue messages.
    #[error("not a batch of queue messages: {0}")]
    Json(#[from] serde_json::Error),
    /// A message without an id cannot be reported; an empty id would fail the batch anyway.
    #[error("a message has no id")]
    NoId,
}

/// The messages of each group, in order.
///
/// # Errors
/// When the batch cannot be answered message by message.
pub fn groups(event: &str) -> Result<Vec<Vec<Message>>, UnreadableBatch> {
    let batch: Records<'_> = serde_json::from_str(event)?;
    let mut groups: BTreeMap<String, Vec<Message>> = BTreeMap::new();
    for record in batch.records {
        let record: Record = serde_json::from_str(record.get())?;
        if record.message_id.is_empty() {
            return Err(UnreadableBatch::NoId);
        }
        let message = Message {
            id: record.message_id,
            receipt: record.receipt_handle,
            receives: record.attributes.receives.parse().unwrap_or(1),
            signal: parse(&record.body).ok(),
        };
        groups
            .entry(record.attributes.group)
            .or_default()
            .push(message);
    }
    Ok(groups.into_values().collect())
}

/// One look answers all the signals of a resource, and one decision all those of a subject: the group's readable
/// messages, up to the first that cannot be read, as one signal for each resource or subject and cause.
#[must_use]
pub fn coalesce(messages: &[Message]) -> Vec<AnySignal> {
    let mut merged: Vec<AnySignal> = Vec::new();
    for signal in messages.iter().map_while(|message| message.signal.as_ref()) {
        if !merged.iter_mut().any(|held| join(held, signal)) {
            merged.push(signal.clone());
        }
    }
    merged
}

/// Adds a signal to one about the same, from the same cause; says whether it was.
fn join(held: &mut AnySignal, signal: &AnySignal) -> bool {
    match (held, signal) {
        (AnySignal::Resource(held), AnySignal::Resource(signal)) => {
            let same = held.resource == signal.resource
                && held.integration == signal.integration
                && held.cause == signal.cause;
            if same {
                held.events.extend(signal.events.iter().cloned());
            }
            same
        }
        (AnySignal::Subject(held), AnySignal::Subject(signal)) => {
            let same = held.subject == signal.subject && held.cause == signal.cause;
            if same {
                held.changes.extend(signal.changes.iter().cloned());
            }
            same
        }
        (AnySignal::Resource(_), AnySignal::Subject(_))
        | (AnySignal::Subject(_), AnySignal::Resource(_)) => false,
    }
}

/// What is not decided of a group's signals.
#[derive(Debug, Default)]
pub struct Open {
    events: BTreeSet<(ResourceKey, EventRef)>,
    rebuilds: BTreeSet<ResourceKey>,
    subjects: BTreeSet<SubjectKey>,
}

impl Open {
    /// These events of this resource are not decided.
    pub fn add<'e>(
        &mut self,
        resource: &ResourceKey,
        events: impl IntoIterator<Item = &'e EventRef>,
    ) {
        self.events.extend(
            events
                .into_iter()
                .map(|event| (resource.clone(), event.clone())),
        );
    }

    /// This resource is not rebuilt.
    pub fn add_rebuild(&mut self, resource: &ResourceKey) {
        self.rebuilds.insert(resource.clone());
    }

    /// This subject is not decided.
    pub fn add_subject(&mut self, signal: &SubjectSignal) {
        self.subjects.insert(signal.subject.clone());
    }

    fn holds(&self, signal: &AnySignal) -> bool {
        match signal {
            AnySignal::Resource(Signal {
                resource,
                cause: Cause::Rebuild(_),
                ..
            }) => self.rebuilds.contains(resource),
            AnySignal::Resource(Signal {
                resource, events, ..
            }) => events
                .iter()
                .any(|event| self.events.contains(&(resource.clone(), event.clone()))),
            AnySignal::Subject(signal) => self.subjects.contains(&signal.subject),
        }
    }
}

/// The messages to be left in the queue: the first that is not settled, and all after it.
#[must_use]
pub fn unsettled<'m>(messages: &'m [Message], open: &Open) -> &'m [Message] {
    let settled = |message: &Message| {
        message
            .signal
            .as_ref()
            .is_some_and(|signal| !open.holds(signal))
    };
    let first = messages
        .iter()
        .position(|message| !settled(message))
        .unwrap_or(messages.len());
    messages.get(first..).unwrap_or_default()
}

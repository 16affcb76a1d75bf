//! Events onto the event bus, each with its own outcome.
//!
//! The service answers 200 also when it took none of them, so only an entry that it names with an event id is taken.
//! What it does not say at all is that the bus is not there: events for a bus that nobody made are answered like
//! events that were taken. The deployment makes the bus, and a name is never typed twice.

use std::collections::BTreeMap;

use aws_sdk_eventbridge::Client;
use aws_sdk_eventbridge::types::{PutEventsRequestEntry, PutEventsResultEntry};
use lastword_domain::Sent;

use crate::failure::{failed, refused};

/// Who the events are from.
pub const SOURCE: &str = "lastword";
/// The service takes an event with a longer type, and drops it without a word.
pub const MOST_TYPE: usize = 128;
/// The most bytes of one event. The service takes four times as much; what is that large should be a pointer.
pub const MOST_BYTES: usize = 256 * 1024;
/// The most entries of one request, and their bytes together: under the service's 1 MB.
const MOST_ENTRIES: usize = 10;
const MOST_TOGETHER: usize = 900 * 1024;

/// What is published.
#[derive(Clone, PartialEq, Eq)]
pub struct Event {
    /// What consumers choose it by.
    pub detail_type: String,
    /// A JSON object, as text.
    pub detail: String,
    /// What it concerns, as ARNs or other names; may be empty.
    pub resources: Vec<String>,
}

/// Why an event was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BusError {
    /// It will not be taken the next time either.
    #[error("the bus refused the event: {0}")]
    Refused(String),
    /// It may be taken the next time; perhaps it was, and the answer was lost.
    #[error("the bus did not take the event: {0}")]
    Failed(String),
}

/// The event bus. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Bus {
    client: Client,
    name: String,
}

/// A request that came to nothing.
struct Nothing {
    sent: Sent,
    /// Whether it is about all of them: one entry that is unfit fails its neighbours' request too.
    of_all: bool,
}

impl Bus {
    /// Publishes on the bus of this name or ARN. A client that tries again by itself serves a publisher whose
    /// consumers know repetitions.
    #[must_use]
    pub fn new(client: Client, name: impl Into<String>) -> Self {
        Self {
            client,
            name: name.into(),
        }
    }

    /// Publishes all and says for each, in order, whether it was taken; one that is refused keeps none of the others
    /// back.
    pub async fn publish(&self, events: &[Event]) -> Vec<Result<(), BusError>> {
        let mut outcomes = BTreeMap::new();
        let mut fit = Vec::new();
        for (at, event) in events.iter().enumerate() {
            match event.unfit() {
                None => fit.push((at, event)),
                Some(why) => drop(outcomes.insert(at, Err(BusError::Refused(why)))),
            }
        }
        for chunk in chunks(&fit) {
            for (at, sent) in self.publish_chunk(chunk).await {
                outcomes.insert(at, outcome(sent));
            }
        }
        let unnamed = || Err(BusError::Failed("it was not sent".to_owned()));
        (0..events.len())
            .map(|at| outcomes.remove(&at).unwrap_or_else(unnamed))
            .collect()
    }

    async fn publish_chunk(&self, chunk: &[(usize, &Event)]) -> Vec<(usize, Sent)> {
        let places = chunk.iter().map(|(at, _)| *at);
        let events: Vec<_> = chunk.iter().map(|(_, event)| *event).collect();
        match self.put(&events).await {
            Ok(sent) => places.zip(sent).collect(),
            Err(nothing) if nothing.of_all || chunk.len() == 1 => {
                places.map(|at| (at, nothing.sent.clone())).collect()
            }
            Err(_one_is_unfit) => {
                let mut all = Vec::with_capacity(chunk.len());
                for (at, event) in chunk {
                    all.push((*at, self.send(event).await));
                }
                all
            }
        }
    }

    /// One event in a request of its own.
    pub(crate) async fn send(&self, event: &Event) -> Sent {
        if let Some(why) = event.unfit() {
            return Sent::Refused { why };
        }
        match self.put(&[event]).await {
            Ok(sent) => sent.into_iter().next().unwrap_or_else(|| read(None)),
            Err(nothing) => nothing.sent,
        }
    }

    /// One request: what became of each entry, or of all.
    async fn put(&self, events: &[&Event]) -> Result<Vec<Sent>, Nothing> {
        let entries = events.iter().map(|event| self.entry(event)).collect();
        let request = self.client.put_events().set_entries(Some(entries));
        match request.send().await {
            Ok(answer) => {
                let named = answer.entries();
                Ok((0..events.len()).map(|at| read(named.get(at))).collect())
            }
            Err(error) => {
                let (sent, code) = failed(&error);
                let no_access = code.is_some_and(|code| code.contains("AccessDenied"));
                let of_all = no_access || !matches!(sent, Sent::Refused { .. });
                Err(Nothing { sent, of_all })
            }
        }
    }

    fn entry(&self, event: &Event) -> PutEventsRequestEntry {
        let resources = (!event.resources.is_empty()).then(|| event.resources.clone());
        PutEventsRequestEntry::builder()
            .event_bus_name(&self.name)
            .source(SOURCE)
            .detail_type(&event.detail_type)
            .detail(&event.detail)
            .set_resources(resources)
            .build()
    }
}

impl Event {
    /// As the service counts: source, type, detail and resources, in bytes.
    fn bytes(&self) -> usize {
        let resources: usize = self.resources.iter().map(String::len).sum();
        SOURCE.len() + self.detail_type.len() + self.detail.len() + resources
    }

    /// Why it cannot be sent at all.
    fn unfit(&self) -> Option<String> {
        let length = self.detail_type.chars().count();
        let bytes = self.bytes();
        if length == 0 || length > MOST_TYPE {
            let why =
                format!("its detail-type has {length} characters; from 1 to {MOST_TYPE} are taken");
            return Some(why);
        }
        (bytes > MOST_BYTES).then(|| format!("it has {bytes} bytes; the most is {MOST_BYTES}"))
    }
}

/// Without its detail.
impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Event")
            .field("detail_type", &self.detail_type)
            .finish_non_exhaustive()
    }
}

/// What the answer says of one entry.
///
/// | entry | means |
/// |---|---|
/// | with an event id | done |
/// | with a code | as [`refused`] reads it; `Internal…` and `ServiceUnavailable` are unknown |
/// | with neither, or missing | unknown |
fn read(entry: Option<&PutEventsResultEntry>) -> Sent {
    let named = |text: Option<&str>| text.is_some_and(|text| !text.is_empty());
    let Some(entry) = entry.filter(|entry| named(entry.event_id()) || named(entry.error_code()))
    else {
        return Sent::Unknown {
            why: "the answer does not name this event".to_owned(),
            retry_after: None,
        };
    };
    match entry.error_code().filter(|code| !code.is_empty()) {
        None => Sent::Done {
            told: "the bus took it".to_owned(),
        },
        Some(code) => {
            let inside = code.starts_with("Internal") || code.starts_with("ServiceUnavailable");
            refused(code, if inside { 500 } else { 400 })
        }
    }
}

fn outcome(sent: Sent) -> Result<(), BusError> {
    match sent {
        Sent::Done { .. } => Ok(()),
        Sent::Refused { why } => Err(BusError::Refused(why)),
        Sent::NotSent { why, .. } | Sent::Unknown { why, .. } => Err(BusError::Failed(why)),
    }
}

/// As many neighbours together as one request takes.
fn chunks<'f, 'e>(mut rest: &'f [(usize, &'e Event)]) -> Vec<&'f [(usize, &'e Event)]> {
    let mut all = Vec::new();
    while !rest.is_empty() {
        let mut together = 0;
        let fits = rest.iter().take(MOST_ENTRIES).take_while(|(_, event)| {
            together += event.bytes();
            together <= MOST_TOGETHER
        });
        // At least one, whatever its size: it was found fit.
        let count = fits.count().max(1);
        let (chunk, later) = rest.split_at(count.min(rest.len()));
        all.push(chunk);
        rest = later;
    }
    all
}

#[cfg(test)]
mod tests;

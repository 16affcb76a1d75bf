//! Stream records to signals: one signal for each resource of a batch. Plain functions.

use std::collections::BTreeMap;

use lastword_domain::name::IntegrationName;
use lastword_domain::{Cause, EventRef, ResourceKey, Signal};
use lastword_store::{StoreError, Streamed};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The most events one signal points at; a message stays far below the queue's limit.
pub const MOST_EVENTS: usize = 100;

/// A batch as the event source mapping sends it. Records are read one by one: a single record that
/// cannot be read must not fail its neighbours.
#[derive(Deserialize)]
pub struct Batch<'a> {
    /// The records, unread.
    #[serde(rename = "Records", borrow)]
    pub records: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Numbered {
    dynamodb: Number,
}

#[derive(Deserialize)]
struct Number {
    #[serde(rename = "SequenceNumber")]
    sequence: String,
}

#[derive(Deserialize)]
struct Record<'a> {
    #[serde(rename = "eventName")]
    name: String,
    #[serde(borrow)]
    dynamodb: Change<'a>,
}

#[derive(Deserialize)]
struct Change<'a> {
    #[serde(rename = "NewImage", borrow)]
    image: Option<&'a RawValue>,
}

/// A record's place in its shard, by which its failure is reported.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sequence(pub String);

/// What a record says.
#[derive(Debug, PartialEq, Eq)]
pub enum News {
    /// An event was accepted.
    Event {
        /// Points at it.
        reference: EventRef,
        /// The endpoint that accepted it.
        integration: IntegrationName,
        /// What it concerns.
        resources: Vec<ResourceKey>,
    },
    /// Nothing to tell: a part of a body, or a removal.
    Nothing,
}

/// Why a record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// It is no stream record.
    #[error("not a stream record: {0}")]
    Record(#[from] serde_json::Error),
    /// Its row is not what ingest writes.
    #[error(transparent)]
    Row(#[from] StoreError),
    /// An insert without its new image: the stream is not set up as it must be.
    #[error("the record has no new image")]
    NoImage,
}

/// A record's sequence number; without one its failure cannot be reported alone.
///
/// # Errors
/// When it has none.
pub fn sequence(record: &RawValue) -> Result<Sequence, serde_json::Error> {
    serde_json::from_str::<Numbered>(record.get())
        .map(|numbered| Sequence(numbered.dynamodb.sequence))
}

/// What a record says.
///
/// # Errors
/// When it cannot be read.
pub fn read(record: &RawValue) -> Result<News, Unreadable> {
    let record: Record<'_> = serde_json::from_str(record.get())?;
    if record.name != "INSERT" {
        return Ok(News::Nothing);
    }
    let image = record.dynamodb.image.ok_or(Unreadable::NoImage)?;
    Ok(match Streamed::parse(image.get())? {
        Streamed::Part => News::Nothing,
        Streamed::Accepted {
            reference,
            integration,
            resources,
        } => News::Event {
            reference,
            integration,
            resources,
        },
    })
}

/// Signals with the records they tell of.
#[derive(Debug, Default)]
pub struct Coalesced(BTreeMap<(IntegrationName, ResourceKey), Vec<(EventRef, Sequence)>>);

impl Coalesced {
    /// Adds an event.
    pub fn add(
        &mut self,
        integration: &IntegrationName,
        resources: &[ResourceKey],
        event: &EventRef,
        at: &Sequence,
    ) {
        for resource in resources {
            let key = (integration.clone(), resource.clone());
            self.0
                .entry(key)
                .or_default()
                .push((event.clone(), at.clone()));
        }
    }

    /// One signal for each resource; more only where one would point at too many events.
    #[must_use]
    pub fn signals(self) -> Vec<(Signal, Vec<Sequence>)> {
        let mut signals = Vec::new();
        for ((integration, resource), events) in self.0 {
            for chunk in events.chunks(MOST_EVENTS) {
                let (events, sequences) = chunk.iter().cloned().unzip();
                let signal = Signal {
                    integration: integration.clone(),
                    resource: resource.clone(),
                    events,
                    cause: Cause::Webhook,
                };
                signals.push((signal, sequences));
            }
        }
        signals
    }
}

//! Stream records to what they tell: one signal for each resource of a batch, events for the bus, effects to be sent.
//! Plain functions.

use std::collections::BTreeMap;

use lastword_domain::name::IntegrationName;
use lastword_domain::{AnySignal, Cause, EventRef, ResourceKey, Signal, SubjectKey, SubjectSignal};
use lastword_store::state::member::Moved;
use lastword_store::state::streamed::{self, Told};
use lastword_store::state::{is_of_state, member};
use lastword_store::{StoreError, Streamed};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The most events one signal points at; a message stays far below the queue's limit.
pub const MOST_EVENTS: usize = 100;

/// How the partitions of drafts begin: no hash does.
const DRAFTS: &str = "draft#";

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
    #[serde(rename = "eventID")]
    id: Option<String>,
    #[serde(rename = "eventName")]
    name: String,
    #[serde(borrow)]
    dynamodb: Change<'a>,
}

#[derive(Deserialize)]
struct Change<'a> {
    #[serde(rename = "Keys", borrow)]
    keys: Option<&'a RawValue>,
    #[serde(rename = "NewImage", borrow)]
    image: Option<&'a RawValue>,
    #[serde(rename = "OldImage", borrow)]
    old: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Keys {
    pk: Text,
    sk: Text,
}

#[derive(Deserialize)]
struct Text {
    #[serde(rename = "S")]
    text: String,
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
    /// A subject's member came, changed or left.
    Member {
        /// Whose member.
        subject: SubjectKey,
        /// The change, as the stream calls it.
        change: String,
        /// What made us look.
        cause: Cause,
    },
    /// Something that others are told of, or that is to be sent.
    Told(Told),
    /// Nothing to tell: a part of a body, a removal, or an item that nothing follows from.
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
    #[error("the record has no image")]
    NoImage,
    /// A change that cannot be told from another.
    #[error("the record has no id")]
    NoId,
}

/// A record's sequence number; without one its failure cannot be reported alone.
///
/// # Errors
/// When it has none.
pub fn sequence(record: &RawValue) -> Result<Sequence, serde_json::Error> {
    serde_json::from_str::<Numbered>(record.get())
        .map(|numbered| Sequence(numbered.dynamodb.sequence))
}

/// What a record says. Rows of the two tables are told apart by their sort keys, of which they share none.
///
/// # Errors
/// When it cannot be read.
pub fn read(record: &RawValue) -> Result<News, Unreadable> {
    let record: Record<'_> = serde_json::from_str(record.get())?;
    let keys: Option<Keys> = match record.dynamodb.keys {
        None => None,
        Some(keys) => Some(serde_json::from_str(keys.get())?),
    };
    match keys {
        // Whoever writes drafts can write nothing else, whatever it calls its items.
        Some(keys) if keys.pk.text.starts_with(DRAFTS) => Ok(News::Nothing),
        Some(keys) if keys.sk.text.starts_with(member::PREFIX) => moved(record),
        Some(keys) if is_of_state(&keys.sk.text) => concluded(&record),
        Some(_) | None => accepted(&record),
    }
}

fn accepted(record: &Record<'_>) -> Result<News, Unreadable> {
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

fn concluded(record: &Record<'_>) -> Result<News, Unreadable> {
    if record.name == "REMOVE" {
        return Ok(News::Nothing);
    }
    let image = record.dynamodb.image.ok_or(Unreadable::NoImage)?;
    let old = record.dynamodb.old.map(RawValue::get);
    let told = streamed::told(image.get(), old)?;
    Ok(if told == Told::Nothing {
        News::Nothing
    } else {
        News::Told(told)
    })
}

/// A member that left stays as an item that says so. Nobody removes one; who does all the same tells no news.
fn moved(record: Record<'_>) -> Result<News, Unreadable> {
    if record.name == "REMOVE" {
        return Ok(News::Nothing);
    }
    let image = record.dynamodb.image.ok_or(Unreadable::NoImage)?;
    let change = record.id.filter(|id| !id.is_empty());
    let change = change.ok_or(Unreadable::NoId)?;
    Ok(match member::streamed(image.get())? {
        Some(Moved { subject, rebuild }) => News::Member {
            subject,
            change,
            // What a rebuild moved is decided as a rebuild decides.
            cause: rebuild.map_or(Cause::Webhook, Cause::Rebuild),
        },
        None => News::Nothing,
    })
}

/// The rebuild that told of it, if one did.
type Run = Option<String>;

/// Signals with the records they tell of.
#[derive(Debug, Default)]
pub struct Coalesced {
    resources: BTreeMap<(IntegrationName, ResourceKey), Vec<(EventRef, Sequence)>>,
    subjects: BTreeMap<(SubjectKey, Run), Vec<(String, Sequence)>>,
    told: Vec<(Told, Sequence)>,
}

/// What a batch comes to, each with the records that tell of it.
#[derive(Debug, Default)]
pub struct Arranged {
    /// For the signals' queue.
    pub signals: Vec<(AnySignal, Vec<Sequence>)>,
    /// For the bus and the effects' queue.
    pub told: Vec<(Told, Sequence)>,
}

impl Coalesced {
    /// Adds what a record says.
    pub fn add(&mut self, news: News, at: &Sequence) {
        match news {
            News::Event {
                reference,
                integration,
                resources,
            } => {
                for resource in resources {
                    let told = self
                        .resources
                        .entry((integration.clone(), resource))
                        .or_default();
                    told.push((reference.clone(), at.clone()));
                }
            }
            News::Member {
                subject,
                change,
                cause,
            } => {
                let run = match cause {
                    Cause::Rebuild(run) => Some(run),
                    Cause::Webhook | Cause::Sweep(_) | Cause::Redrive(_) => None,
                };
                let told = self.subjects.entry((subject, run)).or_default();
                told.push((change, at.clone()));
            }
            News::Told(told) => self.told.push((told, at.clone())),
            News::Nothing => {}
        }
    }

    /// One signal for each resource and subject; more only where one would point at too much.
    #[must_use]
    pub fn arranged(self) -> Arranged {
        let mut signals = Vec::new();
        for ((integration, resource), events) in self.resources {
            for chunk in events.chunks(MOST_EVENTS) {
                let (events, sequences) = chunk.iter().cloned().unzip();
                let signal = Signal {
                    integration: integration.clone(),
                    resource: resource.clone(),
                    events,
                    cause: Cause::Webhook,
                };
                signals.push((signal.into(), sequences));
            }
        }
        for ((subject, run), changes) in self.subjects {
            for chunk in changes.chunks(MOST_EVENTS) {
                let (changes, sequences) = chunk.iter().cloned().unzip();
                let signal = SubjectSignal {
                    subject: subject.clone(),
                    changes,
                    cause: run.clone().map_or(Cause::Webhook, Cause::Rebuild),
                };
                signals.push((signal.into(), sequences));
            }
        }
        Arranged {
            signals,
            told: self.told,
        }
    }
}

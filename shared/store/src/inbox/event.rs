//! | attribute | type | meaning | written by |
//! |---|---|---|---|
//! | `pk` | S | hash of the event's identity | ingest |
//! | `sk` | S | `event`, or `variant#<body digest>` for other bytes under the same identity | ingest |
//! | `integration` | S | the endpoint that accepted it | ingest |
//! | `provider`, `account`, `environment`, `event_id`, `event_type` | S | the identity's readable parts | ingest |
//! | `resources` | L of L(type, id) | what it concerns, under the event's account | ingest |
//! | `packed`, `encoding`, `size`, `parts` | B, S, N, N | the exact body: packed here, or in so many parts | ingest |
//! | `digest` | B | SHA-256 of the exact body | ingest |
//! | `headers` | M | the headers that the contract reads | ingest |
//! | `bucket`, `received_at` | S, S | index `by_time`: minute and shard, time of receipt | ingest |
//! | `expires_at` | N | Unix seconds, by the integration's retention | ingest |

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use lastword_domain::name::{
    Account, Environment, EventId, EventType, IntegrationName, Provider, ResourceId, ResourceType,
};
use lastword_domain::{Digest, EventIdentity, EventRef, KeyHash, ResourceKey};

use crate::body::{self, Encoding};
use crate::error::StoreError;
use crate::item::{self, Item, Reading};
use crate::moment::Moment;

/// How many partitions one minute of the time index is spread over.
pub const SHARDS: u8 = 8;

const KIND: &str = "event";
const FIRST: &str = "event";
const VARIANT: &str = "variant#";
const PACKED: &str = "packed";
const DIGEST: &str = "digest";
const RESOURCES: &str = "resources";

/// An event about to be stored.
#[derive(Clone)]
pub struct NewEvent<'a> {
    /// The endpoint that accepted it.
    pub integration: &'a IntegrationName,
    /// What makes it this event.
    pub identity: &'a EventIdentity,
    /// What the provider calls it.
    pub kind: &'a EventType,
    /// What it concerns.
    pub resources: &'a [ResourceKey],
    /// The exact bytes received.
    pub body: &'a [u8],
    /// The headers that the contract reads.
    pub headers: Vec<(&'a str, &'a str)>,
    /// For audit, lag and the time index.
    pub received_at: Moment,
    /// How long it is kept.
    pub retention: Duration,
}

/// Law 14: without its body and its headers.
impl fmt::Debug for NewEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NewEvent({:?} {})", self.identity, self.kind)
    }
}

impl NewEvent<'_> {
    /// About what everything but the body takes of the row.
    pub(crate) fn beside_body(&self) -> usize {
        let resources = self.resources.iter();
        let resources = resources.map(|key| key.kind.as_str().len() + key.id.as_str().len() + 12);
        let headers = self
            .headers
            .iter()
            .map(|(name, value)| name.len() + value.len() + 4);
        let names = self.identity.id.as_str().len() + self.identity.account.as_str().len();
        1024 + names + self.kind.as_str().len() + resources.sum::<usize>() + headers.sum::<usize>()
    }

    pub(crate) fn expires_at(&self) -> u64 {
        self.received_at.plus(self.retention).unix_seconds()
    }
}

/// Where under an identity a body goes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Slot {
    First,
    Variant(Digest),
}

impl Slot {
    fn sort(self) -> String {
        match self {
            Self::First => FIRST.to_owned(),
            Self::Variant(digest) => format!("{VARIANT}{digest}"),
        }
    }
}

/// A packed body.
pub(crate) struct Body {
    pub(crate) size: usize,
    pub(crate) encoding: Encoding,
    pub(crate) digest: Digest,
    pub(crate) packed: Vec<u8>,
}

/// A packed body as the event's row keeps it.
pub(crate) struct KeptBody {
    size: usize,
    encoding: Encoding,
    digest: Digest,
    packed: AttributeValue,
    parts: usize,
}

impl KeptBody {
    pub(crate) fn whole(body: Body) -> Self {
        Self {
            size: body.size,
            encoding: body.encoding,
            digest: body.digest,
            packed: item::bytes(body.packed),
            parts: 0,
        }
    }

    pub(crate) fn in_parts(body: &Body, parts: usize) -> Self {
        Self {
            size: body.size,
            encoding: body.encoding,
            digest: body.digest,
            packed: item::bytes(Vec::new()),
            parts,
        }
    }
}

pub(crate) fn encode(
    event: &NewEvent<'_>,
    identity: &KeyHash,
    slot: Slot,
    body: &KeptBody,
) -> Item {
    let resource = |key: &ResourceKey| {
        AttributeValue::L(vec![
            item::text(key.kind.as_str()),
            item::text(key.id.as_str()),
        ])
    };
    let shard = identity.as_str().bytes().next().unwrap_or_default() % SHARDS;
    let mut entries = vec![
        ("pk", item::text(identity.as_str())),
        ("sk", item::text(slot.sort())),
        ("integration", item::text(event.integration.as_str())),
        ("provider", item::text(event.identity.provider.as_str())),
        ("account", item::text(event.identity.account.as_str())),
        (
            "environment",
            item::text(event.identity.environment.as_str()),
        ),
        ("event_id", item::text(event.identity.id.as_str())),
        ("event_type", item::text(event.kind.as_str())),
        (
            RESOURCES,
            AttributeValue::L(event.resources.iter().map(resource).collect()),
        ),
        (DIGEST, item::bytes(body.digest.as_bytes().as_slice())),
        ("encoding", item::text(body.encoding.as_str())),
        ("size", item::number(body.size)),
        (
            "bucket",
            item::text(format!("{}#{shard}", event.received_at.minute())),
        ),
        ("received_at", item::text(event.received_at.to_text())),
        ("expires_at", item::number(event.expires_at())),
    ];
    if body.parts > 0 {
        entries.push(("parts", item::number(body.parts)));
    } else {
        entries.push((PACKED, body.packed.clone()));
    }
    if !event.headers.is_empty() {
        let headers = event
            .headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), item::text(*value)))
            .collect();
        entries.push(("headers", AttributeValue::M(headers)));
    }
    entries
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

pub(crate) fn digest(item: &Item) -> Result<Digest, StoreError> {
    let reading = Reading { kind: KIND, item };
    reading
        .optional_bytes(DIGEST)?
        .and_then(Digest::from_bytes)
        .ok_or_else(|| reading.corrupt(DIGEST, "is missing or not a digest"))
}

/// The row an event reference points at.
pub(crate) fn key(reference: &EventRef) -> Item {
    let sort = match reference.variant_digest() {
        None => FIRST.to_owned(),
        Some(digest) => format!("{VARIANT}{digest}"),
    };
    Item::from([
        ("pk".into(), item::text(reference.event())),
        ("sk".into(), item::text(sort)),
    ])
}

/// Everything of a row but its body, as a projection expression with its names.
pub(crate) fn without_body() -> (String, HashMap<String, String>) {
    const ATTRIBUTES: [&str; 14] = [
        "pk",
        "sk",
        "integration",
        "provider",
        "account",
        "environment",
        "event_id",
        "event_type",
        RESOURCES,
        DIGEST,
        "encoding",
        "size",
        "parts",
        "received_at",
    ];
    let names: HashMap<_, _> = ATTRIBUTES
        .iter()
        .map(|name| (format!("#{name}"), (*name).to_owned()))
        .collect();
    let places = ATTRIBUTES.map(|name| format!("#{name}"));
    (places.join(", "), names)
}

/// An accepted event, as stored.
#[derive(Clone)]
pub struct StoredEvent {
    /// The endpoint that accepted it.
    pub integration: IntegrationName,
    /// What makes it this event.
    pub identity: EventIdentity,
    /// What the provider calls it.
    pub kind: EventType,
    /// What it concerns.
    pub resources: Vec<ResourceKey>,
    /// When it came; for people and for lag.
    pub received_at: String,
    /// SHA-256 of its exact bytes.
    pub digest: Digest,
    /// Bytes of its body.
    pub size: usize,
    pub(crate) identity_hash: String,
    pub(crate) encoding: Encoding,
    pub(crate) packed: Vec<u8>,
    pub(crate) parts: usize,
}

/// Law 14: without its body.
impl fmt::Debug for StoredEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "StoredEvent({:?} {}, {} bytes)",
            self.identity, self.kind, self.size
        )
    }
}

impl StoredEvent {
    pub(crate) fn unpack(&self, packed: &[u8]) -> Result<Vec<u8>, StoreError> {
        let corrupt = |why: String| StoreError::Corrupt {
            item: KIND,
            attribute: PACKED,
            why,
        };
        let bytes = body::unpack(self.encoding, packed, self.size)
            .map_err(|error| corrupt(error.to_string()))?;
        if Digest::of(&bytes) == self.digest {
            Ok(bytes)
        } else {
            Err(corrupt("does not match its digest".into()))
        }
    }
}

pub(crate) fn decode(item: &Item) -> Result<(EventRef, StoredEvent), StoreError> {
    let reading = Reading { kind: KIND, item };
    let sort = reading.text("sk")?;
    let reference = match sort.strip_prefix(VARIANT) {
        Some(digest) => format!("{}.{digest}", reading.text("pk")?),
        None => reading.text("pk")?.to_owned(),
    };
    let reference = EventRef::parse(&reference).map_err(|error| reading.corrupt("pk", error))?;
    let identity = EventIdentity {
        provider: reading.name("provider", Provider::parse)?,
        account: reading.name("account", Account::parse)?,
        environment: reading.name("environment", Environment::parse)?,
        id: reading.name("event_id", EventId::parse)?,
    };
    let number = |attribute| {
        reading
            .optional_number(attribute)
            .map(|n| n.and_then(|n| usize::try_from(n).ok()).unwrap_or_default())
    };
    let event = StoredEvent {
        integration: reading.name("integration", IntegrationName::parse)?,
        resources: resources(reading, &identity)?,
        kind: reading.name("event_type", EventType::parse)?,
        received_at: reading.text("received_at")?.to_owned(),
        digest: digest(item)?,
        size: number("size")?,
        identity_hash: reading.text("pk")?.to_owned(),
        encoding: reading.name("encoding", |word| Encoding::parse(word).ok_or("is unknown"))?,
        packed: reading.optional_bytes(PACKED)?.unwrap_or_default().to_vec(),
        parts: number("parts")?,
        identity,
    };
    Ok((reference, event))
}

fn resources(
    reading: Reading<'_>,
    identity: &EventIdentity,
) -> Result<Vec<ResourceKey>, StoreError> {
    let mut resources = Vec::new();
    for value in reading.list(RESOURCES)? {
        let pair = value.as_l().map(Vec::as_slice).unwrap_or_default();
        let [AttributeValue::S(kind), AttributeValue::S(id)] = pair else {
            return Err(reading.corrupt(RESOURCES, "does not hold pairs of type and id"));
        };
        resources.push(ResourceKey {
            provider: identity.provider.clone(),
            account: identity.account.clone(),
            environment: identity.environment.clone(),
            kind: ResourceType::parse(kind).map_err(|error| reading.corrupt(RESOURCES, error))?,
            id: ResourceId::parse(id).map_err(|error| reading.corrupt(RESOURCES, error))?,
        });
    }
    Ok(resources)
}

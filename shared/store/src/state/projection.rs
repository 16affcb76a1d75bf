//! | attribute | type | meaning | written by |
//! |---|---|---|---|
//! | `pk`, `sk` | S, S | hash of the resource's key, `projection` | reconcile |
//! | `provider`, `account`, `environment`, `type`, `id` | S | the key's readable parts | reconcile |
//! | `revision` | N | how many conclusions it has behind it; every commit is conditional on it | reconcile |
//! | `state` and others | | the contents, as in [`super::content`] | reconcile |
//! | `version` | N or S | the version it rests on, where the strategy has one: what is no whole number is a text whose bytes are in its order | reconcile |
//! | `proof`, `grave` | S, N or S | what says that it is deleted, and under which version | reconcile |
//! | `tied` | N or S | strategy `sequence`: the lowest number under which different changes came | reconcile |
//! | `waiting_since` | N | strategy `sequence`: since when changes wait for one before them, Unix milliseconds | reconcile |
//! | `verdict` | S | what the rules conclude, as JSON | reconcile |
//! | `links` | L of L(kind, id, role) | the subjects it is a member of | reconcile |
//! | `reviews` | L of S | the reviews that its state calls for | reconcile |
//! | `facts` | BOOL | whether facts were ever recorded of it | reconcile |
//! | `called` | M of BOOL | each action that its state may call for, and whether it did | reconcile |
//! | `quiet` | BOOL | the last conclusion changed nothing but the revision and the marks: nobody is told | reconcile |
//! | `recent` | L of S | marks of recent conclusions | reconcile |
//! | `paged` | BOOL | whether marks have moved to pages | reconcile |
//! | `observed_at` | S | when this was concluded, for people | reconcile |
//! | `census` | S | index `census`: environment, type and shard | reconcile |

use aws_sdk_dynamodb::types::AttributeValue;
use lastword_domain::effect::outbox::Called;
use lastword_domain::name::{Environment, Provider, ResourceType};
use lastword_domain::version::StoredVersion;
use lastword_domain::{Grave, Mark, Projection, Proof, ResourceKey, Revision, Version};

use super::{content, effect, meaning, page};
use crate::error::StoreError;
use crate::item::{self, Item, Reading};
use crate::moment::Moment;

/// How many partitions one type of the census is spread over.
pub const SHARDS: u8 = 4;

const KIND: &str = "projection";
const SORT: &str = "projection";
const RECENT: &str = "recent";
/// About what everything but the state takes of the item.
const OVERHEAD: usize = 520;

/// What stands in the item and is no part of the projection: nothing decides by it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Beside {
    /// Since when changes wait for one before them.
    pub waiting_since: Option<Moment>,
    /// Whether facts were ever recorded.
    pub facts: bool,
    /// Which actions it called for.
    pub called: Called,
}

/// The condition under which a projection is replaced.
///
/// Law 5, reads are fenced: nobody has committed this resource since before its read began, because the
/// revision is still the one that was loaded before. Law 6, versions are compared in the write: a lower
/// version never replaces a higher one, whatever the code before it believed.
pub(crate) fn condition(held: Revision, version: Option<&Version>, values: &mut Item) -> String {
    let mut condition = if held == Revision::NONE {
        "attribute_not_exists(pk)".to_owned()
    } else {
        values.insert(":held".into(), item::number(held));
        "revision = :held".to_owned()
    };
    if let Some(version) = version {
        // A version of another kind than the one held compares with nothing, and is a change of configuration.
        let stored = stored(version);
        let kind = if stored.is_n() { "N" } else { "S" };
        values.insert(":version".into(), stored);
        values.insert(":kind".into(), item::text(kind));
        condition.push_str(
            " AND (attribute_not_exists(version) OR version <= :version OR NOT attribute_type(version, :kind))",
        );
    }
    condition
}

/// A conclusion that changes nothing: the revision and the marks.
pub(crate) const QUIET_UPDATE: &str =
    "SET revision = :next, recent = :recent, paged = :paged, observed_at = :now, quiet = :quiet";

pub(crate) fn quiet_values(next: Revision, recent: &[Mark], paged: bool, now: Moment) -> Item {
    Item::from([
        (":next".into(), item::number(next)),
        (":recent".into(), page::encode_marks(recent)),
        (":paged".into(), AttributeValue::Bool(paged)),
        (":now".into(), item::text(now.to_text())),
        (":quiet".into(), AttributeValue::Bool(true)),
    ])
}

/// How the partitions of the census begin in which a type's projections are.
pub(crate) fn census(
    provider: &Provider,
    environment: &Environment,
    kind: &ResourceType,
) -> String {
    format!("{provider}/{environment}/{kind}")
}

pub(crate) fn key(resource: &ResourceKey) -> Item {
    Item::from([
        ("pk".into(), item::text(resource.hash().as_str())),
        ("sk".into(), item::text(SORT)),
    ])
}

/// A version as it is compared in the store.
fn stored(version: &Version) -> AttributeValue {
    match version.stored() {
        StoredVersion::Number(digits) => item::number(digits),
        StoredVersion::Text(text) => item::text(text),
    }
}

fn version(reading: Reading<'_>, attribute: &'static str) -> Result<Option<Version>, StoreError> {
    let parsed = match reading.item.get(attribute) {
        None => return Ok(None),
        Some(AttributeValue::N(digits)) => Version::from_stored_number(digits),
        Some(AttributeValue::S(text)) => Version::from_stored_text(text),
        Some(_) => return Err(reading.corrupt(attribute, "is neither a number nor a text")),
    };
    parsed
        .map(Some)
        .map_err(|error| reading.corrupt(attribute, error))
}

pub(crate) fn encode(
    resource: &ResourceKey,
    projection: &Projection,
    beside: &Beside,
    now: Moment,
) -> Item {
    let mut item = key(resource);
    let hash = resource.hash();
    let shard = hash.as_str().bytes().next().unwrap_or_default() % SHARDS;
    let census = census(&resource.provider, &resource.environment, &resource.kind);
    let census = format!("{census}#{shard}");
    item::resource(resource, &mut item);
    let mut put = |name: &str, value| item.insert(name.to_owned(), value);
    put("revision", item::number(projection.revision));
    put("observed_at", item::text(now.to_text()));
    put("census", item::text(census));
    for (name, version) in [
        ("version", projection.version.as_ref()),
        ("tied", projection.tied.as_ref()),
        (
            "grave",
            projection
                .grave
                .as_ref()
                .and_then(|grave| grave.version.as_ref()),
        ),
    ] {
        if let Some(version) = version {
            put(name, stored(version));
        }
    }
    if let Some(grave) = &projection.grave {
        put("proof", item::text(grave.proof.as_str()));
    }
    if projection.waiting {
        let since = beside.waiting_since.unwrap_or(now);
        put("waiting_since", item::number(since.unix_ms()));
    }
    if beside.facts {
        put("facts", AttributeValue::Bool(true));
    }
    if !projection.recent.is_empty() {
        put(RECENT, page::encode_marks(&projection.recent));
    }
    if projection.paged {
        put("paged", AttributeValue::Bool(true));
    }
    meaning::encode(&projection.meaning, &mut item);
    effect::encode_called(&beside.called, &mut item);
    if let Some(contents) = &projection.contents {
        content::encode(contents, OVERHEAD, &mut item);
    }
    item
}

pub(crate) fn decode(item: &Item) -> Result<(Projection, Beside), StoreError> {
    let reading = Reading { kind: KIND, item };
    let revision = reading
        .optional_number("revision")?
        .ok_or_else(|| reading.corrupt("revision", "is missing"))?;
    let grave = match reading.optional_text("proof")? {
        None => None,
        Some(word) => Some(Grave {
            proof: Proof::parse(word).ok_or_else(|| reading.corrupt("proof", "is unknown"))?,
            version: version(reading, "grave")?,
        }),
    };
    let waiting_since = reading
        .optional_number("waiting_since")?
        .map(Moment::from_unix_ms);
    let projection = Projection {
        revision: Revision::from_number(revision),
        contents: content::decode(reading)?,
        version: version(reading, "version")?,
        grave,
        tied: version(reading, "tied")?,
        waiting: waiting_since.is_some(),
        meaning: meaning::decode(reading)?,
        recent: page::decode_marks(reading, RECENT)?,
        paged: reading.flag("paged")?,
    };
    let beside = Beside {
        waiting_since,
        facts: reading.flag("facts")?,
        called: effect::decode_called(reading)?,
    };
    Ok((projection, beside))
}

/// Whether an item of a resource's partition is its projection.
pub(crate) fn is_one(item: &Item) -> bool {
    matches!(item.get("sk"), Some(AttributeValue::S(sort)) if sort == SORT)
}

/// The key from its readable parts.
pub(crate) fn decode_key(item: &Item) -> Result<ResourceKey, StoreError> {
    Reading { kind: KIND, item }.resource()
}

pub(crate) fn observed_at(item: &Item) -> Result<Option<String>, StoreError> {
    let reading = Reading { kind: KIND, item };
    Ok(reading.optional_text("observed_at")?.map(str::to_owned))
}

#[cfg(test)]
mod tests;

//! | attribute | type | meaning | written by |
//! |---|---|---|---|
//! | `pk`, `sk` | S, S | hash of the resource's key, `projection` | reconcile |
//! | `provider`, `account`, `environment`, `type`, `id` | S | the key's readable parts | reconcile |
//! | `revision` | N | how many conclusions it has behind it; every commit is conditional on it | reconcile |
//! | `state` | S | the exact JSON, when that fits a write unit as well as packed | reconcile |
//! | `packed`, `size` | B, N | the same, packed, when that saves a write unit | reconcile |
//! | `deleted` | BOOL | a tombstone | reconcile |
//! | `contested`, `size` | B, N | contents under equal evidence, none chosen: a packed JSON list | reconcile |
//! | `version` | N | the version it rests on, where the strategy has one | reconcile |
//! | `recent` | L of S | marks of recent conclusions that changed nothing | reconcile |
//! | `paged` | BOOL | whether marks have moved to pages | reconcile |
//! | `observed_at` | S | when this was concluded, for people | reconcile |
//! | `census` | S | index `census`: environment, type and shard | reconcile |

use aws_sdk_dynamodb::types::AttributeValue;
use lastword_domain::{
    Content, Contents, Json, Mark, Projection, ResourceKey, Revision, Standing, Version,
};

use super::page;
use serde_json::value::RawValue;

use crate::body::{self, Encoding};
use crate::error::StoreError;
use crate::item::{self, Item, Reading};
use crate::moment::Moment;

/// How many partitions one type of the census is spread over.
pub const SHARDS: u8 = 4;

const KIND: &str = "projection";
const SORT: &str = "projection";
const STATE: &str = "state";
const PACKED: &str = "packed";
const CONTESTED: &str = "contested";
const RECENT: &str = "recent";
const WRITE_UNIT: usize = 1024;
/// About what everything but the state takes of the item.
const OVERHEAD: usize = 520;

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
        values.insert(":version".into(), item::number(version));
        condition.push_str(" AND (attribute_not_exists(version) OR version <= :version)");
    }
    condition
}

/// A conclusion that changes nothing: the revision and the marks.
pub(crate) const QUIET_UPDATE: &str =
    "SET revision = :next, recent = :recent, paged = :paged, observed_at = :now";

pub(crate) fn quiet_values(next: Revision, recent: &[Mark], paged: bool, now: Moment) -> Item {
    Item::from([
        (":next".into(), item::number(next)),
        (":recent".into(), page::encode_marks(recent)),
        (":paged".into(), AttributeValue::Bool(paged)),
        (":now".into(), item::text(now.to_text())),
    ])
}

pub(crate) fn key(resource: &ResourceKey) -> Item {
    Item::from([
        ("pk".into(), item::text(resource.hash().as_str())),
        ("sk".into(), item::text(SORT)),
    ])
}

pub(crate) fn encode(resource: &ResourceKey, projection: &Projection, now: Moment) -> Item {
    let mut item = key(resource);
    let hash = resource.hash();
    let shard = hash.as_str().bytes().next().unwrap_or_default() % SHARDS;
    let census = format!(
        "{}/{}/{}#{shard}",
        resource.provider, resource.environment, resource.kind
    );
    let mut put = |name: &str, value| item.insert(name.to_owned(), value);
    put("provider", item::text(resource.provider.as_str()));
    put("account", item::text(resource.account.as_str()));
    put("environment", item::text(resource.environment.as_str()));
    put("type", item::text(resource.kind.as_str()));
    put("id", item::text(resource.id.as_str()));
    put("revision", item::number(projection.revision));
    put("observed_at", item::text(now.to_text()));
    put("census", item::text(census));
    if let Some(version) = &projection.version {
        put("version", item::number(version));
    }
    if !projection.recent.is_empty() {
        put(RECENT, page::encode_marks(&projection.recent));
    }
    if projection.paged {
        put("paged", AttributeValue::Bool(true));
    }
    match projection.contents.as_ref().map(Contents::standing) {
        None => {}
        Some(Standing::Deleted) => {
            put("deleted", AttributeValue::Bool(true));
        }
        Some(Standing::Present(json)) => encode_state(json, &mut item),
        Some(Standing::Contested(contents)) => encode_contested(contents, &mut item),
    }
    item
}

/// As a list of texts, where a deletion is `null`; contents may be many and alike, so they are packed.
fn encode_contested(contents: &Contents, item: &mut Item) {
    let text = |content: &Content| match content {
        Content::Present(json) => json.as_str().to_owned(),
        Content::Deleted => "null".to_owned(),
    };
    let list = format!(
        "[{}]",
        contents.iter().map(text).collect::<Vec<_>>().join(",")
    );
    let (encoding, packed) = body::pack(list.as_bytes());
    item.insert(CONTESTED.into(), item::bytes(packed));
    item.insert("size".into(), item::number(list.len()));
    item.insert("encoding".into(), item::text(encoding.as_str()));
}

fn encode_state(json: &Json, item: &mut Item) {
    let text = json.as_str();
    let units = |bytes: usize| (OVERHEAD + bytes).div_ceil(WRITE_UNIT);
    if units(text.len()) > 1 {
        let (encoding, packed) = body::pack(text.as_bytes());
        if encoding == Encoding::Zstd && units(packed.len()) < units(text.len()) {
            item.insert(PACKED.into(), item::bytes(packed));
            item.insert("size".into(), item::number(text.len()));
            return;
        }
    }
    item.insert(STATE.into(), item::text(text));
}

pub(crate) fn decode(item: &Item) -> Result<Projection, StoreError> {
    let reading = Reading { kind: KIND, item };
    let version = match reading.optional_digits("version")? {
        None => None,
        Some(digits) => {
            Some(Version::parse(digits).map_err(|error| reading.corrupt("version", error))?)
        }
    };
    let revision = reading
        .optional_number("revision")?
        .ok_or_else(|| reading.corrupt("revision", "is missing"))?;
    Ok(Projection {
        revision: Revision::from_number(revision),
        contents: decode_contents(reading)?,
        version,
        recent: page::decode_marks(reading, RECENT)?,
        paged: reading.flag("paged")?,
    })
}

/// Whether an item of a resource's partition is its projection.
pub(crate) fn is_one(item: &Item) -> bool {
    matches!(item.get("sk"), Some(AttributeValue::S(sort)) if sort == SORT)
}

pub(crate) fn observed_at(item: &Item) -> Result<Option<String>, StoreError> {
    let reading = Reading { kind: KIND, item };
    Ok(reading.optional_text("observed_at")?.map(str::to_owned))
}

fn decode_contents(reading: Reading<'_>) -> Result<Option<Contents>, StoreError> {
    let json = |attribute, text: &str| {
        Json::parse(text)
            .map(Content::Present)
            .map_err(|error| reading.corrupt(attribute, error))
    };
    if reading.flag("deleted")? {
        return Ok(Some(Contents::one(Content::Deleted)));
    }
    if let Some(text) = reading.optional_text(STATE)? {
        return json(STATE, text).map(|content| Some(Contents::one(content)));
    }
    if let Some(text) = unpack(reading, PACKED, Encoding::Zstd)? {
        return json(PACKED, &text).map(|content| Some(Contents::one(content)));
    }
    let encoding = reading.optional_text("encoding")?.and_then(Encoding::parse);
    let Some(list) = unpack(reading, CONTESTED, encoding.unwrap_or(Encoding::Plain))? else {
        return Ok(None);
    };
    let texts: Vec<&RawValue> =
        serde_json::from_str(&list).map_err(|error| reading.corrupt(CONTESTED, error))?;
    let contents = texts.into_iter().map(|text| match text.get() {
        "null" => Ok(Content::Deleted),
        text => json(CONTESTED, text),
    });
    Ok(Contents::several(contents.collect::<Result<Vec<_>, _>>()?))
}

fn unpack(
    reading: Reading<'_>,
    attribute: &'static str,
    encoding: Encoding,
) -> Result<Option<String>, StoreError> {
    let Some(packed) = reading.optional_bytes(attribute)? else {
        return Ok(None);
    };
    let size = reading
        .optional_number("size")?
        .and_then(|size| usize::try_from(size).ok());
    let bytes = body::unpack(encoding, packed, size.unwrap_or_default())
        .map_err(|error| reading.corrupt(attribute, error))?;
    let text = String::from_utf8(bytes).map_err(|error| reading.corrupt(attribute, error))?;
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastword_domain::name::{Account, Environment, Provider, ResourceId, ResourceType};
    use lastword_domain::{Digest, EventRef, Outcome, Reason};
    use proptest::prelude::*;

    fn resource(id: &str) -> ResourceKey {
        ResourceKey {
            provider: Provider::parse("stripe").unwrap(),
            account: Account::parse("a").unwrap(),
            environment: Environment::parse("live").unwrap(),
            kind: ResourceType::parse("invoice").unwrap(),
            id: ResourceId::parse(id).unwrap(),
        }
    }

    fn content() -> impl Strategy<Value = Content> {
        prop_oneof![
            Just(Content::Deleted),
            ("\\PC{0,9}", 0usize..3000).prop_map(|(text, filler)| {
                let json = serde_json::json!({"text": text, "filler": "x".repeat(filler)});
                Content::Present(Json::parse(&json.to_string()).unwrap())
            }),
        ]
    }

    fn marks() -> impl Strategy<Value = Vec<Mark>> {
        proptest::collection::vec(
            (any::<u64>(), 0..Outcome::ALL.len(), 0..Reason::ALL.len()),
            0..9,
        )
        .prop_map(|marks| {
            let mark = |(event, outcome, reason): (u64, usize, usize)| Mark {
                event: EventRef::parse(&Digest::of(&event.to_be_bytes()).to_text()).unwrap(),
                outcome: Outcome::ALL[outcome],
                reason: Reason::ALL[reason],
            };
            marks.into_iter().map(mark).collect()
        })
    }

    proptest! {
        #[test]
        fn what_is_stored_comes_back(
            contents in proptest::collection::vec(content(), 0..3),
            version in proptest::option::of("[1-9][0-9]{0,37}"),
            revision in 1u64..,
            recent in marks(),
        ) {
            let projection = Projection {
                revision: Revision::from_number(revision),
                contents: Contents::several(contents),
                version: version.map(|digits| Version::parse(&digits).unwrap()),
                recent,
                paged: revision % 2 == 0,
            };
            prop_assert_eq!(decode(&encode(&resource("in_1"), &projection, Moment::from_unix_ms(0))).unwrap(), projection);
        }
    }

    #[test]
    fn a_large_state_is_kept_packed_and_a_small_one_readable() {
        let stored = |filler: usize| {
            let json = format!("{{\"filler\":\"{}\"}}", "x".repeat(filler));
            let contents = Contents::one(Content::Present(Json::parse(&json).unwrap()));
            let projection = Projection {
                contents: Some(contents),
                ..Projection::unknown()
            };
            encode(&resource("in_1"), &projection, Moment::from_unix_ms(0))
        };
        assert!(stored(100).contains_key("state"));
        assert!(stored(5000).contains_key("packed"));
    }

    #[test]
    fn an_item_that_is_no_projection_is_corrupt_and_says_where() {
        let error = decode(&key(&resource("in_1"))).unwrap_err().to_string();
        assert!(
            error.contains("projection") && error.contains("revision"),
            "{error}"
        );
    }
}

//! How contents stand in an item: the exact JSON, packed where that saves a write unit; several side by side when
//! none was chosen.
//!
//! | attribute | type | meaning |
//! |---|---|---|
//! | `state` | S | the exact JSON, when that fits a write unit as well as packed |
//! | `packed`, `size` | B, N | the same, packed |
//! | `deleted` | BOOL | a tombstone |
//! | `contested`, `size`, `encoding` | B, N, S | contents under equal evidence, none chosen: a packed JSON list |
//! | `statuses` | L of S | the status of each content, where the strategy has one; empty for a deletion |

use aws_sdk_dynamodb::types::AttributeValue;
use lastword_domain::{Content, Contents, Json, Standing, Status};
use serde_json::value::RawValue;

use crate::body::{self, Encoding};
use crate::error::StoreError;
use crate::item::{self, Item, Reading};

const STATE: &str = "state";
const PACKED: &str = "packed";
const CONTESTED: &str = "contested";
const STATUSES: &str = "statuses";
const WRITE_UNIT: usize = 1024;

/// Adds contents to an item; `beside` is about what everything else takes of it, in bytes.
pub(crate) fn encode(contents: &Contents, beside: usize, item: &mut Item) {
    match contents.standing() {
        Standing::Deleted => {
            item.insert("deleted".into(), AttributeValue::Bool(true));
        }
        Standing::Present(json) => encode_json(json, beside, item),
        Standing::Contested(contents) => encode_contested(contents, item),
    }
    if contents.with_status().any(|(_, status)| status.is_some()) {
        let text = |status: Option<&Status>| item::text(status.map_or("", Status::as_str));
        let all = contents.with_status().map(|(_, status)| text(status));
        item.insert(STATUSES.into(), AttributeValue::L(all.collect()));
    }
}

/// Adds one JSON text to an item.
pub(crate) fn encode_json(json: &Json, beside: usize, item: &mut Item) {
    let text = json.as_str();
    let units = |bytes: usize| (beside + bytes).div_ceil(WRITE_UNIT);
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

pub(crate) fn decode(reading: Reading<'_>) -> Result<Option<Contents>, StoreError> {
    let contents = decode_contents(reading)?;
    let statuses = statuses(reading)?;
    if statuses.is_empty() {
        return Ok(Contents::several(
            contents.into_iter().map(|content| (content, None)),
        ));
    }
    if statuses.len() != contents.len() {
        return Err(reading.corrupt(STATUSES, "are not as many as the contents"));
    }
    Ok(Contents::several(contents.into_iter().zip(statuses)))
}

/// The one JSON text of an item that has one.
pub(crate) fn decode_json(reading: Reading<'_>) -> Result<Option<Json>, StoreError> {
    let json = |attribute, text: &str| {
        Json::parse(text).map_err(|error| reading.corrupt(attribute, error))
    };
    if let Some(text) = reading.optional_text(STATE)? {
        return json(STATE, text).map(Some);
    }
    match unpack(reading, PACKED, Encoding::Zstd)? {
        Some(text) => json(PACKED, &text).map(Some),
        None => Ok(None),
    }
}

fn decode_contents(reading: Reading<'_>) -> Result<Vec<Content>, StoreError> {
    if reading.flag("deleted")? {
        return Ok(vec![Content::Deleted]);
    }
    if let Some(json) = decode_json(reading)? {
        return Ok(vec![Content::Present(json)]);
    }
    let encoding = reading.optional_text("encoding")?.and_then(Encoding::parse);
    let Some(list) = unpack(reading, CONTESTED, encoding.unwrap_or(Encoding::Plain))? else {
        return Ok(Vec::new());
    };
    let texts: Vec<&RawValue> =
        serde_json::from_str(&list).map_err(|error| reading.corrupt(CONTESTED, error))?;
    let contents = texts.into_iter().map(|text| match text.get() {
        "null" => Ok(Content::Deleted),
        text => Json::parse(text)
            .map(Content::Present)
            .map_err(|error| reading.corrupt(CONTESTED, error)),
    });
    contents.collect()
}

fn statuses(reading: Reading<'_>) -> Result<Vec<Option<Status>>, StoreError> {
    let corrupt = || reading.corrupt(STATUSES, "holds something else than statuses");
    let status = |value: &AttributeValue| match value.as_s().map(String::as_str) {
        Ok("") => Ok(None),
        Ok(text) => Status::parse(text).map(Some).map_err(|_| corrupt()),
        Err(_) => Err(corrupt()),
    };
    reading.list(STATUSES)?.iter().map(status).collect()
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

//! | attribute | type | meaning | written by |
//! |---|---|---|---|
//! | `pk`, `sk` | S, S | hash of the resource's key, `decisions#<revision>#<number>`; a copy's number is `copy` | reconcile |
//! | `marks` | L of S | event, outcome and reason of many signals | reconcile |
//! | `decided_at` | S | when they were put here, for people | reconcile |
//! | `open` | S | index `open`: set while one of them is failed | reconcile |
//!
//! Decisions that come in numbers and say little, many in one item: what changed nothing, and what a
//! conclusion about very many signals says of the later ones. One item for each would cost two write
//! units each.

use aws_sdk_dynamodb::types::AttributeValue;
use lastword_domain::{EventRef, Mark, Outcome, Reason, ResourceKey, Revision};

use crate::error::StoreError;
use crate::item::{self, Item, Reading};
use crate::moment::Moment;

/// The most marks of one page: some 14 KB.
pub(crate) const MOST_MARKS: usize = 200;

const KIND: &str = "page of decisions";
pub(crate) const PREFIX: &str = "decisions#";
const MARKS: &str = "marks";

pub(crate) fn encode(
    resource: &ResourceKey,
    revision: Revision,
    number: usize,
    marks: &[Mark],
    now: Moment,
) -> Item {
    encode_as(resource, revision, &format!("{number:03}"), marks, now)
}

/// The marks that a projection holds at this revision, copied. The same whoever copies them, and no
/// transaction's page has its key.
pub(crate) fn encode_copy(
    resource: &ResourceKey,
    revision: Revision,
    marks: &[Mark],
    now: Moment,
) -> Item {
    encode_as(resource, revision, "copy", marks, now)
}

fn encode_as(
    resource: &ResourceKey,
    revision: Revision,
    part: &str,
    marks: &[Mark],
    now: Moment,
) -> Item {
    let sort = format!("{PREFIX}{:020}#{part}", revision.number());
    let mut item = Item::from([
        ("pk".into(), item::text(resource.hash().as_str())),
        ("sk".into(), item::text(sort)),
        (MARKS.into(), encode_marks(marks)),
        ("decided_at".into(), item::text(now.to_text())),
    ]);
    if marks.iter().any(|mark| mark.outcome == Outcome::Failed) {
        item.insert("open".into(), item::text(format!("{}#0", Outcome::Failed)));
    }
    item
}

pub(crate) fn is_one(item: &Item) -> bool {
    matches!(item.get("sk"), Some(AttributeValue::S(sort)) if sort.starts_with(PREFIX))
}

pub(crate) fn decode(item: &Item) -> Result<Vec<Mark>, StoreError> {
    decode_marks(Reading { kind: KIND, item }, MARKS)
}

/// Marks as a list of texts.
pub(crate) fn encode_marks(marks: &[Mark]) -> AttributeValue {
    let text = |mark: &Mark| {
        let (outcome, reason) = (mark.outcome.as_str(), mark.reason.as_str());
        item::text(format!("{} {outcome} {reason}", mark.event))
    };
    AttributeValue::L(marks.iter().map(text).collect())
}

pub(crate) fn decode_marks(
    reading: Reading<'_>,
    attribute: &'static str,
) -> Result<Vec<Mark>, StoreError> {
    let corrupt = || reading.corrupt(attribute, "holds something else than marks");
    let mark = |value: &AttributeValue| {
        let text = value.as_s().map_err(|_| corrupt())?;
        let mut words = text.split(' ');
        let mut word = || words.next().ok_or_else(corrupt);
        Ok(Mark {
            event: EventRef::parse(word()?).map_err(|_| corrupt())?,
            outcome: Outcome::parse(word()?).ok_or_else(corrupt)?,
            reason: Reason::parse(word()?).ok_or_else(corrupt)?,
        })
    };
    reading.list(attribute)?.iter().map(mark).collect()
}

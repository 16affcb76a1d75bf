//! | attribute | type | meaning | written by |
//! |---|---|---|---|
//! | `pk`, `sk` | S, S | hash of the resource's key, `waiting#<number, 38 digits>#<digest of the change>` | reconcile |
//! | `event` | S | the event that told it | reconcile |
//!
//! Strategy `sequence`: every change that was taken in, by its number, waiting or applied since. What comes under a
//! number that was applied long ago can so be told from a repetition; two changes of one number are two items.

use aws_sdk_dynamodb::types::AttributeValue;
use lastword_domain::decide::Logged;
use lastword_domain::{Digest, EventRef, ResourceKey, Version};

use super::State;
use crate::error::StoreError;
use crate::item::{self, Item, Reading};

const KIND: &str = "change";
pub(crate) const PREFIX: &str = "waiting#";

fn place(number: &Version) -> String {
    format!("{PREFIX}{:0>38}#", number.as_str())
}

pub(crate) fn encode(resource: &ResourceKey, logged: &Logged) -> Item {
    let sort = format!("{}{}", place(&logged.number), logged.digest);
    let mut item = Item::from([
        ("pk".into(), item::text(resource.hash().as_str())),
        ("sk".into(), item::text(sort)),
    ]);
    if let Some(event) = &logged.event {
        item.insert("event".into(), item::text(event.to_string()));
    }
    item
}

pub(crate) fn decode(item: &Item) -> Result<Logged, StoreError> {
    let reading = Reading { kind: KIND, item };
    let corrupt = || reading.corrupt("sk", "is not of its form");
    let sort = reading.text("sk")?;
    let (number, digest) = sort
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.split_once('#'))
        .ok_or_else(corrupt)?;
    Ok(Logged {
        number: Version::parse(number).map_err(|_| corrupt())?,
        digest: Digest::from_text(digest).ok_or_else(corrupt)?,
        event: match reading.optional_text("event")? {
            None => None,
            Some(text) => {
                Some(EventRef::parse(text).map_err(|error| reading.corrupt("event", error))?)
            }
        },
    })
}

pub(crate) fn is_one(item: &Item) -> bool {
    matches!(item.get("sk"), Some(AttributeValue::S(sort)) if sort.starts_with(PREFIX))
}

impl State {
    /// The changes known under these numbers, and under all after `last`.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn changes(
        &self,
        resource: &ResourceKey,
        numbers: &[&Version],
        last: Option<&Version>,
    ) -> Result<Vec<Logged>, StoreError> {
        let hash = resource.hash();
        let after = |number: &Version| last.is_none_or(|last| number > last);
        let mut items = Vec::new();
        for number in numbers.iter().filter(|number| !after(number)) {
            items.extend(self.partition(&hash, &place(number)).await?);
        }
        let from = match last {
            None => PREFIX.to_owned(),
            // '$' follows '#': behind everything under this number.
            Some(last) => format!("{PREFIX}{:0>38}$", last.as_str()),
        };
        items.extend(self.range(&hash, &from, "waiting$").await?);
        items.iter().map(decode).collect()
    }
}

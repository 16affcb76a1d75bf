//! | attribute | type | meaning | written by |
//! |---|---|---|---|
//! | `pk` | S | hash of the event's identity | ingest |
//! | `sk` | S | `part#<body digest>#<number>` | ingest |
//! | `packed` | B | a slice of the packed body | ingest |
//! | `expires_at` | N | Unix seconds, with the event | ingest |
//!
//! A body over one item's limit. Parts are known by the body's digest, so that putting them again, or
//! two workers putting them at once, writes the same; they are put before the event's row, and a row is
//! never seen without them.

use aws_sdk_dynamodb::types::AttributeValue;
use lastword_domain::{Digest, KeyHash};

use crate::error::StoreError;
use crate::item::{self, Item, Reading};

/// Below the 400 KB of an item, with room for everything else in it.
pub(crate) const MOST_BYTES: usize = 380 * 1024;

const PACKED: &str = "packed";

fn sort(digest: &Digest, number: usize) -> String {
    format!("part#{digest}#{number:04}")
}

pub(crate) fn encode(
    identity: &KeyHash,
    digest: &Digest,
    number: usize,
    packed: &[u8],
    expires_at: u64,
) -> Item {
    let mut item = key(identity.as_str(), digest, number);
    item.insert(PACKED.into(), item::bytes(packed));
    item.insert("expires_at".into(), item::number(expires_at));
    item
}

pub(crate) fn key(identity: &str, digest: &Digest, number: usize) -> Item {
    Item::from([
        ("pk".into(), AttributeValue::S(identity.to_owned())),
        ("sk".into(), AttributeValue::S(sort(digest, number))),
    ])
}

pub(crate) fn bytes(item: &Item) -> Result<&[u8], StoreError> {
    let reading = Reading {
        kind: "body part",
        item,
    };
    reading
        .optional_bytes(PACKED)?
        .ok_or_else(|| reading.corrupt(PACKED, "is missing"))
}

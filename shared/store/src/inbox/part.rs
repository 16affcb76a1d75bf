//! | attribute | type | meaning | written by |
//! |---|---|---|---|
//! | `pk` | S | hash of the event's identity, the body's digest and the number | ingest |
//! | `sk` | S | `part` | ingest |
//! | `packed` | B | a slice of the packed body | ingest |
//! | `expires_at` | N | Unix seconds, with the event | ingest |
//!
//! A body over one item's limit. Parts are known by the body's digest, so that two workers putting them
//! at once write the same bytes; they are put before the event's row, and a row is never seen without
//! them. Each has a partition of its own, because one partition takes 1,000 write units in a second and a
//! part costs hundreds.

use lastword_domain::{Digest, KeyHash};

use crate::error::StoreError;
use crate::item::{self, Item, Reading};

/// Below the 400 KB of an item, with room for everything else in it.
pub(crate) const MOST_BYTES: usize = 380 * 1024;

const SORT: &str = "part";
const PACKED: &str = "packed";

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
    let parts = [identity, &digest.to_text(), &number.to_string()];
    Item::from([
        ("pk".into(), item::text(Digest::of_parts(&parts).to_text())),
        ("sk".into(), item::text(SORT)),
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

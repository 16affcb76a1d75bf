//! | attribute | type | meaning | written by |
//! |---|---|---|---|
//! | `pk`, `sk` | S, S | hash of the resource's key, `fact#<kind>#<hash of the id>#<digest of the content>` | reconcile |
//! | `provider`, `account`, `environment`, `type`, `id` | S | the resource's, for the relay | reconcile |
//! | `kind`, `fact_id` | S, S | its business identity, readable | reconcile |
//! | `state` or `packed`, `size` | | the content, exactly, as in [`super::content`] | reconcile |
//! | `event` | S | the event that told it first | reconcile |
//! | `recorded_at` | S | for people | reconcile |
//!
//! Law 8: a fact is put once and never written again. Its content is part of its key, so that two contents under one
//! identity are two items side by side, whichever came first: then it is contested.

use aws_sdk_dynamodb::types::AttributeValue;
use lastword_domain::decide::{Fact, KnownFact};
use lastword_domain::name::{FactId, FactKind};
use lastword_domain::{Digest, EventRef, Json, KeyHash, ResourceKey};

use super::{State, content};
use crate::error::StoreError;
use crate::item::{self, Item, Reading};
use crate::moment::Moment;

const KIND: &str = "fact";
/// How a fact's sort key begins, for whoever reads the table's stream.
pub const PREFIX: &str = "fact#";
/// About what everything but the content takes of the item.
const OVERHEAD: usize = 480;

/// A fact as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptFact {
    /// What kind of fact.
    pub kind: FactKind,
    /// Its business identity.
    pub id: FactId,
    /// Its content, exactly.
    pub content: Json,
    /// The event that told it first.
    pub event: EventRef,
    /// When it was recorded, as text.
    pub recorded_at: String,
}

pub(crate) fn identity(kind: &FactKind, id: &FactId) -> String {
    let hash = Digest::of_parts(&[id.as_str()]);
    format!("{PREFIX}{kind}#{hash}#")
}

pub(crate) fn encode(resource: &ResourceKey, fact: &Fact, now: Moment) -> Item {
    let digest = fact.content.meaning();
    let mut item = key(&resource.hash(), &fact.kind, &fact.id, &digest);
    item.extend([
        ("kind".into(), item::text(fact.kind.as_str())),
        ("fact_id".into(), item::text(fact.id.as_str())),
        ("event".into(), item::text(fact.event.to_string())),
        ("recorded_at".into(), item::text(now.to_text())),
    ]);
    item::resource(resource, &mut item);
    content::encode_json(&fact.content, OVERHEAD, &mut item);
    item
}

pub(crate) fn key(owner: &KeyHash, kind: &FactKind, id: &FactId, content: &Digest) -> Item {
    Item::from([
        ("pk".into(), item::text(owner.as_str())),
        (
            "sk".into(),
            item::text(format!("{}{content}", identity(kind, id))),
        ),
    ])
}

pub(crate) fn decode(item: &Item) -> Result<KeptFact, StoreError> {
    let reading = Reading { kind: KIND, item };
    Ok(KeptFact {
        kind: reading.name("kind", FactKind::parse)?,
        id: reading.name("fact_id", FactId::parse)?,
        content: content::decode_json(reading)?
            .ok_or_else(|| reading.corrupt("state", "is missing"))?,
        event: reading.name("event", EventRef::parse)?,
        recorded_at: reading.text("recorded_at")?.to_owned(),
    })
}

pub(crate) fn is_one(item: &Item) -> bool {
    matches!(item.get("sk"), Some(AttributeValue::S(sort)) if sort.starts_with(PREFIX))
}

impl State {
    /// The contents that are kept under these identities. Nobody adds one but under the resource's revision, so that
    /// what is read here stays true for whoever commits on the revision that was loaded before.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn known_facts(
        &self,
        resource: &ResourceKey,
        identities: impl IntoIterator<Item = (&FactKind, &FactId)>,
    ) -> Result<Vec<KnownFact>, StoreError> {
        let mut known = Vec::new();
        for (kind, id) in identities {
            let prefix = identity(kind, id);
            for item in self.partition(&resource.hash(), &prefix).await? {
                let fact = decode(&item)?;
                known.push(KnownFact {
                    kind: fact.kind,
                    id: fact.id,
                    digest: fact.content.meaning(),
                });
            }
        }
        Ok(known)
    }
}

//! What a rebuild reads beside what every conclusion does: which events were decided, which facts are there, and whether
//! the copies of a resource are what they should be. Lean reads: no contents but the copies'.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::KeysAndAttributes;
use lastword_domain::decide::{Fact, KnownFact};
use lastword_domain::{Contents, Digest, EventRef, Link, Outcome, Projection, ResourceKey};

use super::{State, decision, fact, member, page};
use crate::error::StoreError;
use crate::item::{Item, Reading};

/// Where decisions and pages of decisions stand, and nothing else does.
const DECIDED: &str = "decision";

/// A recorded fact, by what it is known as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactPointer {
    sort: String,
    /// The event that told it first.
    pub event: EventRef,
}

impl FactPointer {
    /// What these facts' identities are known with.
    #[must_use]
    pub fn known(kept: &[Self], told: &[Fact]) -> Vec<KnownFact> {
        let mut known = BTreeSet::new();
        for fact in told {
            let identity = fact::identity(&fact.kind, &fact.id);
            let digests = kept
                .iter()
                .filter_map(|kept| kept.sort.strip_prefix(&identity))
                .filter_map(Digest::from_text);
            known.extend(digests.map(|digest| KnownFact {
                kind: fact.kind.clone(),
                id: fact.id.clone(),
                digest,
            }));
        }
        known.into_iter().collect()
    }
}

impl State {
    /// Every event of a resource about which something was decided, in the order of their references. Whoever goes by
    /// it has loaded the revision before.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn decided_events(
        &self,
        resource: &ResourceKey,
        held: &Projection,
    ) -> Result<Vec<EventRef>, StoreError> {
        let mut events: BTreeSet<EventRef> =
            held.recent.iter().map(|mark| mark.event.clone()).collect();
        let only = ["sk", "outcome", "marks"];
        for item in self.attributes(&resource.hash(), DECIDED, &only).await? {
            if page::is_one(&item) {
                events.extend(page::decode(&item)?.into_iter().map(|mark| mark.event));
            } else {
                events.extend(decided(&item)?);
            }
        }
        Ok(events.into_iter().collect())
    }

    /// Every fact that is recorded of a resource.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn fact_pointers(
        &self,
        resource: &ResourceKey,
    ) -> Result<Vec<FactPointer>, StoreError> {
        let only = ["sk", "event"];
        let items = self
            .attributes(&resource.hash(), fact::PREFIX, &only)
            .await?;
        let pointer = |item: &Item| {
            let reading = Reading { kind: "fact", item };
            Ok(FactPointer {
                sort: reading.text("sk")?.to_owned(),
                event: reading.name("event", EventRef::parse)?,
            })
        };
        items.iter().map(pointer).collect()
    }

    /// The subjects in which a resource's copy is missing, or is another than these contents. Nobody writes one but
    /// under the resource's revision.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn wrong_copies(
        &self,
        resource: &ResourceKey,
        links: &BTreeSet<Link>,
        contents: &Contents,
    ) -> Result<BTreeSet<Link>, StoreError> {
        if links.is_empty() {
            return Ok(BTreeSet::new());
        }
        let keys = links.iter().map(|link| member::key(link, resource));
        let keys = KeysAndAttributes::builder()
            .set_keys(Some(keys.collect()))
            .consistent_read(true)
            .build()
            .map_err(|error| StoreError::Refused(error.to_string()))?;
        let copies = self.get_all(&self.table, keys).await?;
        let wrong = |link: &&Link| {
            let key = member::key(link, resource);
            let own = |copy: &&Item| {
                key.iter()
                    .all(|(name, value)| copy.get(name) == Some(value))
            };
            // One that cannot be read is as wrong as one that says something else.
            let copy = copies.iter().find(own).map(member::decode);
            !matches!(copy, Some(Ok(Some(copy))) if copy.contents == *contents && copy.resource == *resource)
        };
        Ok(links.iter().filter(wrong).cloned().collect())
    }
}

/// The event of a decision; `None` while it is still tried.
fn decided(item: &Item) -> Result<Option<EventRef>, StoreError> {
    let reading = Reading {
        kind: "decision",
        item,
    };
    let event = reading.name("sk", |sort| {
        EventRef::parse(sort.strip_prefix(decision::PREFIX).unwrap_or(sort))
    })?;
    let outcome = match reading.optional_text("outcome")? {
        None => None,
        Some(word) => {
            Some(Outcome::parse(word).ok_or_else(|| reading.corrupt("outcome", "is unknown"))?)
        }
    };
    Ok(outcome.map(|_| event))
}

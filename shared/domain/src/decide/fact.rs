//! Strategy `fact`: what happened, happened. A fact is known by its kind and its business identity, and it is recorded
//! with every content under which it was told.
//!
//! What is known is a set of (kind, identity, content), and telling more is the union of sets: commutative,
//! associative, idempotent. Nothing is overwritten and nothing chosen; an identity with more than one content is
//! contested, and stays so whoever comes next (law 6).

use std::collections::{BTreeMap, BTreeSet};

use crate::decision::{Mark, Outcome, Reason};
use crate::digest::Digest;
use crate::json::Json;
use crate::key::EventRef;
use crate::name::{FactId, FactKind};

/// A fact as one event tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// What kind of fact.
    pub kind: FactKind,
    /// Which one: its business identity.
    pub id: FactId,
    /// What it says.
    pub content: Json,
    /// The event that tells it.
    pub event: EventRef,
}

impl Fact {
    /// What it is known as, once it is recorded.
    #[must_use]
    pub fn known(&self) -> KnownFact {
        KnownFact {
            kind: self.kind.clone(),
            id: self.id.clone(),
            digest: self.content.meaning(),
        }
    }
}

/// A fact that is recorded with one content. An identity that is contested has several of these.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KnownFact {
    /// What kind of fact.
    pub kind: FactKind,
    /// Which one.
    pub id: FactId,
    /// What its content means.
    pub digest: Digest,
}

/// What became of an event's facts. Of several, the last in this order counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FactOutcome {
    /// All of them are known with this content.
    Known,
    /// One of them is recorded because of it.
    New,
    /// One of them is known with another content too.
    Contested,
}

impl FactOutcome {
    /// What is marked at the event.
    #[must_use]
    pub fn mark(self, event: EventRef) -> Mark {
        let (outcome, reason) = match self {
            Self::Known => (Outcome::Duplicate, Reason::FactKnown),
            Self::New => (Outcome::Applied, Reason::FactRecorded),
            Self::Contested => (Outcome::Conflict, Reason::FactTie),
        };
        Mark {
            event,
            outcome,
            reason,
        }
    }
}

/// What follows from facts that are told.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Facts {
    /// To be recorded: each content that was not known, once, in the order of kind, identity and content.
    pub new: Vec<Fact>,
    /// The identities that are known with more than one content, these included.
    pub contested: BTreeSet<(FactKind, FactId)>,
    /// What became of each event, each once, in their own order.
    pub by_event: Vec<(EventRef, FactOutcome)>,
}

/// Concludes which of the told facts are new and which are contested.
///
/// `known` holds at least everything that is recorded under the told facts' identities. When several events of one
/// call tell the same, the least of their references is recorded with it.
pub fn conclude_facts(known: &[KnownFact], told: &[Fact]) -> Facts {
    let old: BTreeSet<&KnownFact> = known.iter().collect();
    let mut new: BTreeMap<KnownFact, &Fact> = BTreeMap::new();
    for fact in told {
        let key = fact.known();
        if !old.contains(&key) {
            let first = new.entry(key).or_insert(fact);
            if fact.event < first.event {
                *first = fact;
            }
        }
    }
    let mut contents: BTreeMap<(&FactKind, &FactId), BTreeSet<Digest>> = BTreeMap::new();
    for fact in old.iter().copied().chain(new.keys()) {
        let under = contents.entry((&fact.kind, &fact.id)).or_default();
        under.insert(fact.digest);
    }
    let mut by_event: BTreeMap<&EventRef, FactOutcome> = BTreeMap::new();
    for fact in told {
        let several = contents
            .get(&(&fact.kind, &fact.id))
            .is_some_and(|under| under.len() > 1);
        let own = new.get(&fact.known());
        let outcome = if several {
            FactOutcome::Contested
        } else if own.is_some_and(|first| first.event == fact.event) {
            FactOutcome::New
        } else {
            FactOutcome::Known
        };
        let worst = by_event.entry(&fact.event).or_insert(outcome);
        *worst = outcome.max(*worst);
    }
    Facts {
        contested: contents
            .iter()
            .filter(|(_, under)| under.len() > 1)
            .map(|((kind, id), _)| ((*kind).clone(), (*id).clone()))
            .collect(),
        by_event: by_event
            .into_iter()
            .map(|(event, outcome)| (event.clone(), outcome))
            .collect(),
        new: new.into_values().cloned().collect(),
    }
}

#[cfg(test)]
mod tests;

//! Strategy `transition`: of two statuses the further one is true, in whatever order they were told.
//!
//! What is held is the set of the furthest states: the states told so far, without those that are behind another of
//! them. A deletion is above every status. Joining two such sets takes all of both and drops again what is behind;
//! what was dropped early would be dropped late as well, because "behind" is transitive. So the join is commutative,
//! associative and idempotent, and order and repetition of arrival cannot show (law 4). Several states are left only
//! where none leads to another, or where one status came with different contents: nobody chooses between them
//! (law 6). All that is behind is ignored whole; no field of it is merged into what is further.

use super::{Conclusion, Terms};
use crate::decision::{Mark, Outcome, Reason};
use crate::key::EventRef;
use crate::projection::{Content, Contents, Grave, Projection, Proof, Standing};
use crate::status::{Relation, Status, StatusOrder};

/// Here a deletion is final, whatever the contract says of other strategies: there is no status above it.
pub(super) const FINAL: Terms = Terms {
    can_read: false,
    comes_back: false,
};

/// What one event's own body says, under its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranked {
    /// The event whose body this is.
    pub event: EventRef,
    /// Its status; none for a deletion.
    pub status: Option<Status>,
    /// What the resource was in that status.
    pub content: Content,
}

impl Ranked {
    fn pair(&self, order: &StatusOrder) -> Option<Pair> {
        Pair::declared(&self.content, self.status.as_ref(), order)
    }
}

/// A state under its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) content: Content,
    status: Option<Status>,
}

impl Pair {
    pub(super) fn deleted() -> Self {
        Self {
            content: Content::Deleted,
            status: None,
        }
    }

    pub(super) fn new(content: Content, status: Status) -> Self {
        Self {
            content,
            status: Some(status),
        }
    }

    pub(super) fn into_parts(self) -> (Content, Option<Status>) {
        (self.content, self.status)
    }

    /// A declared state or a deletion; `None` for any other.
    fn declared(content: &Content, status: Option<&Status>, order: &StatusOrder) -> Option<Self> {
        match (content, status) {
            (Content::Deleted, _) => Some(Self::deleted()),
            (Content::Present(_), Some(status)) if order.declares(status.as_str()) => {
                Some(Self::new(content.clone(), status.clone()))
            }
            (Content::Present(_), Some(_) | None) => None,
        }
    }

    /// How this one stands to another.
    pub(super) fn compare(&self, other: &Self, order: &StatusOrder) -> Relation {
        match (&self.status, &other.status) {
            (None, None) => Relation::Same,
            (None, Some(_)) => Relation::Further,
            (Some(_), None) => Relation::Behind,
            (Some(own), Some(other)) => order.compare(own.as_str(), other.as_str()),
        }
    }
}

/// Concludes from the bodies of all the signals at once. What comes back is not asked for: a deletion is final here.
pub fn conclude_transition(
    held: &Projection,
    told: &[Ranked],
    order: &StatusOrder,
    terms: Terms,
) -> Conclusion {
    let furthest = furthest(known(held, told, order), order);
    let new = told_pairs(told, order);
    if terms.can_read && furthest.len() > 1 && furthest.iter().any(|pair| new.contains(pair)) {
        return Conclusion::Reread;
    }
    let before = held_pairs(held, order);
    let marks = told
        .iter()
        .map(|ranked| {
            let (outcome, reason) = match ranked.pair(order) {
                None => (Outcome::Failed, Reason::StatusUndeclared),
                Some(pair) => standing(&pair, &before, &furthest, order),
            };
            Mark {
                event: ranked.event.clone(),
                outcome,
                reason,
            }
        })
        .collect();
    match Contents::several(furthest.into_iter().map(Pair::into_parts)) {
        Some(contents) if !new.is_empty() => {
            let next = Projection {
                grave: grave(held, &contents),
                contents: Some(contents),
                ..held.advanced()
            };
            Conclusion::of(held, next, marks)
        }
        // Nothing declared is told: what is held stays, also under a status that is not declared any more.
        Some(_) | None => Conclusion::Quiet { marks },
    }
}

/// Everything that is held or told, as far as it is declared.
pub(super) fn known(held: &Projection, told: &[Ranked], order: &StatusOrder) -> Vec<Pair> {
    let mut pairs = held_pairs(held, order);
    pairs.extend(told_pairs(told, order));
    pairs
}

fn told_pairs(told: &[Ranked], order: &StatusOrder) -> Vec<Pair> {
    told.iter().filter_map(|told| told.pair(order)).collect()
}

/// What is said of the events whose status is not declared.
pub(super) fn undeclared(told: &[Ranked], order: &StatusOrder) -> Vec<Mark> {
    told.iter()
        .filter(|told| told.pair(order).is_none())
        .map(|told| Mark {
            event: told.event.clone(),
            outcome: Outcome::Failed,
            reason: Reason::StatusUndeclared,
        })
        .collect()
}

fn held_pairs(held: &Projection, order: &StatusOrder) -> Vec<Pair> {
    let pairs = held.contents.iter().flat_map(Contents::with_status);
    pairs
        .filter_map(|(content, status)| Pair::declared(content, status, order))
        .collect()
}

/// Those that are behind none of the others, each once.
fn furthest(all: Vec<Pair>, order: &StatusOrder) -> Vec<Pair> {
    let mut furthest: Vec<Pair> = Vec::new();
    for pair in all {
        let behind = |other: &Pair| pair.compare(other, order) == Relation::Behind;
        if furthest.contains(&pair) || furthest.iter().any(behind) {
            continue;
        }
        furthest.retain(|other| other.compare(&pair, order) != Relation::Behind);
        furthest.push(pair);
    }
    furthest
}

fn standing(
    pair: &Pair,
    before: &[Pair],
    furthest: &[Pair],
    order: &StatusOrder,
) -> (Outcome, Reason) {
    let tie = |other: &Pair| other != pair && other.compare(pair, order) == Relation::Same;
    if !furthest.contains(pair) {
        let buried = furthest.contains(&Pair::deleted());
        let reason = if buried {
            Reason::DeletedFinal
        } else {
            Reason::StatusBehind
        };
        (Outcome::Stale, reason)
    } else if furthest.iter().any(tie) {
        (Outcome::Conflict, Reason::StatusTie)
    } else if furthest.len() > 1 {
        (Outcome::Conflict, Reason::StatusApart)
    } else if before.contains(pair) {
        (Outcome::Duplicate, Reason::StatusSame)
    } else {
        (Outcome::Applied, Reason::StatusFurther)
    }
}

/// A deletion that is told rests on its event; one that was held already, on what it rested on.
fn grave(held: &Projection, contents: &Contents) -> Option<Grave> {
    let event = Grave {
        proof: Proof::Event,
        version: None,
    };
    (contents.standing() == Standing::Deleted).then(|| held.grave.clone().unwrap_or(event))
}

#[cfg(test)]
mod tests;

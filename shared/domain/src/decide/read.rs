//! Strategy `current`: the fetched state is taken whole.
//!
//! It converges because the accepted reads of a resource form a chain in time: a commit is accepted
//! only if nobody committed since before its read began (law 5, enforced in the store's condition), and
//! every signal it covers was stored before that read. The last accepted read thus began after the last
//! signal.

use super::transition::{self, Pair};
use super::{Conclusion, Observation, Ranked, Terms, is_final};
use crate::decision::{Mark, Outcome, Reason};
use crate::key::EventRef;
use crate::projection::{Content, Contents, Grave, Projection, Proof};
use crate::status::{Relation, StatusOrder};
use crate::version::Version;

/// Concludes from one read about all the signals that were stored before it began.
///
/// `proven` is the greatest version that the signals' own bodies prove, where they prove one. Where nothing comes
/// back, a read that shows what is deleted proves nothing but that it is behind.
pub fn conclude_read(
    held: &Projection,
    signals: &[EventRef],
    proven: Option<&Version>,
    seen: Observation,
    terms: Terms,
) -> Conclusion {
    let (content, version, status, proof) = match seen {
        Observation::Nothing(reason) => return Conclusion::LookAgain(reason),
        Observation::Seen {
            content,
            version,
            status,
            proof,
        } => (content, version, status, proof),
    };
    if is_final(held, terms) && content != Content::Deleted {
        return Conclusion::LookAgain(Reason::DeletedFinal);
    }
    // A read that is older than what is already proved is kept out.
    let floor = held.version.as_ref().max(proven);
    if version.as_ref().is_some_and(|seen| Some(seen) < floor) {
        return Conclusion::LookAgain(Reason::ReadBehind);
    }
    let reason = match content {
        Content::Present(_) if proven.is_some() => Reason::VersionTieRead,
        Content::Present(_) => Reason::ReadChanged,
        Content::Deleted => Reason::ReadGone,
    };
    let version = version.or_else(|| floor.cloned());
    let status = status.filter(|_| content != Content::Deleted);
    let next = Projection {
        grave: grave(held, &content, proof, version.clone()),
        contents: Contents::several([(content, status)]),
        version,
        ..held.advanced()
    };
    settled(held, next, signals, reason)
}

/// Concludes from one read about all the signals that were stored before it began, where statuses are ordered.
///
/// `told` is what the signals' own bodies say. A read that shows a status behind any of it, or behind what is held, is
/// older than they are. A deletion stands above every status.
pub fn conclude_transition_read(
    held: &Projection,
    told: &[Ranked],
    order: &StatusOrder,
    signals: &[EventRef],
    seen: Observation,
) -> Conclusion {
    let (content, status, proof) = match seen {
        Observation::Nothing(reason) => return Conclusion::LookAgain(reason),
        Observation::Seen {
            content,
            status,
            proof,
            ..
        } => (content, status, proof),
    };
    let deleted = content == Content::Deleted;
    if !deleted && is_final(held, transition::FINAL) {
        return Conclusion::LookAgain(Reason::DeletedFinal);
    }
    let pair = match (deleted, status) {
        (true, _) => Pair::deleted(),
        (false, Some(status)) if order.declares(status.as_str()) => Pair::new(content, status),
        (false, Some(_) | None) => return Conclusion::LookAgain(Reason::StatusUndeclared),
    };
    let behind = |other: &Pair| pair.compare(other, order) == Relation::Behind;
    if transition::known(held, told, order).iter().any(behind) {
        return Conclusion::LookAgain(Reason::ReadBehind);
    }
    let reason = match pair.content {
        Content::Present(_) => Reason::ReadChanged,
        Content::Deleted => Reason::ReadGone,
    };
    let next = Projection {
        grave: grave(held, &pair.content, proof, None),
        contents: Contents::several([pair.into_parts()]),
        ..held.advanced()
    };
    let undeclared = transition::undeclared(told, order);
    settled(held, next, signals, reason).marked_instead(&undeclared)
}

/// What a tombstone that a read leaves rests on. The same deletion, seen again, rests on what it rested on.
pub(super) fn grave(
    held: &Projection,
    content: &Content,
    proof: Option<Proof>,
    version: Option<Version>,
) -> Option<Grave> {
    match content {
        Content::Present(_) => None,
        Content::Deleted => Some(
            held.grave
                .clone()
                .filter(|grave| grave.version == version)
                .unwrap_or(Grave {
                    proof: proof.unwrap_or(Proof::Shown),
                    version,
                }),
        ),
    }
}

/// A read speaks to all its signals alike.
pub(super) fn settled(
    held: &Projection,
    next: Projection,
    signals: &[EventRef],
    reason: Reason,
) -> Conclusion {
    let marks = |outcome, reason| {
        let mark = |event: &EventRef| Mark {
            event: event.clone(),
            outcome,
            reason,
        };
        signals.iter().map(mark).collect()
    };
    match Conclusion::of(held, next, Vec::new()) {
        change @ Conclusion::Change { .. } => change.with_marks(marks(Outcome::Applied, reason)),
        same @ (Conclusion::Quiet { .. } | Conclusion::Reread | Conclusion::LookAgain(_)) => {
            same.with_marks(marks(Outcome::Unchanged, Reason::ReadSame))
        }
    }
}

#[cfg(test)]
mod tests;

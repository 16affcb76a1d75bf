//! How an observation becomes the next projection. Plain functions of what is held, what is signalled
//! and what was seen.
//!
//! Law 4, arrival decides nothing, is enforced by what these functions take: none of their types
//! carries a time of receipt, our clock, a place in a queue or an event's `created`.

mod fact;
mod read;
mod sequence;
mod transition;
mod versioned;

pub use fact::{Fact, FactOutcome, Facts, KnownFact, conclude_facts};
pub use read::{conclude_read, conclude_transition_read};
pub use sequence::{
    Change, Delta, Gap, Logged, Sequenced, conclude_sequence, conclude_sequence_read,
};
pub use transition::{Ranked, conclude_transition};
pub use versioned::{Snapshot, conclude_versions};

use crate::decision::{Mark, Reason};
use crate::projection::{Content, Projection, Proof, Standing};
use crate::status::Status;
use crate::version::Version;

/// How the state of a resource type is found, chosen from what its contract documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// The signal only says "look": the provider's read API is asked, fenced by the revision.
    Current,
    /// The events carry whole snapshots under a documented monotonic version.
    Version,
    /// The events carry changes under a gapless count.
    Sequence,
    /// The events carry states whose status goes only forward in a declared order.
    Transition,
    /// The events tell what happened, once each; nothing of it is ever overwritten.
    Fact,
}

impl Strategy {
    /// Every strategy.
    pub const ALL: [Self; 5] = [
        Self::Current,
        Self::Version,
        Self::Sequence,
        Self::Transition,
        Self::Fact,
    ];

    /// Its word in contracts and configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Version => "version",
            Self::Sequence => "sequence",
            Self::Transition => "transition",
            Self::Fact => "fact",
        }
    }

    /// From its word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|strategy| strategy.as_str() == word)
    }
}

/// What the contract allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// The source can be read, which settles what the events leave open.
    pub can_read: bool,
    /// Something deleted can be there again under the same id. Otherwise a deletion is final.
    pub comes_back: bool,
}

/// What a read of the source showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Observation {
    /// A state, or what the contract names as evidence of deletion.
    Seen {
        /// What the resource is.
        content: Content,
        /// The version that the read carried, where the contract says where it is.
        version: Option<Version>,
        /// The status that the read carried, where statuses are ordered.
        status: Option<Status>,
        /// What says that it is deleted, where it is; without it, the object itself as it is shown.
        proof: Option<Proof>,
    },
    /// Law 7, absence is not deletion: an error, a timeout, a refusal or an absence that proves nothing.
    /// It never changes a projection.
    Nothing(Reason),
}

/// What follows from a look at one resource. Whatever it is, it is committed under the revision that
/// was loaded before the look began.
#[derive(Debug, Clone, PartialEq, Eq)]
// There is one at a time, and it is moved once.
#[allow(clippy::large_enum_variant)]
#[must_use]
pub enum Conclusion {
    /// The projection becomes this one.
    Change {
        /// The next projection, its revision already advanced.
        next: Projection,
        /// What became of each signal.
        marks: Vec<Mark>,
    },
    /// Nothing changes but the revision, which advances all the same: otherwise a slow reader could
    /// still commit an older state after this signal was spent.
    Quiet {
        /// What became of each signal.
        marks: Vec<Mark>,
    },
    /// The events' own evidence ties, and the source can be asked.
    Reread,
    /// Nothing can be concluded now.
    LookAgain(Reason),
}

impl Conclusion {
    /// A change where the next projection says something else than the held one, else a quiet conclusion.
    fn of(held: &Projection, mut next: Projection, marks: Vec<Mark>) -> Self {
        next.revision = held.revision;
        if next == *held {
            return Self::Quiet { marks };
        }
        next.revision = held.revision.next();
        Self::Change { next, marks }
    }

    /// The same with these marks, where it has any.
    fn with_marks(self, marks: Vec<Mark>) -> Self {
        match self {
            Self::Change { next, .. } => Self::Change { next, marks },
            Self::Quiet { .. } => Self::Quiet { marks },
            open @ (Self::Reread | Self::LookAgain(_)) => open,
        }
    }

    /// The same, but what these marks say of an event is said instead.
    fn marked_instead(self, instead: &[Mark]) -> Self {
        let own = |mark: Mark| {
            let other = instead.iter().find(|other| other.event == mark.event);
            other.cloned().unwrap_or(mark)
        };
        match self {
            Self::Change { next, marks } => Self::Change {
                next,
                marks: marks.into_iter().map(own).collect(),
            },
            Self::Quiet { marks } => Self::Quiet {
                marks: marks.into_iter().map(own).collect(),
            },
            open @ (Self::Reread | Self::LookAgain(_)) => open,
        }
    }
}

/// A held tombstone that nothing undoes.
fn is_final(held: &Projection, terms: Terms) -> bool {
    let deleted = held.grave.is_some() || held.standing() == Some(Standing::Deleted);
    deleted && !terms.comes_back
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_is_known_by_its_word() {
        for strategy in Strategy::ALL {
            assert_eq!(Strategy::parse(strategy.as_str()), Some(strategy));
        }
        assert_eq!(Strategy::parse("latest"), None);
    }
}

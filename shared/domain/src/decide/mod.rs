//! How an observation becomes the next projection. Plain functions of what is held, what is signalled
//! and what was seen.
//!
//! Law 4, arrival decides nothing, is enforced by what these functions take: none of their types
//! carries a time of receipt, our clock, a place in a queue or an event's `created`.

mod read;
mod versioned;

pub use read::conclude_read;
pub use versioned::{Snapshot, conclude_versions};

use crate::decision::{Mark, Reason};
use crate::projection::{Content, Projection};
use crate::version::Version;

/// How the state of a resource type is found, chosen from what its contract documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// The signal only says "look": the provider's read API is asked, fenced by the revision.
    Current,
    /// The events carry whole snapshots under a documented monotonic version.
    Version,
}

impl Strategy {
    /// Its word in contracts and configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Version => "version",
        }
    }

    /// From its word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Current, Self::Version]
            .into_iter()
            .find(|strategy| strategy.as_str() == word)
    }
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
    },
    /// Law 7, absence is not deletion: an error, a timeout, a refusal or an absence that proves nothing.
    /// It never changes a projection.
    Nothing(Reason),
}

/// What follows from a look at one resource. Whatever it is, it is committed under the revision that
/// was loaded before the look began.
#[derive(Debug, Clone, PartialEq, Eq)]
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

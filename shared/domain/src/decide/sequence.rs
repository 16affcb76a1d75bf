//! Strategy `sequence`: changes under a count without gaps are applied one after the other.
//!
//! What is held is a function of the set of changes that came: the fold of the first numbers as far as they are there
//! without a gap, up to the first number under which different changes came. Whatever came early waits in the log until
//! what is before it is there, so the fold always runs in the order of the count and never in that of arrival (law 4).
//! A set does not know how often it was told, and so neither does the fold.
//!
//! A tie is shown as what it is, the different changes under its number, and not as what was made of one of them. So
//! it reads the same whether it was found before anything of it was applied or long after (law 6). Until every change
//! below it is there, it is only announced, and the state below it stays to be read.
//!
//! A read of the source at a number takes the place of all changes up to it.

mod judge;
mod ledger;
mod read;
mod tie;
mod walk;

pub use read::conclude_sequence_read;

use super::{Conclusion, Terms};
use crate::decision::Reason;
use crate::digest::Digest;
use crate::json::Json;
use crate::key::EventRef;
use crate::projection::{Content, Projection};
use crate::version::Version;
use judge::Judge;
use ledger::{Burial, Ledger};
use walk::Walk;

/// What one event changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The event that tells it, if its outcome is wanted.
    pub event: Option<EventRef>,
    /// Its place in the provider's count.
    pub number: Version,
    /// What it does.
    pub delta: Delta,
}

/// What a change does to what is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta {
    /// A merge patch (RFC 7396); onto an empty object where nothing is there.
    Patch(Json),
    /// It is this now.
    Whole(Json),
    /// It is deleted.
    Deleted,
}

impl Delta {
    /// What it means: equal for two renderings of the same change.
    #[must_use]
    pub fn digest(&self) -> Digest {
        match self {
            Self::Patch(json) => Digest::of_parts(&["patch", &json.meaning().to_text()]),
            Self::Whole(json) => Digest::of_parts(&["whole", &json.meaning().to_text()]),
            Self::Deleted => Digest::of_parts(&["deleted"]),
        }
    }

    /// As it is shown where it is tied.
    fn content(&self) -> Content {
        match self {
            Self::Patch(json) | Self::Whole(json) => Content::Present(json.clone()),
            Self::Deleted => Content::Deleted,
        }
    }

    fn word(&self) -> &'static str {
        match self {
            Self::Patch(_) => "patch",
            Self::Whole(_) => "whole",
            Self::Deleted => "deleted",
        }
    }
}

/// A change that was ever taken in, applied or waiting. The store keeps one for each number and meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logged {
    /// Its place in the count.
    pub number: Version,
    /// What it means.
    pub digest: Digest,
    /// The event whose body it is.
    pub event: Option<EventRef>,
}

/// That changes wait for one that has not come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The first missing number.
    pub next: Version,
}

/// What follows from changes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Sequenced {
    /// What becomes of the projection and the signals.
    pub conclusion: Conclusion,
    /// New entries to keep, in the one commit that the conclusion leads to. After [`Conclusion::Reread`] that is the
    /// read's commit: its call is given these among the log.
    pub log: Vec<Logged>,
    /// What is missing, where something waits for it.
    pub gap: Option<Gap>,
    /// Known changes whose bodies have to be loaded to go on. Beside [`Conclusion::LookAgain`] nothing was concluded:
    /// the same call again, with these among the changes. Beside anything else: commit, and then conclude again about
    /// the changes that wait.
    pub needs: Vec<Logged>,
}

/// Concludes from changes: the pending ones and those that wait, loaded again.
///
/// `log` holds all known entries under the numbers of these changes, and all entries after `held.version`. `first` is
/// where the provider's count begins. A change that is outside of the count, before its beginning or at the last
/// number that can be compared, is refused.
pub fn conclude_sequence(
    held: &Projection,
    log: &[Logged],
    changes: &[Change],
    first: &Version,
    terms: Terms,
) -> Sequenced {
    let counted = |change: &&Change| change.number.next().is_some() && change.number >= *first;
    let ledger = Ledger::of(log, changes.iter().filter(counted));
    let tied = ledger.lowest_tie(held, &Burial::of(held, terms));
    let mut walk = Walk::of(held, &ledger, tied, first, terms);
    let burial = Burial::of(&walk.projection, terms);
    let tied = tied.filter(|tied| !burial.covers(tied));
    let gap = ledger.gap(walk.version(), first);
    let sequenced = |conclusion, log, needs| Sequenced {
        conclusion,
        log,
        gap,
        needs,
    };
    if tied.is_some() && terms.can_read {
        return sequenced(Conclusion::Reread, ledger.fresh(), Vec::new());
    }
    let needs = std::mem::take(&mut walk.needs);
    if !needs.is_empty() && walk.version() == held.version.as_ref() {
        let again = Conclusion::LookAgain(Reason::SequenceGap);
        return sequenced(again, Vec::new(), needs);
    }
    if let Err(missing) = tie::show(&mut walk, tied, &ledger, first) {
        let again = Conclusion::LookAgain(Reason::SequenceTie);
        return sequenced(again, Vec::new(), missing);
    }
    let marks = Judge::new(held, &ledger, &walk, &burial).marks(changes);
    let next = Projection {
        waiting: tied.is_some() || ledger.goes_beyond(walk.version()),
        tied: tied.cloned(),
        ..walk.projection.advanced()
    };
    let conclusion = Conclusion::of(held, next, marks);
    sequenced(conclusion, ledger.fresh(), needs)
}

#[cfg(test)]
mod tests;

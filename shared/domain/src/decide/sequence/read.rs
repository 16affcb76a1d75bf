//! A read of the source takes the place of all changes up to its number.

use super::ledger::{Burial, Ledger};
use super::{Logged, Sequenced};
use crate::decide::read::{grave, settled};
use crate::decide::{Conclusion, Observation, Terms, is_final};
use crate::decision::{Mark, Outcome, Reason};
use crate::key::EventRef;
use crate::projection::{Content, Contents, Projection};
use crate::version::Version;

/// Concludes from one read about all the signals that were stored before it began.
///
/// `log` holds all known entries after `held.version` and those under the numbers of the signals, new ones among them.
/// A read that reaches neither the first missing number nor a tied one settles nothing, and one without a number
/// cannot be placed; except that what is gone needs no number: the read began after everything that is known.
pub fn conclude_sequence_read(
    held: &Projection,
    signals: &[EventRef],
    log: &[Logged],
    first: &Version,
    seen: Observation,
    terms: Terms,
) -> Sequenced {
    let ledger = Ledger::of(log, std::iter::empty());
    let (content, version, proof) = match seen {
        Observation::Nothing(reason) => return look_again(&ledger, held, first, reason),
        Observation::Seen {
            content,
            version,
            proof,
            ..
        } => (content, version, proof),
    };
    let version = match placed(&ledger, held, first, &content, version, terms) {
        Ok(version) => version,
        Err(reason) => return look_again(&ledger, held, first, reason),
    };
    let tied = ledger.lowest_tie(held, &Burial::of(held, terms));
    let reason = match (&content, tied) {
        (Content::Deleted, _) => Reason::ReadGone,
        (Content::Present(_), Some(_)) => Reason::VersionTieRead,
        (Content::Present(_), None) => Reason::SequenceRead,
    };
    let next = Projection {
        grave: grave(held, &content, proof, version.clone()),
        contents: Some(Contents::one(content)),
        tied: None,
        waiting: ledger.goes_beyond(version.as_ref()),
        version: version.clone(),
        ..held.advanced()
    };
    let covered = covered(&ledger, held, version.as_ref(), signals);
    Sequenced {
        conclusion: settled(held, next, &covered, reason)
            .marked_instead(&later(&ledger, version.as_ref())),
        log: Vec::new(),
        gap: ledger.gap(version.as_ref(), first),
        needs: ledger.needed_after(version.as_ref(), first),
    }
}

/// The number at which a read stands, if it settles anything there.
fn placed(
    ledger: &Ledger<'_>,
    held: &Projection,
    first: &Version,
    content: &Content,
    version: Option<Version>,
    terms: Terms,
) -> Result<Option<Version>, Reason> {
    let deleted = *content == Content::Deleted;
    if !deleted && is_final(held, terms) {
        return Err(Reason::DeletedFinal);
    }
    let version = match version {
        Some(version) => Some(version),
        None if deleted => greatest(ledger, held).cloned(),
        None => return Err(Reason::Unreadable),
    };
    if version < needed(ledger, held, first, terms) {
        return Err(Reason::ReadBehind);
    }
    Ok(version)
}

fn look_again(
    ledger: &Ledger<'_>,
    held: &Projection,
    first: &Version,
    reason: Reason,
) -> Sequenced {
    Sequenced {
        conclusion: Conclusion::LookAgain(reason),
        log: Vec::new(),
        gap: ledger.gap(held.version.as_ref(), first),
        needs: Vec::new(),
    }
}

fn greatest<'h>(ledger: &Ledger<'h>, held: &'h Projection) -> Option<&'h Version> {
    let held_greatest = held.version.as_ref().max(held.tied.as_ref());
    ledger.greatest().max(held_greatest)
}

/// What a read has to reach: all that is applied, everything tied, and the first number that is missing.
fn needed(
    ledger: &Ledger<'_>,
    held: &Projection,
    first: &Version,
    terms: Terms,
) -> Option<Version> {
    let burial = Burial::of(held, terms);
    let tied = ledger
        .open_ties(held, &burial)
        .last()
        .max(held.tied.as_ref());
    let missing = ledger.gap(held.version.as_ref(), first).map(|gap| gap.next);
    held.version.as_ref().max(tied).cloned().max(missing)
}

/// The signals, and the events that waited and are covered by this read.
fn covered(
    ledger: &Ledger<'_>,
    held: &Projection,
    version: Option<&Version>,
    signals: &[EventRef],
) -> Vec<EventRef> {
    let waited = ledger
        .between(held.version.as_ref(), version)
        .flat_map(|(_, under)| under.logged())
        .filter_map(|logged| logged.event.as_ref())
        .filter(|event| !signals.contains(event));
    signals.iter().chain(waited).cloned().collect()
}

/// What is said of the signals that are later than the read.
fn later(ledger: &Ledger<'_>, version: Option<&Version>) -> Vec<Mark> {
    ledger
        .between(version, ledger.greatest())
        .flat_map(|(_, under)| under.logged())
        .filter_map(|logged| logged.event.as_ref())
        .map(|event| Mark {
            event: event.clone(),
            outcome: Outcome::Waiting,
            reason: Reason::SequenceGap,
        })
        .collect()
}

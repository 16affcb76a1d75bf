//! What became of each change.

use std::collections::BTreeSet;

use super::ledger::{Burial, Ledger};
use super::walk::Walk;
use super::{Change, Delta};
use crate::decision::{Mark, Outcome, Reason};
use crate::digest::Digest;
use crate::key::EventRef;
use crate::projection::Projection;
use crate::version::Version;

/// Says what became of each change.
pub(super) struct Judge<'a> {
    held: &'a Projection,
    ledger: &'a Ledger<'a>,
    walk: &'a Walk,
    burial: &'a Burial,
}

impl<'a> Judge<'a> {
    pub(super) fn new(
        held: &'a Projection,
        ledger: &'a Ledger<'a>,
        walk: &'a Walk,
        burial: &'a Burial,
    ) -> Self {
        Self {
            held,
            ledger,
            walk,
            burial,
        }
    }

    /// One mark for each change with an event, and one for each event whose change waited and is applied now, by
    /// another telling of it.
    pub(super) fn marks(&self, changes: &[Change]) -> Vec<Mark> {
        let told: BTreeSet<&EventRef> = changes.iter().filter_map(|c| c.event.as_ref()).collect();
        let pending = changes.iter().filter_map(|change| {
            let event = change.event.as_ref()?;
            Some(mark(event, self.of_change(change, event)))
        });
        let newly = self
            .ledger
            .between(self.held.version.as_ref(), self.walk.version());
        let waited = newly.flat_map(|(number, under)| {
            under.logged().filter_map(|logged| {
                let event = logged
                    .event
                    .as_ref()
                    .filter(|event| !told.contains(event))?;
                Some(mark(event, self.applied(number, logged.digest)))
            })
        });
        pending.chain(waited).collect()
    }

    fn of_change(&self, change: &Change, event: &EventRef) -> (Outcome, Reason) {
        let number = &change.number;
        // Outside of the count.
        let Some(under) = self.ledger.told_under(number) else {
            return (Outcome::Failed, Reason::Unparsable);
        };
        let digest = change.delta.digest();
        let buried = self.burial.covers(number);
        let again = under.teller(digest) != Some(event);
        if under.is_open_tie(number, self.held) && !buried {
            (Outcome::Conflict, Reason::SequenceTie)
        } else if Some(number) <= self.held.version.as_ref() {
            match (under.knows(digest), under.logged().next()) {
                (true, _) => (Outcome::Duplicate, Reason::SequenceSame),
                // Another change under a number that was only counted.
                (false, Some(_)) => (Outcome::Conflict, Reason::DeletedThenChanged),
                // A read took its place before it came.
                (false, None) => (Outcome::Stale, Reason::VersionOlder),
            }
        } else if again {
            (Outcome::Duplicate, Reason::SequenceSame)
        } else if Some(number) <= self.walk.version() {
            self.applied(number, digest)
        } else if self.walk.broken.as_ref() == Some(number) {
            (Outcome::Failed, Reason::Unparsable)
        } else {
            (Outcome::Waiting, Reason::SequenceGap)
        }
    }

    fn applied(&self, number: &Version, digest: Digest) -> (Outcome, Reason) {
        if self.burial.covers(number) && digest != Delta::Deleted.digest() {
            (Outcome::Conflict, Reason::DeletedThenChanged)
        } else {
            (Outcome::Applied, Reason::SequenceNext)
        }
    }
}

fn mark(event: &EventRef, (outcome, reason): (Outcome, Reason)) -> Mark {
    Mark {
        event: event.clone(),
        outcome,
        reason,
    }
}

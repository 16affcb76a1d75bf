//! Where each mark of a conclusion goes: to an item of its own, into the projection, or onto a page.

use lastword_domain::{EventRef, Mark, Outcome, Projection};

use super::commit::Commit;

/// The most decisions that get an item of their own in one transaction; what is more goes to pages.
const MOST_OWN: usize = 40;
/// As many get one beside those that have one already.
const MOST_OTHERS: usize = 20;
/// The most items of their own that fit a transaction beside the projection and some pages.
const MOST_ITEMS: usize = 90;

/// Where each mark goes.
pub(super) struct Places {
    pub(super) own: Vec<Mark>,
    pub(super) recent: Vec<Mark>,
    pub(super) paged: Vec<Mark>,
    /// How many of `recent` were held before.
    kept: usize,
}

impl Places {
    pub(super) fn of(commit: &Commit<'_>) -> Self {
        // An event has one place for its decision: one that has an item already keeps it there.
        let events = &commit.loaded.events;
        let on_record = |mark: &Mark| {
            events
                .iter()
                .any(|event| event.reference == mark.event && event.on_record)
        };
        // What waits is settled only when it is found as that again.
        let is_looked_up = |mark: &Mark| on_record(mark) || mark.outcome == Outcome::Waiting;
        let inside = commit.marks_inside();
        let is_quiet = |mark: &Mark| match mark.outcome {
            Outcome::Unchanged | Outcome::Stale | Outcome::Duplicate => !on_record(mark),
            Outcome::Applied => inside && !on_record(mark),
            Outcome::Conflict
            | Outcome::Waiting
            | Outcome::Ignored
            | Outcome::Failed
            | Outcome::Exhausted => false,
        };
        let (quiet, mut own): (Vec<_>, Vec<_>) = commit.marks.iter().cloned().partition(is_quiet);
        // What a person has to find comes first.
        own.sort_by_key(|mark| (!is_looked_up(mark), mark.outcome == Outcome::Applied));
        let recorded = own.iter().filter(|mark| is_looked_up(mark)).count();
        let others = own.len().saturating_sub(recorded).min(MOST_OTHERS);
        let most = (recorded + others).clamp(MOST_OWN, MOST_ITEMS);
        let paged = own.split_off(own.len().min(most));
        let marked = |event: &EventRef| commit.marks.iter().any(|mark| mark.event == *event);
        let kept = commit.held().recent.iter();
        let mut recent: Vec<_> = kept.filter(|mark| !marked(&mark.event)).cloned().collect();
        let kept = recent.len();
        recent.extend(quiet);
        Self {
            own,
            recent,
            paged,
            kept,
        }
    }

    /// The marks in the projection that were not held before.
    pub(super) fn added(&self) -> &[Mark] {
        self.recent.get(self.kept..).unwrap_or_default()
    }

    /// What becomes of the marks in the projection when only its revision advances.
    pub(super) fn quietly(&self, held: &[Mark]) -> Quietly {
        let new = self.recent.len() - self.kept;
        if !(self.own.is_empty() && self.paged.is_empty()) {
            Quietly::Not
        } else if self.recent.len() <= Projection::MOST_RECENT {
            Quietly::Kept
        } else if new <= Projection::MOST_RECENT && self.kept == held.len() {
            Quietly::CopiedFirst
        } else {
            Quietly::Not
        }
    }

    /// In a transaction, marks that no longer fit the projection move to a page.
    pub(super) fn in_transaction(mut self) -> Self {
        if self.recent.len() > Projection::MOST_RECENT {
            self.paged.append(&mut self.recent);
        }
        self
    }
}

/// Whether a conclusion that changes nothing is one update.
pub(super) enum Quietly {
    /// Every mark fits the projection.
    Kept,
    /// The new ones fit once those held are on a page.
    CopiedFirst,
    /// It needs a transaction.
    Not,
}

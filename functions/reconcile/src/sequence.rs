//! Strategy `sequence`: what waits is loaded again with what comes, and a gap that outlives its patience is filled by a
//! read of the source, or shown to a person.
//!
//! The patience is measured by our clock and by nothing that decides: it only says when to look.

use std::time::Duration;

use lastword_domain::decide::{
    Change, Facts, Logged, Sequenced, conclude_sequence, conclude_sequence_read,
};
use lastword_domain::{Conclusion, EventRef, Outcome, Reason};
use lastword_store::{Bodies, Loaded, LoadedEvent, StoreError};

use crate::bodies;
use crate::concluding::{Also, Gap};
use crate::observe::Told;
use crate::reconciler::{Reconciler, Turn};
use crate::strategies::{Configured, Looked, Work};

/// How long a change waits for the one before it, when the contract does not say.
const PATIENCE: Duration = Duration::from_secs(30);
/// The shortest pause before a gap is looked at again; a missing change that comes meanwhile waits as long.
const SHORTEST_PAUSE: Duration = Duration::from_secs(1);
/// The most events of one conclusion that waited: each may write two items.
const MOST_WAITED: usize = 40;

/// The change that is to be applied next, when its body was looked for and is gone.
fn gone(sequenced: &Sequenced, untried: impl Fn(&&Logged) -> bool) -> Option<Logged> {
    if sequenced.conclusion == Conclusion::LookAgain(Reason::SequenceTie) {
        return None;
    }
    let needs = sequenced.needs.iter();
    let next = needs.min_by(|one, other| one.number.cmp(&other.number))?;
    (!untried(&next)).then(|| next.clone())
}

impl Reconciler {
    pub(crate) async fn sequence(
        &self,
        work: Work<'_>,
        configured: Configured<'_>,
        facts: Facts,
        mut also: Also,
    ) -> Result<Turn, StoreError> {
        let rules = &configured.resource.rules;
        let (mut changes, failed) = bodies::changes(&self.state, rules, work.pending).await?;
        also.marks.extend(failed);
        let mut log = self.log(work, &changes).await?;
        let waited = self.waited(work, &log).await?;
        let known: Vec<&LoadedEvent> = waited.iter().collect();
        changes.extend(bodies::changes(&self.state, rules, &known).await?.0);
        let loaded = Loaded {
            events: [work.loaded.events.as_slice(), &waited].concat(),
            ..work.loaded.clone()
        };
        let work = Work {
            loaded: &loaded,
            ..work
        };
        let first = rules.first();
        let held = &work.loaded.projection;
        let terms = configured.terms();
        // A body that is gone is asked for again and again; it was asked for already.
        let mut tried = work.references();
        tried.extend(waited.iter().map(|event| event.reference.clone()));
        let mut sequenced = conclude_sequence(held, &log, &changes, &first, terms);
        loop {
            let needs = &sequenced.needs;
            let untried = |logged: &&Logged| {
                let event = logged.event.as_ref();
                event.is_some_and(|event| !tried.contains(event))
            };
            let asked: Vec<_> = needs.iter().filter(untried).cloned().collect();
            if !asked.is_empty() && matches!(sequenced.conclusion, Conclusion::LookAgain(_)) {
                let needs = self.events_of(work, &asked).await?;
                let needs: Vec<&LoadedEvent> = needs.iter().collect();
                changes.extend(bodies::changes(&self.state, rules, &needs).await?.0);
                tried.extend(asked.into_iter().filter_map(|logged| logged.event));
            } else if let Some(gone) = gone(&sequenced, untried) {
                // It is as missing as if it had never come.
                log.retain(|logged| *logged != gone);
            } else {
                break;
            }
            sequenced = conclude_sequence(held, &log, &changes, &first, terms);
        }
        let untried = |logged: &Logged| {
            let event = logged.event.as_ref();
            event.is_some_and(|event| !tried.contains(event))
        };
        let more = sequenced.needs.iter().any(untried);
        let turn = self
            .sequenced(work, configured, &log, sequenced, facts, also)
            .await?;
        Ok(match more {
            true => turn.once_committed(|| Turn::More),
            false => turn,
        })
    }

    /// What is known of these changes' numbers, and everything after the last applied.
    async fn log(&self, work: Work<'_>, changes: &[Change]) -> Result<Vec<Logged>, StoreError> {
        let held = &work.loaded.projection;
        let last = held.version.as_ref();
        let numbers: Vec<_> = changes.iter().map(|change| &change.number).collect();
        let old = numbers.iter().any(|number| Some(*number) <= last);
        if !(held.waiting || held.tied.is_some() || old) {
            return Ok(Vec::new());
        }
        self.state
            .changes(&work.signal.resource, &numbers, last)
            .await
    }

    /// The events that wait and are not pending, the lowest numbers first.
    async fn waited(&self, work: Work<'_>, log: &[Logged]) -> Result<Vec<LoadedEvent>, StoreError> {
        let last = work.loaded.projection.version.as_ref();
        let pending = work.references();
        let waits = |logged: &&Logged| {
            let known = logged.event.as_ref();
            Some(&logged.number) > last && !known.is_some_and(|event| pending.contains(event))
        };
        let mut waiting: Vec<_> = log.iter().filter(waits).cloned().collect();
        waiting.sort_by(|one, other| one.number.cmp(&other.number));
        waiting.truncate(MOST_WAITED);
        self.events_of(work, &waiting).await
    }

    async fn events_of(
        &self,
        work: Work<'_>,
        log: &[Logged],
    ) -> Result<Vec<LoadedEvent>, StoreError> {
        let events: Vec<EventRef> = log
            .iter()
            .filter_map(|logged| logged.event.clone())
            .collect();
        if events.is_empty() {
            return Ok(Vec::new());
        }
        let resource = &work.signal.resource;
        let loaded = self
            .state
            .load(resource, &events, Bodies::With, &[])
            .await?;
        Ok(loaded.events)
    }

    async fn sequenced(
        &self,
        work: Work<'_>,
        configured: Configured<'_>,
        log: &[Logged],
        sequenced: Sequenced,
        facts: Facts,
        mut also: Also,
    ) -> Result<Turn, StoreError> {
        let Sequenced {
            conclusion: concluded,
            log: new,
            gap,
            needs: _,
        } = sequenced;
        also.changes = new;
        if concluded == Conclusion::Reread {
            return self.instead(work, configured, log, facts, also).await;
        }
        if work.left {
            // What is missing may be among those that are left.
            return self.conclude(work, concluded.into(), facts, also).await;
        }
        let Some(gap) = gap else {
            also.gap = Gap::None;
            return self.conclude(work, concluded.into(), facts, also).await;
        };
        let patience = configured.resource.rules.patience_seconds;
        let patience = patience.map_or(PATIENCE, |seconds| Duration::from_secs(seconds.into()));
        let now = (self.clock)();
        let since = work.loaded.beside.waiting_since;
        let waited = since.map_or(Duration::ZERO, |since| now.since(since));
        if since.is_some() && waited >= patience || patience.is_zero() {
            if configured.terms().can_read {
                return self.instead(work, configured, log, facts, also).await;
            }
            also.gap = Gap::Overdue(gap.next.to_string());
            return self.conclude(work, concluded.into(), facts, also).await;
        }
        also.gap = Gap::Waits(gap.next.to_string());
        // The group's later messages wait as long, so it is never more than half of what was waited already.
        let pause = patience
            .saturating_sub(waited)
            .min(SHORTEST_PAUSE.max(waited / 2));
        self.wait(work, concluded, facts, also, pause).await
    }

    /// Commits what there is, and comes back for what waits. What waited before and still does is not written again.
    async fn wait(
        &self,
        work: Work<'_>,
        concluded: Conclusion,
        facts: Facts,
        also: Also,
        pause: Duration,
    ) -> Result<Turn, StoreError> {
        let waiting: Vec<EventRef> = match &concluded {
            Conclusion::Change { marks, .. } | Conclusion::Quiet { marks } => marks
                .iter()
                .filter(|mark| mark.outcome == Outcome::Waiting)
                .map(|mark| mark.event.clone())
                .collect(),
            Conclusion::Reread | Conclusion::LookAgain(_) => Vec::new(),
        };
        let all_waited = work
            .pending
            .iter()
            .all(|event| event.decided == Some(Outcome::Waiting));
        let nothing_new = all_waited && matches!(concluded, Conclusion::Quiet { .. });
        if !nothing_new {
            let turn = self.conclude(work, concluded.into(), facts, also).await?;
            if !matches!(turn, Turn::Committed) {
                return Ok(turn);
            }
        }
        Ok(Turn::Waiting { pause, waiting })
    }

    /// A snapshot of the source instead of the changes that did not come or contradict each other.
    async fn instead(
        &self,
        work: Work<'_>,
        configured: Configured<'_>,
        log: &[Logged],
        facts: Facts,
        mut also: Also,
    ) -> Result<Turn, StoreError> {
        let (observation, trouble) = self.observed(work, configured, Told::PerhapsDeleted).await;
        let held = &work.loaded.projection;
        let log: Vec<_> = log.iter().chain(&also.changes).cloned().collect();
        let told: Vec<_> = also.marks.iter().map(|mark| &mark.event).collect();
        let signals: Vec<_> = work
            .loaded
            .events
            .iter()
            .map(|event| event.reference.clone())
            .filter(|event| !told.contains(&event))
            .collect();
        let (first, terms) = (configured.resource.rules.first(), configured.terms());
        let sequenced = conclude_sequence_read(held, &signals, &log, &first, observation, terms);
        let more = !sequenced.needs.is_empty();
        // What is missing behind the snapshot has what is left of the patience.
        also.gap = match &sequenced.gap {
            Some(gap) => Gap::Waits(gap.next.to_string()),
            None => Gap::None,
        };
        let looked = Looked {
            concluded: sequenced.conclusion,
            trouble: Some(trouble),
            partly: false,
        };
        let turn = self.conclude(work, looked, facts, also).await?;
        Ok(match more {
            true => turn.once_committed(|| Turn::More),
            false => turn,
        })
    }
}

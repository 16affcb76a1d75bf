//! One turn of the race, by strategy: look, decide, commit.

use lastword_config::{Integration, Resource};
use lastword_contracts::reader::UNREADABLE;
use lastword_domain::decide::{
    Ranked, Terms, conclude_transition, conclude_transition_read, conclude_versions,
};
use lastword_domain::{
    Conclusion, Content, EventRef, Mark, Outcome, Reason, Signal, StatusOrder, Strategy, Version,
};
use lastword_store::{Bodies, Loaded, LoadedEvent, StoreError};

use crate::bodies::{self, Proofs};
use crate::concluding::Also;
use crate::failing::Trouble;
use crate::looking::{Reading, trouble};
use crate::observe::{self, Look, Told};
use crate::reconciler::{Reconciler, Turn};

/// A resource with its pending signals, as one turn sees it.
#[derive(Clone, Copy)]
pub(crate) struct Work<'w> {
    pub(crate) signal: &'w Signal,
    pub(crate) loaded: &'w Loaded,
    pub(crate) pending: &'w [&'w LoadedEvent],
    /// Whether more events than these want a decision, in a turn of their own.
    pub(crate) left: bool,
}

impl<'w> Work<'w> {
    /// The same with only these events pending.
    fn of(self, pending: &'w [&'w LoadedEvent]) -> Self {
        let fewer = pending.len() < self.pending.len();
        let waits = |event: &LoadedEvent| event.decided == Some(Outcome::Waiting);
        let others = self.pending.iter().filter(|event| !waits(event)).count();
        let taken = pending.iter().filter(|event| !waits(event)).count();
        Self {
            pending,
            left: fewer && taken < others,
            ..self
        }
    }

    /// The pending events.
    pub(crate) fn references(self) -> Vec<EventRef> {
        let pending = self.pending.iter();
        pending.map(|event| event.reference.clone()).collect()
    }
}

/// The most pending events of one turn where each may be read by itself or write several items.
const MOST_PENDING: usize = 20;

/// The events of one turn. What waits is known already, so it never takes the place of what is new; and what failed
/// before never that of what was not tried.
fn of_one_turn<'l>(
    pending: &[&'l LoadedEvent],
    configured: Configured<'_>,
) -> Vec<&'l LoadedEvent> {
    let mut chosen = pending.to_vec();
    let resource = configured.resource;
    if resource.strategy == Strategy::Sequence || !resource.rules.facts.is_empty() {
        chosen.sort_by_key(|event| (event.decided == Some(Outcome::Waiting), event.attempts));
        chosen.truncate(MOST_PENDING);
    }
    chosen
}

/// How this resource is configured.
#[derive(Clone, Copy)]
pub(crate) struct Configured<'c> {
    pub(crate) integration: &'c Integration,
    pub(crate) resource: &'c Resource,
}

impl Configured<'_> {
    /// What the contract allows.
    pub(crate) fn terms(self) -> Terms {
        let api = self.integration.contract.api.is_some();
        self.resource.rules.terms(api)
    }
}

/// What a strategy makes of a look.
pub(crate) struct Looked {
    /// What follows.
    pub(crate) concluded: Conclusion,
    /// For the record of a failed attempt, when nothing does.
    pub(crate) trouble: Option<Trouble>,
    /// Whether some of the pending events want a turn of their own.
    pub(crate) partly: bool,
}

impl From<Conclusion> for Looked {
    fn from(concluded: Conclusion) -> Self {
        Self {
            concluded,
            trouble: None,
            partly: false,
        }
    }
}

impl Reconciler {
    pub(crate) async fn turn(&self, work: Work<'_>) -> Result<Turn, StoreError> {
        if work.signal.resource.kind.as_str() == UNREADABLE {
            return self
                .mark_all(work, Outcome::Failed, Reason::Unparsable)
                .await;
        }
        let Some(configured) = self.configured(work.signal) else {
            let (outcome, reason) = if self.is_only_recorded(work.signal) {
                (Outcome::Ignored, Reason::NothingKept)
            } else {
                (Outcome::Failed, Reason::Unconfigured)
            };
            return self.mark_all(work, outcome, reason).await;
        };
        let mut pending = of_one_turn(work.pending, configured);
        loop {
            let part = work.of(&pending);
            let mut turn = self.part(part, configured).await?;
            if matches!(turn, Turn::TooLarge | Turn::TooMuch) {
                if pending.len() > 1 {
                    // Which of them is too much is found out by taking fewer.
                    pending.truncate(pending.len() / 2);
                    continue;
                }
                turn = self.refuse(part).await?;
            }
            return Ok(match part.left {
                true => turn.once_committed(|| Turn::Partly(part.references())),
                false => turn,
            });
        }
    }

    /// One turn about some of the pending events.
    async fn part(&self, work: Work<'_>, configured: Configured<'_>) -> Result<Turn, StoreError> {
        let told = self.told_facts(work, configured).await?;
        let facts = told.found.told.clone();
        let turn = self.with_facts(work, configured, told).await?;
        // A state that was read is the same for all of them.
        let same = configured.resource.strategy == Strategy::Current || work.pending.len() == 1;
        if matches!(turn, Turn::TooLarge) && same {
            return self.refuse_but_facts(work, &facts).await;
        }
        Ok(turn)
    }

    /// The integration and resource type, if they are still configured for just this resource.
    pub(crate) fn configured(&self, signal: &Signal) -> Option<Configured<'_>> {
        let integration = self.config.integrations.get(&signal.integration)?;
        let same = integration.contract.name == signal.resource.provider
            && integration.environment == signal.resource.environment;
        let resource = integration.resources.get(&signal.resource.kind)?;
        same.then_some(Configured {
            integration,
            resource,
        })
    }

    /// Whether it is of a kind of which the contract keeps nothing but the events.
    fn is_only_recorded(&self, signal: &Signal) -> bool {
        let integration = self.config.integrations.get(&signal.integration);
        integration.is_some_and(|integration| integration.recorded.contains(&signal.resource.kind))
    }

    /// Whether the events' own bodies are needed to settle this resource.
    pub(crate) fn bodies(&self, signal: &Signal) -> Bodies {
        let Some(configured) = self.configured(signal) else {
            return Bodies::Without;
        };
        let rules = &configured.resource.rules;
        match configured.resource.strategy {
            Strategy::Current if rules.facts.is_empty() && rules.version.is_none() => {
                Bodies::Without
            }
            Strategy::Current
            | Strategy::Version
            | Strategy::Sequence
            | Strategy::Transition
            | Strategy::Fact => Bodies::With,
        }
    }

    /// Looks at the source once, for all the signals.
    ///
    /// A read that still shows what one signal says is deleted is behind that signal, and no other: the
    /// others are answered, and the deletion has a turn of its own.
    pub(crate) async fn current(
        &self,
        work: Work<'_>,
        configured: Configured<'_>,
    ) -> Result<Looked, StoreError> {
        let rules = &configured.resource.rules;
        let proven = bodies::proven(&self.state, rules, work.pending).await?;
        let told = observe::told(rules, work.pending);
        let read = Reading {
            told,
            proven: proven.as_ref(),
        };
        Ok(self.look(work, configured, read, work.references()).await)
    }

    pub(crate) async fn version(
        &self,
        work: Work<'_>,
        configured: Configured<'_>,
        also: &mut Also,
    ) -> Result<Looked, StoreError> {
        let rules = &configured.resource.rules;
        let proofs = bodies::proofs(&self.state, rules, work.pending).await?;
        let held = &work.loaded.projection;
        let concluded = conclude_versions(held, &proofs.snapshots, configured.terms());
        if concluded == Conclusion::Reread {
            let signals = proofs.snapshots.iter();
            let signals = signals.map(|snapshot| snapshot.event.clone()).collect();
            let (told, proven) = greatest(&proofs);
            also.marks.extend(proofs.failed.iter().cloned());
            let reading = Reading { told, proven };
            return Ok(self.look(work, configured, reading, signals).await);
        }
        also.marks.extend(proofs.failed);
        Ok(concluded.into())
    }

    pub(crate) async fn transition(
        &self,
        work: Work<'_>,
        configured: Configured<'_>,
        order: &StatusOrder,
        also: &mut Also,
    ) -> Result<Looked, StoreError> {
        let rules = &configured.resource.rules;
        let (told, failed) = bodies::ranked(&self.state, rules, work.pending).await?;
        also.marks.extend(failed);
        let held = &work.loaded.projection;
        let concluded = conclude_transition(held, &told, order, configured.terms());
        if concluded != Conclusion::Reread {
            return Ok(concluded.into());
        }
        Ok(self.transition_read(work, configured, order, &told).await)
    }

    /// One read of what has an ordered status, for the signals whose bodies say this.
    pub(crate) async fn transition_read(
        &self,
        work: Work<'_>,
        configured: Configured<'_>,
        order: &StatusOrder,
        told: &[Ranked],
    ) -> Looked {
        let held = &work.loaded.projection;
        let answer = self
            .read(&work.signal.resource, configured.integration)
            .await;
        let deleted = told.iter().any(|told| told.content == Content::Deleted);
        let said = match deleted {
            true => Told::PerhapsDeleted,
            false => Told::Nothing,
        };
        let Look {
            observation,
            detail,
            retry_after,
        } = observe::observation(answer, held, said);
        let signals: Vec<_> = told.iter().map(|told| told.event.clone()).collect();
        let concluded = conclude_transition_read(held, told, order, &signals, observation);
        Looked {
            trouble: trouble(&concluded, detail, retry_after),
            concluded,
            partly: false,
        }
    }

    pub(crate) async fn mark_all(
        &self,
        work: Work<'_>,
        outcome: Outcome,
        reason: Reason,
    ) -> Result<Turn, StoreError> {
        let mark = |event: EventRef| Mark {
            event,
            outcome,
            reason,
        };
        let marks = work.references().into_iter().map(mark).collect();
        let also = Also {
            marks,
            unknown: true,
            ..Also::default()
        };
        let concluded = Conclusion::Quiet { marks: Vec::new() };
        self.commit(work, concluded, also).await
    }
}

/// The greatest version that the bodies prove, and whether one of them is then a deletion.
pub(crate) fn greatest(proofs: &Proofs) -> (Told, Option<&Version>) {
    let snapshots = &proofs.snapshots;
    let greatest = snapshots.iter().map(|snapshot| &snapshot.version).max();
    let deleted = snapshots.iter().any(|snapshot| {
        Some(&snapshot.version) == greatest && snapshot.content == Content::Deleted
    });
    let told = if deleted {
        Told::PerhapsDeleted
    } else {
        Told::Nothing
    };
    (told, greatest)
}

//! From a conclusion to a commit: facts and meaning join it, and what is more than the store takes is refused with a
//! decision that says so.

use std::collections::BTreeSet;

use lastword_domain::decide::{Fact, Facts, KnownFact, Logged, conclude_facts};
use lastword_domain::effect::outbox::{
    Before, Called, EffectWrite, Followed, Live, Mode, NewEffect, follow,
};
use lastword_domain::{
    Conclusion, EventRef, Evidence, Mark, Outcome, Projection, Reason, Strategy,
};
use lastword_rules::{CalledFor, Found, Meant};
use lastword_store::{Commit, Committed, LoadedEvent, StoreError};

use crate::facts::{self, ToldFacts};
use crate::failing::Trouble;
use crate::reconciler::{Reconciler, Turn};
use crate::strategies::{Configured, Looked, Work};

/// What is committed with a conclusion.
#[derive(Default)]
pub(crate) struct Also {
    /// Marks of events that the conclusion does not speak of.
    pub(crate) marks: Vec<Mark>,
    /// Facts that are not kept yet.
    pub(crate) facts: Vec<Fact>,
    /// Changes that are not known yet.
    pub(crate) changes: Vec<Logged>,
    /// Identities of facts that came with different contents.
    pub(crate) contested: Vec<String>,
    /// Events of which it is not known yet what they tell, and why: the state is found all the same.
    pub(crate) open: BTreeSet<EventRef>,
    pub(crate) trouble: Option<Trouble>,
    /// The number that is missing, as far as that was looked for.
    pub(crate) gap: Gap,
    /// Nothing is said of the state, so it means what it meant: it is not known here how it is configured.
    pub(crate) unknown: bool,
}

/// A conclusion with everything that follows from it.
#[derive(Default)]
struct Concluded {
    next: Option<Projection>,
    evidence: Evidence,
    called: Called,
    effects: Vec<EffectWrite>,
}

/// What was found of a gap in the count.
#[derive(Default)]
pub(crate) enum Gap {
    #[default]
    NotLookedFor,
    None,
    /// There is time for this number to come.
    Waits(String),
    /// Nothing can be done about it but by a person.
    Overdue(String),
}

impl Gap {
    fn found(&self) -> lastword_rules::Gap<'_> {
        match self {
            Self::NotLookedFor => lastword_rules::Gap::NotLookedFor,
            Self::None => lastword_rules::Gap::None,
            Self::Waits(number) => lastword_rules::Gap::Waits(number),
            Self::Overdue(number) => lastword_rules::Gap::Overdue(number),
        }
    }
}

impl Reconciler {
    /// One turn, given the facts that the pending events tell.
    pub(crate) async fn with_facts(
        &self,
        work: Work<'_>,
        configured: Configured<'_>,
        told: ToldFacts,
    ) -> Result<Turn, StoreError> {
        let known = self.known(work, &told.found.told).await?;
        let facts = conclude_facts(&known, &told.found.told);
        let mut also = Also {
            marks: told.found.failed,
            open: told.open,
            trouble: told.trouble,
            contested: facts::named(&facts.contested),
            ..Also::default()
        };
        let looked = match configured.resource.strategy {
            Strategy::Current => self.current(work, configured).await?,
            Strategy::Version => self.version(work, configured, &mut also).await?,
            Strategy::Transition => match &configured.resource.order {
                Some(order) => self.transition(work, configured, order, &mut also).await?,
                None => {
                    return self
                        .mark_all(work, Outcome::Failed, Reason::Unconfigured)
                        .await;
                }
            },
            Strategy::Sequence => return self.sequence(work, configured, facts, also).await,
            Strategy::Fact => facts::only(work, &facts).into(),
        };
        self.conclude(work, looked, facts, also).await
    }

    /// What is kept under the identities of these.
    pub(crate) async fn known(
        &self,
        work: Work<'_>,
        told: &[Fact],
    ) -> Result<Vec<KnownFact>, StoreError> {
        if !work.loaded.beside.facts || told.is_empty() {
            return Ok(Vec::new());
        }
        let identities = told.iter().map(|fact| (&fact.kind, &fact.id));
        let resource = &work.signal.resource;
        self.state
            .known_facts(resource, facts::each(identities))
            .await
    }

    /// Commits what a look came to, with the facts; or counts a failed attempt, with the facts kept all the same.
    pub(crate) async fn conclude(
        &self,
        work: Work<'_>,
        looked: Looked,
        facts: Facts,
        mut also: Also,
    ) -> Result<Turn, StoreError> {
        let Facts { new, by_event, .. } = facts;
        also.facts = new;
        match looked.concluded {
            Conclusion::LookAgain(reason) => {
                let words = looked.trouble.unwrap_or_default();
                let trouble = Trouble { reason, ..words };
                self.told_alone(work, also, trouble).await
            }
            // A look settles itself; it never asks for another.
            Conclusion::Reread => Ok(Turn::Lost),
            concluded @ (Conclusion::Change { .. } | Conclusion::Quiet { .. }) => {
                let concluded = facts::marked(concluded, &by_event);
                let open = |event: &&LoadedEvent| also.open.contains(&event.reference);
                let all_open = !work.pending.is_empty() && work.pending.iter().all(open);
                let says_nothing = matches!(concluded, Conclusion::Quiet { .. })
                    && also.facts.is_empty()
                    && also.changes.is_empty();
                if all_open && says_nothing {
                    let trouble = also.trouble.unwrap_or_default();
                    return Ok(Turn::Failed(trouble, work.references()));
                }
                let partly = looked.partly || !also.open.is_empty();
                let decided = decided(&concluded, &also);
                let turn = self.commit(work, concluded, also).await?;
                Ok(match partly {
                    true => turn.once_committed(|| Turn::Partly(decided)),
                    false => turn,
                })
            }
        }
    }

    /// Law 8: a fact is not lost because the state cannot be found out now. Neither is a change of a count: it is
    /// applied when those before it have come, also when its own event was given up.
    async fn told_alone(
        &self,
        work: Work<'_>,
        also: Also,
        trouble: Trouble,
    ) -> Result<Turn, StoreError> {
        let concluded = match (also.facts.is_empty(), also.changes.is_empty()) {
            (true, true) => return Ok(Turn::Failed(trouble, work.references())),
            (false, true) => Conclusion::Quiet { marks: Vec::new() },
            (_, false) => Conclusion::Change {
                next: Projection {
                    waiting: true,
                    ..work.loaded.projection.advanced()
                },
                marks: Vec::new(),
            },
        };
        let also = Also {
            marks: Vec::new(),
            ..also
        };
        let turn = self.commit(work, concluded, also).await?;
        // The revision moved: the failed attempt is counted under the new one.
        Ok(turn.once_committed(|| Turn::Lost))
    }

    pub(crate) async fn commit(
        &self,
        work: Work<'_>,
        concluded: Conclusion,
        also: Also,
    ) -> Result<Turn, StoreError> {
        let (next, mut marks) = match concluded {
            Conclusion::Change { next, marks } => (Some(next), marks),
            Conclusion::Quiet { marks } => (None, marks),
            Conclusion::Reread | Conclusion::LookAgain(_) => return Ok(Turn::Lost),
        };
        let told: Vec<_> = also.marks.iter().map(|mark| &mark.event).collect();
        marks.retain(|mark| !told.contains(&&mark.event));
        marks.extend(also.marks.iter().cloned());
        marks.retain(|mark| !also.open.contains(&mark.event));
        // What waited and still does has its decision.
        let events = &work.loaded.events;
        let waited = |mark: &Mark| {
            let mut events = events.iter().filter(|event| event.reference == mark.event);
            events.any(|event| event.decided == Some(mark.outcome))
        };
        marks.retain(|mark| mark.outcome != Outcome::Waiting || !waited(mark));
        let Concluded {
            next,
            evidence,
            called,
            effects,
        } = self.with_meaning(work, next, &also);
        let commit = Commit {
            resource: &work.signal.resource,
            loaded: work.loaded,
            next: next.as_ref(),
            marks: &marks,
            facts: &also.facts,
            changes: &also.changes,
            evidence: &evidence,
            called: &called,
            effects: &effects,
            rebuild: None,
            now: (self.clock)(),
        };
        match self.state.commit(&commit).await? {
            Committed::Done(_) => Ok(Turn::Committed),
            Committed::Lost => Ok(Turn::Lost),
            Committed::TooLarge => Ok(Turn::TooLarge),
            Committed::TooMuch => Ok(Turn::TooMuch),
        }
    }

    /// The next projection with what it means. A state that stays can mean something else: the rules are another
    /// deployment's.
    fn with_meaning(&self, work: Work<'_>, next: Option<Projection>, also: &Also) -> Concluded {
        let loaded = work.loaded;
        if also.unknown {
            return Concluded {
                next,
                called: loaded.beside.called.clone(),
                ..Concluded::default()
            };
        }
        let held = &work.loaded.projection;
        let says = next.as_ref().unwrap_or(held);
        let signal = work.signal;
        let found = Found {
            contested: &also.contested,
            gap: also.gap.found(),
        };
        let Meant {
            meaning,
            evidence,
            asked,
        } = self
            .rules
            .meaning(&signal.integration, &signal.resource, says, found);
        let changed = next.is_some() || meaning != held.meaning;
        let next = Projection {
            meaning,
            ..next.unwrap_or_else(|| held.advanced())
        };
        let mode = Mode::of(&signal.cause);
        let before = Before {
            first: held.contents.is_none(),
            called: &loaded.beside.called,
            kept: &loaded.effects,
        };
        let Followed { called, mut writes } = follow(mode, before, &asked);
        if let Mode::Live(live) = mode {
            writes.extend(self.of_facts(live, work, &next, &also.facts));
        }
        Concluded {
            next: changed.then_some(next),
            evidence,
            called,
            effects: writes,
        }
    }

    /// The effects that new facts call for.
    fn of_facts(
        &self,
        live: Live,
        work: Work<'_>,
        projection: &Projection,
        facts: &[Fact],
    ) -> impl Iterator<Item = EffectWrite> {
        let signal = work.signal;
        let called =
            self.rules
                .called_for(&signal.integration, &signal.resource, projection, facts);
        // Two contents under one identity call for one action, and one transaction writes an item once.
        let mut seen = BTreeSet::new();
        let once = move |called: &CalledFor| {
            let fact = (called.fact.kind.clone(), called.fact.id.clone());
            seen.insert((called.rule.clone(), fact))
        };
        called.into_iter().filter(once).map(move |called| {
            let CalledFor {
                rule,
                fact,
                data,
                settle,
            } = called;
            EffectWrite::Create(NewEffect::of_fact(live, rule, fact, data, settle))
        })
    }

    /// Refuses what the store does not take, and keeps the facts that are told besides: a state that is too large takes
    /// none of them along. When they are too much themselves, so is this.
    pub(crate) async fn refuse_but_facts(
        &self,
        work: Work<'_>,
        told: &[Fact],
    ) -> Result<Turn, StoreError> {
        let known = self.known(work, told).await?;
        let facts = conclude_facts(&known, told);
        let also = Also {
            contested: facts::named(&facts.contested),
            facts: facts.new,
            ..Also::default()
        };
        let marks = too_large(work);
        self.commit(work, Conclusion::Quiet { marks }, also).await
    }

    /// Refuses what the store does not take. The projection stays as it was, the events stay in the inbox, and a
    /// person sees the decision.
    pub(crate) async fn refuse(&self, work: Work<'_>) -> Result<Turn, StoreError> {
        let commit = Commit {
            resource: &work.signal.resource,
            loaded: work.loaded,
            next: None,
            marks: &too_large(work),
            facts: &[],
            changes: &[],
            evidence: &Evidence::new(),
            called: &work.loaded.beside.called,
            effects: &[],
            rebuild: None,
            now: (self.clock)(),
        };
        match self.state.commit(&commit).await? {
            Committed::Done(_) => Ok(Turn::Committed),
            Committed::Lost => Ok(Turn::Lost),
            Committed::TooMuch | Committed::TooLarge => Err(StoreError::Refused(
                "not even the decision fits a transaction".to_owned(),
            )),
        }
    }
}

/// The events that a conclusion decides.
fn decided(concluded: &Conclusion, also: &Also) -> Vec<EventRef> {
    let marks: &[Mark] = match concluded {
        Conclusion::Change { marks, .. } | Conclusion::Quiet { marks } => marks,
        Conclusion::Reread | Conclusion::LookAgain(_) => &[],
    };
    let events = marks.iter().chain(&also.marks).map(|mark| &mark.event);
    let decided = events.filter(|event| !also.open.contains(event));
    decided.cloned().collect()
}

fn too_large(work: Work<'_>) -> Vec<Mark> {
    let mark = |event: EventRef| Mark {
        event,
        outcome: Outcome::Failed,
        reason: Reason::TooLarge,
    };
    work.references().into_iter().map(mark).collect()
}

//! Reads the bodies of all events that were decided, some at a time, and keeps of each only what a state or a fact is
//! made of.

use std::collections::BTreeSet;

use lastword_domain::decide::{Change, Fact, Facts, Ranked, Snapshot, conclude_facts};
use lastword_domain::name::{FactId, FactKind};
use lastword_domain::{Content, EventRef, Signal, Strategy, Version};
use lastword_store::{FactPointer, Loaded, LoadedEvent, StoreError};

use crate::bodies;
use crate::observe::{self, Told};
use crate::reconciler::Reconciler;
use crate::strategies::{self, Configured};

/// How many bodies are in memory at once.
const AT_ONCE: usize = 20;

/// What all events tell.
#[derive(Default)]
pub(super) struct Gathered {
    /// Strategy `version`: those that a conclusion can rest on.
    pub(super) snapshots: Vec<Snapshot>,
    /// Strategy `transition`: each state once.
    pub(super) ranked: Vec<Ranked>,
    /// Strategy `sequence`: all.
    pub(super) changes: Vec<Change>,
    /// Whether an event says that it is deleted.
    pub(super) told: Option<Told>,
    /// The greatest version that a body proves, for a read.
    pub(super) proven: Option<Version>,
    /// Facts that are told and not recorded.
    pub(super) facts: Vec<Fact>,
    /// Whether any is recorded.
    pub(super) any_fact: bool,
    /// Identities that are told with different contents.
    pub(super) contested: BTreeSet<(FactKind, FactId)>,
    /// How many events are not in the inbox any more.
    pub(super) gone: usize,
    /// Why it is not known what an event tells.
    pub(super) trouble: Option<String>,
}

impl Reconciler {
    pub(super) async fn gather(
        &self,
        signal: &Signal,
        configured: Configured<'_>,
        loaded: &Loaded,
        events: &[EventRef],
    ) -> Result<Gathered, StoreError> {
        let mut gathered = Gathered::default();
        let pointers = self.state.fact_pointers(&signal.resource).await?;
        gathered.any_fact = !pointers.is_empty();
        // Without bodies too, the events' own types are wanted: one may say that it is deleted.
        let bodies = self.bodies(signal);
        for some in events.chunks(AT_ONCE) {
            let part = self.state.load(&signal.resource, some, bodies, &[]).await?;
            let all: Vec<&LoadedEvent> = part.events.iter().collect();
            gathered.gone += all.iter().filter(|event| event.stored.is_none()).count();
            self.evidence(configured, &all, &mut gathered).await?;
            let work = strategies::Work {
                signal,
                loaded,
                pending: &all,
                left: false,
            };
            self.facts_of(work, configured, &pointers, &mut gathered)
                .await?;
        }
        Ok(gathered)
    }

    /// What a state is made of.
    async fn evidence(
        &self,
        configured: Configured<'_>,
        events: &[&LoadedEvent],
        gathered: &mut Gathered,
    ) -> Result<(), StoreError> {
        let rules = &configured.resource.rules;
        match configured.resource.strategy {
            Strategy::Current => {
                let proven = bodies::proven(&self.state, rules, events).await?;
                gathered.proven = gathered.proven.take().max(proven);
                match observe::told(rules, events) {
                    Told::Nothing => {}
                    told @ (Told::Deleted | Told::PerhapsDeleted) => gathered.told = Some(told),
                }
            }
            Strategy::Version => {
                let proofs = bodies::proofs(&self.state, rules, events).await?;
                gathered.snapshots.extend(proofs.snapshots);
                gathered.keep_greatest();
            }
            Strategy::Transition => {
                let (ranked, _) = bodies::ranked(&self.state, rules, events).await?;
                for one in ranked {
                    let same =
                        |held: &Ranked| held.status == one.status && held.content == one.content;
                    if !gathered.ranked.iter().any(same) {
                        gathered.ranked.push(one);
                    }
                }
            }
            Strategy::Sequence => {
                let (changes, _) = bodies::changes(&self.state, rules, events).await?;
                gathered.changes.extend(changes);
            }
            Strategy::Fact => {}
        }
        Ok(())
    }

    /// The facts that these events tell and that are not recorded.
    async fn facts_of(
        &self,
        work: strategies::Work<'_>,
        configured: Configured<'_>,
        pointers: &[FactPointer],
        gathered: &mut Gathered,
    ) -> Result<(), StoreError> {
        let rules = &configured.resource.rules;
        let recorded = |event: &EventRef| pointers.iter().any(|kept| kept.event == *event);
        // A thin event costs a read of the source: it is not asked again for what it told, and none is asked while the
        // source does not answer.
        let asked = |event: &&LoadedEvent| {
            let Some(stored) = &event.stored else {
                return false;
            };
            let mut facts = rules.told_by(stored.kind.as_str());
            let thin = facts.any(|(_, fact)| fact.read.is_some());
            !thin || !(recorded(&event.reference) || gathered.trouble.is_some())
        };
        let asked: Vec<&LoadedEvent> = work.pending.iter().copied().filter(asked).collect();
        let work = strategies::Work {
            pending: &asked,
            ..work
        };
        let told = self.told_facts(work, configured).await?;
        if let Some(trouble) = told.trouble {
            gathered.trouble = Some(format!("{}: {}", trouble.reason, trouble.detail));
        }
        let told = told.found.told;
        let mut known = FactPointer::known(pointers, &told);
        known.extend(gathered.facts.iter().map(Fact::known));
        let Facts { new, contested, .. } = conclude_facts(&known, &told);
        gathered.facts.extend(new);
        gathered.contested.extend(contested);
        Ok(())
    }
}

impl Gathered {
    /// What stands behind the greatest version can say nothing of the state, except that it was deleted.
    fn keep_greatest(&mut self) {
        let greatest = self.snapshots.iter().map(|one| one.version.clone()).max();
        self.snapshots.retain(|one| {
            Some(&one.version) == greatest.as_ref() || one.content == Content::Deleted
        });
    }
}

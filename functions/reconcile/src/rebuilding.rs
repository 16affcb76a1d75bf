//! A rebuild: what is held of a resource is recomputed from the inbox and the source, by the rules of now, with the same
//! plain functions and under the same fence as any other conclusion.
//!
//! It decides about no event: what is not decided has a signal of its own, and what is decided stays decided. It counts
//! no failed attempt. It has no [`Live`](lastword_domain::effect::outbox::Live), so it can create no effect (law 10).
//! What cannot be recomputed stays as it is, and the report says so.
//!
//! The report is written in the conclusion's transaction: whoever reads it knows that this resource is done, and a
//! message that comes again finds it.

mod gathering;
mod recomputing;
mod weighing;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use lastword_domain::decide::Fact;
use lastword_domain::effect::outbox::{Asked, Before, Followed, Mode, follow};
use lastword_domain::{
    EffectRule, Evidence, Link, Part, Projection, Rebuilt, Report, ResourceKey, Revision, Signal,
};
use lastword_rules::{Found, Gap, Meant};
use lastword_store::{Bodies, Commit, Committed, Loaded, Recommit, StoreError};

use crate::facts;
use crate::reconciler::{MOST_RACES, Reconciler, Settled, jitter};
use crate::strategies::Configured;
use gathering::Gathered;
use recomputing::State;

/// The most facts of one transaction beside everything else.
const MOST_FACTS: usize = 20;

/// What is known of a rebuild while it goes on.
struct Going<'r> {
    run: &'r str,
    /// What differed before, as far as that is committed.
    before: BTreeSet<Part>,
    /// What differs now.
    differs: BTreeSet<Part>,
    /// How many facts are recorded at once.
    most_facts: usize,
    /// How many were in the last commit.
    tried: usize,
    /// How many facts the store does not take, the first of those that are missing.
    skipped: usize,
    /// Whether the state that was recomputed fits the store.
    fits: bool,
}

/// One turn of it.
enum Turn {
    Done,
    /// Some facts are recorded, and there are more.
    More,
    Lost,
    /// It is more than the store takes.
    TooLarge,
    TooMuch,
}

impl From<Committed> for Turn {
    fn from(committed: Committed) -> Self {
        match committed {
            Committed::Done(_) => Self::Done,
            Committed::Lost => Self::Lost,
            Committed::TooLarge => Self::TooLarge,
            Committed::TooMuch => Self::TooMuch,
        }
    }
}

/// A resource with all that its bodies tell.
struct Work<'w> {
    signal: &'w Signal,
    configured: Configured<'w>,
    loaded: &'w Loaded,
    gathered: &'w Gathered,
}

impl Reconciler {
    /// Recomputes one resource.
    ///
    /// # Errors
    /// When the store could not be used: repeating is safe.
    pub(crate) async fn rebuild(&self, signal: &Signal, run: &str) -> Result<Settled, StoreError> {
        let resource = &signal.resource;
        let mut going = Going {
            run,
            before: BTreeSet::new(),
            differs: BTreeSet::new(),
            most_facts: MOST_FACTS,
            tried: 0,
            skipped: 0,
            fits: true,
        };
        let mut races = 0;
        while races < MOST_RACES {
            match self.recompute(signal, &mut going).await? {
                Turn::Done => return Ok(Settled::Done),
                Turn::More => continue,
                Turn::TooMuch if going.tried > 1 => {
                    going.most_facts = going.tried / 2;
                    continue;
                }
                Turn::TooMuch if going.tried == 1 => {
                    going.skipped += 1;
                    continue;
                }
                Turn::TooLarge if going.fits => {
                    going.fits = false;
                    continue;
                }
                Turn::TooMuch | Turn::TooLarge => {
                    let why = "it is more than the store takes at once".to_owned();
                    return self
                        .tell(resource, going.report(Rebuilt::Failed, Some(why)))
                        .await;
                }
                Turn::Lost => {}
            }
            tokio::time::sleep(jitter(Duration::from_millis(20 << races))).await;
            races += 1;
        }
        Ok(Settled::Unknown)
    }

    /// Says that a rebuild could not be done, for work that could not say so itself.
    ///
    /// # Errors
    /// When the store could not be used: repeating is safe.
    pub(crate) async fn rebuild_failed(
        &self,
        resource: &ResourceKey,
        run: &str,
        why: String,
    ) -> Result<Settled, StoreError> {
        let report = Report {
            run: run.to_owned(),
            outcome: Rebuilt::Failed,
            differs: BTreeSet::new(),
            why: Some(why),
        };
        self.tell(resource, report).await
    }

    /// A report with which nothing is committed.
    async fn tell(&self, resource: &ResourceKey, report: Report) -> Result<Settled, StoreError> {
        let now = (self.clock)();
        self.state.report(&resource.hash(), &report, now).await?;
        Ok(Settled::Done)
    }

    async fn recompute(&self, signal: &Signal, going: &mut Going<'_>) -> Result<Turn, StoreError> {
        let resource = &signal.resource;
        let Some(configured) = self.configured(signal) else {
            let report = going.report(Rebuilt::Unconfigured, None);
            return self.tell(resource, report).await.map(|_| Turn::Done);
        };
        // First: whatever is committed from here on is found out by the revision.
        let mut loaded = self.state.load(resource, &[], Bodies::Without, &[]).await?;
        if self.is_told(resource, going).await? {
            return Ok(Turn::Done);
        }
        let held = &loaded.projection;
        let events = self.state.decided_events(resource, held).await?;
        if events.is_empty() && held.revision == Revision::NONE {
            let report = going.report(Rebuilt::Same, Some("nothing is known of it".to_owned()));
            return self.tell(resource, report).await.map(|_| Turn::Done);
        }
        let gathered = self.gather(signal, configured, &loaded, &events).await?;
        loaded.beside.facts |= gathered.any_fact;
        let work = Work {
            signal,
            configured,
            loaded: &loaded,
            gathered: &gathered,
        };
        let missing = gathered.facts.get(going.skipped..).unwrap_or_default();
        going.tried = missing.len().min(going.most_facts);
        let some = missing.get(..going.tried).unwrap_or_default();
        let turn = match going.tried < missing.len() {
            true => self.record(work, some).await?,
            false => self.conclude_rebuild(work, some, going).await?,
        };
        if matches!(turn, Turn::More) {
            going.before.insert(Part::Facts);
        }
        Ok(turn)
    }

    /// Whether this run has done it; else what it found before goes on being told. Asked after the revision was loaded,
    /// so that whoever commits meanwhile wins.
    async fn is_told(
        &self,
        resource: &ResourceKey,
        going: &mut Going<'_>,
    ) -> Result<bool, StoreError> {
        let hash = resource.hash();
        let reports = self.state.reports(std::slice::from_ref(&hash)).await?;
        let kept = reports.get(&hash).map(|kept| &kept.report);
        let Some(report) = kept.filter(|report| report.run == going.run) else {
            return Ok(false);
        };
        going.before.extend(&report.differs);
        Ok(report.outcome.is_final())
    }

    /// Facts alone, where there are many.
    async fn record(&self, work: Work<'_>, facts: &[Fact]) -> Result<Turn, StoreError> {
        let commit = Commit {
            resource: &work.signal.resource,
            loaded: work.loaded,
            next: None,
            marks: &[],
            facts,
            changes: &[],
            evidence: &Evidence::new(),
            called: &work.loaded.beside.called,
            effects: &[],
            rebuild: None,
            now: (self.clock)(),
        };
        Ok(match self.state.commit(&commit).await? {
            Committed::Done(_) => Turn::More,
            refused @ (Committed::Lost | Committed::TooLarge | Committed::TooMuch) => {
                refused.into()
            }
        })
    }

    async fn conclude_rebuild(
        &self,
        work: Work<'_>,
        facts: &[Fact],
        going: &mut Going<'_>,
    ) -> Result<Turn, StoreError> {
        let (resource, held) = (&work.signal.resource, &work.loaded.projection);
        let state = match going.fits {
            true => self.state_of(&work).await,
            false => State::Kept("what comes out is larger than the store takes".to_owned()),
        };
        let (outcome, why, says) = state.settled(held, work.gathered.trouble.as_deref());
        let (next, evidence, asked) = self.means(&work, says);
        let copies = self.wrong_copies(resource, &next).await?;
        let before = Before {
            first: held.contents.is_none(),
            called: &work.loaded.beside.called,
            kept: &work.loaded.effects,
        };
        let Followed { called, writes } = follow(Mode::Rebuild, before, &asked);
        let differing = weighing::differing(held, &next);
        going.differs.extend(&differing);
        going
            .differs
            .extend((!facts.is_empty()).then_some(Part::Facts));
        if copies.iter().any(|copy| held.meaning.links.contains(copy)) {
            going.differs.insert(Part::Members);
        }
        let report = going.concluded(outcome, why);
        let commit = Commit {
            resource,
            loaded: work.loaded,
            next: (!differing.is_empty()).then_some(&next),
            marks: &[],
            facts,
            changes: &[],
            evidence: &evidence,
            called: &called,
            effects: &writes,
            rebuild: Some(Recommit {
                report: &report,
                copies: &copies,
            }),
            now: (self.clock)(),
        };
        let committed = self.state.commit(&commit).await?;
        if !matches!(committed, Committed::Done(_)) {
            // It was not so: it is found out again.
            going.differs.clear();
        }
        Ok(committed.into())
    }

    /// What it means by the rules of now, with what a person is shown and what actions say.
    fn means(
        &self,
        work: &Work<'_>,
        says: Projection,
    ) -> (Projection, Evidence, BTreeMap<EffectRule, Asked>) {
        let found = Found {
            contested: &facts::named(&work.gathered.contested),
            gap: Gap::NotLookedFor,
        };
        let signal = work.signal;
        let Meant {
            meaning,
            evidence,
            asked,
        } = self
            .rules
            .meaning(&signal.integration, &signal.resource, &says, found);
        let next = Projection {
            meaning,
            revision: work.loaded.projection.revision.next(),
            ..says
        };
        (next, evidence, asked)
    }

    /// The subjects in which its copy is not what it should be.
    async fn wrong_copies(
        &self,
        resource: &ResourceKey,
        next: &Projection,
    ) -> Result<BTreeSet<Link>, StoreError> {
        match &next.contents {
            Some(contents) => {
                let links = &next.meaning.links;
                self.state.wrong_copies(resource, links, contents).await
            }
            None => Ok(BTreeSet::new()),
        }
    }
}

impl Going<'_> {
    /// What is reported of a conclusion.
    fn concluded(&self, outcome: Rebuilt, why: Option<String>) -> Report {
        if outcome != Rebuilt::Same {
            return self.report(outcome, why);
        }
        if self.skipped > 0 {
            let why = format!("{} facts are larger than the store takes", self.skipped);
            return self.report(Rebuilt::Kept, Some(why));
        }
        let outcome = match self.differs.is_empty() && self.before.is_empty() {
            true => Rebuilt::Same,
            false => Rebuilt::Changed,
        };
        self.report(outcome, why)
    }

    fn report(&self, outcome: Rebuilt, why: Option<String>) -> Report {
        Report {
            run: self.run.to_owned(),
            outcome,
            differs: &self.before | &self.differs,
            why,
        }
    }
}

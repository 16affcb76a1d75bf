//! One resource and its signals: load, look, decide, commit; lost the race, then again.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use lastword_config::{Config, ConfigError};
use lastword_domain::retry::Jitter;
use lastword_domain::{Cause, EventRef, Outcome, Reason, Signal};
use lastword_provider::ProviderClient;
use lastword_rules::Declared;
use lastword_runtime::Vault;
use lastword_store::{Bodies, Committed, Loaded, LoadedEvent, Moment, State, StoreError};

use crate::failing::{self, Trouble};
use crate::strategies::Work;

/// Where time comes from: audit and the next attempt's date, no decision.
pub type Clock = Arc<dyn Fn() -> Moment + Send + Sync>;

/// How often a lost race is run again before the signals are left for later.
pub(crate) const MOST_RACES: u32 = 5;

/// Everything that lives as long as the process.
#[derive(Clone)]
pub struct Reconciler {
    pub(crate) config: Arc<Config>,
    pub(crate) state: State,
    pub(crate) provider: ProviderClient,
    pub(crate) vault: Arc<Vault>,
    pub(crate) clock: Clock,
    pub(crate) rules: Arc<Declared>,
}

/// What became of a resource's signals.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Settled {
    /// Every one is decided.
    Done,
    /// Some are not: they are tried again after a pause.
    Later {
        /// How long to wait.
        pause: Duration,
        /// The ones that are decided all the same.
        decided: Vec<EventRef>,
    },
    /// Nothing could be found out, and nothing was counted against them: others kept committing first,
    /// or the store could not be used.
    Unknown,
}

/// One turn of the race.
pub(crate) enum Turn {
    /// Every pending signal is decided.
    Committed,
    /// These are; the others want a turn of their own.
    Partly(Vec<EventRef>),
    /// They are, and more follows from what is known now.
    More,
    /// These wait for something that has not come yet.
    Waiting {
        /// When to look again.
        pause: Duration,
        /// The ones that wait.
        waiting: Vec<EventRef>,
    },
    /// Somebody else was first.
    Lost,
    /// Nothing could be concluded about these.
    Failed(Trouble, Vec<EventRef>),
    /// What would be held is more than the store takes; it would be the same again.
    TooLarge,
    /// It is more than the store takes at once.
    TooMuch,
}

impl Turn {
    /// This instead, when it committed.
    pub(crate) fn once_committed(self, then: impl FnOnce() -> Self) -> Self {
        if matches!(self, Self::Committed) {
            then()
        } else {
            self
        }
    }
}

impl Reconciler {
    /// Puts the parts together, and compiles the rules.
    ///
    /// # Errors
    /// When a rule cannot be compiled: says where and why.
    pub fn new(
        config: Arc<Config>,
        state: State,
        provider: ProviderClient,
        vault: Arc<Vault>,
        clock: Clock,
    ) -> Result<Self, ConfigError> {
        Ok(Self {
            rules: Arc::new(Declared::compile(&config)?),
            config,
            state,
            provider,
            vault,
            clock,
        })
    }

    /// The State table it works on.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Settles the signals of one resource.
    ///
    /// # Errors
    /// When the store could not be used: nothing is known to be decided, and repeating is safe.
    pub async fn settle(&self, signal: &Signal) -> Result<Settled, StoreError> {
        if let Cause::Rebuild(run) = &signal.cause {
            return self.rebuild(signal, run).await;
        }
        let (mut races, mut more) = (0, false);
        let mut done: BTreeSet<EventRef> = BTreeSet::new();
        while races < MOST_RACES {
            let bodies = self.bodies(signal);
            let actions = self
                .rules
                .rules_of_resource(&signal.integration, &signal.resource);
            let loaded = self
                .state
                .load(&signal.resource, &signal.events, bodies, &actions)
                .await?;
            let mut pending = pending(&loaded, &signal.cause);
            // Marks that went to pages are not loaded again. What waits does so until it is looked at again.
            let waits = |event: &LoadedEvent| event.decided == Some(Outcome::Waiting);
            pending.retain(|event| waits(event) || !done.contains(&event.reference));
            // What follows from a change may be left behind by whoever applied it and died.
            if pending.is_empty() && !more && !loaded.projection.waiting {
                return Ok(Settled::Done);
            }
            let work = Work {
                signal,
                loaded: &loaded,
                pending: &pending,
                left: false,
            };
            match self.turn(work).await? {
                Turn::Committed => return Ok(Settled::Done),
                // Progress, and so no race that was lost.
                Turn::Partly(decided) => {
                    done.extend(decided);
                    continue;
                }
                Turn::More => {
                    more = true;
                    continue;
                }
                Turn::Waiting { pause, waiting } => {
                    // One message is enough to come back by. The others make way in the queue for the change that is
                    // missing: what waits is kept in the store.
                    let mut events = signal.events.iter();
                    let last = events.rfind(|event| waiting.contains(event));
                    let decided = signal.events.iter();
                    let decided = decided.filter(|event| Some(*event) != last).cloned();
                    let decided = decided.collect();
                    return Ok(Settled::Later { pause, decided });
                }
                Turn::Failed(trouble, of) => {
                    if let Some(settled) = self.fail(work, &trouble, &of).await? {
                        return Ok(settled);
                    }
                }
                // The turn itself saw to it that less is written.
                Turn::Lost | Turn::TooLarge | Turn::TooMuch => {}
            }
            tokio::time::sleep(jitter(Duration::from_millis(20 << races))).await;
            races += 1;
        }
        // Somebody is making progress; it was not us. This is no failed attempt of the event.
        Ok(Settled::Unknown)
    }

    /// Counts a failed attempt against these signals, for work that could not say itself why it failed.
    ///
    /// # Errors
    /// When the store could not be used.
    pub async fn give_up(
        &self,
        signal: &Signal,
        reason: Reason,
        detail: &str,
    ) -> Result<Settled, StoreError> {
        if let Cause::Rebuild(run) = &signal.cause {
            let why = format!("{reason}: {detail}");
            return self.rebuild_failed(&signal.resource, run, why).await;
        }
        let loaded = self
            .state
            .load(&signal.resource, &signal.events, Bodies::Without, &[])
            .await?;
        let pending = pending(&loaded, &signal.cause);
        let work = Work {
            signal,
            loaded: &loaded,
            pending: &pending,
            left: false,
        };
        let of = work.references();
        let trouble = Trouble {
            reason,
            detail: detail.to_owned(),
            retry_after: None,
        };
        let failed = self.fail(work, &trouble, &of).await?;
        Ok(failed.unwrap_or(Settled::Unknown))
    }

    /// Counts a failed attempt against these. `None` when somebody concluded meanwhile: look again.
    async fn fail(
        &self,
        work: Work<'_>,
        trouble: &Trouble,
        of: &[EventRef],
    ) -> Result<Option<Settled>, StoreError> {
        let (signal, loaded, now) = (work.signal, work.loaded, (self.clock)());
        // What was decided long ago may stand on a page; no failure is counted against that.
        let paged = match loaded.projection.paged {
            true => self.state.paged_marks(&signal.resource).await?,
            false => Vec::new(),
        };
        let open = |event: &&&LoadedEvent| !paged.iter().any(|mark| mark.event == event.reference);
        let unpaged: Vec<_> = work.pending.iter().filter(open).copied().collect();
        let (pending, untried): (Vec<_>, Vec<_>) = unpaged
            .into_iter()
            .partition(|event| of.contains(&event.reference));
        if pending.is_empty() && untried.is_empty() {
            return Ok(Some(Settled::Done));
        }
        let jitter = Jitter(fastrand::u8(..));
        let plan = failing::plan(&self.config.retry, trouble, &pending, jitter, now);
        let (held, events) = (&loaded.projection, &loaded.events);
        let recorded = self
            .state
            .record_failures(&signal.resource, held, &plan.failures, events, now)
            .await?;
        if recorded == Committed::Lost {
            return Ok(None);
        }
        let pause = match (plan.pause, untried.is_empty()) {
            (Some(pause), _) => pause,
            (None, true) => return Ok(Some(Settled::Done)),
            (None, false) => self.config.retry.first_delay,
        };
        let retried = |event: &EventRef| {
            let mut failures = plan.failures.iter();
            failures.any(|failure| failure.event == *event && failure.next_attempt.is_some())
        };
        let decided = signal
            .events
            .iter()
            .filter(|event| !retried(event) && !untried.iter().any(|u| u.reference == **event))
            .cloned()
            .collect();
        Ok(Some(Settled::Later { pause, decided }))
    }
}

/// The signals that still want a decision. One that a person drives again is decided anew, unless its
/// decision already stands on evidence.
fn pending<'l>(loaded: &'l Loaded, cause: &Cause) -> Vec<&'l LoadedEvent> {
    let again = matches!(cause, Cause::Redrive(_));
    let wants = |event: &&LoadedEvent| match event.decided {
        None | Some(Outcome::Waiting) => true,
        Some(Outcome::Failed | Outcome::Exhausted) => again,
        Some(
            Outcome::Applied
            | Outcome::Unchanged
            | Outcome::Stale
            | Outcome::Duplicate
            | Outcome::Conflict
            | Outcome::Ignored,
        ) => false,
    };
    loaded.events.iter().filter(wants).collect()
}

/// Between half and all of it, so that those who collided once do not collide again.
pub(crate) fn jitter(pause: Duration) -> Duration {
    pause / 2 + (pause / 2) * u32::from(fastrand::u8(..)) / 255
}

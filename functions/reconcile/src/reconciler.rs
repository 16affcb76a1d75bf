//! One resource and its signals: load, look, decide, commit; lost the race, then again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use lastword_config::{Config, SecretRef, SecretValue};
use lastword_domain::retry::Jitter;
use lastword_domain::{Cause, Conclusion, EventRef, Mark, Outcome, Reason, Signal};
use lastword_provider::ProviderClient;
use lastword_store::{Commit, Committed, Loaded, LoadedEvent, Moment, State, StoreError};

use crate::failing::{self, Trouble};
use crate::strategies::Work;

/// Where time comes from: audit and the next attempt's date, no decision.
pub type Clock = Arc<dyn Fn() -> Moment + Send + Sync>;

/// How often a lost race is run again before the signals are left for later.
const MOST_RACES: u32 = 5;

/// Everything that lives as long as the process.
#[derive(Clone)]
pub struct Reconciler {
    pub(crate) config: Arc<Config>,
    pub(crate) state: State,
    pub(crate) provider: ProviderClient,
    pub(crate) secrets: Arc<BTreeMap<SecretRef, SecretValue>>,
    clock: Clock,
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
}

/// One turn of the race.
pub(crate) enum Turn {
    Committed,
    Lost,
    Failed(Trouble),
}

impl Reconciler {
    /// Puts the parts together.
    #[must_use]
    pub fn new(
        config: Arc<Config>,
        state: State,
        provider: ProviderClient,
        secrets: Arc<BTreeMap<SecretRef, SecretValue>>,
        clock: Clock,
    ) -> Self {
        Self {
            config,
            state,
            provider,
            secrets,
            clock,
        }
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
        for race in 0..MOST_RACES {
            let loaded = self.state.load(&signal.resource, &signal.events).await?;
            let pending = pending(&loaded, &signal.cause);
            if pending.is_empty() {
                return Ok(Settled::Done);
            }
            let work = Work {
                signal,
                loaded: &loaded,
                pending: &pending,
            };
            match self.turn(work).await? {
                Turn::Committed => return Ok(Settled::Done),
                Turn::Failed(trouble) => {
                    return self.fail(signal, &loaded, &pending, &trouble).await;
                }
                Turn::Lost => tokio::time::sleep(jitter(Duration::from_millis(20 << race))).await,
            }
        }
        // Somebody is making progress; it was not us. This is no failed attempt of the event.
        Ok(Settled::Later {
            pause: jitter(Duration::from_secs(2)),
            decided: Vec::new(),
        })
    }

    /// Records that the work on these signals failed before it could say why itself.
    ///
    /// # Errors
    /// When the store could not be used.
    pub async fn give_up(
        &self,
        signal: &Signal,
        reason: Reason,
        detail: &str,
    ) -> Result<Settled, StoreError> {
        let loaded = self.state.load(&signal.resource, &signal.events).await?;
        let pending = pending(&loaded, &signal.cause);
        let trouble = Trouble {
            reason,
            detail: detail.to_owned(),
            retry_after: None,
        };
        self.fail(signal, &loaded, &pending, &trouble).await
    }

    pub(crate) async fn commit(
        &self,
        work: Work<'_>,
        concluded: Conclusion,
        also: Vec<Mark>,
    ) -> Result<Turn, StoreError> {
        let (next, mut marks) = match concluded {
            Conclusion::Change { next, marks } => (Some(next), marks),
            Conclusion::Quiet { marks } => (None, marks),
            Conclusion::Reread | Conclusion::LookAgain(_) => return Ok(Turn::Lost),
        };
        marks.extend(also);
        let commit = Commit {
            resource: &work.signal.resource,
            held: &work.loaded.projection,
            next: next.as_ref(),
            marks: &marks,
            events: &work.loaded.events,
            now: (self.clock)(),
        };
        let committed = self.state.commit(&commit).await?;
        Ok(match committed {
            Committed::Done(_) => Turn::Committed,
            Committed::Lost => Turn::Lost,
        })
    }

    async fn fail(
        &self,
        signal: &Signal,
        loaded: &Loaded,
        pending: &[&LoadedEvent],
        trouble: &Trouble,
    ) -> Result<Settled, StoreError> {
        let now = (self.clock)();
        let plan = failing::plan(
            &self.config.retry,
            trouble,
            pending,
            Jitter(fastrand::u8(..)),
            now,
        );
        self.state
            .record_failures(&signal.resource, &plan.failures, &loaded.events, now)
            .await?;
        let Some(pause) = plan.pause else {
            return Ok(Settled::Done);
        };
        let retried = |event: &&EventRef| {
            plan.failures
                .iter()
                .any(|failure| failure.event == **event && failure.next_attempt.is_some())
        };
        let decided = signal
            .events
            .iter()
            .filter(|event| !retried(event))
            .cloned()
            .collect();
        Ok(Settled::Later { pause, decided })
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
fn jitter(pause: Duration) -> Duration {
    pause / 2 + (pause / 2) * u32::from(fastrand::u8(..)) / 255
}

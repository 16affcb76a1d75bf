//! One resource and its signals: load, look, decide, commit; lost the race, then again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use lastword_config::{Config, Integration, Resource, SecretRef, SecretValue};
use lastword_contracts::reader::UNREADABLE;
use lastword_domain::decide::{conclude_read, conclude_versions};
use lastword_domain::retry::Jitter;
use lastword_domain::{
    Cause, Conclusion, EventRef, Mark, Outcome, Reason, Signal, Strategy, Version,
};
use lastword_provider::{DEFAULT_PATIENCE, ProviderClient};
use lastword_store::{Commit, Committed, Loaded, LoadedEvent, Moment, State, StoreError};

use crate::failing::{self, Trouble};
use crate::observe::{self, Look};

/// Where time comes from: audit and the next attempt's date, no decision.
pub type Clock = Arc<dyn Fn() -> Moment + Send + Sync>;

/// How often a lost race is run again before the signals are left for later.
const MOST_RACES: u32 = 5;

/// Everything that lives as long as the process.
#[derive(Clone)]
pub struct Reconciler {
    config: Arc<Config>,
    state: State,
    provider: ProviderClient,
    secrets: Arc<BTreeMap<SecretRef, SecretValue>>,
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
enum Turn {
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
            match self.turn(signal, &loaded, &pending).await? {
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

    async fn turn(
        &self,
        signal: &Signal,
        loaded: &Loaded,
        pending: &[&LoadedEvent],
    ) -> Result<Turn, StoreError> {
        if signal.resource.kind.as_str() == UNREADABLE {
            return self
                .mark_all(signal, loaded, pending, Reason::Unparsable)
                .await;
        }
        let Some((integration, resource)) = self.configured(signal) else {
            return self
                .mark_all(signal, loaded, pending, Reason::Unconfigured)
                .await;
        };
        match resource.strategy {
            Strategy::Current => {
                self.current(signal, integration, resource, loaded, pending, None)
                    .await
            }
            Strategy::Version => {
                self.version(signal, integration, resource, loaded, pending)
                    .await
            }
        }
    }

    /// The integration and resource type, if they are still configured for just this resource.
    fn configured(&self, signal: &Signal) -> Option<(&Integration, &Resource)> {
        let integration = self.config.integrations.get(&signal.integration)?;
        let same = integration.contract.name == signal.resource.provider
            && integration.environment == signal.resource.environment;
        let resource = integration.resources.get(&signal.resource.kind)?;
        same.then_some((integration, resource))
    }

    async fn current(
        &self,
        signal: &Signal,
        integration: &Integration,
        resource: &Resource,
        loaded: &Loaded,
        pending: &[&LoadedEvent],
        proven: Option<&Version>,
    ) -> Result<Turn, StoreError> {
        let secret = integration
            .api_keys
            .get(&signal.resource.account)
            .and_then(|name| self.secrets.get(name));
        let answer = self
            .provider
            .read(integration, secret, &signal.resource, DEFAULT_PATIENCE)
            .await;
        let Look {
            observation,
            detail,
            retry_after,
        } = observe::observation(
            answer,
            &loaded.projection,
            observe::told_deleted(resource, pending),
        );
        let references: Vec<_> = pending
            .iter()
            .map(|event| event.reference.clone())
            .collect();
        match conclude_read(&loaded.projection, &references, proven, observation) {
            Conclusion::LookAgain(reason) => Ok(Turn::Failed(Trouble {
                reason,
                detail,
                retry_after,
            })),
            // A read settles itself; it never asks for another.
            Conclusion::Reread => Ok(Turn::Lost),
            concluded @ (Conclusion::Change { .. } | Conclusion::Quiet { .. }) => {
                self.commit(signal, loaded, concluded, Vec::new()).await
            }
        }
    }

    async fn version(
        &self,
        signal: &Signal,
        integration: &Integration,
        resource: &Resource,
        loaded: &Loaded,
        pending: &[&LoadedEvent],
    ) -> Result<Turn, StoreError> {
        let proofs = observe::proofs(&self.state, resource, pending).await?;
        let can_read = integration.contract.api.is_some() && resource.rules.read.is_some();
        match conclude_versions(&loaded.projection, &proofs.snapshots, can_read) {
            Conclusion::Reread => {
                let proven = proofs
                    .snapshots
                    .iter()
                    .map(|snapshot| &snapshot.version)
                    .max();
                self.current(signal, integration, resource, loaded, pending, proven)
                    .await
            }
            Conclusion::LookAgain(reason) => Ok(Turn::Failed(Trouble {
                reason,
                detail: String::new(),
                retry_after: None,
            })),
            concluded @ (Conclusion::Change { .. } | Conclusion::Quiet { .. }) => {
                self.commit(signal, loaded, concluded, proofs.failed).await
            }
        }
    }

    async fn mark_all(
        &self,
        signal: &Signal,
        loaded: &Loaded,
        pending: &[&LoadedEvent],
        reason: Reason,
    ) -> Result<Turn, StoreError> {
        let mark = |event: &&LoadedEvent| Mark {
            event: event.reference.clone(),
            outcome: Outcome::Failed,
            reason,
        };
        let marks = pending.iter().map(mark).collect();
        self.commit(
            signal,
            loaded,
            Conclusion::Quiet { marks: Vec::new() },
            marks,
        )
        .await
    }

    async fn commit(
        &self,
        signal: &Signal,
        loaded: &Loaded,
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
            resource: &signal.resource,
            held: &loaded.projection,
            next: next.as_ref(),
            marks: &marks,
            events: &loaded.events,
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

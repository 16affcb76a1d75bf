//! One turn of the race, by strategy: look, decide, commit.

use lastword_config::{Integration, Resource};
use lastword_contracts::reader::UNREADABLE;
use lastword_domain::decide::{conclude_read, conclude_versions};
use lastword_domain::{
    Conclusion, Content, Mark, Outcome, Reason, ResourceKey, Signal, Strategy, Version,
};
use lastword_provider::{Answer, DEFAULT_PATIENCE};
use lastword_runtime::Secrets;
use lastword_store::{Bodies, Loaded, LoadedEvent, StoreError};

use crate::failing::Trouble;
use crate::observe::{self, Look, Proofs, Told};
use crate::reconciler::{Reconciler, Turn};

/// A resource with its pending signals, as one turn sees it.
#[derive(Clone, Copy)]
pub(crate) struct Work<'w> {
    pub(crate) signal: &'w Signal,
    pub(crate) loaded: &'w Loaded,
    pub(crate) pending: &'w [&'w LoadedEvent],
}

/// How this resource is configured.
#[derive(Clone, Copy)]
struct Configured<'c> {
    integration: &'c Integration,
    resource: &'c Resource,
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
        match configured.resource.strategy {
            Strategy::Current => {
                let told = observe::told(configured.resource, work.pending);
                self.current(work, configured, told, None, &[]).await
            }
            Strategy::Version => self.version(work, configured).await,
        }
    }

    /// The integration and resource type, if they are still configured for just this resource.
    fn configured(&self, signal: &Signal) -> Option<Configured<'_>> {
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
        match self
            .configured(signal)
            .map(|configured| configured.resource.strategy)
        {
            Some(Strategy::Version) => Bodies::With,
            Some(Strategy::Current) | None => Bodies::Without,
        }
    }

    /// Looks at the source once, for all the signals.
    ///
    /// A read that still shows what one signal says is deleted is behind that signal, and no other: the
    /// others are answered, and the deletion has a turn of its own.
    async fn current(
        &self,
        work: Work<'_>,
        configured: Configured<'_>,
        told: Told,
        proven: Option<&Version>,
        unreadable: &[Mark],
    ) -> Result<Turn, StoreError> {
        let answer = self
            .read(&work.signal.resource, configured.integration)
            .await;
        let held = &work.loaded.projection;
        let shown = matches!(
            &answer,
            Answer::Seen {
                content: Content::Present(_),
                ..
            }
        );
        let others: Vec<_> = match told {
            Told::Deleted if shown => observe::not_deletions(configured.resource, work.pending),
            Told::Deleted | Told::PerhapsDeleted | Told::Nothing => Vec::new(),
        };
        let (told, answered) = match others.is_empty() {
            true => (told, work.pending),
            false => (Told::Nothing, others.as_slice()),
        };
        let Look {
            observation,
            detail,
            retry_after,
        } = observe::observation(answer, held, told);
        let also: Vec<_> = unreadable.to_vec();
        let readable =
            |event: &&&LoadedEvent| !also.iter().any(|mark| mark.event == event.reference);
        let references: Vec<_> = answered
            .iter()
            .filter(readable)
            .map(|event| event.reference.clone())
            .collect();
        match conclude_read(held, &references, proven, observation) {
            Conclusion::LookAgain(reason) => Ok(Turn::Failed(Trouble {
                reason,
                detail,
                retry_after,
            })),
            // A read settles itself; it never asks for another.
            Conclusion::Reread => Ok(Turn::Lost),
            concluded @ (Conclusion::Change { .. } | Conclusion::Quiet { .. }) => {
                let turn = self.commit(work, concluded, also).await?;
                let partly = matches!(turn, Turn::Committed) && !others.is_empty();
                Ok(if partly { Turn::Partly } else { turn })
            }
        }
    }

    /// Reads the object. A refusal may only mean that the key was rolled: then once more with the new one.
    async fn read(&self, resource: &ResourceKey, integration: &Integration) -> Answer {
        let read = async |secrets: Secrets| {
            let reference = integration.api_keys.get(&resource.account);
            let secret = reference.and_then(|reference| secrets.get(reference));
            self.provider
                .read(integration, secret, resource, DEFAULT_PATIENCE)
                .await
        };
        let answer = read(self.vault.secrets()).await;
        if !matches!(answer, Answer::Refused { .. }) {
            return answer;
        }
        match self.vault.renewed((self.clock)().unix_seconds()).await {
            Some(secrets) => read(secrets).await,
            None => answer,
        }
    }

    async fn version(
        &self,
        work: Work<'_>,
        configured: Configured<'_>,
    ) -> Result<Turn, StoreError> {
        let Configured {
            integration,
            resource,
        } = configured;
        let proofs = observe::proofs(&self.state, resource, work.pending).await?;
        let can_read = integration.contract.api.is_some() && resource.rules.read.is_some();
        match conclude_versions(&work.loaded.projection, &proofs.snapshots, can_read) {
            Conclusion::Reread => {
                let (told, proven) = proven(&proofs);
                self.current(work, configured, told, proven, &proofs.failed)
                    .await
            }
            Conclusion::LookAgain(reason) => Ok(Turn::Failed(Trouble {
                reason,
                detail: String::new(),
                retry_after: None,
            })),
            concluded @ (Conclusion::Change { .. } | Conclusion::Quiet { .. }) => {
                self.commit(work, concluded, proofs.failed).await
            }
        }
    }

    async fn mark_all(
        &self,
        work: Work<'_>,
        outcome: Outcome,
        reason: Reason,
    ) -> Result<Turn, StoreError> {
        let mark = |event: &&LoadedEvent| Mark {
            event: event.reference.clone(),
            outcome,
            reason,
        };
        let marks = work.pending.iter().map(mark).collect();
        self.commit(work, Conclusion::Quiet { marks: Vec::new() }, marks)
            .await
    }
}

/// The greatest version that the bodies prove, and whether one of them is then a deletion.
fn proven(proofs: &Proofs) -> (Told, Option<&Version>) {
    let greatest = proofs
        .snapshots
        .iter()
        .map(|snapshot| &snapshot.version)
        .max();
    let deleted = proofs.snapshots.iter().any(|snapshot| {
        Some(&snapshot.version) == greatest && snapshot.content == Content::Deleted
    });
    let told = if deleted {
        Told::PerhapsDeleted
    } else {
        Told::Nothing
    };
    (told, greatest)
}

//! One look at the source, and what it says about the signals that were stored before it began.

use std::time::Duration;

use lastword_config::Integration;
use lastword_domain::decide::conclude_read;
use lastword_domain::{Conclusion, Content, EventRef, Observation, Reason, ResourceKey, Version};
use lastword_provider::{Answer, DEFAULT_PATIENCE};
use lastword_runtime::Secrets;

use crate::failing::Trouble;
use crate::observe::{self, Look, Told};
use crate::reconciler::Reconciler;
use crate::strategies::{Configured, Looked, Work};

/// What a read is compared with.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'r> {
    pub(crate) told: Told,
    pub(crate) proven: Option<&'r Version>,
}

/// The words for a failed attempt, when nothing could be concluded.
pub(crate) fn trouble(
    concluded: &Conclusion,
    detail: String,
    retry_after: Option<Duration>,
) -> Option<Trouble> {
    match concluded {
        Conclusion::LookAgain(reason) => Some(Trouble {
            reason: *reason,
            detail,
            retry_after,
        }),
        Conclusion::Change { .. } | Conclusion::Quiet { .. } | Conclusion::Reread => None,
    }
}

impl Reconciler {
    /// One read for these signals, and what follows from it.
    pub(crate) async fn look(
        &self,
        work: Work<'_>,
        configured: Configured<'_>,
        reading: Reading<'_>,
        mut signals: Vec<EventRef>,
    ) -> Looked {
        let answer = self
            .read(&work.signal.resource, configured.integration)
            .await;
        let held = &work.loaded.projection;
        let Reading { mut told, proven } = reading;
        let shown = matches!(
            &answer,
            Answer::Seen {
                content: Content::Present(_),
                ..
            }
        );
        let mut partly = false;
        if told == Told::Deleted && shown {
            let others = observe::not_deletions(&configured.resource.rules, work.pending);
            if !others.is_empty() {
                signals.retain(|event| others.contains(event));
                (told, partly) = (Told::Nothing, true);
            }
        }
        let Look {
            observation,
            detail,
            retry_after,
        } = observe::observation(answer, held, told);
        let concluded = conclude_read(held, &signals, proven, observation, configured.terms());
        Looked {
            trouble: trouble(&concluded, detail, retry_after),
            concluded,
            partly,
        }
    }

    /// Reads the object. A refusal may only mean that the key was rolled: then once more with the new one.
    pub(crate) async fn read(&self, resource: &ResourceKey, integration: &Integration) -> Answer {
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

    /// An observation of the source, with the words for a failed attempt.
    pub(crate) async fn observed(
        &self,
        work: Work<'_>,
        configured: Configured<'_>,
        told: Told,
    ) -> (Observation, Trouble) {
        let answer = self
            .read(&work.signal.resource, configured.integration)
            .await;
        let look = observe::observation(answer, &work.loaded.projection, told);
        let trouble = Trouble {
            reason: Reason::Unreadable,
            detail: look.detail,
            retry_after: look.retry_after,
        };
        (look.observation, trouble)
    }
}

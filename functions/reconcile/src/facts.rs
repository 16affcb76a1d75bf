//! The facts that pending events tell: out of their own bodies, or, for thin events, read back by their id. The
//! resource's state is found separately, and a fact is kept whatever the state is now (law 8).

use std::collections::{BTreeMap, BTreeSet};

use lastword_contracts::FactRules;
use lastword_contracts::evidence::facts::ToldFact;
use lastword_domain::decide::{Fact, FactOutcome, Facts};
use lastword_domain::name::{FactId, FactKind};
use lastword_domain::{Conclusion, EventIdentity, EventRef, Mark, Outcome, Reason};
use lastword_provider::{Answer, DEFAULT_PATIENCE};
use lastword_runtime::Secrets;
use lastword_store::{LoadedEvent, StoreError};

use crate::bodies::failed;
use crate::failing::Trouble;
use crate::reconciler::Reconciler;
use crate::strategies::{Configured, Work};

/// What was found of them.
#[derive(Default)]
pub(crate) struct Found {
    /// The facts.
    pub(crate) told: Vec<Fact>,
    /// Marks of events that should tell one and do not.
    pub(crate) failed: Vec<Mark>,
}

/// The same, with what could not be found out.
#[derive(Default)]
pub(crate) struct ToldFacts {
    pub(crate) found: Found,
    /// Events of which it is not known yet what they tell.
    pub(crate) open: BTreeSet<EventRef>,
    /// Why.
    pub(crate) trouble: Option<Trouble>,
}

impl Reconciler {
    /// The facts that the pending events tell.
    pub(crate) async fn told_facts(
        &self,
        work: Work<'_>,
        configured: Configured<'_>,
    ) -> Result<ToldFacts, StoreError> {
        let mut all = ToldFacts::default();
        let rules = &configured.resource.rules;
        if rules.facts.is_empty() {
            return Ok(all);
        }
        for event in work.pending {
            let Some(stored) = &event.stored else {
                // Its type went with its row, so it is not known whether it told a fact.
                all.found.failed.push(failed(event, Reason::EventGone));
                continue;
            };
            for (kind, fact) in rules.told_by(stored.kind.as_str()) {
                let told = match &fact.read {
                    None => {
                        let body = self.state.inbox().body(stored).await?;
                        fact.told(kind, &body).map_err(|_| None)
                    }
                    Some(_) => self
                        .read_event(configured, &stored.identity, (kind, fact))
                        .await
                        .map_err(Some),
                };
                all.add(event, told);
            }
        }
        Ok(all)
    }

    async fn read_event(
        &self,
        configured: Configured<'_>,
        event: &EventIdentity,
        fact: (&FactKind, &FactRules),
    ) -> Result<ToldFact, Answer> {
        let integration = configured.integration;
        let read = async |secrets: Secrets| {
            let reference = integration.api_keys.get(&event.account);
            let secret = reference.and_then(|reference| secrets.get(reference));
            self.provider
                .read_event(integration, secret, event, fact, DEFAULT_PATIENCE)
                .await
        };
        let answer = read(self.vault.secrets()).await;
        if !matches!(answer, Err(Answer::Refused { .. })) {
            return answer;
        }
        match self.vault.renewed((self.clock)().unix_seconds()).await {
            Some(secrets) => read(secrets).await,
            None => answer,
        }
    }
}

impl ToldFacts {
    fn add(&mut self, event: &LoadedEvent, told: Result<ToldFact, Option<Answer>>) {
        match told {
            Ok(ToldFact { kind, id, content }) => self.found.told.push(Fact {
                kind,
                id,
                content,
                event: event.reference.clone(),
            }),
            Err(None) => self.found.failed.push(failed(event, Reason::Unparsable)),
            Err(Some(answer)) => {
                self.open.insert(event.reference.clone());
                let retry_after = match &answer {
                    Answer::Busy { retry_after, .. } => *retry_after,
                    Answer::Seen { .. }
                    | Answer::Absent(_)
                    | Answer::Refused { .. }
                    | Answer::Unreadable(_) => None,
                };
                self.trouble = Some(Trouble {
                    reason: Reason::Unreadable,
                    detail: format!("the event itself: {answer}"),
                    retry_after,
                });
            }
        }
    }
}

/// Each identity once.
pub(crate) fn each<'f>(
    identities: impl Iterator<Item = (&'f FactKind, &'f FactId)>,
) -> BTreeSet<(&'f FactKind, &'f FactId)> {
    identities.collect()
}

/// Contested identities in a word each, for the review.
pub(crate) fn named(contested: &BTreeSet<(FactKind, FactId)>) -> Vec<String> {
    let each = contested.iter();
    each.map(|(kind, id)| format!("{kind}/{id}")).collect()
}

/// What is concluded where nothing but facts is kept.
pub(crate) fn only(work: Work<'_>, facts: &Facts) -> Conclusion {
    let outcomes: BTreeMap<_, _> = facts.by_event.iter().cloned().collect();
    let mark = |event: &&LoadedEvent| match outcomes.get(&event.reference) {
        Some(outcome) => outcome.mark(event.reference.clone()),
        None => Mark {
            event: event.reference.clone(),
            outcome: Outcome::Ignored,
            reason: Reason::NothingKept,
        },
    };
    Conclusion::Quiet {
        marks: work.pending.iter().map(mark).collect(),
    }
}

/// The same conclusion; an event that told a fact that was not known says so, unless its state says more.
pub(crate) fn marked(concluded: Conclusion, told: &[(EventRef, FactOutcome)]) -> Conclusion {
    let outcomes: BTreeMap<_, _> = told.iter().cloned().collect();
    let own = |mark: Mark| {
        let said_nothing = match mark.outcome {
            Outcome::Unchanged | Outcome::Stale | Outcome::Duplicate | Outcome::Ignored => true,
            Outcome::Applied
            | Outcome::Conflict
            | Outcome::Waiting
            | Outcome::Failed
            | Outcome::Exhausted => false,
        };
        match outcomes.get(&mark.event) {
            Some(outcome @ FactOutcome::Contested) => outcome.mark(mark.event),
            Some(outcome @ FactOutcome::New) if said_nothing => outcome.mark(mark.event),
            Some(FactOutcome::New | FactOutcome::Known) | None => mark,
        }
    };
    match concluded {
        Conclusion::Change { next, marks } => Conclusion::Change {
            next,
            marks: marks.into_iter().map(own).collect(),
        },
        Conclusion::Quiet { marks } => Conclusion::Quiet {
            marks: marks.into_iter().map(own).collect(),
        },
        open @ (Conclusion::Reread | Conclusion::LookAgain(_)) => open,
    }
}

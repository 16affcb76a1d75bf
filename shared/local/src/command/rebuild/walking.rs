//! Signals page by page, never more than so many at once, and waits for what each comes to.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use lastword_config::Config;
use lastword_domain::{
    AnySignal, Cause, KeyHash, Owner, Rebuilt, Report, Signal, SubjectSignal, name::IntegrationName,
};
use lastword_queue::{OutgoingMessage, Queue};
use lastword_store::{Listed, State, StoreError};

use super::{
    telling::Telling,
    what::{Stage, keeper},
};
use crate::machine::Failure;

/// The most that is under way at once.
const MOST: usize = 500;
/// Between two looks at what is under way.
const PAUSE: Duration = Duration::from_millis(200);
/// How long nothing may come of what is under way: longer than the pauses of a message that is tried again.
const PATIENCE: Duration = Duration::from_secs(1800);
/// How often the queue is asked to take a message.
const SENDS: u32 = 6;

/// A rebuild on its way.
pub(super) struct Walk<'w> {
    state: &'w State,
    queue: &'w Queue,
    config: &'w Config,
    run: &'w str,
    telling: Telling,
    /// What is signalled and not reported yet.
    open: BTreeMap<KeyHash, Owner>,
    /// When something came of it last.
    moved: Instant,
}

impl<'w> Walk<'w> {
    pub(super) fn new(
        state: &'w State,
        queue: &'w Queue,
        config: &'w Config,
        run: &'w str,
        telling: Telling,
    ) -> Self {
        Self {
            state,
            queue,
            config,
            run,
            telling,
            open: BTreeMap::new(),
            moved: Instant::now(),
        }
    }

    /// What was found out.
    pub(super) fn end(self) -> Telling {
        self.telling
    }

    /// Every stage, one after the other.
    pub(super) async fn all(&mut self, stages: &[Stage]) -> Result<(), Failure> {
        let mut subjects = false;
        for stage in stages {
            let of_subjects = matches!(
                stage,
                Stage::Every(lastword_store::Census::Subjects(_), _)
                    | Stage::One(Owner::Subject(_))
            );
            if of_subjects && !subjects {
                self.down_to(0).await?;
            }
            subjects = of_subjects;
            self.stage(stage).await?;
        }
        self.down_to(0).await
    }

    async fn stage(&mut self, stage: &Stage) -> Result<(), Failure> {
        let (census, only) = match stage {
            Stage::Every(census, only) => (census, only.as_ref()),
            Stage::One(owner) => {
                let mut reports = self
                    .state
                    .reports(&[owner.hash()])
                    .await
                    .map_err(unusable)?;
                let listed = Listed {
                    rebuilt: reports.remove(&owner.hash()),
                    owner: owner.clone(),
                };
                return self.signal(vec![listed], None).await;
            }
        };
        let mut from = None;
        loop {
            let page = self.state.census(census, from).await.map_err(unusable)?;
            self.signal(page.listed, only).await?;
            self.down_to(MOST).await?;
            from = page.next;
            if from.is_none() {
                return Ok(());
            }
        }
    }

    /// Signals those that this run has not done.
    async fn signal(
        &mut self,
        listed: Vec<Listed>,
        only: Option<&IntegrationName>,
    ) -> Result<(), Failure> {
        let mut messages = Vec::with_capacity(listed.len());
        for Listed { owner, rebuilt } in listed {
            let signal = match self.signal_of(&owner) {
                Some(AnySignal::Resource(signal)) => {
                    if only.is_some_and(|only| *only != signal.integration) {
                        continue;
                    }
                    AnySignal::Resource(signal)
                }
                Some(signal @ AnySignal::Subject(_)) => signal,
                None if only.is_some() => continue,
                None => {
                    self.telling.told(&owner, &unconfigured(self.run));
                    continue;
                }
            };
            match rebuilt.filter(|kept| kept.report.run == self.run) {
                Some(kept) => self.telling.told(&owner, &kept.report),
                None => {
                    messages.push(OutgoingMessage::new(&signal)?);
                    self.open.insert(owner.hash(), owner);
                }
            }
        }
        self.send(messages).await
    }

    fn signal_of(&self, owner: &Owner) -> Option<AnySignal> {
        let cause = Cause::Rebuild(self.run.to_owned());
        match owner {
            Owner::Resource(resource) => keeper(self.config, resource).map(|integration| {
                AnySignal::Resource(Signal {
                    integration: integration.name.clone(),
                    resource: resource.clone(),
                    events: Vec::new(),
                    cause,
                })
            }),
            Owner::Subject(subject) => Some(AnySignal::Subject(SubjectSignal {
                subject: subject.clone(),
                changes: Vec::new(),
                cause,
            })),
        }
    }

    /// Sends all; what the queue does not take is sent again. A message that comes twice is harmless.
    async fn send(&self, mut messages: Vec<OutgoingMessage>) -> Result<(), Failure> {
        for attempt in 0..SENDS {
            let outcomes = self.queue.send(&messages).await;
            let refused = outcomes.into_iter().zip(messages);
            let mut why = None;
            messages = Vec::new();
            for (outcome, message) in refused {
                if let Err(error) = outcome {
                    why = Some(error);
                    messages.push(message);
                }
            }
            match why {
                None => return Ok(()),
                Some(error) if attempt + 1 == SENDS => return Err(error.into()),
                Some(_) => tokio::time::sleep(PAUSE * 2u32.pow(attempt)).await,
            }
        }
        Ok(())
    }

    /// Waits until no more than this many are under way.
    async fn down_to(&mut self, most: usize) -> Result<(), Failure> {
        self.look().await?;
        while self.open.len() > most {
            if self.moved.elapsed() > PATIENCE {
                let minutes = PATIENCE.as_secs() / 60;
                let open = self.open.len();
                return Err(format!(
                    "nothing came of {open} in {minutes} minutes: does reconcile run, and is anything in the \
                     dead letters?"
                )
                .into());
            }
            tokio::time::sleep(PAUSE).await;
            self.look().await?;
        }
        Ok(())
    }

    /// Looks what came of what is under way.
    async fn look(&mut self) -> Result<(), Failure> {
        let hashes: Vec<KeyHash> = self.open.keys().cloned().collect();
        let reports = self.state.reports(&hashes).await.map_err(unusable)?;
        let own = reports
            .into_iter()
            .filter(|(_, kept)| kept.report.run == self.run);
        for (hash, kept) in own {
            if let Some(owner) = self.open.remove(&hash) {
                self.telling.told(&owner, &kept.report);
                self.moved = Instant::now();
            }
        }
        self.telling.under_way(self.open.len());
        Ok(())
    }
}

fn unconfigured(run: &str) -> Report {
    Report {
        run: run.to_owned(),
        outcome: Rebuilt::Unconfigured,
        differs: std::collections::BTreeSet::new(),
        why: None,
    }
}

fn unusable(error: StoreError) -> Failure {
    format!("the store could not be read, is the stack running? {error}").into()
}

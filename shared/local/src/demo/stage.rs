//! A machine with two workers, and what is done on it: show, deliver, settle, look.

use std::time::{Duration, Instant};

use futures_util::future;
use lastword_domain::{ResourceKey, SubjectKey};
use lastword_store::{KeptEffect, Story, SubjectStory};

use super::history::History;
use super::play::AT_ONCE;
use crate::machine::{Failure, Machine, ReceivedBatch, Worker};
use crate::stores::QueueGauge;

/// How long the queue may take to become empty.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long to wait for messages that are hidden.
const PAUSE: Duration = Duration::from_millis(20);

pub(super) struct Stage<'m> {
    pub(super) machine: &'m Machine,
    pub(super) first: Worker,
    pub(super) second: Worker,
    gauge: QueueGauge,
}

impl<'m> Stage<'m> {
    pub(super) fn new(machine: &'m Machine) -> Result<Self, Failure> {
        Ok(Self {
            machine,
            first: machine.worker()?,
            second: machine.worker()?,
            gauge: QueueGauge::new(machine.stores.sqs(), &machine.queue.url),
        })
    }

    /// From now on the source shows the object as it was after this event.
    pub(super) fn show(&self, history: &History, event: usize) {
        let object = history.object(event).to_string();
        self.machine.standin.show(&history.path(), object);
    }

    /// How often the source was read.
    pub(super) fn reads(&self, history: &History) -> u64 {
        self.machine.standin.reads_of(&history.path())
    }

    pub(super) async fn story(&self, resource: &ResourceKey) -> Result<Story, Failure> {
        self.machine.story(&self.first, resource).await
    }

    pub(super) async fn subject(&self, subject: &SubjectKey) -> Result<SubjectStory, Failure> {
        Ok(self.first.state.subject_story(subject).await?)
    }

    /// Whoever sends gets to work on these.
    pub(super) async fn act(&self, effects: &[KeptEffect]) -> Result<(), Failure> {
        self.machine.dispatch_these(&self.first, effects).await?;
        Ok(())
    }

    /// Signs and posts this event.
    pub(super) async fn deliver(&self, history: &History, event: usize) -> Result<(), Failure> {
        self.post(history.sender.integration(), &history.body(event))
            .await
    }

    /// Signs and posts a body; anything but an acknowledgement stops the demo.
    pub(super) async fn post(&self, name: &str, body: &str) -> Result<(), Failure> {
        let reply = self.machine.deliver(&self.first, name, &[], body).await?;
        match reply.status_code {
            200 => Ok(()),
            status => Err(format!("{name} was answered {status}: {}", reply.body).into()),
        }
    }

    /// Moves everything on until the queue is empty, hidden messages included.
    pub(super) async fn settle(&self, two_workers: bool) -> Result<(), Failure> {
        let began = Instant::now();
        loop {
            // Also what the last round committed: a member's new state is a signal for its subject.
            while self.machine.relay(&self.first, 100).await? > 0 {}
            let mut batches = Vec::new();
            while batches.len() < AT_ONCE {
                match self.machine.receive().await? {
                    Some(batch) => batches.push(batch),
                    None => break,
                }
            }
            if batches.is_empty() {
                if self.gauge.is_empty().await? {
                    return Ok(());
                }
                if began.elapsed() > PATIENCE {
                    return Err("the queue does not become empty".into());
                }
                tokio::time::sleep(PAUSE).await;
            }
            let handled = batches.iter().map(|batch| self.handle(batch, two_workers));
            future::try_join_all(handled).await?;
        }
    }

    /// One worker takes the batch; or both do at once, as after a message was shown twice.
    async fn handle(&self, batch: &ReceivedBatch, two_workers: bool) -> Result<(), Failure> {
        let first = self.machine.handle(&self.first, batch);
        let left: Vec<String> = if two_workers {
            let second = self.machine.handle(&self.second, batch);
            let (first, second) = future::try_join(first, second).await?;
            first.into_iter().filter(|id| second.contains(id)).collect()
        } else {
            first.await?
        };
        self.machine.delete(batch, &left).await
    }
}

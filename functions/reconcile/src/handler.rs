//! One batch of queue messages: each group on its own, whatever becomes of the others.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::{FutureExt as _, StreamExt as _, stream};
use lastword_domain::{Reason, Signal};
use lastword_queue::Queue;
use lastword_runtime::{Level, Line, Measured, Unit};
use serde::Serialize;
use tokio::time::Instant;

use crate::batch::{self, Message, Open, UnreadableBatch};
use crate::reconciler::{Reconciler, Settled};

/// The most groups worked on at once; a batch has at most ten messages.
const MOST_AT_ONCE: usize = 10;
/// Kept back of the invocation's time to record what did not finish and to answer.
const RESERVE: Duration = Duration::from_secs(3);
/// The pause when the store itself could not be used, and nothing could be counted.
const STORE_PAUSE: Duration = Duration::from_secs(5);

/// The reconcile function.
pub struct Handler {
    reconciler: Reconciler,
    queue: Queue,
}

/// The answer of a partial batch: what is not listed is deleted from the queue.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QueueReply {
    /// Messages to be left in the queue.
    pub batch_item_failures: Vec<ItemFailure>,
}

/// One message.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemFailure {
    /// Its id.
    pub item_identifier: String,
}

impl Handler {
    /// Puts the parts together.
    #[must_use]
    pub fn new(reconciler: Reconciler, queue: Queue) -> Self {
        Self { reconciler, queue }
    }

    /// Handles a batch within this much time.
    ///
    /// # Errors
    /// When the batch cannot be answered message by message.
    pub async fn handle_text(
        &self,
        event: &str,
        time: Duration,
    ) -> Result<QueueReply, UnreadableBatch> {
        let groups = batch::groups(event)?;
        let deadline = Instant::now() + time.saturating_sub(RESERVE).max(time / 2);
        let left = stream::iter(groups)
            .map(|messages| async move { self.group(&messages, deadline).await })
            .buffer_unordered(MOST_AT_ONCE)
            .collect::<Vec<_>>()
            .await;
        let failures = left.into_iter().flatten().map(|id| ItemFailure {
            item_identifier: id,
        });
        Ok(QueueReply {
            batch_item_failures: failures.collect(),
        })
    }

    /// Works on one group; gives back the ids of the messages to be left in the queue.
    async fn group(&self, messages: &[Message], deadline: Instant) -> Vec<String> {
        let mut open = Open::default();
        let mut pause: Option<Duration> = None;
        for signal in batch::coalesce(messages) {
            let (settled, shortest) = match self.signal(&signal, deadline).await {
                Settled::Done => continue,
                Settled::Later { pause, decided } => (decided, pause),
            };
            open.add(
                &signal.resource,
                signal
                    .events
                    .iter()
                    .filter(|event| !settled.contains(event)),
            );
            pause = Some(pause.map_or(shortest, |pause| pause.min(shortest)));
        }
        let left = batch::unsettled(messages, &open);
        for message in left.iter().filter(|message| message.signal.is_none()) {
            Line::new(Level::Error, "a message is no signal")
                .field("message_id", message.id.as_str())
                .emit();
        }
        if let Some(pause) = pause.filter(|_| !left.is_empty()) {
            let receipts: Vec<_> = left
                .iter()
                .map(|message| message.receipt.as_str())
                .collect();
            if let Err(error) = self.queue.hide(&receipts, pause).await {
                // The queue's own timeout then applies.
                Line::new(Level::Warn, "messages were not hidden")
                    .error(&error)
                    .emit();
            }
        }
        left.iter().map(|message| message.id.clone()).collect()
    }

    /// Settles one resource's signals, whatever happens: a panic or a stall is a failed attempt of these
    /// signals and of no others.
    async fn signal(&self, signal: &Signal, deadline: Instant) -> Settled {
        let work = AssertUnwindSafe(self.reconciler.settle(signal)).catch_unwind();
        let settled = match tokio::time::timeout_at(deadline, work).await {
            Ok(Ok(settled)) => settled,
            Ok(Err(_)) => {
                self.reconciler
                    .give_up(signal, Reason::Panicked, "see the log")
                    .await
            }
            Err(_) => {
                self.reconciler
                    .give_up(signal, Reason::OutOfTime, "the invocation's time was over")
                    .await
            }
        };
        let settled = settled.unwrap_or_else(|error| {
            Line::new(Level::Error, "the store could not be used")
                .error(&error)
                .emit();
            Settled::Later {
                pause: STORE_PAUSE,
                decided: Vec::new(),
            }
        });
        let outcome = match settled {
            Settled::Done => "settled",
            Settled::Later { .. } => "later",
        };
        Measured::new(Level::Info, "reconcile")
            .dimension("integration", signal.integration.as_str())
            .dimension("outcome", outcome)
            .field("type", signal.resource.kind.as_str())
            .metric("Signals", signal.events.len() as u64, Unit::Count)
            .emit();
        settled
    }
}

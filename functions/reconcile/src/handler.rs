//! One batch of queue messages: each group on its own, whatever becomes of the others.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::{FutureExt as _, StreamExt as _, stream};
use lastword_domain::{AnySignal, Reason, Signal, SubjectSignal};
use lastword_queue::Queue;
use lastword_runtime::{Level, Line, Measured, Unit};
use lastword_store::StoreError;
use serde::Serialize;
use tokio::time::Instant;

use crate::batch::{self, Message, Open, UnreadableBatch};
use crate::reconciler::{Reconciler, Settled};

/// The most groups worked on at once; a batch has at most ten messages.
const MOST_AT_ONCE: usize = 10;
/// Kept back of the invocation's time to record what did not finish and to answer.
const RESERVE: Duration = Duration::from_secs(3);
/// The first pause when nothing could be found out and nothing was counted; it doubles with each receive,
/// so that an outage of hours does not use up the receives after which the queue gives a message up.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
/// The longest of those pauses.
const LONGEST_PAUSE: Duration = Duration::from_secs(600);

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
            let next = match &signal {
                AnySignal::Resource(signal) => {
                    let (decided, next) = match self.signal(signal, deadline).await {
                        Settled::Done => continue,
                        Settled::Later { pause, decided } => (decided, pause),
                        Settled::Unknown => (Vec::new(), growing(messages)),
                    };
                    if signal.cause.rebuild().is_some() {
                        open.add_rebuild(&signal.resource);
                    }
                    let events = signal.events.iter();
                    let undecided = events.filter(|event| !decided.contains(event));
                    open.add(&signal.resource, undecided);
                    next
                }
                AnySignal::Subject(signal) => {
                    if self.subject(signal, deadline).await {
                        continue;
                    }
                    open.add_subject(signal);
                    growing(messages)
                }
            };
            pause = Some(pause.map_or(next, |pause| pause.min(next)));
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
        let settled = match self.attempt(signal, deadline).await {
            Ok(settled) => settled,
            Err((reason, detail)) => self.give_up(signal, deadline, reason, &detail).await,
        };
        let outcome = match settled {
            Settled::Done => "settled",
            Settled::Later { .. } => "later",
            Settled::Unknown => "unknown",
        };
        Measured::new(Level::Info, "reconcile")
            .dimension("integration", signal.integration.as_str())
            .dimension("outcome", outcome)
            .field("type", signal.resource.kind.as_str())
            .metric("Signals", signal.events.len() as u64, Unit::Count)
            .emit();
        settled
    }

    /// Decides a subject, whatever happens; says whether it is decided. Nothing is counted against it: what keeps it
    /// undecided is the store or our own fault, and the queue gives the message up after many receives, where an alarm
    /// sees it.
    async fn subject(&self, signal: &SubjectSignal, deadline: Instant) -> bool {
        let work = AssertUnwindSafe(self.reconciler.settle_subject(signal)).catch_unwind();
        let outcome = match tokio::time::timeout_at(deadline, work).await {
            Ok(Ok(Ok(Settled::Done))) => "settled",
            Ok(Ok(Ok(Settled::Later { .. } | Settled::Unknown))) | Err(_) => "later",
            Ok(Ok(Err(error))) => {
                Line::new(Level::Error, "the store could not be used")
                    .error(&error)
                    .emit();
                "unknown"
            }
            Ok(Err(_)) => "panicked",
        };
        Measured::new(Level::Info, "reconcile a subject")
            .dimension("subject", signal.subject.kind.as_str())
            .dimension("outcome", outcome)
            .metric("SubjectSignals", signal.changes.len() as u64, Unit::Count)
            .emit();
        outcome == "settled"
    }

    /// `Err` is a failed attempt that is to be counted.
    async fn attempt(
        &self,
        signal: &Signal,
        deadline: Instant,
    ) -> Result<Settled, (Reason, String)> {
        if Instant::now() >= deadline {
            // Never begun, so nothing is counted.
            return Ok(Settled::Unknown);
        }
        let work = AssertUnwindSafe(self.reconciler.settle(signal)).catch_unwind();
        match tokio::time::timeout_at(deadline, work).await {
            Ok(Ok(Ok(settled))) => Ok(settled),
            Ok(Ok(Err(error))) => {
                Line::new(Level::Error, "the store could not be used")
                    .error(&error)
                    .emit();
                match error {
                    StoreError::Busy(_) => Ok(Settled::Unknown),
                    // It will refuse again: counted, so that it ends as exhausted and is seen.
                    StoreError::Refused(_) | StoreError::Corrupt { .. } => {
                        Err((Reason::StoreRefused, error.to_string()))
                    }
                }
            }
            Ok(Err(_)) => Err((Reason::Panicked, "see the log".to_owned())),
            Err(_) => Err((
                Reason::OutOfTime,
                "the invocation's time was over".to_owned(),
            )),
        }
    }

    /// Counts a failed attempt, within the time that was kept back for it.
    async fn give_up(
        &self,
        signal: &Signal,
        deadline: Instant,
        reason: Reason,
        detail: &str,
    ) -> Settled {
        let last = deadline.max(Instant::now()) + RESERVE / 2;
        let work = self.reconciler.give_up(signal, reason, detail);
        match tokio::time::timeout_at(last, AssertUnwindSafe(work).catch_unwind()).await {
            Ok(Ok(Ok(settled))) => settled,
            Ok(Ok(Err(error))) => {
                Line::new(Level::Error, "a failed attempt was not counted")
                    .error(&error)
                    .emit();
                Settled::Unknown
            }
            Ok(Err(_)) | Err(_) => Settled::Unknown,
        }
    }
}

/// The pause of messages against which nothing is counted: it grows with how often they were received.
fn growing(messages: &[Message]) -> Duration {
    let receives = messages
        .iter()
        .map(|message| message.receives)
        .max()
        .unwrap_or(1);
    let whole = FIRST_PAUSE
        .saturating_mul(1 << receives.saturating_sub(1).min(12))
        .min(LONGEST_PAUSE);
    whole / 2 + (whole / 2) * u32::from(fastrand::u8(..)) / 255
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_of_hours_does_not_use_up_the_receives_after_which_the_queue_gives_a_message_up() {
        let received = |receives| Message {
            id: "m".into(),
            receipt: "r".into(),
            receives,
            signal: None,
        };
        // The least that chance gives is half of the pause; the template allows 50 receives.
        let least: Duration = (1..50)
            .map(|receives| growing(&[received(receives)]).max(FIRST_PAUSE / 2))
            .sum();
        assert!(least > Duration::from_secs(3 * 3600), "{least:?}");
        assert!(growing(&[received(1)]) <= FIRST_PAUSE);
        assert!(growing(&[received(u32::MAX)]) <= LONGEST_PAUSE);
    }
}

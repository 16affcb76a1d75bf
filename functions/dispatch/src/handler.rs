//! One batch of the effects' queue: each message on its own, whatever becomes of the others.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::{FutureExt as _, StreamExt as _, stream};
use lastword_queue::{EffectSignal, Queue};
use lastword_runtime::{Level, Line, Measured, Unit};
use serde::Serialize;
use tokio::time::Instant;

use crate::batch::{self, Message, UnreadableBatch};
use crate::dispatcher::{Dispatcher, Settled};

/// The most effects worked on at once; a batch has at most ten messages.
const MOST_AT_ONCE: usize = 10;
/// The first pause of what could not be worked on; it doubles with each receive.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
/// The longest of those pauses.
const LONGEST_PAUSE: Duration = Duration::from_secs(900);

/// The dispatch function.
pub struct Handler {
    dispatcher: Dispatcher,
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
    pub fn new(dispatcher: Dispatcher, queue: Queue) -> Self {
        Self { dispatcher, queue }
    }

    /// The dispatcher.
    #[must_use]
    pub fn dispatcher(&self) -> &Dispatcher {
        &self.dispatcher
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
        let messages = batch::messages(event)?;
        let deadline = Instant::now() + time;
        let left = stream::iter(messages)
            .map(|message| async move {
                let pause = self.message(&message, deadline).await?;
                self.hide(&message, pause).await;
                Some(ItemFailure {
                    item_identifier: message.id,
                })
            })
            .buffer_unordered(MOST_AT_ONCE)
            .collect::<Vec<_>>()
            .await;
        Ok(QueueReply {
            batch_item_failures: left.into_iter().flatten().collect(),
        })
    }

    /// Works on one message; how long it is hidden, when it stays in the queue.
    async fn message(&self, message: &Message, deadline: Instant) -> Option<Duration> {
        let Some(signal) = &message.signal else {
            Line::new(Level::Error, "a message is no effect")
                .field("message_id", message.id.as_str())
                .emit();
            return Some(growing(message.receives));
        };
        let work = AssertUnwindSafe(self.dispatcher.settle(signal, deadline)).catch_unwind();
        let (outcome, pause) = match work.await {
            Ok(Ok(Settled::At(status))) => (status.as_str(), None),
            Ok(Ok(Settled::Later(pause))) => ("later", Some(pause)),
            Ok(Ok(Settled::Gone)) => ("gone", None),
            Ok(Err(error)) => {
                Line::new(Level::Error, "the store could not be used")
                    .error(&error)
                    .emit();
                ("unknown", Some(growing(message.receives)))
            }
            // What it may have sent is uncertain when its lease is over.
            Err(_) => ("panicked", Some(growing(message.receives))),
        };
        tell(signal, outcome);
        pause
    }

    async fn hide(&self, message: &Message, pause: Duration) {
        if let Err(error) = self.queue.hide(&[message.receipt.as_str()], pause).await {
            // The queue's own timeout then applies.
            Line::new(Level::Warn, "a message was not hidden")
                .error(&error)
                .emit();
        }
    }
}

/// What waits for a person is told as an error: a higher level of the log must not hide it from its alarm. The alarm
/// watches one dimension, so there is one.
fn tell(signal: &EffectSignal, outcome: &str) {
    let level = match outcome {
        "failed" | "ambiguous" | "panicked" => Level::Error,
        _ => Level::Info,
    };
    Measured::new(level, "dispatch")
        .dimension("outcome", outcome)
        .field("effect", signal.effect.rule.name.as_str())
        .metric("Effects", 1, Unit::Count)
        .emit();
}

fn growing(receives: u32) -> Duration {
    let whole = FIRST_PAUSE
        .saturating_mul(1 << receives.saturating_sub(1).min(12))
        .min(LONGEST_PAUSE);
    whole / 2 + (whole / 2) * u32::from(fastrand::u8(..)) / 255
}

//! One batch of stream records: read each, tell each resource once, report what failed.

use lastword_queue::{OutgoingMessage, Queue};
use lastword_runtime::{Level, Line};
use serde::Serialize;

use crate::batch::{self, Batch, Coalesced, Sequence};

/// The relay.
pub struct Relay {
    queue: Queue,
}

/// The answer of a partial batch: the mapping starts again at the lowest number listed.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StreamReply {
    /// Records to be sent again.
    pub batch_item_failures: Vec<ItemFailure>,
}

/// One record.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemFailure {
    /// Its sequence number, never empty: an empty one would fail the whole batch.
    pub item_identifier: String,
}

/// The batch as a whole cannot be read; the mapping halves it and tries again.
#[derive(Debug, thiserror::Error)]
#[error("the batch cannot be read: {0}")]
pub struct UnreadableBatch(#[from] serde_json::Error);

impl Relay {
    /// Sends to this queue.
    #[must_use]
    pub fn new(queue: Queue) -> Self {
        Self { queue }
    }

    /// Handles a batch.
    ///
    /// A record that cannot be read or sent fails alone. The mapping will also send again what comes
    /// after it; the queue knows those messages by their ids, and what it does not know any more finds
    /// its decisions made.
    ///
    /// # Errors
    /// When the batch has no records that could be reported one by one.
    pub async fn handle_text(&self, event: &str) -> Result<StreamReply, UnreadableBatch> {
        let batch: Batch<'_> = serde_json::from_str(event)?;
        let mut failed: Vec<Sequence> = Vec::new();
        let mut order = Vec::with_capacity(batch.records.len());
        let mut coalesced = Coalesced::default();
        for record in &batch.records {
            let at = batch::sequence(record)?;
            match batch::read(record) {
                Ok(news) => coalesced.add(news, &at),
                Err(error) => {
                    Line::new(Level::Error, "a stream record cannot be read")
                        .field("sequence", at.0.as_str())
                        .error(&error)
                        .emit();
                    failed.push(at.clone());
                }
            }
            order.push(at);
        }
        failed.extend(self.send(coalesced).await);
        let listed = order.into_iter().filter(|at| failed.contains(at));
        Ok(StreamReply {
            batch_item_failures: listed
                .map(|at| ItemFailure {
                    item_identifier: at.0,
                })
                .collect(),
        })
    }

    /// Sends every signal; gives back the records whose signals were not taken.
    async fn send(&self, coalesced: Coalesced) -> Vec<Sequence> {
        let mut failed = Vec::new();
        let (mut messages, mut told) = (Vec::new(), Vec::new());
        for (signal, sequences) in coalesced.signals() {
            match OutgoingMessage::new(&signal) {
                Ok(message) => {
                    messages.push(message);
                    told.push(sequences);
                }
                Err(error) => {
                    Line::new(Level::Error, "a signal cannot be written")
                        .error(&error)
                        .emit();
                    failed.extend(sequences);
                }
            }
        }
        for (outcome, sequences) in self.queue.send(&messages).await.into_iter().zip(told) {
            if let Err(error) = outcome {
                Line::new(Level::Warn, "a signal was not sent")
                    .error(&error)
                    .emit();
                failed.extend(sequences);
            }
        }
        failed
    }
}

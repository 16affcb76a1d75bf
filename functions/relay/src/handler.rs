//! One batch of stream records: read each, tell each resource once, report what failed.

use std::time::Duration;

use lastword_destinations::{Bus, Event};
use lastword_domain::AnySignal;
use lastword_queue::{EffectSignal, OutgoingEffect, OutgoingMessage, Queue};
use lastword_runtime::{Level, Line};
use lastword_store::state::streamed::Told;
use serde::Serialize;

use crate::batch::{self, Arranged, Batch, Coalesced, Sequence};
use crate::telling::{Telling, telling};

/// The relay.
pub struct Relay {
    signals: Queue,
    effects: Queue,
    bus: Bus,
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

fn event(telling: Telling) -> Event {
    Event {
        detail_type: telling.detail_type.to_owned(),
        detail: telling.detail,
        resources: Vec::new(),
    }
}

/// The batch as a whole cannot be read; the mapping halves it and tries again.
#[derive(Debug, thiserror::Error)]
#[error("the batch cannot be read: {0}")]
pub struct UnreadableBatch(#[from] serde_json::Error);

impl Relay {
    /// Sends signals and effects to these queues, and tells this bus.
    #[must_use]
    pub fn new(signals: Queue, effects: Queue, bus: Bus) -> Self {
        Self {
            signals,
            effects,
            bus,
        }
    }

    /// Handles a batch.
    ///
    /// A record that cannot be read or sent fails alone. The mapping will also send again what comes
    /// after it; the queue knows those messages by their ids, and what it does not know any more finds
    /// its decisions made. Others are told twice, and know it by the revision or the key.
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
        let Arranged { signals, told } = coalesced.arranged();
        failed.extend(self.signal(signals).await);
        failed.extend(self.tell(&told).await);
        failed.extend(self.hand_on(&told).await);
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
    async fn signal(&self, signals: Vec<(AnySignal, Vec<Sequence>)>) -> Vec<Sequence> {
        let mut failed = Vec::new();
        let (mut messages, mut told) = (Vec::new(), Vec::new());
        for (signal, sequences) in signals {
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
        for (outcome, sequences) in self.signals.send(&messages).await.into_iter().zip(told) {
            if let Err(error) = outcome {
                Line::new(Level::Warn, "a signal was not sent")
                    .error(&error)
                    .emit();
                failed.extend(sequences);
            }
        }
        failed
    }

    /// Tells the bus of every change; gives back the records of those that were not taken.
    async fn tell(&self, told: &[(Told, Sequence)]) -> Vec<Sequence> {
        let (events, sequences): (Vec<Event>, Vec<&Sequence>) = told
            .iter()
            .filter_map(|(told, at)| Some((telling(told)?, at)))
            .map(|(telling, at)| (event(telling), at))
            .unzip();
        if events.is_empty() {
            return Vec::new();
        }
        let outcomes = self.bus.publish(&events).await;
        let mut failed = Vec::new();
        for (outcome, at) in outcomes.into_iter().zip(sequences) {
            if let Err(error) = outcome {
                Line::new(Level::Warn, "the bus did not take an event")
                    .error(&error)
                    .emit();
                failed.push(at.clone());
            }
        }
        failed
    }

    /// Hands on every effect that is to be sent; gives back the records of those that were not taken.
    async fn hand_on(&self, told: &[(Told, Sequence)]) -> Vec<Sequence> {
        let (mut messages, mut sequences, mut failed) = (Vec::new(), Vec::new(), Vec::new());
        for (told, at) in told {
            let Told::Effect {
                owner,
                key,
                turn,
                settle,
            } = told
            else {
                continue;
            };
            let signal = EffectSignal {
                owner: owner.clone(),
                effect: key.clone(),
                turn: *turn,
            };
            match OutgoingEffect::new(&signal, Duration::from_secs(*settle)) {
                Ok(message) => {
                    messages.push(message);
                    sequences.push(at);
                }
                Err(error) => {
                    Line::new(Level::Error, "an effect cannot be written")
                        .error(&error)
                        .emit();
                    failed.push(at.clone());
                }
            }
        }
        let outcomes = self.effects.send_effects(&messages).await;
        for (outcome, at) in outcomes.into_iter().zip(sequences) {
            if let Err(error) = outcome {
                Line::new(Level::Warn, "an effect was not handed on")
                    .error(&error)
                    .emit();
                failed.push(at.clone());
            }
        }
        failed
    }
}

//! Moves what a machine holds on by hand: from the stream to the queue, and from the queue to reconcile.

use std::{collections::BTreeMap, time::Duration};

use aws_sdk_dynamodbstreams::types::{Record, ShardIteratorType};
use aws_sdk_sqs::types::{DeleteMessageBatchRequestEntry, MessageSystemAttributeName};
use lastword_queue::EffectSignal;
use lastword_store::KeptEffect;
use serde_json::json;
use tokio::time::Instant;

use super::{Failure, INBOX_TABLE, Machine, STATE_TABLE, Worker};
use crate::mapping::stream::{event_of, is_news};

/// A received batch, as the event source mapping would hand it over.
#[derive(Debug, Clone)]
pub struct ReceivedBatch {
    /// The event for the handler.
    pub event: String,
    receipts: BTreeMap<String, String>,
}

impl Machine {
    /// Hands the relay what the tables' streams have new, up to `most` records of each at once; says how many records
    /// were passed. What the relay reports as failed is read again at the next call.
    /// # Errors
    /// When a stream cannot be read or the relay fails as a whole.
    pub async fn relay(&self, worker: &Worker, most: i32) -> Result<usize, Failure> {
        let mut passed = self.relay_from(worker, INBOX_TABLE, most).await?;
        passed += self.relay_from(worker, STATE_TABLE, most).await?;
        Ok(passed)
    }

    async fn relay_from(
        &self,
        worker: &Worker,
        table: &'static str,
        most: i32,
    ) -> Result<usize, Failure> {
        let mut positions = self.positions.lock().await;
        let position = positions.get(table).map(String::as_str);
        let (records, arn) = self.records(table, position, most).await?;
        if records.is_empty() {
            return Ok(0);
        }
        let news = news(table, &records);
        let failures = if news.is_empty() {
            Vec::new()
        } else {
            let reply = worker.relay.handle_text(&event_of(&news, &arn)).await?;
            reply.batch_item_failures
        };
        let failed = |at: &String| {
            failures
                .iter()
                .any(|failure| failure.item_identifier == *at)
        };
        let sequences: Vec<_> = records.iter().map(sequence).collect();
        let passed = sequences.iter().position(failed).unwrap_or(sequences.len());
        if let Some(last) = passed.checked_sub(1).and_then(|at| sequences.get(at)) {
            positions.insert(table, last.clone());
        }
        Ok(passed)
    }

    /// The event of the Inbox that the relay would be handed next; `None` when the stream has nothing new.
    /// # Errors
    /// When the stream cannot be read.
    pub async fn stream_event(&self, most: i32) -> Result<Option<String>, Failure> {
        self.event_from(INBOX_TABLE, most).await
    }

    /// The same of State: changes of subjects' members.
    /// # Errors
    /// When the stream cannot be read.
    pub async fn state_event(&self, most: i32) -> Result<Option<String>, Failure> {
        self.event_from(STATE_TABLE, most).await
    }

    async fn event_from(&self, table: &'static str, most: i32) -> Result<Option<String>, Failure> {
        let positions = self.positions.lock().await;
        let position = positions.get(table).map(String::as_str);
        let (records, arn) = self.records(table, position, most).await?;
        let news = news(table, &records);
        Ok((!news.is_empty()).then(|| event_of(&news, &arn)))
    }

    /// Forgets where the stream was read up to, as a host does that crashed before it noted it.
    pub async fn rewind(&self) {
        self.positions.lock().await.clear();
    }

    async fn records(
        &self,
        table: &str,
        after: Option<&str>,
        most: i32,
    ) -> Result<(Vec<Record>, String), Failure> {
        let streams = self.stores.streams();
        let listed = streams.list_streams().table_name(table).send().await?;
        let arn = listed
            .streams()
            .first()
            .and_then(|stream| stream.stream_arn())
            .unwrap_or_default();
        let described = streams.describe_stream().stream_arn(arn).send().await?;
        let shards = described
            .stream_description
            .and_then(|d| d.shards)
            .unwrap_or_default();
        let shard = shards
            .first()
            .and_then(|shard| shard.shard_id())
            .unwrap_or_default();
        let request = streams.get_shard_iterator().stream_arn(arn).shard_id(shard);
        let request = match after {
            None => request.shard_iterator_type(ShardIteratorType::TrimHorizon),
            Some(at) => request
                .shard_iterator_type(ShardIteratorType::AfterSequenceNumber)
                .sequence_number(at),
        };
        let iterator = request.send().await?.shard_iterator;
        let page = streams
            .get_records()
            .set_shard_iterator(iterator)
            .limit(most)
            .send()
            .await?;
        Ok((page.records.unwrap_or_default(), arn.to_owned()))
    }

    /// Receives up to ten messages, as a batch for reconcile; `None` when the queue shows none.
    /// # Errors
    /// When the queue cannot be used.
    pub async fn receive(&self) -> Result<Option<ReceivedBatch>, Failure> {
        self.receive_from(&self.queue.url).await
    }

    async fn receive_from(&self, url: &str) -> Result<Option<ReceivedBatch>, Failure> {
        let received = self
            .stores
            .sqs()
            .receive_message()
            .queue_url(url)
            .max_number_of_messages(10)
            .message_system_attribute_names(MessageSystemAttributeName::All)
            .send()
            .await?;
        if received.messages().is_empty() {
            return Ok(None);
        }
        let mut receipts = BTreeMap::new();
        let mut records = Vec::new();
        for message in received.messages() {
            let attribute = |name: &str| {
                let attributes = message.attributes.iter().flatten();
                attributes
                    .filter(|(key, _)| key.as_str() == name)
                    .map(|(_, v)| v.clone())
                    .next()
            };
            let (id, receipt) = (message.message_id(), message.receipt_handle());
            receipts.insert(
                id.unwrap_or_default().to_owned(),
                receipt.unwrap_or_default().to_owned(),
            );
            records.push(json!({
                "messageId": id,
                "receiptHandle": receipt,
                "body": message.body(),
                "attributes": {
                    "MessageGroupId": attribute("MessageGroupId"),
                    "ApproximateReceiveCount": attribute("ApproximateReceiveCount"),
                },
            }));
        }
        let event = json!({ "Records": records }).to_string();
        let held = receipts
            .values()
            .map(|receipt| (url.to_owned(), receipt.clone()));
        self.held.lock().await.extend(held);
        Ok(Some(ReceivedBatch { event, receipts }))
    }

    /// Shows again what was received and not deleted, as the queue does when the time of whoever held it
    /// is over.
    /// A message that was deleted meanwhile cannot be given back, and need not be.
    pub async fn give_back(&self) {
        let sqs = self.stores.sqs();
        for (url, receipt) in std::mem::take(&mut *self.held.lock().await) {
            let change = sqs.change_message_visibility().queue_url(url);
            drop(
                change
                    .receipt_handle(receipt)
                    .visibility_timeout(0)
                    .send()
                    .await,
            );
        }
    }

    /// Hands a batch to reconcile, and deletes what it settled; says how many messages were left.
    /// # Errors
    /// When the queue cannot be used or reconcile fails as a whole.
    pub async fn reconcile(
        &self,
        worker: &Worker,
        batch: &ReceivedBatch,
    ) -> Result<usize, Failure> {
        let left = self.handle(worker, batch).await?;
        self.delete(batch, &left).await?;
        Ok(left.len())
    }

    /// Hands a batch to reconcile and deletes nothing; gives back the messages to be left.
    /// # Errors
    /// When reconcile fails as a whole.
    pub async fn handle(
        &self,
        worker: &Worker,
        batch: &ReceivedBatch,
    ) -> Result<Vec<String>, Failure> {
        let reply = worker
            .reconcile
            .handle_text(&batch.event, Duration::from_secs(20))
            .await?;
        Ok(reply
            .batch_item_failures
            .into_iter()
            .map(|failure| failure.item_identifier)
            .collect())
    }

    /// Deletes the messages of a batch but these, in one request.
    /// # Errors
    /// When the queue cannot be used.
    pub async fn delete(&self, batch: &ReceivedBatch, left: &[String]) -> Result<(), Failure> {
        self.delete_from(&self.queue.url, batch, left).await
    }

    async fn delete_from(
        &self,
        url: &str,
        batch: &ReceivedBatch,
        left: &[String],
    ) -> Result<(), Failure> {
        let settled = batch.receipts.iter().filter(|(id, _)| !left.contains(id));
        let entry = |(at, (_, receipt)): (usize, (&String, &String))| {
            DeleteMessageBatchRequestEntry::builder()
                .id(at.to_string())
                .receipt_handle(receipt)
                .build()
        };
        let entries: Vec<_> = settled.enumerate().map(entry).collect::<Result<_, _>>()?;
        if entries.is_empty() {
            return Ok(());
        }
        let request = self.stores.sqs().delete_message_batch();
        let request = request.queue_url(url);
        let answer = request.set_entries(Some(entries)).send().await?;
        match answer.failed().first() {
            None => Ok(()),
            Some(failed) => Err(format!("a message was not deleted: {}", failed.code()).into()),
        }
    }

    /// Receives up to ten messages of the effects' queue; `None` when it shows none.
    /// # Errors
    /// When the queue cannot be used.
    pub async fn receive_effects(&self) -> Result<Option<ReceivedBatch>, Failure> {
        self.receive_from(&self.effects.url).await
    }

    /// Hands a batch to dispatch, and deletes what it settled; says how many messages were left.
    /// # Errors
    /// When the queue cannot be used or dispatch fails as a whole.
    pub async fn dispatch(&self, worker: &Worker, batch: &ReceivedBatch) -> Result<usize, Failure> {
        let reply = worker
            .dispatch
            .handle_text(&batch.event, Duration::from_secs(60))
            .await?;
        let failures = reply.batch_item_failures.into_iter();
        let left: Vec<String> = failures.map(|failure| failure.item_identifier).collect();
        self.delete_from(&self.effects.url, batch, &left).await?;
        Ok(left.len())
    }

    /// Hands these effects to dispatch as the effects' queue would, but for its delays; says what became of each.
    /// # Errors
    /// When the store cannot be used.
    pub async fn dispatch_these(
        &self,
        worker: &Worker,
        effects: &[KeptEffect],
    ) -> Result<Vec<lastword_dispatch::Settled>, Failure> {
        let mut settled = Vec::new();
        for effect in effects {
            let signal = EffectSignal {
                owner: effect.owner.clone(),
                effect: effect.key.clone(),
                turn: effect.turn,
            };
            let until = Instant::now() + Duration::from_secs(60);
            let dispatcher = worker.dispatch.dispatcher();
            settled.push(dispatcher.settle(&signal, until).await?);
        }
        Ok(settled)
    }

    /// Moves everything on, effects too, until nothing is shown any more.
    /// # Errors
    /// When a store cannot be used.
    pub async fn settle_all(&self, worker: &Worker) -> Result<(), Failure> {
        loop {
            self.settle(worker).await?;
            match self.receive_effects().await? {
                Some(batch) => {
                    self.dispatch(worker, &batch).await?;
                }
                None => return Ok(()),
            }
        }
    }

    /// Moves everything on until the stream is read and the queue shows nothing.
    /// # Errors
    /// When a store cannot be used.
    pub async fn settle(&self, worker: &Worker) -> Result<(), Failure> {
        loop {
            while self.relay(worker, 100).await? > 0 {}
            match self.receive().await? {
                Some(batch) => {
                    self.reconcile(worker, &batch).await?;
                }
                None => return Ok(()),
            }
        }
    }
}

fn sequence(record: &Record) -> String {
    let change = record.dynamodb();
    change
        .and_then(|change| change.sequence_number())
        .unwrap_or_default()
        .to_owned()
}

/// What the template's filters let through.
fn news(table: &str, records: &[Record]) -> Vec<Record> {
    let passes = |record: &&Record| table == INBOX_TABLE || is_news(record);
    records.iter().filter(passes).cloned().collect()
}

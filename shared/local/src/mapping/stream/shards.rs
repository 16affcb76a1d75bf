//! Reads a stream shard by shard from a position; may not move a position.

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_dynamodbstreams::{
    Client,
    error::DisplayErrorContext,
    types::{Record, Shard, ShardIteratorType},
};

use super::{StartingPosition, position::Positions};

/// The most records one read may bring.
const MOST_RECORDS: i32 = 1000;

/// The open shards of one stream and where each is being read.
#[derive(Default)]
pub(super) struct Shards {
    iterators: BTreeMap<String, Option<String>>,
    finished: BTreeSet<String>,
    listed: bool,
}

impl Shards {
    /// The shards that can be read now: a child waits until its parent is read to its end.
    pub(super) async fn open(
        &mut self,
        client: &Client,
        stream: &str,
    ) -> Result<Vec<String>, String> {
        if !self.listed {
            let all = list(client, stream).await?;
            let known: BTreeSet<&str> = all.iter().filter_map(Shard::shard_id).collect();
            for shard in &all {
                let waits = shard.parent_shard_id().is_some_and(|parent| {
                    known.contains(parent) && !self.finished.contains(parent)
                });
                if let Some(id) = shard
                    .shard_id()
                    .filter(|id| !waits && !self.finished.contains(*id))
                {
                    self.iterators.entry(id.to_owned()).or_default();
                }
            }
            self.listed = !self.iterators.is_empty();
        }
        Ok(self.iterators.keys().cloned().collect())
    }

    /// The next records of one shard; none when it has been read to its end for now.
    pub(super) async fn read(
        &mut self,
        client: &Client,
        stream: &str,
        shard: &str,
        from: (&Positions, StartingPosition),
    ) -> Result<Vec<Record>, String> {
        let iterator = match self.iterators.get_mut(shard).and_then(Option::take) {
            Some(iterator) => iterator,
            None => fresh(client, stream, shard, from).await?,
        };
        let read = client
            .get_records()
            .shard_iterator(iterator)
            .limit(MOST_RECORDS)
            .send()
            .await;
        match read {
            Ok(reply) => {
                self.advance(shard, reply.next_shard_iterator);
                Ok(reply.records.unwrap_or_default())
            }
            // The iterator was taken out above, so the next read makes a new one from the position:
            // that is the cure for an expired one, and harmless for every other failure.
            Err(error) => Err(DisplayErrorContext(error).to_string()),
        }
    }

    fn advance(&mut self, shard: &str, next: Option<String>) {
        if next.is_some() {
            self.iterators.insert(shard.to_owned(), next);
        } else {
            self.iterators.remove(shard);
            self.finished.insert(shard.to_owned());
            self.listed = false;
        }
    }
}

async fn list(client: &Client, stream: &str) -> Result<Vec<Shard>, String> {
    let mut shards = Vec::new();
    let mut after = None;
    loop {
        let page = client
            .describe_stream()
            .stream_arn(stream)
            .set_exclusive_start_shard_id(after)
            .send()
            .await
            .map_err(|error| DisplayErrorContext(error).to_string())?;
        let Some(description) = page.stream_description else {
            return Ok(shards);
        };
        shards.extend(description.shards.unwrap_or_default());
        after = description.last_evaluated_shard_id;
        if after.is_none() {
            return Ok(shards);
        }
    }
}

async fn fresh(
    client: &Client,
    stream: &str,
    shard: &str,
    (positions, start): (&Positions, StartingPosition),
) -> Result<String, String> {
    let (kind, sequence) = match (positions.get(shard), start) {
        (Some(sequence), _) => (
            ShardIteratorType::AfterSequenceNumber,
            Some(sequence.clone()),
        ),
        (None, StartingPosition::TrimHorizon) => (ShardIteratorType::TrimHorizon, None),
        (None, StartingPosition::Latest) => (ShardIteratorType::Latest, None),
    };
    let made = client
        .get_shard_iterator()
        .stream_arn(stream)
        .shard_id(shard)
        .shard_iterator_type(kind)
        .set_sequence_number(sequence)
        .send()
        .await;
    let reply = match made {
        Ok(reply) => reply,
        // What the position points at is gone: all that is left of the shard lies behind it.
        Err(error)
            if error
                .as_service_error()
                .is_some_and(|e| e.is_trimmed_data_access_exception()) =>
        {
            client
                .get_shard_iterator()
                .stream_arn(stream)
                .shard_id(shard)
                .shard_iterator_type(ShardIteratorType::TrimHorizon)
                .send()
                .await
                .map_err(|error| DisplayErrorContext(error).to_string())?
        }
        Err(error) => return Err(DisplayErrorContext(error).to_string()),
    };
    reply
        .shard_iterator
        .ok_or_else(|| "the stream gave no iterator".to_owned())
}

//! The whole package on one machine, moved by hand: real handlers, real SDK calls, embedded stores, and
//! nothing that runs by itself. Tests and the demo decide what happens when.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use aws_sdk_dynamodbstreams::types::{Record, ShardIteratorType};
use aws_smithy_runtime_api::client::http::SharedHttpClient;
use lastword_config::{Config, SecretRef, SecretValue};
use lastword_domain::ResourceKey;
use lastword_ingest::{Ingest, answer::Reply, keys::KeyRing};
use lastword_provider::{HostOverrides, ProviderClient};
use lastword_queue::Queue;
use lastword_reconcile::{Handler, Reconciler};
use lastword_relay::Relay;
use lastword_runtime::{ClientSettings, Clients, Endpoints, Patience, Secrets, Vault};
use lastword_store::{Inbox, Moment, State, Story};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::{
    mapping::stream::event_of,
    standin::StandIn,
    stores::{Place, QueuePair, QueueSpec, Stores, create_queue_pair},
};

/// The tables' and queues' names on one machine.
pub const INBOX_TABLE: &str = "lastword-inbox";
/// See [`INBOX_TABLE`].
pub const STATE_TABLE: &str = "lastword-state";
/// See [`INBOX_TABLE`].
pub const QUEUE: &str = "lastword-signals.fifo";
/// See [`INBOX_TABLE`].
pub const DEAD_LETTERS: &str = "lastword-signals-dead.fifo";

/// What stops a machine, in words.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Everything that outlives a worker.
pub struct Machine {
    /// The embedded stores.
    pub stores: Stores,
    /// The signals' queue.
    pub queue: QueuePair,
    /// The providers' read API, for every provider.
    pub standin: StandIn,
    config: Arc<Config>,
    secrets: Secrets,
    now: u64,
    /// Where the stream was read up to.
    position: Mutex<Option<String>>,
    /// Receipts of messages that were received and not deleted.
    held: Mutex<Vec<String>>,
}

/// The three handlers over clients of their own: one process, as it were.
pub struct Worker {
    /// Ingest.
    pub ingest: Ingest,
    /// Relay.
    pub relay: Relay,
    /// Reconcile.
    pub reconcile: Handler,
    /// The Inbox that ingest writes, with its meter.
    pub inbox: Inbox,
    /// The State that reconcile writes, with its meters.
    pub state: State,
}

/// A received batch, as the event source mapping would hand it over.
#[derive(Debug, Clone)]
pub struct ReceivedBatch {
    /// The event for the handler.
    pub event: String,
    receipts: BTreeMap<String, String>,
}

impl Machine {
    /// Starts stores and stand-in, and makes tables and queues. `now` is the clock that checks
    /// signatures, in Unix seconds.
    /// # Errors
    /// When a store cannot be started or the configuration is wrong.
    pub async fn start(place: Place, config: &str, now: u64) -> Result<Self, Failure> {
        let config = Config::parse("lastword.toml", config)?;
        let stores = Stores::start(place).await?;
        lastword_store::tables::create(&stores.dynamodb(), INBOX_TABLE, STATE_TABLE).await?;
        let spec = QueueSpec {
            name: QUEUE.to_owned(),
            dead_letter_name: DEAD_LETTERS.to_owned(),
            visibility_timeout: Duration::from_secs(120),
            max_receive_count: 50,
        };
        let queue = create_queue_pair(&stores.sqs(), &spec).await?;
        let secrets = made_up_secrets(&config)?;
        Ok(Self {
            stores,
            queue,
            standin: StandIn::start().await?,
            config: Arc::new(config),
            secrets: Arc::new(secrets),
            now,
            position: Mutex::new(None),
            held: Mutex::default(),
        })
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// A worker with healthy connections.
    /// # Errors
    /// When it cannot be made.
    pub fn worker(&self) -> Result<Worker, Failure> {
        self.worker_over(None)
    }

    /// A worker whose requests to the stores go through `http`.
    /// # Errors
    /// When it cannot be made.
    pub fn worker_over(&self, http: Option<SharedHttpClient>) -> Result<Worker, Failure> {
        let clients = |patience| {
            let endpoints = Endpoints {
                dynamodb: Some(self.stores.dynamodb_url()),
                sqs: Some(self.stores.sqs_url()),
                ssm: None,
            };
            let mut settings = ClientSettings::local(endpoints, patience);
            if let Some(http) = &http {
                settings.http = http.clone();
            }
            Clients::new(settings)
        };
        let now = self.now;
        let clock = Arc::new(move || Moment::from_unix_ms(now * 1000));
        let front = clients(Patience::ingest());
        let back = clients(Patience::background());
        let inbox = Inbox::new(front.dynamodb(), INBOX_TABLE);
        let keys = KeyRing::fixed(&self.config, Arc::clone(&self.secrets))?;
        let state = State::new(back.dynamodb(), INBOX_TABLE, STATE_TABLE);
        let queue = Queue::new(back.sqs(), &self.queue.url);
        let reconciler = Reconciler::new(
            Arc::clone(&self.config),
            state.clone(),
            ProviderClient::new(self.hosts()?)?,
            Arc::new(Vault::fixed(Arc::clone(&self.secrets))),
            clock.clone(),
        );
        Ok(Worker {
            ingest: Ingest::new((*self.config).clone(), keys, inbox.clone(), clock),
            relay: Relay::new(queue.clone()),
            reconcile: Handler::new(reconciler, queue),
            inbox,
            state,
        })
    }

    fn hosts(&self) -> Result<HostOverrides, Failure> {
        let url = self.standin.url();
        let providers = self.config.integrations.values().map(|i| &i.contract.name);
        let texts: std::collections::BTreeSet<_> =
            providers.map(|name| format!("{name}={url}")).collect();
        let text = texts.into_iter().collect::<Vec<_>>().join(",");
        Ok(HostOverrides::parse(&text)?)
    }

    /// A gateway's event for a signed delivery of this body.
    /// # Errors
    /// When there is no such integration.
    pub fn signed(
        &self,
        integration: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<String, Failure> {
        let configured = self
            .config
            .integration(integration)
            .ok_or_else(|| format!("no integration {integration}"))?;
        let rules = &configured.contract.signature;
        let reference = configured.signing.first().ok_or("no secret")?;
        let secret = self.secrets.get(reference).ok_or("no secret")?;
        let signature = rules.sign(body.as_bytes(), &rules.key(secret.expose())?, self.now);
        let mut all = serde_json::Map::new();
        all.insert("content-type".into(), json!("application/json"));
        all.insert(rules.header.to_ascii_lowercase(), json!(signature));
        for (name, value) in headers {
            all.insert(name.to_ascii_lowercase(), json!(value));
        }
        Ok(gateway_event(
            &format!("/webhooks/{integration}"),
            &Value::Object(all),
            body,
        ))
    }

    /// Signs and delivers a body.
    /// # Errors
    /// When there is no such integration.
    pub async fn deliver(
        &self,
        worker: &Worker,
        integration: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<Reply, Failure> {
        let event = self.signed(integration, headers, body)?;
        Ok(worker.ingest.handle_text(&event).await)
    }

    /// Hands the relay what the Inbox stream has new, up to `most` records at once; says how many records
    /// were passed. What the relay reports as failed is read again at the next call.
    /// # Errors
    /// When the stream cannot be read or the relay fails as a whole.
    pub async fn relay(&self, worker: &Worker, most: i32) -> Result<usize, Failure> {
        let mut position = self.position.lock().await;
        let (records, arn) = self.records(position.as_deref(), most).await?;
        if records.is_empty() {
            return Ok(0);
        }
        let reply = worker.relay.handle_text(&event_of(&records, &arn)).await?;
        let sequence = |record: &Record| {
            let change = record.dynamodb();
            change
                .and_then(|change| change.sequence_number())
                .unwrap_or_default()
                .to_owned()
        };
        let failed = |at: &String| {
            reply
                .batch_item_failures
                .iter()
                .any(|failure| failure.item_identifier == *at)
        };
        let sequences: Vec<_> = records.iter().map(sequence).collect();
        let passed = sequences.iter().position(failed).unwrap_or(sequences.len());
        if let Some(last) = passed.checked_sub(1).and_then(|at| sequences.get(at)) {
            *position = Some(last.clone());
        }
        Ok(passed)
    }

    /// The event that the relay would be handed next; `None` when the stream has nothing new.
    /// # Errors
    /// When the stream cannot be read.
    pub async fn stream_event(&self, most: i32) -> Result<Option<String>, Failure> {
        let position = self.position.lock().await;
        let (records, arn) = self.records(position.as_deref(), most).await?;
        Ok((!records.is_empty()).then(|| event_of(&records, &arn)))
    }

    /// Forgets where the stream was read up to, as a host does that crashed before it noted it.
    pub async fn rewind(&self) {
        *self.position.lock().await = None;
    }

    async fn records(
        &self,
        after: Option<&str>,
        most: i32,
    ) -> Result<(Vec<Record>, String), Failure> {
        let streams = self.stores.streams();
        let listed = streams
            .list_streams()
            .table_name(INBOX_TABLE)
            .send()
            .await?;
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
        let received = self
            .stores
            .sqs()
            .receive_message()
            .queue_url(&self.queue.url)
            .max_number_of_messages(10)
            .message_system_attribute_names(aws_sdk_sqs::types::MessageSystemAttributeName::All)
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
        self.held.lock().await.extend(receipts.values().cloned());
        Ok(Some(ReceivedBatch { event, receipts }))
    }

    /// The receipts of messages that were received and not deleted: what a dead worker held.
    pub async fn held(&self) -> Vec<String> {
        std::mem::take(&mut *self.held.lock().await)
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

    /// Deletes the messages of a batch but these.
    /// # Errors
    /// When the queue cannot be used.
    pub async fn delete(&self, batch: &ReceivedBatch, left: &[String]) -> Result<(), Failure> {
        for (id, receipt) in &batch.receipts {
            if !left.contains(id) {
                let sqs = self.stores.sqs();
                sqs.delete_message()
                    .queue_url(&self.queue.url)
                    .receipt_handle(receipt)
                    .send()
                    .await?;
            }
        }
        Ok(())
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

    /// Everything that is known of a resource.
    /// # Errors
    /// When the store cannot be read.
    pub async fn story(&self, worker: &Worker, resource: &ResourceKey) -> Result<Story, Failure> {
        Ok(worker.state.story(resource).await?)
    }
}

/// An API Gateway HTTP API event (payload format 2.0).
#[must_use]
pub fn gateway_event(path: &str, headers: &Value, body: &str) -> String {
    json!({
        "version": "2.0",
        "routeKey": "POST /webhooks/{integration}",
        "rawPath": path,
        "rawQueryString": "",
        "headers": headers,
        "requestContext": {
            "accountId": "000000000000",
            "apiId": "local",
            "domainName": "localhost",
            "domainPrefix": "localhost",
            "http": {
                "method": "POST",
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": "127.0.0.1",
                "userAgent": "lastword",
            },
            "requestId": "local",
            "routeKey": "POST /webhooks/{integration}",
            "stage": "$default",
            "time": "30/Nov/2026:19:00:00 +0000",
            "timeEpoch": 1_796_065_200_000_u64,
        },
        "body": body,
        "isBase64Encoded": false,
    })
    .to_string()
}

/// A value for every secret that the configuration names, made from its name: enough where the sender
/// is ours too.
/// # Errors
/// Never for the contracts that are built in.
pub fn made_up_secrets(config: &Config) -> Result<BTreeMap<SecretRef, SecretValue>, Failure> {
    let mut secrets = BTreeMap::new();
    for integration in config.integrations.values() {
        let prefix = integration
            .contract
            .signature
            .secret_prefix
            .as_deref()
            .unwrap_or_default();
        let signing = integration
            .signing
            .iter()
            .map(|reference| (prefix, reference));
        let api = integration
            .api_keys
            .values()
            .map(|reference| ("", reference));
        for (prefix, reference) in signing.chain(api) {
            let digest = lastword_domain::Digest::of(reference.to_string().as_bytes());
            let value = SecretValue::accept(format!("{prefix}{digest}").into())?;
            secrets.insert(reference.clone(), value);
        }
    }
    Ok(secrets)
}

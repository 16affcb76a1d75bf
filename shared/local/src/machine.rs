//! The whole package on one machine, moved by hand: real handlers, real SDK calls, embedded stores, and
//! nothing that runs by itself. Tests and the demo decide what happens when.

mod making;
mod moving;

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use aws_smithy_runtime_api::client::http::SharedHttpClient;
use lastword_config::{Channel, Config};
use lastword_destinations::{DestinationOverrides, Sender};
use lastword_dispatch::Dispatcher;
use lastword_domain::{ResourceKey, name::DestinationName};
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
    bus::Bus,
    destination::{Destination, Kind},
    standin::StandIn,
    stores::{Place, QueuePair, QueueSpec, Stores, create_queue_pair},
};

pub use self::{
    making::{gateway_event, made_up_secrets},
    moving::ReceivedBatch,
};

/// The tables' and queues' names on one machine.
pub const INBOX_TABLE: &str = "lastword-inbox";
/// See [`INBOX_TABLE`].
pub const STATE_TABLE: &str = "lastword-state";
/// See [`INBOX_TABLE`].
pub const QUEUE: &str = "lastword-signals.fifo";
/// See [`INBOX_TABLE`].
pub const DEAD_LETTERS: &str = "lastword-signals-dead.fifo";
/// See [`INBOX_TABLE`].
pub const EFFECTS: &str = "lastword-effects";
/// See [`INBOX_TABLE`].
pub const DEAD_EFFECTS: &str = "lastword-effects-dead";
/// See [`INBOX_TABLE`].
pub const BUS: &str = "lastword";

/// What stops a machine, in words.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Everything that outlives a worker.
pub struct Machine {
    /// The embedded stores.
    pub stores: Stores,
    /// The signals' queue.
    pub queue: QueuePair,
    /// The effects' queue.
    pub effects: QueuePair,
    /// The providers' read API, for every provider.
    pub standin: StandIn,
    /// The event bus.
    pub bus: Bus,
    destinations: BTreeMap<DestinationName, Destination>,
    config: Arc<Config>,
    secrets: Secrets,
    now: u64,
    /// How long the clock of workers has gone on, in milliseconds: nothing waits for a real one.
    gone_on: Arc<AtomicU64>,
    /// Where each table's stream was read up to.
    positions: Mutex<BTreeMap<&'static str, String>>,
    /// Queues and receipts of messages that were received and not deleted.
    held: Mutex<Vec<(String, String)>>,
}

/// The three handlers over clients of their own: one process, as it were.
pub struct Worker {
    /// Ingest.
    pub ingest: Ingest,
    /// Relay.
    pub relay: Relay,
    /// Reconcile.
    pub reconcile: Handler,
    /// Dispatch.
    pub dispatch: lastword_dispatch::Handler,
    /// The Inbox that ingest writes, with its meter.
    pub inbox: Inbox,
    /// The State that reconcile writes, with its meters.
    pub state: State,
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
        let spec = QueueSpec {
            name: EFFECTS.to_owned(),
            dead_letter_name: DEAD_EFFECTS.to_owned(),
            visibility_timeout: Duration::from_secs(360),
            max_receive_count: 1000,
        };
        let effects = create_queue_pair(&stores.sqs(), &spec).await?;
        let secrets = made_up_secrets(&config)?;
        Ok(Self {
            stores,
            queue,
            effects,
            standin: StandIn::start().await?,
            bus: Bus::start().await?,
            destinations: destinations(&config).await?,
            gone_on: Arc::default(),
            config: Arc::new(config),
            secrets: Arc::new(secrets),
            now,
            positions: Mutex::default(),
            held: Mutex::default(),
        })
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Another configuration over the same stores, as a deployment is. Workers made from now on have it.
    /// # Errors
    /// When there is no secret that it needs.
    pub fn deploy(&mut self, config: Config) -> Result<(), Failure> {
        self.secrets = Arc::new(made_up_secrets(&config)?);
        self.config = Arc::new(config);
        Ok(())
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
                eventbridge: Some(self.bus.url()),
                ..Endpoints::default()
            };
            let mut settings = ClientSettings::local(endpoints, patience);
            if let Some(http) = &http {
                settings.http = http.clone();
            }
            Clients::new(settings)
        };
        let (now, gone_on) = (self.now, Arc::clone(&self.gone_on));
        let clock =
            Arc::new(move || Moment::from_unix_ms(now * 1000 + gone_on.load(Ordering::SeqCst)));
        let front = clients(Patience::ingest());
        let back = clients(Patience::background());
        let inbox = Inbox::new(front.dynamodb(), INBOX_TABLE);
        let keys = KeyRing::fixed(&self.config, Arc::clone(&self.secrets))?;
        let state = State::new(back.dynamodb(), INBOX_TABLE, STATE_TABLE);
        let queue = Queue::new(back.sqs(), &self.queue.url);
        let effects = Queue::new(back.sqs(), &self.effects.url);
        let vault = Arc::new(Vault::fixed(Arc::clone(&self.secrets)));
        let sender = Sender::new(&back, BUS, Arc::clone(&vault), self.overrides()?)?;
        let dispatcher = Dispatcher::new(
            Arc::clone(&self.config),
            state.clone(),
            sender,
            clock.clone(),
        )?;
        let reconciler = Reconciler::new(
            Arc::clone(&self.config),
            state.clone(),
            ProviderClient::new(self.hosts()?)?,
            vault,
            clock.clone(),
        )?;
        Ok(Worker {
            ingest: Ingest::new((*self.config).clone(), keys, inbox.clone(), clock),
            relay: Relay::new(
                queue.clone(),
                effects.clone(),
                lastword_destinations::Bus::new(back.eventbridge(), BUS),
            ),
            dispatch: lastword_dispatch::Handler::new(dispatcher, effects),
            reconcile: Handler::new(reconciler, queue),
            inbox,
            state,
        })
    }

    /// The stand-in of a configured destination: it knows keys, answers questions or does neither, as the
    /// configuration says.
    #[must_use]
    pub fn destination(&self, name: &str) -> Option<&Destination> {
        let name = DestinationName::parse(name).ok()?;
        self.destinations.get(&name)
    }

    /// Lets the clock of every worker go on.
    pub fn go_on(&self, time: Duration) {
        let time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.gone_on.fetch_add(time, Ordering::SeqCst);
    }

    fn overrides(&self) -> Result<DestinationOverrides, Failure> {
        let each = self.destinations.iter();
        let texts: Vec<_> = each
            .map(|(name, it)| format!("{name}={}", it.url()))
            .collect();
        Ok(DestinationOverrides::parse(&texts.join(","))?)
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
        self.signed_at(integration, headers, body, self.now)
    }

    /// As [`Self::signed`], at another time; Unix seconds.
    /// # Errors
    /// When there is no such integration.
    pub fn signed_at(
        &self,
        integration: &str,
        headers: &[(&str, &str)],
        body: &str,
        now: u64,
    ) -> Result<String, Failure> {
        let configured = self
            .config
            .integration(integration)
            .ok_or_else(|| format!("no integration {integration}"))?;
        let reference = configured.signing.first().ok_or("no secret")?;
        let secret = self.secrets.get(reference).ok_or("no secret")?;
        let keys = configured.keys([secret.expose()])?;
        let given = headers.iter().copied().collect();
        let signed = configured.sign(&keys, &given, body.as_bytes(), now)?;
        let mut all = serde_json::Map::new();
        all.insert("content-type".into(), json!("application/json"));
        for (name, value) in signed.headers {
            all.insert(name.to_ascii_lowercase(), json!(value));
        }
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

    /// Everything that is known of a resource.
    /// # Errors
    /// When the store cannot be read.
    pub async fn story(&self, worker: &Worker, resource: &ResourceKey) -> Result<Story, Failure> {
        Ok(worker.state.story(resource).await?)
    }
}

/// A stand-in for each destination that is reached over HTTP.
async fn destinations(config: &Config) -> Result<BTreeMap<DestinationName, Destination>, Failure> {
    let mut all = BTreeMap::new();
    for (name, destination) in &config.destinations {
        if !matches!(destination.channel, Channel::Http(_)) {
            continue;
        }
        let kind = match (destination.remembers(), destination.lookup()) {
            (Some(_), _) => Kind::Idempotent,
            (None, Some(_)) => Kind::LookUp,
            (None, None) => Kind::Plain,
        };
        all.insert(name.clone(), Destination::start(kind).await?);
    }
    Ok(all)
}

//! Connects stores and functions as the template does: tables, queue, mappings and the front door.

use std::{io, path::Path, sync::Arc, time::SystemTime};

use aws_sdk_dynamodbstreams::types::Record;
use axum::{Router, routing::get};
use lastword_config::{Config, Integration};

use super::{
    log,
    parts::{self, Functions},
};
use crate::{
    command::check::endpoint,
    function::{Function, Invocation},
    gateway::{Gateway, GatewayConfig},
    machine::{DEAD_EFFECTS, DEAD_LETTERS, EFFECTS, Failure, INBOX_TABLE, QUEUE, STATE_TABLE},
    mapping::stream::is_news,
    mapping::{QueueMapping, QueueMappingConfig, StreamMapping, StreamMappingConfig},
    stores::{QueueGauge, QueuePair, QueueSpec, Stores, create_queue_pair},
};

/// The queues between the functions.
pub(super) struct Queues {
    pub(super) signals: QueuePair,
    pub(super) effects: QueuePair,
}

/// Makes what is not there yet.
pub(super) async fn tables_and_queues(stores: &Stores) -> Result<Queues, Failure> {
    lastword_store::tables::create(&stores.dynamodb(), INBOX_TABLE, STATE_TABLE).await?;
    let spec = QueueSpec {
        name: QUEUE.to_owned(),
        dead_letter_name: DEAD_LETTERS.to_owned(),
        visibility_timeout: parts::VISIBILITY,
        max_receive_count: parts::MOST_RECEIVES,
    };
    let effects = QueueSpec {
        name: EFFECTS.to_owned(),
        dead_letter_name: DEAD_EFFECTS.to_owned(),
        visibility_timeout: parts::EFFECTS_VISIBILITY,
        max_receive_count: parts::MOST_EFFECT_RECEIVES,
    };
    Ok(Queues {
        signals: create_queue_pair(&stores.sqs(), &spec).await?,
        effects: create_queue_pair(&stores.sqs(), &effects).await?,
    })
}

/// From a table's stream to relay.
struct Source {
    name: &'static str,
    table: &'static str,
    file: &'static str,
    event_names: &'static [&'static str],
    only: Option<fn(&Record) -> bool>,
}

const INBOX: Source = Source {
    name: "inbox to relay",
    table: INBOX_TABLE,
    file: "relay.json",
    event_names: &["INSERT"],
    only: None,
};

/// Only what somebody waits for.
const STATE: Source = Source {
    name: "state to relay",
    table: STATE_TABLE,
    file: "relay-state.json",
    event_names: &[],
    only: Some(is_news),
};

/// From the Inbox, and from State, to relay. A position is saved only when the queues are seen empty.
pub(super) async fn streams(
    stores: &Stores,
    functions: &Functions,
    queues: &Queues,
    directory: &Path,
) -> Result<Streams, Failure> {
    Ok(Streams {
        inbox: stream(&INBOX, stores, functions, queues, directory).await?,
        state: stream(&STATE, stores, functions, queues, directory).await?,
    })
}

/// Both, running.
#[derive(Clone)]
pub(super) struct Streams {
    pub(super) inbox: Arc<StreamMapping>,
    pub(super) state: Arc<StreamMapping>,
}

impl Streams {
    pub(super) async fn pause(&self) {
        self.inbox.pause().await;
        self.state.pause().await;
    }
}

async fn stream(
    source: &Source,
    stores: &Stores,
    functions: &Functions,
    queues: &Queues,
    directory: &Path,
) -> Result<Arc<StreamMapping>, Failure> {
    let described = stores.dynamodb().describe_table().table_name(source.table);
    let stream_arn = described
        .send()
        .await?
        .table
        .and_then(|table| table.latest_stream_arn)
        .ok_or_else(|| format!("{} has no stream", source.table))?;
    let config = StreamMappingConfig {
        event_names: source.event_names.iter().map(ToString::to_string).collect(),
        only: source.only,
        function_timeout: parts::RELAY_TIMEOUT,
        position_file: Some(directory.join(source.file)),
        downstream: [&queues.signals, &queues.effects]
            .map(|queue| QueueGauge::new(stores.sqs(), &queue.url))
            .to_vec(),
        observer: log::observer(),
        ..StreamMappingConfig::new(source.name, stream_arn)
    };
    let relay = functions.relay.clone();
    Ok(Arc::new(
        StreamMapping::start(stores.streams(), relay, config).await,
    ))
}

/// From the queue to reconcile.
pub(super) async fn signals(
    stores: &Stores,
    functions: &Functions,
    queue: &QueuePair,
    streams: &Streams,
) -> QueueMapping {
    let config = QueueMappingConfig {
        maximum_concurrency: functions.reconciles,
        function_timeout: parts::RECONCILE_TIMEOUT,
        observer: log::observer(),
        ..QueueMappingConfig::new("queue to reconcile", &queue.url, &queue.arn)
    };
    let state = Arc::clone(&streams.state);
    let reconcile = nudging("reconcile", functions.reconcile.clone(), state);
    QueueMapping::start(stores.sqs(), reconcile, config).await
}

/// From the effects' queue to dispatch.
pub(super) async fn effects(
    stores: &Stores,
    functions: &Functions,
    queue: &QueuePair,
) -> QueueMapping {
    let config = QueueMappingConfig {
        maximum_concurrency: functions.dispatches,
        function_timeout: parts::DISPATCH_TIMEOUT,
        observer: log::observer(),
        ..QueueMappingConfig::new("effects to dispatch", &queue.url, &queue.arn)
    };
    QueueMapping::start(stores.sqs(), functions.dispatch.clone(), config).await
}

/// From the network to ingest.
pub(super) async fn gateway(
    port: u16,
    functions: &Functions,
    stream: &Arc<StreamMapping>,
    config: &Config,
) -> Result<Gateway, Failure> {
    let index = index(config);
    let gateway = GatewayConfig {
        port,
        function_timeout: parts::INGEST_TIMEOUT,
        timeout: parts::GATEWAY_TIMEOUT,
        extra: Some(Router::new().route("/", get(async move || index))),
        ..GatewayConfig::new(nudging(
            "ingest",
            functions.ingest.clone(),
            Arc::clone(stream),
        ))
    };
    Gateway::start(gateway).await.map_err(|error| {
        if error.kind() == io::ErrorKind::AddrInUse {
            let choose = "choose another with --port, or 0 for any free one";
            format!("port {port} is taken; {choose}").into()
        } else {
            format!("port {port}: {error}").into()
        }
    })
}

/// A function, after whose answers a stream is read at once.
fn nudging(name: &'static str, function: Function, stream: Arc<StreamMapping>) -> Function {
    Function::in_process(name, move |it: Invocation| {
        let (function, stream) = (function.clone(), Arc::clone(&stream));
        async move {
            let left = it.deadline.duration_since(SystemTime::now());
            let reply = function.invoke(it.payload, left.unwrap_or_default()).await;
            stream.nudge();
            reply
        }
    })
}

fn index(config: &Config) -> String {
    let mut text = "Lastword on this machine. Webhooks are posted to\n\n".to_owned();
    let by_http = |integration: &&Integration| integration.feeds.is_empty();
    for integration in config.integrations.values().filter(by_http) {
        let title = &integration.contract.title;
        text.push_str(&format!("{}  {title}\n", endpoint(integration)));
    }
    text
}

//! Connects stores and functions as the template does: tables, queue, mappings and the front door.

use std::{io, path::Path, sync::Arc, time::SystemTime};

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
    machine::{DEAD_LETTERS, Failure, INBOX_TABLE, QUEUE, STATE_TABLE},
    mapping::{QueueMapping, QueueMappingConfig, StreamMapping, StreamMappingConfig},
    stores::{QueueGauge, QueuePair, QueueSpec, Stores, create_queue_pair},
};

/// Makes what is not there yet.
pub(super) async fn tables_and_queue(stores: &Stores) -> Result<QueuePair, Failure> {
    lastword_store::tables::create(&stores.dynamodb(), INBOX_TABLE, STATE_TABLE).await?;
    let spec = QueueSpec {
        name: QUEUE.to_owned(),
        dead_letter_name: DEAD_LETTERS.to_owned(),
        visibility_timeout: parts::VISIBILITY,
        max_receive_count: parts::MOST_RECEIVES,
    };
    Ok(create_queue_pair(&stores.sqs(), &spec).await?)
}

/// From the Inbox to relay. The position is saved only when the queue is seen empty.
pub(super) async fn stream(
    stores: &Stores,
    functions: &Functions,
    queue: &QueuePair,
    directory: &Path,
) -> Result<Arc<StreamMapping>, Failure> {
    let described = stores.dynamodb().describe_table().table_name(INBOX_TABLE);
    let stream_arn = described
        .send()
        .await?
        .table
        .and_then(|table| table.latest_stream_arn)
        .ok_or("the Inbox has no stream")?;
    let config = StreamMappingConfig {
        event_names: vec!["INSERT".to_owned()],
        function_timeout: parts::RELAY_TIMEOUT,
        position_file: Some(directory.join("relay.json")),
        downstream: vec![QueueGauge::new(stores.sqs(), &queue.url)],
        observer: log::observer(),
        ..StreamMappingConfig::new("inbox to relay", stream_arn)
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
) -> QueueMapping {
    let config = QueueMappingConfig {
        maximum_concurrency: functions.reconciles,
        function_timeout: parts::RECONCILE_TIMEOUT,
        observer: log::observer(),
        ..QueueMappingConfig::new("queue to reconcile", &queue.url, &queue.arn)
    };
    QueueMapping::start(stores.sqs(), functions.reconcile.clone(), config).await
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
        ..GatewayConfig::new(nudging(functions.ingest.clone(), Arc::clone(stream)))
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

/// Ingest, after whose answers the stream is read at once.
fn nudging(ingest: Function, stream: Arc<StreamMapping>) -> Function {
    Function::in_process("ingest", move |it: Invocation| {
        let (ingest, stream) = (ingest.clone(), Arc::clone(&stream));
        async move {
            let left = it.deadline.duration_since(SystemTime::now());
            let reply = ingest.invoke(it.payload, left.unwrap_or_default()).await;
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

//! Puts the stack together and takes it apart; the numbers are the template's.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use axum::{Router, routing::get};
use lastword_config::{Config, SecretRef};
use lastword_runtime::{Endpoints, telemetry};

use super::{
    binaries::Binaries,
    inside,
    log::{self, Log},
    outside,
    parts::{self, Functions, Parts},
    secrets::Secrets,
};
use crate::{
    command::{
        check::endpoint,
        cli::{DIRECTORY, Dev},
        configuration::Source,
        stack::Stack,
    },
    function::{Function, Invocation},
    gateway::{Gateway, GatewayConfig},
    machine::{DEAD_LETTERS, Failure, INBOX_TABLE, QUEUE, STATE_TABLE},
    mapping::{QueueMapping, QueueMappingConfig, StreamMapping, StreamMappingConfig},
    processes::Processes,
    ssm::Ssm,
    stores::{Place, QueueGauge, QueuePair, QueueSpec, Stores, StoresError, create_queue_pair},
};

/// A running stack.
pub(super) struct Started {
    /// Where everything is.
    pub(super) stack: Stack,
    /// Secrets that were missing.
    pub(super) made_up: Vec<SecretRef>,
    /// Where the configuration is from.
    pub(super) configuration: String,
    /// How the functions run.
    pub(super) functions: &'static str,
    gateway: Gateway,
    stream: Arc<StreamMapping>,
    queue: QueueMapping,
    processes: Vec<Processes>,
    ssm: Ssm,
    stores: Stores,
}

/// Starts everything, the front door last.
pub(super) async fn start(asked: &Dev) -> Result<Started, Failure> {
    let source = Source::found(asked.config.as_deref())?;
    let config = source.parse()?;
    let api = parts::stand_ins(&asked.api, &config)?;
    let binaries = match asked.processes {
        true => Some(Binaries::find().await?),
        false => None,
    };
    let stores = stores(asked).await?;
    let directory = std::path::absolute(stores.directory())?;
    Stack::retract(&directory)?;
    let log = directory.join("log.jsonl");
    telemetry::redirect(Log::open(&log, !asked.json)?);
    let queue = tables_and_queue(&stores).await?;
    let secrets = Secrets::settle(&config, &directory, |name| std::env::var(name))?;
    let ssm = Ssm::start(secrets.parameters()).await?;
    let file = source
        .file
        .as_deref()
        .map(std::path::absolute)
        .transpose()?;
    let parts = Parts {
        config,
        file,
        endpoints: Endpoints {
            dynamodb: Some(stores.dynamodb_url()),
            sqs: Some(stores.sqs_url()),
            ssm: Some(ssm.url()),
        },
        queue_url: queue.url.clone(),
        secrets,
        api,
        clock: asked.clock,
        log,
    };
    let (functions, processes) = match &binaries {
        None => (inside::functions(&parts).await?, Vec::new()),
        Some(binaries) => outside::functions(&parts, binaries).await?,
    };
    let stream = Arc::new(stream(&stores, &functions, &queue, &directory).await?);
    let mapping = queue_mapping(&stores, &functions, &queue).await;
    let gateway = gateway(asked.port, &functions, &stream, &parts.config).await?;
    let stack = describe(&gateway, &stores, &ssm, &parts, directory);
    stack.publish()?;
    Ok(Started {
        stack,
        made_up: parts.secrets.made_up,
        configuration: source.name(),
        functions: if processes.is_empty() {
            "in this process"
        } else {
            "the real binaries"
        },
        gateway,
        stream,
        queue: mapping,
        processes,
        ssm,
        stores,
    })
}

impl Started {
    /// Closes the front door, lets what is running end, and saves how far the stream was settled.
    pub(super) async fn end(self) {
        // A file that stays says what is not true any more, and the next start removes it.
        drop(Stack::retract(&self.stack.directory));
        self.gateway.shutdown().await;
        self.queue.pause().await;
        self.stream.pause().await;
        for processes in self.processes {
            processes.stop().await;
        }
        self.ssm.shutdown().await;
        self.stores.shutdown().await;
    }
}

async fn stores(asked: &Dev) -> Result<Stores, Failure> {
    let place = if asked.memory {
        Place::Temporary
    } else {
        let directory = asked.dir.clone().unwrap_or_else(|| DIRECTORY.into());
        private(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
        Place::Directory(directory)
    };
    Stores::start(place).await.map_err(|error| match error {
        StoresError::InUse(directory) => format!(
            "{} is in use by another `lastword dev`; end that one, or choose another directory with --dir",
            directory.display()
        )
        .into(),
        other @ (StoresError::Io { .. } | StoresError::Database(_) | StoresError::Call(_)) => {
            Failure::from(other)
        }
    })
}

/// Makes the directory, for its owner only: it will hold bodies and secrets.
fn private(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

async fn tables_and_queue(stores: &Stores) -> Result<QueuePair, Failure> {
    lastword_store::tables::create(&stores.dynamodb(), INBOX_TABLE, STATE_TABLE).await?;
    let spec = QueueSpec {
        name: QUEUE.to_owned(),
        dead_letter_name: DEAD_LETTERS.to_owned(),
        visibility_timeout: parts::VISIBILITY,
        max_receive_count: parts::MOST_RECEIVES,
    };
    Ok(create_queue_pair(&stores.sqs(), &spec).await?)
}

async fn stream(
    stores: &Stores,
    functions: &Functions,
    queue: &QueuePair,
    directory: &Path,
) -> Result<StreamMapping, Failure> {
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
    Ok(StreamMapping::start(stores.streams(), functions.relay.clone(), config).await)
}

async fn queue_mapping(stores: &Stores, functions: &Functions, queue: &QueuePair) -> QueueMapping {
    let config = QueueMappingConfig {
        maximum_concurrency: functions.reconciles,
        function_timeout: parts::RECONCILE_TIMEOUT,
        observer: log::observer(),
        ..QueueMappingConfig::new("queue to reconcile", &queue.url, &queue.arn)
    };
    QueueMapping::start(stores.sqs(), functions.reconcile.clone(), config).await
}

async fn gateway(
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
    Gateway::start(gateway)
        .await
        .map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => {
                format!("port {port} is taken; choose another with --port, or 0 for any free one")
                    .into()
            }
            _ => format!("port {port}: {error}").into(),
        })
}

/// Ingest, after whose answers the stream is read at once.
fn nudging(ingest: Function, stream: Arc<StreamMapping>) -> Function {
    Function::in_process("ingest", move |it: Invocation| {
        let (ingest, stream) = (ingest.clone(), Arc::clone(&stream));
        async move {
            let left = it
                .deadline
                .duration_since(SystemTime::now())
                .unwrap_or_default();
            let reply = ingest.invoke(it.payload, left).await;
            stream.nudge();
            reply
        }
    })
}

fn index(config: &Config) -> String {
    let mut text = "Lastword on this machine. Webhooks are posted to\n\n".to_owned();
    for integration in config.integrations.values() {
        let title = &integration.contract.title;
        text.push_str(&format!("{}  {title}\n", endpoint(integration)));
    }
    text
}

fn describe(
    gateway: &Gateway,
    stores: &Stores,
    ssm: &Ssm,
    parts: &Parts,
    directory: PathBuf,
) -> Stack {
    let url = gateway.url();
    let integrations = parts.config.integrations.values();
    Stack {
        webhooks: integrations
            .map(|it| (it.name.to_string(), format!("{url}{}", endpoint(it))))
            .collect(),
        url,
        dynamodb: stores.dynamodb_url(),
        sqs: stores.sqs_url(),
        ssm: ssm.url(),
        queue_url: parts.queue_url.clone(),
        inbox_table: INBOX_TABLE.to_owned(),
        state_table: STATE_TABLE.to_owned(),
        secrets: parts.secrets.file.clone(),
        log: parts.log.clone(),
        directory,
    }
}

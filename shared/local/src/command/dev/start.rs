//! Puts the stack together and takes it apart.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use lastword_config::{Config, SecretRef};
use lastword_runtime::{Endpoints, telemetry};

use tokio::task::JoinHandle;

use super::{
    binaries::Binaries,
    hearing, inside,
    log::Log,
    outside,
    parts::{self, Parts},
    postbox::PostBoxes,
    secrets::Secrets,
    wiring::{self, Queues, Streams},
};
use crate::{
    bus::Bus,
    command::{
        check::endpoint,
        cli::{DIRECTORY, Dev},
        configuration::Source,
        stack::Stack,
    },
    gateway::Gateway,
    machine::{Failure, INBOX_TABLE, STATE_TABLE},
    mapping::QueueMapping,
    processes::Processes,
    ssm::Ssm,
    stores::{Place, Stores, StoresError},
};

/// A running stack.
pub(super) struct Started {
    /// Where everything is.
    pub(super) stack: Stack,
    /// Secrets that were missing.
    pub(super) made_up: Vec<SecretRef>,
    /// Where the configuration is from.
    pub(super) configuration: String,
    gateway: Gateway,
    streams: Streams,
    signals: QueueMapping,
    effects: QueueMapping,
    drafting: JoinHandle<()>,
    processes: Vec<Processes>,
    ground: Ground,
}

/// What the functions stand on.
struct Ground {
    stores: Stores,
    directory: PathBuf,
    queues: Queues,
    ssm: Ssm,
    bus: Bus,
    boxes: PostBoxes,
}

/// Starts everything, the front door last.
pub(super) async fn start(asked: &Dev) -> Result<Started, Failure> {
    let source = Source::found(asked.config.as_deref())?;
    let config = source.parse()?;
    let api = parts::stand_ins(&asked.api, &config)?;
    let binaries = if asked.processes {
        Some(Binaries::find().await?)
    } else {
        None
    };
    let (bus, heard) = hearing::listen().await?;
    let (ground, secrets) = Ground::prepare(asked, &config, bus).await?;
    let parts = Parts {
        config,
        file: source.absolute()?,
        endpoints: ground.endpoints(),
        queue_url: ground.queues.signals.url.clone(),
        effects_url: ground.queues.effects.url.clone(),
        destinations: ground.boxes.overrides.clone(),
        secrets,
        api,
        clock: asked.clock,
        log: ground.directory.join("log.jsonl"),
    };
    telemetry::redirect(Log::open(&parts.log, !asked.json)?);
    let (functions, processes) = match &binaries {
        None => (inside::functions(&parts).await?, Vec::new()),
        Some(binaries) => outside::functions(&parts, binaries).await?,
    };
    let (stores, queues) = (&ground.stores, &ground.queues);
    let streams = wiring::streams(stores, &functions, queues, &ground.directory).await?;
    let signals = wiring::signals(stores, &functions, &queues.signals, &streams).await;
    let drafting = heard.hand_to(functions.draft.clone());
    let effects = wiring::effects(stores, &functions, &queues.effects).await;
    let gateway = wiring::gateway(asked.port, &functions, &streams.inbox, &parts.config).await?;
    let stack = describe(&gateway, &ground, &parts);
    stack.publish()?;
    Ok(Started {
        stack,
        made_up: parts.secrets.made_up,
        configuration: source.name(),
        gateway,
        streams,
        signals,
        effects,
        drafting,
        processes,
        ground,
    })
}

impl Started {
    /// Closes the front door, lets what is running end, and saves how far the stream was settled.
    pub(super) async fn end(self) {
        // If it stays, it says what is not true any more, and the next start removes it.
        drop(Stack::retract(&self.ground.directory));
        self.gateway.shutdown().await;
        self.signals.pause().await;
        self.effects.pause().await;
        self.drafting.abort();
        self.streams.pause().await;
        for processes in self.processes {
            processes.stop().await;
        }
        self.ground.ssm.shutdown().await;
        self.ground.bus.shutdown().await;
        self.ground.boxes.close().await;
        self.ground.stores.shutdown().await;
    }
}

impl Ground {
    /// The stores, which nobody else may use meanwhile, and what must be in them.
    async fn prepare(asked: &Dev, config: &Config, bus: Bus) -> Result<(Self, Secrets), Failure> {
        let stores = Stores::start(place(asked)?).await.map_err(told)?;
        let directory = std::path::absolute(stores.directory())?;
        // What is left of one that was killed.
        Stack::retract(&directory)?;
        let queues = wiring::tables_and_queues(&stores).await?;
        let boxes = PostBoxes::open(&asked.destination, config).await?;
        let secrets = Secrets::settle(config, &directory, |name| std::env::var(name))?;
        let ssm = Ssm::start(secrets.parameters()).await?;
        let ground = Self {
            stores,
            directory,
            queues,
            ssm,
            bus,
            boxes,
        };
        Ok((ground, secrets))
    }

    fn endpoints(&self) -> Endpoints {
        Endpoints {
            dynamodb: Some(self.stores.dynamodb_url()),
            sqs: Some(self.stores.sqs_url()),
            ssm: Some(self.ssm.url()),
            eventbridge: Some(self.bus.url()),
            // Nothing here is a model.
            bedrock: None,
        }
    }
}

fn place(asked: &Dev) -> Result<Place, Failure> {
    if asked.memory {
        return Ok(Place::Temporary);
    }
    let directory = asked.dir.clone().unwrap_or_else(|| DIRECTORY.into());
    private(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    Ok(Place::Directory(directory))
}

/// Makes the directory, for its owner only: it will hold bodies and secrets.
fn private(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

fn told(error: StoresError) -> Failure {
    if let StoresError::InUse(directory) = &error {
        let choose = "end that one, or choose another directory with --dir";
        let directory = directory.display();
        return format!("{directory} is in use by another `lastword dev`; {choose}").into();
    }
    error.into()
}

fn describe(gateway: &Gateway, ground: &Ground, parts: &Parts) -> Stack {
    let url = gateway.url();
    let integrations = parts.config.integrations.values();
    Stack {
        webhooks: integrations
            .filter(|it| it.feeds.is_empty())
            .map(|it| (it.name.to_string(), format!("{url}{}", endpoint(it))))
            .collect(),
        url,
        dynamodb: ground.stores.dynamodb_url(),
        sqs: ground.stores.sqs_url(),
        ssm: ground.ssm.url(),
        queue_url: parts.queue_url.clone(),
        effects_url: parts.effects_url.clone(),
        bus: ground.bus.url(),
        inbox_table: INBOX_TABLE.to_owned(),
        state_table: STATE_TABLE.to_owned(),
        secrets: parts.secrets.file.clone(),
        log: parts.log.clone(),
        directory: ground.directory.clone(),
    }
}

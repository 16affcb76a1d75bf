//! Runs real bootstrap binaries against a Runtime API; it may end only children it started itself.
//!
//! Each instance is one supervisor task that owns one child: it starts it, restarts it when it dies or
//! overruns a deadline, and takes it along when it is dropped. If the host itself is killed, the child's
//! poll fails and the child ends by itself.

use std::{
    ffi::OsString,
    fs::OpenOptions,
    io,
    path::PathBuf,
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use tokio::{
    process::{Child, Command},
    sync::watch,
    task::JoinSet,
    time::sleep,
};

use crate::{
    clients::{DUMMY_KEY, REGION},
    runtime_api::{Endpoint, RuntimeApi},
};

/// The pause before a child that died at once is started again; doubled each time, up to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LAST_PAUSE: Duration = Duration::from_secs(5);
/// A child that lived this long did not die "at once".
const HEALTHY: Duration = Duration::from_secs(2);

/// Where a child's output goes.
#[derive(Clone, Debug, Default)]
pub enum Output {
    /// To this process's own.
    #[default]
    Inherit,
    /// Nowhere.
    Discard,
    /// To the end of a file.
    Append(PathBuf),
}

/// What to run.
#[derive(Clone, Debug)]
pub struct ProcessSpec {
    /// The bootstrap binary.
    pub program: PathBuf,
    /// Its arguments; a bootstrap has none.
    pub args: Vec<OsString>,
    /// The function's environment. Nothing else is inherited.
    pub env: Vec<(String, String)>,
    /// `AWS_LAMBDA_FUNCTION_MEMORY_SIZE`; not enforced.
    pub memory_mb: u32,
    /// Where its output goes.
    pub output: Output,
}

impl ProcessSpec {
    /// A spec with 256 MB, no environment and inherited output.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            memory_mb: 256,
            output: Output::Inherit,
        }
    }
}

/// The latest start of one instance.
#[derive(Clone, Debug, Default)]
pub struct Life {
    /// The process id, while it runs.
    pub pid: Option<u32>,
    /// How often it was started.
    pub starts: u32,
    /// When the child was spawned.
    pub spawned: Option<Instant>,
    /// When it first asked for work.
    pub first_next: Option<Instant>,
    /// When it first answered.
    pub first_response: Option<Instant>,
    /// Why the last one ended, or could not start.
    pub last_end: Option<String>,
}

#[derive(Default)]
struct Slot {
    life: Life,
    endpoint: Option<Arc<Endpoint>>,
}

type Slots = Arc<Vec<Mutex<Slot>>>;
type Stop = watch::Receiver<bool>;

/// The running instances of one function. Dropping it ends them.
pub struct Processes {
    slots: Slots,
    stop: watch::Sender<bool>,
    supervisors: JoinSet<()>,
}

impl Processes {
    /// Starts `instances` children that poll `api`.
    #[must_use]
    pub fn start(api: &RuntimeApi, spec: &ProcessSpec, instances: usize) -> Self {
        let slots: Slots = Arc::new((0..instances).map(|_| Mutex::default()).collect());
        let (stop, stopped) = watch::channel(false);
        let mut supervisors = JoinSet::new();
        for index in 0..instances {
            let slots = Arc::clone(&slots);
            supervisors.spawn(supervise(
                api.clone(),
                spec.clone(),
                slots,
                index,
                stopped.clone(),
            ));
        }
        Self {
            slots,
            stop,
            supervisors,
        }
    }

    /// What is known of each instance's latest start.
    #[must_use]
    pub fn lives(&self) -> Vec<Life> {
        self.slots.iter().map(look).collect()
    }

    /// Ends every child and waits until it is gone.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        while self.supervisors.join_next().await.is_some() {}
    }
}

fn look(slot: &Mutex<Slot>) -> Life {
    let slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
    let mut life = slot.life.clone();
    if let Some(endpoint) = &slot.endpoint {
        life.first_next = endpoint.first_next();
        life.first_response = endpoint.first_response();
    }
    life
}

async fn supervise(api: RuntimeApi, spec: ProcessSpec, slots: Slots, index: usize, mut stop: Stop) {
    let Some(slot) = slots.get(index) else { return };
    let mut pause = FIRST_PAUSE;
    while !*stop.borrow() {
        let started = Instant::now();
        let end = match live(&api, &spec, slot, &mut stop).await {
            Ok(end) => end,
            Err(error) => format!("could not start: {error}"),
        };
        {
            let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            slot.life.pid = None;
            slot.life.last_end = Some(end);
        }
        pause = if started.elapsed() > HEALTHY {
            FIRST_PAUSE
        } else {
            (pause * 2).min(LAST_PAUSE)
        };
        tokio::select! {
            () = sleep(pause) => {}
            _ = stop.changed() => {}
        }
    }
}

/// One life of one child: from its spawn to its end.
async fn live(
    api: &RuntimeApi,
    spec: &ProcessSpec,
    slot: &Mutex<Slot>,
    stop: &mut Stop,
) -> io::Result<String> {
    let endpoint = Arc::new(api.endpoint().await?);
    let mut child = spawn(api.name(), spec, &endpoint)?;
    {
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        slot.life.starts += 1;
        slot.life.pid = child.id();
        slot.life.spawned = Some(Instant::now());
        slot.endpoint = Some(Arc::clone(&endpoint));
    }
    let end = tokio::select! {
        status = child.wait() => format!("ended by itself: {}", status?),
        () = endpoint.condemned() => {
            child.kill().await?;
            "ended after it overran its deadline".to_owned()
        }
        _ = stop.changed() => {
            child.kill().await?;
            "ended with its host".to_owned()
        }
    };
    let end = endpoint
        .init_error()
        .map_or(end, |reason| format!("could not start: {reason}"));
    endpoint.abandon(&end);
    Ok(end)
}

fn spawn(name: &str, spec: &ProcessSpec, endpoint: &Endpoint) -> io::Result<Child> {
    let mut command = Command::new(&spec.program);
    command
        .args(&spec.args)
        .env_clear()
        .env("AWS_LAMBDA_RUNTIME_API", endpoint.address().to_string())
        .env("AWS_LAMBDA_FUNCTION_NAME", name)
        .env(
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE",
            spec.memory_mb.to_string(),
        )
        .env("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST")
        .env("AWS_LAMBDA_LOG_GROUP_NAME", format!("/aws/lambda/{name}"))
        .env("AWS_LAMBDA_LOG_STREAM_NAME", "local")
        .env("AWS_LAMBDA_LOG_FORMAT", "JSON")
        .env("AWS_LAMBDA_LOG_LEVEL", "INFO")
        .env("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand")
        .env("AWS_EXECUTION_ENV", "AWS_Lambda_provided.al2023")
        .env("AWS_REGION", REGION)
        .env("AWS_DEFAULT_REGION", REGION)
        .env("AWS_ACCESS_KEY_ID", DUMMY_KEY)
        .env("AWS_SECRET_ACCESS_KEY", DUMMY_KEY)
        .env("AWS_SESSION_TOKEN", DUMMY_KEY)
        .env("TZ", ":UTC")
        .envs(spec.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .kill_on_drop(true);
    direct(&mut command, &spec.output)?;
    command.spawn()
}

fn direct(command: &mut Command, output: &Output) -> io::Result<()> {
    match output {
        Output::Inherit => {}
        Output::Discard => {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        }
        Output::Append(path) => {
            let file = OpenOptions::new().create(true).append(true).open(path)?;
            command.stdout(file.try_clone()?).stderr(file);
        }
    }
    Ok(())
}

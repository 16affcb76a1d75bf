//! One life of one process: started with an event waiting, perhaps given more, ended when it is dropped.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use lastword_local::function::Function;
use lastword_local::runtime_api::{Endpoint, RuntimeApi};

use crate::stack::Stack;
use crate::{Failure, bodies};

const PATIENCE: Duration = Duration::from_secs(20);

/// What is run.
pub(crate) struct Variant {
    pub(crate) label: String,
    pub(crate) program: PathBuf,
    pub(crate) env: Vec<(String, String)>,
    /// The number of the variant that does the same outward things, which this one is compared to.
    pub(crate) beside: usize,
}

impl Variant {
    pub(crate) fn beside(self, beside: usize) -> Self {
        Self { beside, ..self }
    }
}

/// What a start costs.
pub(crate) struct Start {
    /// From the spawn to the first request for work.
    pub(crate) init: Duration,
    /// From the spawn to the first answer.
    pub(crate) first_response: Duration,
    /// CPU from the spawn to the first answer.
    pub(crate) cpu: Duration,
    /// The most memory until then, in KiB.
    pub(crate) peak_kib: u64,
}

/// A process that has answered its first event.
pub(crate) struct Life {
    label: String,
    function: Function,
    /// Its door; closed after it has ended.
    _endpoint: Endpoint,
    process: Process,
}

/// Ends the process whatever happens to the measurement.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

impl Life {
    /// Spawns a process for an event that is already waiting, as the one that causes a cold start is.
    pub(crate) async fn start(stack: &Stack, variant: &Variant) -> Result<(Self, Start), Failure> {
        let api = RuntimeApi::new("measured");
        let endpoint = api.endpoint().await?;
        let function = api.function();
        let payload = webhook(stack);
        let first = tokio::spawn({
            let function = function.clone();
            async move { function.invoke(payload, PATIENCE).await }
        });
        let mut command = Command::new(&variant.program);
        command
            .env_clear()
            .env("AWS_LAMBDA_RUNTIME_API", endpoint.address().to_string())
            .envs(variant.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::inherit());
        let spawned = Instant::now();
        let process = Process(command.spawn()?);
        answered(&variant.label, &first.await??)?;
        let since = |at: Option<Instant>| {
            at.map(|at| at.duration_since(spawned))
                .ok_or("it answered without having asked")
        };
        let start = Start {
            init: since(endpoint.first_next())?,
            first_response: since(endpoint.first_response())?,
            cpu: cpu(process.0.id())?,
            peak_kib: peak(process.0.id())?,
        };
        let life = Self {
            label: variant.label.clone(),
            function,
            _endpoint: endpoint,
            process,
        };
        Ok((life, start))
    }

    /// Handles so many events, one after another; says what CPU each of them cost.
    pub(crate) async fn events(&self, stack: &Stack, count: u32) -> Result<Duration, Failure> {
        let payloads: Vec<_> = (0..count).map(|_| webhook(stack)).collect();
        let before = cpu(self.process.0.id())?;
        for payload in payloads {
            answered(&self.label, &self.function.invoke(payload, PATIENCE).await?)?;
        }
        Ok((cpu(self.process.0.id())? - before) / count)
    }

    /// The most memory so far, in KiB.
    pub(crate) fn peak_kib(&self) -> Result<u64, Failure> {
        peak(self.process.0.id())
    }
}

fn answered(label: &str, reply: &str) -> Result<(), Failure> {
    let new = reply.contains("\"statusCode\":200") && reply.contains("new");
    new.then_some(())
        .ok_or_else(|| format!("{label} answered {reply}").into())
}

/// A signed delivery of an event that never came before.
fn webhook(stack: &Stack) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let (event, invoice) = (format!("evt_{number:020}"), format!("in_{number:020}"));
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let body = bodies::invoice_event(&event, &invoice, stack.body);
    bodies::delivery(&stack.config, &body, now.as_secs())
}

/// The CPU time of all threads, user and kernel, to the nanosecond; `/proc/<pid>/stat` counts in hundredths
/// of a second.
fn cpu(pid: u32) -> Result<Duration, Failure> {
    let mut nanoseconds = 0_u64;
    for task in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        let text = std::fs::read_to_string(task?.path().join("schedstat"))?;
        let on_cpu = text.split_whitespace().next().ok_or("an empty schedstat")?;
        nanoseconds += on_cpu.parse::<u64>()?;
    }
    Ok(Duration::from_nanos(nanoseconds))
}

fn peak(pid: u32) -> Result<u64, Failure> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .ok_or("no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

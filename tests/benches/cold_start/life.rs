//! One life of one process: started with a request waiting, measured, perhaps kept warm for a while, ended.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use lastword_local::function::Function;
use lastword_local::runtime_api::RuntimeApi;

use crate::stack::Stack;
use crate::{Failure, WARM_UP, bodies};

const PATIENCE: Duration = Duration::from_secs(20);
/// The size of every webhook here.
pub(crate) const BODY: usize = 4096;

/// What is run.
pub(crate) struct Variant {
    pub(crate) label: String,
    pub(crate) program: PathBuf,
    pub(crate) env: Vec<(String, String)>,
}

/// What is done with it.
pub(crate) struct Plan {
    /// How many warm events are counted, if any.
    pub(crate) warm: Option<u32>,
}

impl Plan {
    pub(crate) fn cold() -> Self {
        Self { warm: None }
    }
}

/// What was measured.
pub(crate) struct Lived {
    /// From the spawn to the first request for work.
    pub(crate) init: Duration,
    /// From the spawn to the first answer.
    pub(crate) first_response: Duration,
    /// CPU from the spawn to the first answer.
    pub(crate) first_cpu: Duration,
    /// The most memory until then, in KiB.
    pub(crate) peak_kib: u64,
    /// CPU of one warm event, and the peak after them.
    pub(crate) warm: Option<Warm>,
}

pub(crate) struct Warm {
    pub(crate) cpu: Duration,
    pub(crate) peak_kib: u64,
}

/// Ends the process whatever happens to the measurement.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

pub(crate) async fn live(stack: &Stack, variant: &Variant, plan: Plan) -> Result<Lived, Failure> {
    let api = RuntimeApi::new("measured");
    let endpoint = api.endpoint().await?;
    let function = api.function();
    // The request that causes a cold start is waiting when the process comes up.
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
    let running = Running(command.spawn()?);
    let pid = running.0.id();
    answered(&variant.label, &first.await??)?;
    let (first_cpu, peak_kib) = (cpu(pid)?, peak(pid)?);
    let since = |at: Option<Instant>| {
        at.map(|at| at.duration_since(spawned))
            .ok_or("it answered without having asked")
    };
    let warm = match plan.warm {
        None => None,
        Some(events) => Some(warm(stack, variant, &function, pid, events).await?),
    };
    Ok(Lived {
        init: since(endpoint.first_next())?,
        first_response: since(endpoint.first_response())?,
        first_cpu,
        peak_kib,
        warm,
    })
}

async fn warm(
    stack: &Stack,
    variant: &Variant,
    function: &Function,
    pid: u32,
    events: u32,
) -> Result<Warm, Failure> {
    let payloads: Vec<_> = (0..WARM_UP + events).map(|_| webhook(stack)).collect();
    let mut before = Duration::ZERO;
    for (number, payload) in (0..).zip(payloads) {
        if number == WARM_UP {
            before = cpu(pid)?;
        }
        answered(&variant.label, &function.invoke(payload, PATIENCE).await?)?;
    }
    Ok(Warm {
        cpu: (cpu(pid)? - before) / events,
        peak_kib: peak(pid)?,
    })
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
    let body = bodies::invoice_event(&event, &invoice, BODY);
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

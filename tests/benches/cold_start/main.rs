//! How long `ingest` takes to start and to answer, how large it is, and what a warm event costs it: each
//! beside a bare function built from the same libraries, and as a ratio to it.
//!
//! ```text
//! cargo bench -p lastword-tests --bench cold_start [-- --runs 15 --events 2000 --json --no-build]
//! ```
//!
//! Real release binaries poll a real Runtime API, with the embedded store as their DynamoDB and a parameter
//! store for their secrets, all on loopback over plain HTTP: no TLS, no distance, no throttled CPU. The
//! absolute figures are this machine's; the ratios are what is claimed.
#![allow(
    clippy::expect_used,
    missing_docs,
    reason = "a bench that cannot be set up has nothing to measure"
)]

mod arguments;
#[path = "../support/bodies.rs"]
mod bodies;
mod figures;
mod floor;
mod life;
#[path = "../support/pieces.rs"]
mod pieces;
mod report;
mod stack;

use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use arguments::Arguments;
use life::{Plan, Variant};
use report::Report;
use stack::Stack;

/// Whatever goes wrong, in words.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Warm events before any are counted.
const WARM_UP: u32 = 200;

fn main() -> ExitCode {
    let outcome = Arguments::read(std::env::args().skip(1)).and_then(|arguments| {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()?;
        let report = runtime.block_on(measure(&arguments))?;
        if arguments.json {
            println!("{:#}", report.json());
        } else {
            print!("{report}");
        }
        Ok(())
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("cold_start: {failure}");
            ExitCode::FAILURE
        }
    }
}

async fn measure(arguments: &Arguments) -> Result<Report, Failure> {
    if arguments.build {
        build()?;
    }
    let stack = Stack::start().await?;
    let mut variants = vec![
        stack.bare("bare", binary("lastword-bare")?),
        stack.ingest("ingest", binary("ingest")?),
        // The same binary with its secrets at hand: what asking the parameter store costs is the difference.
        stack.ingest_without_parameters("ingest, env secrets", binary("ingest")?),
    ];
    for (label, program) in &arguments.also {
        variants.push(stack.ingest(label, program.clone()));
    }
    let load_before = load();
    // The first run of each only fills caches.
    for variant in &variants {
        life::live(&stack, variant, Plan::cold()).await?;
    }
    let mut report = Report::new(&variants)?;
    for run in 0..arguments.runs {
        let warm = (run % arguments.warm_every == 0).then_some(arguments.events);
        for (at, variant) in in_turn(&variants, run) {
            let lived = life::live(&stack, variant, Plan { warm }).await?;
            report.add(at, &lived);
        }
        if !arguments.json {
            eprint!("\r  run {} of {}", run + 1, arguments.runs);
        }
    }
    if !arguments.json {
        eprintln!();
    }
    report.pieces = floor::pieces();
    report.load = format!("{load_before} -> {}", load());
    stack.stop().await;
    Ok(report)
}

/// Every run begins with another variant, so that none always comes after the same one.
fn in_turn(variants: &[Variant], run: usize) -> impl Iterator<Item = (usize, &Variant)> {
    let count = variants.len();
    variants
        .iter()
        .enumerate()
        .cycle()
        .skip(run % count)
        .take(count)
}

const BUILD: [&str; 6] = [
    "build",
    "--release",
    "-p",
    "lastword-ingest",
    "-p",
    "lastword-bare",
];

fn build() -> Result<(), Failure> {
    eprintln!("cargo {} (a fat link takes minutes)", BUILD.join(" "));
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(BUILD)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()?;
    status
        .success()
        .then_some(())
        .ok_or_else(|| format!("the build failed: {status}").into())
}

/// This program runs from `target/release/deps`; what is measured lies above it.
fn binary(name: &str) -> Result<PathBuf, Failure> {
    let own = std::env::current_exe()?;
    let release = own.ancestors().nth(2).ok_or("not in a target directory")?;
    let path = release.join(name);
    path.is_file().then_some(path).ok_or_else(|| {
        format!(
            "{name} is missing; build it with: cargo {}",
            BUILD.join(" ")
        )
        .into()
    })
}

fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(2).collect::<Vec<_>>().join(" ")
}

//! How long `ingest` takes to start and to answer, how large it is, and what a warm event costs it: each
//! beside a bare function built from the same libraries, and as a ratio to it.
//!
//! ```text
//! cargo bench -p lastword-tests --bench cold_start [-- --runs 15 --blocks 20 --json --no-build]
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
use life::{Life, Variant};
use report::Report;
use stack::Stack;

/// Whatever goes wrong, in words.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Warm events before any are counted.
const WARM_UP: u32 = 200;
/// Warm events counted at a time. All binaries take turns in blocks of this many, so that what else happens
/// on the machine meets them alike.
const BLOCK: u32 = 100;
/// Blocks of one process; then all are started anew, because no two layouts in memory cost quite the same.
const BLOCKS_PER_LIFE: usize = 4;

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
    let stack = Stack::start(arguments.body).await?;
    let mut variants = vec![
        stack.bare("bare", binary("lastword-bare")?),
        stack.bare_with_parameter("bare, one parameter", binary("lastword-bare")?)?,
        stack.ingest_without_parameters("ingest, env secrets", binary("ingest")?),
        stack
            .ingest("ingest, parameters", binary("ingest")?)
            .beside(1),
    ];
    for (label, program) in &arguments.also {
        variants.push(stack.ingest(label, program.clone()).beside(1));
    }
    let load_before = load();
    let mut report = Report::new(&variants, arguments.body)?;
    // The first start of each only fills caches.
    for variant in &variants {
        Life::start(&stack, variant).await?;
    }
    for run in 0..arguments.runs {
        for (at, variant) in in_turn(&variants, run) {
            let (_, start) = Life::start(&stack, variant).await?;
            report.started(at, &start);
        }
    }
    let mut left = arguments.blocks;
    while left > 0 {
        let blocks = left.min(BLOCKS_PER_LIFE);
        warm(&stack, &variants, blocks, &mut report).await?;
        left -= blocks;
    }
    report.pieces = floor::pieces(arguments.body);
    report.load = format!("{load_before} -> {}", load());
    stack.stop().await;
    Ok(report)
}

/// One process of each variant, side by side, taking turns.
async fn warm(
    stack: &Stack,
    variants: &[Variant],
    blocks: usize,
    report: &mut Report,
) -> Result<(), Failure> {
    let mut lives = Vec::new();
    for variant in variants {
        let (life, _) = Life::start(stack, variant).await?;
        life.events(stack, WARM_UP).await?;
        lives.push(life);
    }
    for block in 0..blocks {
        for (at, life) in in_turn(&lives, block) {
            report.warm(at, life.events(stack, BLOCK).await?);
        }
    }
    for (at, life) in lives.iter().enumerate() {
        report.warm_peak(at, life.peak_kib()?);
    }
    Ok(())
}

/// Every round begins with another one, so that none always comes after the same.
fn in_turn<T>(all: &[T], round: usize) -> impl Iterator<Item = (usize, &T)> {
    let count = all.len();
    all.iter()
        .enumerate()
        .cycle()
        .skip(round % count)
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

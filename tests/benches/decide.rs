//! The pure decisions, and the reading of a state into its meaning, which every observation needs first.
#![allow(
    clippy::expect_used,
    missing_docs,
    reason = "a bench that cannot be set up has nothing to measure"
)]

#[path = "support/bodies.rs"]
#[allow(dead_code, reason = "the other benches use the rest")]
mod bodies;

use divan::counter::{BytesCount, ItemsCount};
use divan::{AllocProfiler, Bencher, black_box};
use lastword_domain::decide::{Snapshot, Terms, conclude_read, conclude_versions};
use lastword_domain::{
    Conclusion, Content, Contents, Digest, EventRef, Json, Observation, Projection, Version,
};

#[global_allocator]
static ALLOCATIONS: AllocProfiler = AllocProfiler::system();

const SIZES: [usize; 2] = [1024, 16_384];

fn main() {
    divan::main();
}

fn text(seed: u64, size: usize) -> String {
    bodies::invoice_event(
        &format!("evt_{seed:020}"),
        "in_1LastwordBenchInvoice0",
        size,
    )
}

fn state(seed: u64, size: usize) -> Content {
    Content::Present(Json::parse(&text(seed, size)).expect("JSON"))
}

fn event(seed: u64) -> EventRef {
    EventRef::parse(&Digest::of(&seed.to_be_bytes()).to_text()).expect("a reference")
}

fn version(number: u64) -> Version {
    Version::parse(&number.to_string()).expect("a version")
}

fn held(seed: u64, size: usize) -> Projection {
    Projection {
        revision: Projection::unknown().revision.next(),
        contents: Some(Contents::one(state(seed, size))),
        ..Projection::unknown()
    }
}

const TERMS: Terms = Terms {
    can_read: false,
    comes_back: false,
};

/// What a state costs to read before anything is decided: it is parsed, and its meaning hashed.
#[divan::bench(args = SIZES)]
fn read_state(bencher: Bencher<'_, '_>, size: usize) {
    let text = text(1, size);
    bencher
        .counter(BytesCount::new(size))
        .bench_local(|| Json::parse(black_box(&text)));
}

#[divan::bench(args = SIZES)]
fn conclude_read_unchanged(bencher: Bencher<'_, '_>, size: usize) {
    let (held, signals) = (held(1, size), [event(1)]);
    bencher
        .with_inputs(|| seen(1, size))
        .bench_local_values(|seen| {
            let conclusion = conclude_read(black_box(&held), &signals, None, seen, TERMS);
            debug_assert!(matches!(conclusion, Conclusion::Quiet { .. }));
            conclusion
        });
}

#[divan::bench(args = SIZES)]
fn conclude_read_changed(bencher: Bencher<'_, '_>, size: usize) {
    let (held, signals) = (held(1, size), [event(1)]);
    bencher
        .with_inputs(|| seen(2, size))
        .bench_local_values(|seen| {
            let conclusion = conclude_read(black_box(&held), &signals, None, seen, TERMS);
            debug_assert!(matches!(conclusion, Conclusion::Change { .. }));
            conclusion
        });
}

fn seen(seed: u64, size: usize) -> Observation {
    Observation::Seen {
        content: state(seed, size),
        version: None,
        status: None,
        proof: None,
    }
}

/// Snapshots of 1 KB under different versions, the newest first.
#[divan::bench(args = [1, 100])]
fn conclude_versions_of_1_kb(bencher: Bencher<'_, '_>, count: u64) {
    let held = Projection {
        version: Some(version(1)),
        ..held(1, 1024)
    };
    let snapshot = |number: u64| Snapshot {
        event: event(number),
        version: version(number + 1),
        content: state(number, 1024),
    };
    let snapshots: Vec<_> = (1..=count).rev().map(snapshot).collect();
    let conclusion = conclude_versions(&held, &snapshots, TERMS);
    assert!(matches!(conclusion, Conclusion::Change { .. }));
    bencher
        .counter(ItemsCount::new(count))
        .bench_local(|| conclude_versions(black_box(&held), black_box(&snapshots), TERMS));
}

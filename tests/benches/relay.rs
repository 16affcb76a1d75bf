//! Relay's work on a full batch, without the network: 100 stream records to signals, and to messages.
#![allow(
    clippy::expect_used,
    missing_docs,
    reason = "a bench that cannot be set up has nothing to measure"
)]

#[path = "support/bodies.rs"]
mod bodies;
#[path = "support/noop.rs"]
mod noop;

use std::sync::Arc;

use divan::counter::ItemsCount;
use divan::{AllocProfiler, Bencher, black_box};
use lastword_domain::AnySignal;
use lastword_ingest::Ingest;
use lastword_ingest::keys::KeyRing;
use lastword_local::machine::made_up_secrets;
use lastword_queue::OutgoingMessage;
use lastword_relay::batch::{Batch, Coalesced, read, sequence};
use lastword_runtime::Level;
use lastword_runtime::telemetry::capture;
use lastword_store::{Inbox, Moment};
use serde_json::{Value, json};

use noop::Noop;

#[global_allocator]
static ALLOCATIONS: AllocProfiler = AllocProfiler::system();

const RECORDS: usize = 100;
const NOW: u64 = 1_796_065_200;
/// How many resources the batch is about.
const RESOURCES: [usize; 3] = [1, 10, 100];

fn main() {
    divan::main();
}

#[divan::bench(args = RESOURCES)]
fn to_signals(bencher: Bencher<'_, '_>, resources: usize) {
    let batch = batch(resources);
    assert_eq!(signals(&batch).len(), resources);
    bencher
        .counter(ItemsCount::new(RECORDS))
        .bench_local(|| signals(black_box(&batch)));
}

#[divan::bench(args = RESOURCES)]
fn to_messages(bencher: Bencher<'_, '_>, resources: usize) {
    let batch = batch(resources);
    bencher.counter(ItemsCount::new(RECORDS)).bench_local(|| {
        let signals = signals(black_box(&batch));
        signals
            .iter()
            .map(|signal| OutgoingMessage::new(signal).expect("a message"))
            .collect::<Vec<_>>()
    });
}

fn signals(batch: &str) -> Vec<AnySignal> {
    let batch: Batch<'_> = serde_json::from_str(batch).expect("a batch");
    let mut coalesced = Coalesced::default();
    for record in &batch.records {
        let at = sequence(record).expect("a sequence number");
        coalesced.add(read(record).expect("a record"), &at);
    }
    coalesced
        .arranged()
        .signals
        .into_iter()
        .map(|(signal, _)| signal)
        .collect()
}

/// A stream batch of rows as ingest itself writes them, of events of 2 KB.
fn batch(resources: usize) -> String {
    let _quiet = capture(Level::Info);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    let http = Noop::remembering();
    let config = bodies::config();
    let secrets = made_up_secrets(&config).expect("made up");
    let keys = KeyRing::fixed(&config, Arc::new(secrets)).expect("keys");
    let inbox = Inbox::new(http.clients().dynamodb(), "inbox");
    let clock = Arc::new(|| Moment::from_unix_ms(NOW * 1000));
    let ingest = Ingest::new(config.clone(), keys, inbox, clock);
    let record = |number: usize| {
        let (event, invoice) = (
            format!("evt_{number}"),
            format!("in_{}", number % resources),
        );
        let body = bodies::invoice_event(&event, &invoice, 2048);
        let reply = runtime.block_on(ingest.handle_text(&bodies::delivery(&config, &body, NOW)));
        assert_eq!(reply.status_code, 200, "{}", reply.body);
        let put: Value = serde_json::from_slice(&http.last_body()).expect("a request");
        let item = put.get("Item").expect("an item");
        json!({
            "eventID": format!("{number:032x}"),
            "eventName": "INSERT",
            "eventVersion": "1.1",
            "eventSource": "aws:dynamodb",
            "awsRegion": "eu-central-1",
            "dynamodb": {
                "ApproximateCreationDateTime": 1_796_065_200.0,
                "Keys": { "pk": item.get("pk"), "sk": item.get("sk") },
                "NewImage": item,
                "SequenceNumber": format!("1234567890000000000{number:07}"),
                "SizeBytes": 1800,
                "StreamViewType": "NEW_IMAGE",
            },
            "eventSourceARN": "arn:aws:dynamodb:eu-central-1:000000000000:table/inbox/stream/2026-11-30T00:00:00.000",
        })
    };
    json!({ "Records": (0..RECORDS).map(record).collect::<Vec<_>>() }).to_string()
}

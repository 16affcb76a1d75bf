//! Ingest's own work per event, beside what nobody can do without on the same bodies.
//!
//! * `handler`: `Ingest::handle_text`, all of it; only the network is missing (the SDK's connector answers at
//!   once) and the log line ends in a buffer.
//! * `floor_with_sdk`: the same event decoded, its HMAC checked, four members read, the body compressed, and
//!   an equal item put through an equal client.
//! * `floor_pieces`: HMAC, four members and compression alone.
//! * `decode`: the gateway's event to a delivery, as the handler does it; `floor_decode`: the same members read
//!   straight into borrowed text, once.
#![allow(
    clippy::expect_used,
    missing_docs,
    reason = "a bench that cannot be set up has nothing to measure"
)]

#[path = "support/bodies.rs"]
mod bodies;
#[path = "support/noop.rs"]
mod noop;
#[path = "support/pieces.rs"]
mod pieces;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::{
    AttributeValue, ReturnConsumedCapacity, ReturnValuesOnConditionCheckFailure,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use divan::counter::BytesCount;
use divan::{AllocProfiler, Bencher, black_box};
use lambda_http::request::LambdaRequest;
use lastword_ingest::Ingest;
use lastword_ingest::keys::KeyRing;
use lastword_ingest::request::Delivery;
use lastword_local::machine::made_up_secrets;
use lastword_runtime::Level;
use lastword_runtime::telemetry::capture;
use lastword_store::{Inbox, Moment};
use serde::Deserialize;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use noop::Noop;
use pieces::Pieces;

#[global_allocator]
static ALLOCATIONS: AllocProfiler = AllocProfiler::system();

const SIZES: [usize; 3] = [1024, 4096, 65_536];
const NOW: u64 = 1_796_065_200;
const TABLE: &str = "inbox";

fn main() {
    divan::main();
}

fn runtime() -> Runtime {
    Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime")
}

fn body(size: usize) -> String {
    bodies::invoice_event(
        "evt_1LastwordBenchEvent00",
        "in_1LastwordBenchInvoice0",
        size,
    )
}

fn ingest(http: &Noop) -> Ingest {
    let config = bodies::config();
    let secrets = made_up_secrets(&config).expect("made up");
    let keys = KeyRing::fixed(&config, Arc::new(secrets)).expect("keys");
    let inbox = Inbox::new(http.clients().dynamodb(), TABLE);
    Ingest::new(
        config,
        keys,
        inbox,
        Arc::new(|| Moment::from_unix_ms(NOW * 1000)),
    )
}

#[divan::bench(args = SIZES)]
fn handler(bencher: Bencher<'_, '_>, size: usize) {
    let _quiet = capture(Level::Info);
    let runtime = runtime();
    let ingest = ingest(&Noop::default());
    let event = bodies::delivery(&bodies::config(), &body(size), NOW);
    let reply = runtime.block_on(ingest.handle_text(&event));
    assert_eq!(reply.status_code, 200, "{}", reply.body);
    assert!(reply.body.contains("new"), "{}", reply.body);
    bencher
        .counter(BytesCount::new(size))
        .bench_local(|| runtime.block_on(ingest.handle_text(black_box(&event))));
}

#[divan::bench(args = SIZES)]
fn floor_with_sdk(bencher: Bencher<'_, '_>, size: usize) {
    let runtime = runtime();
    let body = body(size);
    let event = bodies::delivery(&bodies::config(), &body, NOW);
    let item = stored_item(&runtime, &event);
    let pieces = Pieces::new();
    let signature = pieces.sign(body.as_bytes());
    let client = Noop::default().clients().dynamodb();
    let once = async || {
        let decoded: LambdaRequest = serde_json::from_str(black_box(&event)).expect("an event");
        let LambdaRequest::ApiGatewayV2(decoded) = decoded else {
            return 0;
        };
        let body = decoded.body.unwrap_or_default();
        let done = pieces.all(&body, &signature);
        let put = client
            .put_item()
            .table_name(TABLE)
            .set_item(Some(item.clone()))
            .condition_expression("attribute_not_exists(pk)")
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        done + usize::from(put.send().await.is_ok())
    };
    assert!(runtime.block_on(once()) > 1);
    bencher
        .counter(BytesCount::new(size))
        .bench_local(|| runtime.block_on(once()));
}

#[divan::bench(args = SIZES)]
fn floor_pieces(bencher: Bencher<'_, '_>, size: usize) {
    let body = body(size);
    let pieces = Pieces::new();
    let signature = pieces.sign(body.as_bytes());
    bencher
        .counter(BytesCount::new(size))
        .bench_local(|| pieces.all(black_box(&body), &signature));
}

#[divan::bench(args = SIZES)]
fn decode(bencher: Bencher<'_, '_>, size: usize) {
    let event = bodies::delivery(&bodies::config(), &body(size), NOW);
    assert!(Delivery::parse(&event).is_ok());
    bencher
        .counter(BytesCount::new(size))
        .bench_local(|| Delivery::parse(black_box(&event)));
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event<'a> {
    #[serde(borrow)]
    raw_path: Cow<'a, str>,
    #[serde(borrow)]
    headers: HashMap<Cow<'a, str>, Cow<'a, str>>,
    #[serde(borrow)]
    request_context: RequestContext<'a>,
    body: String,
    is_base64_encoded: bool,
}

#[derive(Deserialize)]
struct RequestContext<'a> {
    #[serde(borrow)]
    http: Http<'a>,
}

#[derive(Deserialize)]
struct Http<'a> {
    #[serde(borrow)]
    method: Cow<'a, str>,
}

#[divan::bench(args = SIZES)]
fn floor_decode(bencher: Bencher<'_, '_>, size: usize) {
    let event = bodies::delivery(&bodies::config(), &body(size), NOW);
    bencher.counter(BytesCount::new(size)).bench_local(|| {
        let event: Event<'_> = serde_json::from_str(black_box(&event)).expect("an event");
        let what = event.raw_path.len() + event.request_context.http.method.len();
        assert!(what > 0 && !event.is_base64_encoded && !event.headers.is_empty());
        event.body
    });
}

/// The item that ingest itself puts for this event, read back from its request.
fn stored_item(runtime: &Runtime, event: &str) -> HashMap<String, AttributeValue> {
    let http = Noop::remembering();
    let _quiet = capture(Level::Info);
    let reply = runtime.block_on(ingest(&http).handle_text(event));
    assert_eq!(reply.status_code, 200, "{}", reply.body);
    let request: Value = serde_json::from_slice(&http.last_body()).expect("a request");
    let item = request
        .get("Item")
        .and_then(Value::as_object)
        .expect("an item");
    item.iter()
        .map(|(name, value)| (name.clone(), attribute(value)))
        .collect()
}

fn attribute(value: &Value) -> AttributeValue {
    let object = value.as_object().expect("an attribute");
    let (kind, value) = object.iter().next().expect("its one member");
    let text = || value.as_str().expect("a text").to_owned();
    match kind.as_str() {
        "N" => AttributeValue::N(text()),
        "B" => AttributeValue::B(Blob::new(STANDARD.decode(text()).expect("base64"))),
        "L" => {
            let items = value.as_array().expect("a list");
            AttributeValue::L(items.iter().map(attribute).collect())
        }
        "M" => {
            let members = value.as_object().expect("a map").iter();
            AttributeValue::M(
                members
                    .map(|(name, v)| (name.clone(), attribute(v)))
                    .collect(),
            )
        }
        _ => AttributeValue::S(text()),
    }
}

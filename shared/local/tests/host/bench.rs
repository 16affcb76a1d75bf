//! What the tests share: one table with a stream, one queue, functions that remember; asserts nothing.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, BillingMode, KeySchemaElement, KeyType,
    ScalarAttributeType, StreamSpecification, StreamViewType,
};
use lastword_local::{
    function::{Function, FunctionError, Invocation},
    mapping::{Tally, until},
    stores::{Place, QueuePair, QueueSpec, Stores, create_queue_pair},
};
use serde_json::{Value, json};
use tokio::time::timeout;

/// No condition of a test may take longer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Waits until `condition` holds.
pub(crate) async fn eventually(what: &str, condition: impl AsyncFnMut() -> bool) {
    assert!(
        timeout(PATIENCE, until(condition)).await.is_ok(),
        "never happened: {what}"
    );
}

pub(crate) async fn stores() -> Stores {
    Stores::start(Place::Temporary).await.unwrap()
}

/// Makes the table `things` and answers its stream.
pub(crate) async fn table(stores: &Stores) -> String {
    let made = stores
        .dynamodb()
        .create_table()
        .table_name("things")
        .attribute_definitions(
            AttributeDefinition::builder()
                .attribute_name("pk")
                .attribute_type(ScalarAttributeType::S)
                .build()
                .unwrap(),
        )
        .key_schema(
            KeySchemaElement::builder()
                .attribute_name("pk")
                .key_type(KeyType::Hash)
                .build()
                .unwrap(),
        )
        .billing_mode(BillingMode::PayPerRequest)
        .stream_specification(
            StreamSpecification::builder()
                .stream_enabled(true)
                .stream_view_type(StreamViewType::NewAndOldImages)
                .build()
                .unwrap(),
        )
        .send()
        .await
        .unwrap();
    made.table_description.unwrap().latest_stream_arn.unwrap()
}

pub(crate) async fn put(stores: &Stores, key: &str) {
    stores
        .dynamodb()
        .put_item()
        .table_name("things")
        .item("pk", AttributeValue::S(key.to_owned()))
        .send()
        .await
        .unwrap();
}

/// A FIFO queue whose messages come back after `visibility` seconds.
pub(crate) async fn queue(stores: &Stores, visibility: u64, receives: u32) -> QueuePair {
    let spec = QueueSpec {
        name: "signals.fifo".to_owned(),
        dead_letter_name: "signals-dead.fifo".to_owned(),
        visibility_timeout: Duration::from_secs(visibility),
        max_receive_count: receives,
    };
    create_queue_pair(&stores.sqs(), &spec).await.unwrap()
}

pub(crate) async fn send(client: &aws_sdk_sqs::Client, url: &str, group: &str, body: &str) {
    client
        .send_message()
        .queue_url(url)
        .message_group_id(group)
        .message_deduplication_id(body)
        .message_body(body)
        .send()
        .await
        .unwrap();
}

/// The keys of the records in a stream event.
pub(crate) fn keys(event: &Value) -> Vec<String> {
    texts(event, |record| &record["dynamodb"]["Keys"]["pk"]["S"])
}

/// The bodies of the records in a queue event.
pub(crate) fn bodies(event: &Value) -> Vec<String> {
    texts(event, |record| &record["body"])
}

fn texts(event: &Value, pick: impl Fn(&Value) -> &Value) -> Vec<String> {
    let records = event["Records"].as_array().unwrap();
    records
        .iter()
        .map(|record| pick(record).as_str().unwrap().to_owned())
        .collect()
}

/// A report that names the records of `event` at `pointer` for which `failed` holds.
pub(crate) fn report(event: &Value, pointer: &str, failed: impl Fn(&Value) -> bool) -> String {
    let failures: Vec<Value> = event["Records"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|record| failed(record))
        .map(|record| json!({ "itemIdentifier": record.pointer(pointer) }))
        .collect();
    json!({ "batchItemFailures": failures }).to_string()
}

/// The events a function was invoked with, in order.
#[derive(Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<Vec<Value>>>);

impl Seen {
    pub(crate) fn all(&self) -> Vec<Value> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn keys(&self) -> Vec<Vec<String>> {
        self.all().iter().map(keys).collect()
    }

    pub(crate) fn bodies(&self) -> Vec<Vec<String>> {
        self.all().iter().map(bodies).collect()
    }
}

/// A function that remembers each event and answers what `reply` says; it is told how many came before.
pub(crate) fn remembering<R>(reply: R) -> (Function, Seen)
where
    R: Fn(&Value, usize) -> Result<String, FunctionError> + Send + Sync + 'static,
{
    let seen = Seen::default();
    let memory = seen.clone();
    let function = Function::in_process("remembering", move |invocation: Invocation| {
        let event: Value = serde_json::from_str(&invocation.payload).unwrap();
        let before = {
            let mut events = memory.0.lock().unwrap();
            events.push(event.clone());
            events.len() - 1
        };
        let reply = reply(&event, before);
        async move { reply }
    });
    (function, seen)
}

pub(crate) fn tally(invocations: u64, accepted: u64, failed: u64, set_aside: u64) -> Tally {
    Tally {
        invocations,
        accepted,
        failed,
        set_aside,
    }
}

//! The samples in `events/`: they are what the code makes and takes today, and each does what it is for.
//!
//! `LASTWORD_BLESS=1` writes them anew.

use std::path::PathBuf;

use base64::Engine as _;
use lastword_domain::SubjectKey;
use lastword_domain::name::{SubjectId, SubjectKind};
use lastword_local::machine::{Machine, Worker, gateway_event, made_up_secrets};
use lastword_local::stores::Place;
use serde_json::{Value, json};

use crate::world::{NOW, order, says, story};

const CONFIG: &str = include_str!("../../events/lastword.toml");

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../events")
}

/// Compares a sample with what it should be, or writes it.
pub fn sample(name: &str, made: &str) -> String {
    let path = folder().join(name);
    if std::env::var_os("LASTWORD_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, made).unwrap();
    }
    let kept = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{name}: {error}; LASTWORD_BLESS=1 writes it"));
    assert_eq!(
        kept, made,
        "{name} is not what the code makes; LASTWORD_BLESS=1 writes it anew"
    );
    kept
}

pub fn pretty(text: &str) -> String {
    let value: Value = serde_json::from_str(text).unwrap();
    serde_json::to_string_pretty(&value).unwrap() + "\n"
}

async fn machine() -> Machine {
    Machine::start(Place::Temporary, CONFIG, NOW).await.unwrap()
}

const SUBSCRIPTION: &str = r#"{"id":"evt_sample_1","object":"event","type":"customer.subscription.deleted","created":1796065200,"livemode":false,"data":{"object":{"id":"sub_sample","object":"subscription","status":"canceled"}}}"#;
const ISSUE: &str = r#"{"action":"opened","issue":{"id":1,"number":7,"title":"A sample"},"repository":{"id":186853002,"name":"sample","owner":{"id":21031067,"login":"someone"}}}"#;
const ORDER: &str = r#"{"id":"erp-1","type":"order.cancelled","order":{"id":"o-1","version":3,"status":"cancelled"}}"#;

fn ingest_samples(machine: &Machine) -> Vec<(&'static str, String)> {
    let github = [
        ("X-GitHub-Event", "issues"),
        ("X-GitHub-Delivery", "0b989ba4-242f-11e5-81e1-c7b6966d2516"),
    ];
    let order_event = machine.signed("erp", &[], ORDER).unwrap();
    vec![
        (
            "ingest/stripe-subscription-deleted.http-api.json",
            machine.signed("billing", &[], SUBSCRIPTION).unwrap(),
        ),
        (
            "ingest/github-issue-opened.http-api.json",
            machine.signed("code", &github, ISSUE).unwrap(),
        ),
        (
            "ingest/erp-order-cancelled.http-api.json",
            order_event.clone(),
        ),
        (
            "ingest/erp-order-cancelled.rest-api.json",
            rest(&order_event),
        ),
        (
            "ingest/erp-order-cancelled.function-url.json",
            function_url(&order_event),
        ),
    ]
}

fn rest(event: &str) -> String {
    let event: Value = serde_json::from_str(event).unwrap();
    let headers = event["headers"].as_object().unwrap();
    let values: serde_json::Map<_, _> = headers
        .iter()
        .map(|(name, value)| (name.clone(), json!([value])))
        .collect();
    json!({
        "resource": "/webhooks/{integration}", "path": event["rawPath"], "httpMethod": "POST",
        "headers": headers, "multiValueHeaders": values,
        "queryStringParameters": null, "multiValueQueryStringParameters": null,
        "pathParameters": {"integration": "erp"}, "stageVariables": null,
        "requestContext": {
            "accountId": "000000000000", "apiId": "local", "httpMethod": "POST",
            "identity": {"sourceIp": "127.0.0.1", "userAgent": "lastword"}, "path": "/prod/webhooks/erp",
            "protocol": "HTTP/1.1", "requestId": "local", "requestTimeEpoch": 1_796_065_200_000_u64,
            "resourceId": "local", "resourcePath": "/webhooks/{integration}", "stage": "prod",
        },
        "body": event["body"], "isBase64Encoded": false,
    })
    .to_string()
}

fn function_url(event: &str) -> String {
    let mut event: Value = serde_json::from_str(event).unwrap();
    let body = event["body"].as_str().unwrap().to_owned();
    event["body"] = json!(base64::engine::general_purpose::STANDARD.encode(body));
    event["isBase64Encoded"] = json!(true);
    event["routeKey"] = json!("$default");
    event["requestContext"]["routeKey"] = json!("$default");
    event["requestContext"]["domainName"] = json!("local.lambda-url.us-east-1.on.aws");
    event.to_string()
}

#[tokio::test]
async fn every_ingest_sample_is_acknowledged() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    for (name, made) in ingest_samples(&machine) {
        let kept = sample(name, &pretty(&made));
        let reply = worker.ingest.handle_text(&kept).await;
        assert_eq!(reply.status_code, 200, "{name}: {}", reply.body);
    }
}

const CHANGE: &str = r#"{"notificationType":"ResourceUpdated","projectKey":"sample-project","resource":{"typeId":"order","id":"o-1"},"version":3,"oldVersion":2,"modifiedAt":"2026-11-30T19:00:00.000Z"}"#;

/// A GET by which a subscription is confirmed.
fn handshake() -> String {
    let config = lastword_config::Config::parse("events/lastword.toml", CONFIG).unwrap();
    let messages = config.integration("messages").unwrap();
    let reference = messages.handshake_token.as_ref().unwrap();
    let token = made_up_secrets(&config).unwrap()[reference]
        .expose()
        .to_owned();
    let event = gateway_event("/webhooks/messages", &json!({}), "");
    let mut event: Value = serde_json::from_str(&event).unwrap();
    event["requestContext"]["http"]["method"] = json!("GET");
    event["routeKey"] = json!("GET /webhooks/{integration}");
    event["requestContext"]["routeKey"] = json!("GET /webhooks/{integration}");
    event["rawQueryString"] = json!(format!(
        "hub.mode=subscribe&hub.verify_token={token}&hub.challenge=1158201444"
    ));
    event.as_object_mut().unwrap().remove("body");
    event.to_string()
}

fn feed_samples() -> [(&'static str, String, Value); 2] {
    let message = json!({"Records": [{
        "messageId": "00000000-0000-4000-8000-000000000000", "receiptHandle": "sample-receipt", "body": CHANGE,
        "attributes": {"ApproximateReceiveCount": "1"}, "messageAttributes": {},
        "md5OfBody": "00000000000000000000000000000000", "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:sample-feed", "awsRegion": "us-east-1",
    }]});
    let event = json!({
        "version": "0", "id": "00000000-0000-4000-8000-000000000000", "detail-type": "ResourceUpdated",
        "source": "aws.partner/commercetools.com/sample-project/lastword", "account": "000000000000",
        "time": "2026-11-30T19:00:00Z", "region": "us-east-1", "resources": [],
        "detail": serde_json::from_str::<Value>(CHANGE).unwrap(),
    });
    [
        (
            "ingest/commercetools-order-updated.sqs.json",
            message.to_string(),
            json!({"batchItemFailures": []}),
        ),
        (
            "ingest/commercetools-order-updated.event-bus.json",
            event.to_string(),
            json!({}),
        ),
    ]
}

#[tokio::test]
async fn the_samples_that_are_no_delivery_are_served_too() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    let kept = sample(
        "ingest/whatsapp-handshake.http-api.json",
        &pretty(&handshake()),
    );
    let reply = worker.ingest.handle_text(&kept).await;
    assert_eq!(
        (reply.status_code, reply.body.as_str()),
        (200, "1158201444")
    );
    for (name, made, expected) in feed_samples() {
        let kept = sample(name, &pretty(&made));
        let served = worker.ingest.serve(&kept).await.unwrap();
        assert_eq!(serde_json::to_value(&served).unwrap(), expected, "{name}");
    }
}

#[tokio::test]
async fn the_stream_sample_becomes_a_signal_and_the_queue_sample_a_decision() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    machine.deliver(&worker, "erp", &[], ORDER).await.unwrap();
    let stream = sample(
        "relay/inbox-stream.json",
        &pretty(&steady(&machine.stream_event(100).await.unwrap().unwrap())),
    );
    assert_eq!(
        worker
            .relay
            .handle_text(&stream)
            .await
            .unwrap()
            .batch_item_failures,
        []
    );
    let received = machine.receive().await.unwrap().unwrap();
    let queue = sample("reconcile/signals.json", &pretty(&steady(&received.event)));
    let reply = worker
        .reconcile
        .handle_text(&queue, std::time::Duration::from_secs(20))
        .await
        .unwrap();
    assert_eq!(reply.batch_item_failures, []);
    assert_eq!(
        says(&story(&machine, &worker, &order("o-1")).await),
        "cancelled"
    );
    a_member_s_change_becomes_its_subject_s_decision(&machine, &worker).await;
}

async fn a_member_s_change_becomes_its_subject_s_decision(machine: &Machine, worker: &Worker) {
    let stream = machine.state_event(100).await.unwrap().unwrap();
    let stream = sample("relay/state-stream.json", &pretty(&steady(&stream)));
    let reply = worker.relay.handle_text(&stream).await.unwrap();
    assert_eq!(reply.batch_item_failures, []);
    // The queue keeps back what follows a message of the same group; this group has another.
    let received = machine.receive().await.unwrap().unwrap();
    let queue = sample(
        "reconcile/subject-signals.json",
        &pretty(&steady(&received.event)),
    );
    let time = std::time::Duration::from_secs(20);
    let reply = worker.reconcile.handle_text(&queue, time).await.unwrap();
    assert_eq!(reply.batch_item_failures, []);
    let subject = SubjectKey {
        kind: SubjectKind::parse("order").unwrap(),
        id: SubjectId::parse("o-1").unwrap(),
    };
    let story = worker.state.subject_story(&subject).await.unwrap();
    assert_eq!(
        story.loaded.meaning.verdict.unwrap().as_str(),
        r#"{"allowed":[],"data":{},"state":"cancelled"}"#
    );
    a_fact_s_effect_is_sent(machine, worker).await;
}

/// The effects' queue, and everything that the bus is told.
async fn a_fact_s_effect_is_sent(machine: &Machine, worker: &Worker) {
    let received = machine.receive_effects().await.unwrap().unwrap();
    let queue = sample("dispatch/effects.json", &pretty(&steady(&received.event)));
    let time = std::time::Duration::from_secs(60);
    let reply = worker.dispatch.handle_text(&queue, time).await.unwrap();
    assert_eq!(reply.batch_item_failures, []);
    let effects = story(machine, worker, &order("o-1")).await.effects;
    let statuses: Vec<_> = effects
        .iter()
        .map(|effect| effect.status.as_str())
        .collect();
    assert_eq!(statuses, ["done"]);
    // The subject's own change is told too.
    while machine.relay(worker, 100).await.unwrap() > 0 {}
    let mut told: Vec<_> = machine.bus.entries();
    told.sort_by(|one, other| one.detail_type.cmp(&other.detail_type));
    told.dedup();
    let kinds: Vec<_> = told
        .iter()
        .map(|entry| entry.detail_type.as_str())
        .collect();
    assert_eq!(
        kinds,
        [
            "Lastword Effect",
            "Lastword Fact Recorded",
            "Lastword Resource Changed",
            "Lastword Subject Decided",
        ]
    );
    for entry in told {
        let name = entry.detail_type.to_lowercase().replace(' ', "-");
        let detail: Value = serde_json::from_str(&entry.detail).unwrap();
        let event = json!({
            "version": "0", "id": "00000000-0000-4000-8000-000000000000",
            "source": entry.source, "detail-type": entry.detail_type,
            "account": "000000000000", "time": "2026-11-30T19:00:00Z", "region": "us-east-1",
            "resources": [], "detail": detail,
        });
        sample(&format!("bus/{name}.json"), &pretty(&event.to_string()));
    }
}

#[test]
fn the_secrets_of_the_samples_are_the_ones_that_signed_them() {
    let config = lastword_config::Config::parse("events/lastword.toml", CONFIG).unwrap();
    let lines: Vec<_> = made_up_secrets(&config)
        .unwrap()
        .iter()
        .map(|(reference, value)| format!("{}={}\n", reference.name(), value.expose()))
        .collect();
    sample("sample.env", &lines.concat());
}

/// Replaces what differs from run to run by the embedded stores' own doing.
fn steady(event: &str) -> String {
    let mut event: Value = serde_json::from_str(event).unwrap();
    for (number, record) in event["Records"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .enumerate()
    {
        for (name, value) in record.as_object_mut().unwrap() {
            match name.as_str() {
                "messageId" => *value = json!(format!("00000000-0000-4000-8000-{number:012}")),
                "receiptHandle" => *value = json!("sample-receipt"),
                "eventID" => *value = json!(format!("sample-{number}")),
                "eventSourceARN" => {
                    let table = match value.as_str().unwrap().contains("state") {
                        true => "lastword-state",
                        false => "lastword-inbox",
                    };
                    *value = json!(format!(
                        "arn:aws:dynamodb:us-east-1:000000000000:table/{table}/stream/sample"
                    ));
                }
                "awsRegion" => *value = json!("us-east-1"),
                "dynamodb" => {
                    value["ApproximateCreationDateTime"] = json!(1_796_065_200);
                    value["SequenceNumber"] = json!(format!("{:021}", number + 1));
                }
                _ => {}
            }
        }
    }
    event.to_string()
}

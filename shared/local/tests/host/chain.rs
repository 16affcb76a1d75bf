//! Gateway, table, stream, relay, queue and consumer together, and what survives when they all die.

use std::path::Path;

use aws_sdk_dynamodb::types::AttributeValue;
use lastword_local::{
    function::{Function, Invocation},
    gateway::{Gateway, GatewayConfig},
    mapping::{
        QueueMapping, QueueMappingConfig, Settles, StreamMapping, StreamMappingConfig, settle,
    },
    stores::{Place, QueueGauge, QueuePair, Stores},
};
use serde_json::Value;

use crate::bench::{self, Seen, keys, put, remembering};

/// Sends one message per record: the key, in a group of its own.
fn relay(stores: &Stores, queue: &QueuePair) -> Function {
    let (client, url) = (stores.sqs(), queue.url.clone());
    Function::in_process("relay", move |invocation: Invocation| {
        let (client, url) = (client.clone(), url.clone());
        async move {
            let event: Value = serde_json::from_str(&invocation.payload).unwrap();
            for key in keys(&event) {
                bench::send(&client, &url, &key, &key).await;
            }
            Ok(String::new())
        }
    })
}

async fn upstream(stores: &Stores, stream: &str, queue: &QueuePair, file: &Path) -> StreamMapping {
    let config = StreamMappingConfig {
        position_file: Some(file.to_owned()),
        downstream: vec![QueueGauge::new(stores.sqs(), &queue.url)],
        ..StreamMappingConfig::new("relay", stream)
    };
    StreamMapping::start(stores.streams(), relay(stores, queue), config).await
}

async fn downstream(stores: &Stores, queue: &QueuePair) -> (QueueMapping, Seen) {
    let (function, seen) = remembering(|_, _| Ok(String::new()));
    let config = QueueMappingConfig::new("consumer", &queue.url, &queue.arn);
    (
        QueueMapping::start(stores.sqs(), function, config).await,
        seen,
    )
}

fn sorted(seen: &Seen) -> Vec<String> {
    let mut bodies: Vec<String> = seen.bodies().into_iter().flatten().collect();
    bodies.sort();
    bodies
}

#[tokio::test]
async fn what_is_posted_is_consumed_when_everything_has_settled() {
    let stores = bench::stores().await;
    let stream = bench::table(&stores).await;
    let queue = bench::queue(&stores, 30, 5).await;
    let first = upstream(&stores, &stream, &queue, &stores.directory().join("p.json")).await;
    let (second, seen) = downstream(&stores, &queue).await;
    let client = stores.dynamodb();
    let ingest = Function::in_process("ingest", move |invocation: Invocation| {
        let client = client.clone();
        async move {
            let event: Value = serde_json::from_str(&invocation.payload).unwrap();
            let key = AttributeValue::S(event["rawPath"].as_str().unwrap()[1..].to_owned());
            client
                .put_item()
                .table_name("things")
                .item("pk", key)
                .send()
                .await
                .unwrap();
            Ok(r#"{"statusCode":202}"#.to_owned())
        }
    });
    let gateway = Gateway::start(GatewayConfig::new(ingest)).await.unwrap();
    let mut expected = Vec::new();
    for number in 0..20 {
        let url = format!("{}/k{number:02}", gateway.url());
        let (status, ..) = crate::gateway::call(http::Method::POST, url, &[], "{}").await;
        assert_eq!(status, http::StatusCode::ACCEPTED);
        expected.push(format!("k{number:02}"));
    }
    settle(&[&first, &second]).await;
    assert_eq!(sorted(&seen), expected);
}

#[tokio::test]
async fn what_was_queued_when_the_process_died_is_queued_again_after_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let place = Place::Directory(directory.path().to_owned());
    let file = directory.path().join("relay.json");
    let stream = {
        let stores = Stores::start(place.clone()).await.unwrap();
        let stream = bench::table(&stores).await;
        let queue = bench::queue(&stores, 30, 5).await;
        let first = upstream(&stores, &stream, &queue, &file).await;
        let (second, _) = downstream(&stores, &queue).await;
        put(&stores, "consumed").await;
        settle(&[&first, &second]).await;
        bench::eventually("the position is saved", async || {
            first.saved() == first.accepted()
        })
        .await;
        second.pause().await;
        put(&stores, "queued").await;
        first.idle().await;
        assert_eq!(second.gauge().depth().await.unwrap().visible, 1);
        stream
        // Everything is dropped here, as it stands.
    };
    let stores = Stores::start(place).await.unwrap();
    let queue = bench::queue(&stores, 30, 5).await;
    assert!(
        QueueGauge::new(stores.sqs(), &queue.url)
            .is_empty()
            .await
            .unwrap()
    );
    let first = upstream(&stores, &stream, &queue, &file).await;
    let (second, seen) = downstream(&stores, &queue).await;
    settle(&[&first, &second]).await;
    assert_eq!(sorted(&seen), ["queued"]);
}

//! Where a mapping goes on after a crash, and what may be saved of it when.

use std::{sync::Arc, time::Duration};

use axum::{Router, routing::post};
use lastword_local::{
    clients,
    function::{Function, Invocation},
    mapping::{Settles, StreamMappingConfig},
    stores::QueueGauge,
};
use serde_json::Value;
use tokio::{net::TcpListener, sync::Notify};

use crate::{
    bench::{self, eventually, keys, put, remembering, report},
    stream::{SEQUENCE, five, is, start},
};

#[tokio::test]
async fn the_persisted_position_never_passes_a_message_that_is_still_queued() {
    let (stores, config) = five().await;
    let queue = bench::queue(&stores, 30, 5).await;
    let (client, url) = (stores.sqs(), queue.url.clone());
    let relay = Function::in_process("relay", move |invocation: Invocation| {
        let (client, url) = (client.clone(), url.clone());
        async move {
            let event: Value = serde_json::from_str(&invocation.payload).unwrap();
            for key in keys(&event) {
                bench::send(&client, &url, &key, &invocation.request_id).await;
            }
            Ok(String::new())
        }
    });
    let file = stores.directory().join("relay.json");
    let config = StreamMappingConfig {
        position_file: Some(file.clone()),
        downstream: vec![QueueGauge::new(stores.sqs(), &queue.url)],
        ..config
    };
    let mapping = start(&stores, relay, config).await;
    mapping.idle().await;
    assert!(!mapping.accepted().is_empty());

    // Queued: visible, then received but not deleted. Neither may be passed, not even by a clean stop.
    mapping.pause().await;
    assert!(mapping.saved().is_empty() && !file.exists());
    let received = stores
        .sqs()
        .receive_message()
        .queue_url(&queue.url)
        .max_number_of_messages(10);
    let received = received.send().await.unwrap().messages.unwrap();
    assert_eq!(received.len(), 5);
    mapping.resume().await;
    put(&stores, "f").await;
    mapping.idle().await;
    mapping.crash().await;
    assert!(mapping.saved().is_empty());

    // The crash forgot what was accepted: everything comes again, and once it is consumed, it is saved.
    mapping.resume().await;
    mapping.idle().await;
    assert_eq!(mapping.tally().invocations, 3);
    let gauge = QueueGauge::new(stores.sqs(), &queue.url);
    stores
        .sqs()
        .purge_queue()
        .queue_url(&queue.url)
        .send()
        .await
        .unwrap();
    eventually("the position is saved", async || {
        mapping.saved() == mapping.accepted()
    })
    .await;
    assert!(gauge.is_empty().await.unwrap() && file.exists());
    mapping.crash().await;
    mapping.resume().await;
    mapping.idle().await;
    assert_eq!(
        mapping.tally().invocations,
        3,
        "nothing behind the saved position comes again"
    );
}

#[tokio::test]
async fn what_a_report_left_behind_is_not_sent_again_after_a_crash() {
    let (stores, config) = five().await;
    let (function, seen) =
        remembering(|event, before| Ok(report(event, SEQUENCE, |r| before == 0 && is(r, "c"))));
    let config = StreamMappingConfig {
        // Long enough that the crash comes before the retry.
        retry_pause: Duration::from_secs(60),
        bisect_on_function_error: false,
        ..config
    };
    let mapping = start(&stores, function, config).await;
    eventually("the report", async || mapping.tally().failed == 1).await;
    mapping.crash().await;
    mapping.resume().await;
    mapping.idle().await;
    assert_eq!(
        seen.keys(),
        [vec!["a", "b", "c", "d", "e"], vec!["c", "d", "e"]]
    );
}

/// An SQS that says "empty", but only when it is let.
async fn slow_gauge(asked: Arc<Notify>, answer: Arc<Notify>) -> QueueGauge {
    let handler = move || {
        let (asked, answer) = (Arc::clone(&asked), Arc::clone(&answer));
        async move {
            asked.notify_one();
            answer.notified().await;
            r#"{"Attributes":{"ApproximateNumberOfMessages":"0",
                "ApproximateNumberOfMessagesNotVisible":"0",
                "ApproximateNumberOfMessagesDelayed":"0"}}"#
        }
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new().route("/", post(handler));
    tokio::spawn(async move { axum::serve(listener, router).await });
    QueueGauge::new(clients::sqs(&url), format!("{url}/0/queue"))
}

#[tokio::test]
async fn what_is_accepted_after_the_queue_was_looked_at_is_not_saved_by_that_look() {
    let (stores, config) = five().await;
    let (asked, answer) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let gauge = slow_gauge(Arc::clone(&asked), Arc::clone(&answer)).await;
    let config = StreamMappingConfig {
        position_file: Some(stores.directory().join("relay.json")),
        downstream: vec![gauge],
        ..config
    };
    let (function, _) = remembering(|_, _| Ok(String::new()));
    let mapping = start(&stores, function, config).await;
    mapping.idle().await;
    asked.notified().await;
    // The look is under way: what it will say is true of the first five records and of no other.
    let before = mapping.accepted();
    put(&stores, "f").await;
    mapping.idle().await;
    assert_ne!(mapping.accepted(), before);
    answer.notify_one();
    eventually("something is saved", async || !mapping.saved().is_empty()).await;
    assert_eq!(mapping.saved(), before);
    asked.notified().await;
    answer.notify_one();
    eventually("the rest is saved", async || mapping.saved() != before).await;
}

//! A queue's messages reach a function under Lambda's rules.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use lastword_local::{
    function::{Function, FunctionError, Invocation},
    mapping::{QueueMapping, QueueMappingConfig, Settles},
    stores::{QueueGauge, QueuePair, Stores},
};
use serde_json::Value;
use tokio::time::sleep;

use crate::bench::{self, bodies, eventually, remembering, report, send, tally};

fn config(queue: &QueuePair) -> QueueMappingConfig {
    QueueMappingConfig::new("reconcile", &queue.url, &queue.arn)
}

async fn start(stores: &Stores, function: Function, config: QueueMappingConfig) -> QueueMapping {
    QueueMapping::start(stores.sqs(), function, config).await
}

async fn send_groups(stores: &Stores, queue: &QueuePair, groups: &[&str]) {
    let client = stores.sqs();
    for group in groups {
        send(&client, &queue.url, group, group).await;
    }
}

#[tokio::test]
async fn a_batch_mixes_groups_and_is_deleted_when_the_function_takes_it() {
    let stores = bench::stores().await;
    let queue = bench::queue(&stores, 30, 5).await;
    send_groups(&stores, &queue, &["a", "b", "c"]).await;
    let (function, seen) = remembering(|_, _| Ok(String::new()));
    let mapping = start(&stores, function, config(&queue)).await;
    mapping.idle().await;
    assert_eq!(seen.bodies(), [["a", "b", "c"]]);
    let record = &seen.all()[0]["Records"][0];
    assert_eq!(record["eventSource"], "aws:sqs");
    assert_eq!(record["eventSourceARN"], queue.arn);
    let attributes = &record["attributes"];
    assert_eq!(attributes["ApproximateReceiveCount"], "1");
    assert_eq!(attributes["MessageGroupId"], "a");
    assert_eq!(attributes["MessageDeduplicationId"], "a");
    for name in ["SentTimestamp", "SequenceNumber", "SenderId"] {
        assert!(attributes[name].is_string(), "{name}");
    }
    assert!(record["receiptHandle"].is_string() && record["md5OfBody"].is_string());
    assert_eq!(mapping.tally(), tally(1, 1, 0, 0));
}

#[tokio::test]
async fn reported_messages_come_again_and_the_others_do_not() {
    let stores = bench::stores().await;
    let queue = bench::queue(&stores, 1, 5).await;
    send_groups(&stores, &queue, &["a", "b", "c"]).await;
    let (function, seen) = remembering(|event, before| {
        Ok(report(event, "/messageId", |record| {
            before == 0 && record["body"] == "b"
        }))
    });
    let mapping = start(&stores, function, config(&queue)).await;
    mapping.idle().await;
    assert_eq!(seen.bodies(), [vec!["a", "b", "c"], vec!["b"]]);
    assert_eq!(
        seen.all()[1]["Records"][0]["attributes"]["ApproximateReceiveCount"],
        "2"
    );
}

#[tokio::test]
async fn a_batch_whose_report_names_a_stranger_fails_whole() {
    let stores = bench::stores().await;
    let queue = bench::queue(&stores, 1, 9).await;
    send_groups(&stores, &queue, &["a", "b"]).await;
    let (function, seen) = remembering(|_, before| match before {
        0 => Ok(r#"{"batchItemFailures":[{"itemIdentifier":"stranger"}]}"#.to_owned()),
        1 => Err(FunctionError::failed("broken")),
        _ => Ok(r#"{"batchItemFailures":[]}"#.to_owned()),
    });
    let mapping = start(&stores, function, config(&queue)).await;
    mapping.idle().await;
    assert_eq!(seen.bodies(), vec![vec!["a", "b"]; 3]);
}

#[tokio::test]
async fn two_messages_of_one_group_are_never_in_flight_at_once() {
    let stores = bench::stores().await;
    // The function is slower than the visibility timeout, so the queue itself would hand messages out twice.
    let queue = bench::queue(&stores, 1, 50).await;
    let client = stores.sqs();
    for number in 0..4 {
        for group in ["a", "b", "c"] {
            send(&client, &queue.url, group, &format!("{group}{number}")).await;
        }
    }
    let running = Arc::new(Mutex::new((BTreeMap::<String, u32>::new(), 0_u32, 0_u32)));
    let state = Arc::clone(&running);
    let slow = Function::in_process("slow", move |invocation: Invocation| {
        let state = Arc::clone(&state);
        async move {
            let event: Value = serde_json::from_str(&invocation.payload).unwrap();
            let groups: Vec<String> = bodies(&event)
                .iter()
                .map(|body| body[..1].to_owned())
                .collect();
            {
                let mut state = state.lock().unwrap();
                state.1 += 1;
                for group in &groups {
                    let count = state.0.entry(group.clone()).or_default();
                    *count += 1;
                    let most = *count;
                    state.2 = state.2.max(most);
                }
            }
            // Not a wait for a result: the slowness is what is tested. Once is enough: what was deleted too
            // late, under a handle that had run out, comes again.
            let late = event["Records"].as_array().unwrap().iter().any(|record| {
                record["body"] == "a0" && record["attributes"]["ApproximateReceiveCount"] == "1"
            });
            sleep(Duration::from_millis(if late { 1500 } else { 10 })).await;
            let mut state = state.lock().unwrap();
            for group in &groups {
                *state.0.get_mut(group).unwrap() -= 1;
            }
            Ok(String::new())
        }
    });
    let mapping = start(&stores, slow, config(&queue)).await;
    mapping.idle().await;
    let state = running.lock().unwrap();
    assert!(state.1 >= 4);
    assert_eq!(state.2, 1, "the most invocations at once for one group");
}

#[tokio::test]
async fn the_next_message_of_a_group_follows_at_once_and_not_after_a_visibility_timeout() {
    let stores = bench::stores().await;
    let queue = bench::queue(&stores, 180, 5).await;
    let client = stores.sqs();
    for number in 0..60 {
        send(&client, &queue.url, "one", &number.to_string()).await;
    }
    let (function, seen) = remembering(|_, _| Ok(String::new()));
    let mapping = start(&stores, function, config(&queue)).await;
    eventually("every message was handled", async || seen.all().len() == 60).await;
    mapping.idle().await;
}

#[tokio::test]
async fn a_slow_group_does_not_hold_up_another() {
    let stores = bench::stores().await;
    let queue = bench::queue(&stores, 30, 5).await;
    let (release, released) = tokio::sync::watch::channel(false);
    let done = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&done);
    let function = Function::in_process("picky", move |invocation: Invocation| {
        let (log, mut released) = (Arc::clone(&log), released.clone());
        async move {
            let event: Value = serde_json::from_str(&invocation.payload).unwrap();
            if bodies(&event).iter().any(|body| body == "slow") {
                released.wait_for(|go| *go).await.unwrap();
            }
            log.lock().unwrap().extend(bodies(&event));
            Ok(String::new())
        }
    });
    let client = stores.sqs();
    send(&client, &queue.url, "a", "slow").await;
    let mapping = start(&stores, function, config(&queue)).await;
    eventually("the slow one runs", async || {
        mapping.tally().invocations == 1
    })
    .await;
    send(&client, &queue.url, "b", "quick").await;
    eventually("the quick one is done", async || {
        *done.lock().unwrap() == ["quick"]
    })
    .await;
    release.send_replace(true);
    mapping.idle().await;
    assert_eq!(*done.lock().unwrap(), ["quick", "slow"]);
}

#[tokio::test]
async fn a_message_that_always_fails_ends_in_the_dead_letter_queue_and_frees_its_group() {
    let stores = bench::stores().await;
    let queue = bench::queue(&stores, 1, 2).await;
    let client = stores.sqs();
    send(&client, &queue.url, "a", "poison").await;
    send(&client, &queue.url, "a", "next").await;
    let (function, seen) = remembering(|event, _| {
        if bodies(event) == ["poison"] {
            return Err(FunctionError::failed("poison"));
        }
        Ok(String::new())
    });
    let mapping = start(&stores, function, config(&queue)).await;
    mapping.idle().await;
    assert_eq!(seen.bodies(), [["poison"], ["poison"], ["next"]]);
    let dead = QueueGauge::new(client, &queue.dead_letter_url);
    assert_eq!(dead.depth().await.unwrap().visible, 1);
}

#[tokio::test]
async fn what_was_in_flight_at_a_crash_comes_again() {
    let stores = bench::stores().await;
    let queue = bench::queue(&stores, 1, 5).await;
    send_groups(&stores, &queue, &["a"]).await;
    let calls = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&calls);
    let function = Function::in_process("hanging", move |_| {
        let first = {
            let mut calls = counted.lock().unwrap();
            *calls += 1;
            *calls == 1
        };
        async move {
            if first {
                std::future::pending::<()>().await;
            }
            Ok(String::new())
        }
    });
    let mapping = start(&stores, function, config(&queue)).await;
    eventually("the first invocation", async || *calls.lock().unwrap() == 1).await;
    mapping.crash().await;
    assert!(!mapping.gauge().is_empty().await.unwrap());
    mapping.resume().await;
    mapping.idle().await;
    assert_eq!(*calls.lock().unwrap(), 2);
}

#[tokio::test]
async fn a_paused_mapping_leaves_the_queue_alone() {
    let stores = bench::stores().await;
    let queue = bench::queue(&stores, 30, 5).await;
    let (function, seen) = remembering(|_, _| Ok(String::new()));
    let mapping = start(&stores, function, config(&queue)).await;
    mapping.pause().await;
    send_groups(&stores, &queue, &["a"]).await;
    assert_eq!(mapping.gauge().depth().await.unwrap().visible, 1);
    mapping.resume().await;
    mapping.idle().await;
    assert_eq!(seen.bodies(), [["a"]]);
}

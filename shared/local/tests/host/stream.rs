//! A stream's records reach a function under Lambda's rules, and its position outlives a crash.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use aws_sdk_dynamodb::types::AttributeValue;
use lastword_local::{
    function::{Function, FunctionError, Invocation},
    mapping::{OnFailure, Settles, StreamMapping, StreamMappingConfig},
    stores::Stores,
};
use serde_json::{Value, json};

use crate::bench::{self, eventually, keys, put, remembering, report, table, tally};

pub(crate) const SEQUENCE: &str = "/dynamodb/SequenceNumber";

/// Five records a to e, and a configuration that delivers them in one batch, retrying at once.
pub(crate) async fn five() -> (Stores, StreamMappingConfig) {
    let stores = bench::stores().await;
    let stream = table(&stores).await;
    for key in ["a", "b", "c", "d", "e"] {
        put(&stores, key).await;
    }
    let config = StreamMappingConfig {
        retry_pause: Duration::from_millis(1),
        ..StreamMappingConfig::new("relay", stream)
    };
    (stores, config)
}

pub(crate) async fn start(
    stores: &Stores,
    function: Function,
    config: StreamMappingConfig,
) -> StreamMapping {
    StreamMapping::start(stores.streams(), function, config).await
}

pub(crate) fn is(record: &Value, key: &str) -> bool {
    record["dynamodb"]["Keys"]["pk"]["S"] == key
}

#[tokio::test]
async fn a_record_that_fails_is_sent_again_with_everything_after_it_and_nothing_before() {
    let (stores, config) = five().await;
    let (function, seen) = remembering(|event, before| {
        // It names d before c: the lowest counts, not the first.
        let mut text = report(event, SEQUENCE, |r| {
            before == 0 && (is(r, "c") || is(r, "d"))
        });
        if before == 0 {
            let mut value: Value = serde_json::from_str(&text).unwrap();
            value["batchItemFailures"].as_array_mut().unwrap().reverse();
            text = value.to_string();
        }
        Ok(text)
    });
    let mapping = start(&stores, function, config).await;
    mapping.idle().await;
    assert_eq!(
        seen.keys(),
        [vec!["a", "b", "c", "d", "e"], vec!["c", "d", "e"]]
    );
    assert_eq!(mapping.tally(), tally(2, 1, 1, 0));
}

#[tokio::test]
async fn a_batch_whose_reply_is_malformed_fails_whole() {
    let (stores, config) = five().await;
    let config = StreamMappingConfig {
        bisect_on_function_error: false,
        ..config
    };
    let (function, seen) = remembering(|_, before| {
        Ok(match before {
            0 => "no json",
            1 => r#"{"batchItemFailures":[{"itemIdentifier":""}]}"#,
            2 => r#"{"batchItemFailures":[{"itemIdentifier":"100000000000000000000"}]}"#,
            3 => r#"{"BatchItemFailures":[]}"#,
            _ => "{}",
        }
        .to_owned())
    });
    let mapping = start(&stores, function, config).await;
    mapping.idle().await;
    assert_eq!(seen.keys(), vec![vec!["a", "b", "c", "d", "e"]; 5]);
}

#[tokio::test]
async fn a_poison_record_is_set_aside_after_its_retries_and_its_neighbours_pass() {
    let (stores, config) = five().await;
    let pointers = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&pointers);
    let config = StreamMappingConfig {
        maximum_retry_attempts: Some(2),
        on_failure: OnFailure::Call(Arc::new(move |pointer| told.lock().unwrap().push(pointer))),
        ..config
    };
    let (function, seen) = remembering(|event, _| {
        if keys(event).iter().any(|key| key == "c") {
            return Err(FunctionError::failed("poison"));
        }
        Ok(String::new())
    });
    let mapping = start(&stores, function, config).await;
    mapping.idle().await;
    let alone = seen.keys().iter().filter(|keys| **keys == ["c"]).count();
    assert_eq!(alone, 3, "one delivery and two retries: {:?}", seen.keys());
    let passed: Vec<String> = seen
        .keys()
        .into_iter()
        .filter(|keys| !keys.contains(&"c".to_owned()))
        .flatten()
        .collect();
    assert_eq!(passed, ["a", "b", "d", "e"]);
    assert_eq!(mapping.tally().set_aside, 1);
    let pointer: Value = serde_json::from_str(&pointers.lock().unwrap()[0]).unwrap();
    assert_eq!(pointer["DDBStreamBatchInfo"]["batchSize"], 1);
    assert_eq!(
        pointer["requestContext"]["condition"],
        "RetryAttemptsExhausted"
    );
    assert!(!pointer.to_string().contains("NewImage"));
}

#[tokio::test]
async fn a_poison_record_that_is_reported_alone_is_set_aside_too() {
    let (stores, config) = five().await;
    let config = StreamMappingConfig {
        maximum_retry_attempts: Some(1),
        ..config
    };
    let (function, seen) =
        remembering(|event, _| Ok(report(event, SEQUENCE, |record| is(record, "b"))));
    let mapping = start(&stores, function, config).await;
    mapping.idle().await;
    assert_eq!(mapping.tally().set_aside, 1);
    assert!(seen.keys().iter().flatten().any(|key| key == "e"));
}

#[tokio::test]
async fn a_panicking_function_fails_its_batch_and_the_host_lives() {
    let (stores, config) = five().await;
    let (function, seen) = remembering(|_, before| {
        assert!(before > 0, "a bug in the function");
        Ok("null".to_owned())
    });
    let mapping = start(&stores, function, config).await;
    mapping.idle().await;
    put(&stores, "f").await;
    mapping.idle().await;
    assert_eq!(seen.keys().last().unwrap(), &["f"]);
    assert_eq!(mapping.tally().failed, 1);
}

#[tokio::test]
async fn only_the_kinds_asked_for_are_delivered_and_the_position_moves_past_the_others() {
    let (stores, config) = five().await;
    let config = StreamMappingConfig {
        event_names: vec!["INSERT".to_owned()],
        ..config
    };
    let (function, seen) = remembering(|_, _| Ok(String::new()));
    let mapping = start(&stores, function, config).await;
    mapping.idle().await;
    let before = mapping.accepted();
    let removed = AttributeValue::S("a".to_owned());
    stores
        .dynamodb()
        .delete_item()
        .table_name("things")
        .key("pk", removed)
        .send()
        .await
        .unwrap();
    mapping.idle().await;
    assert_eq!(seen.all().len(), 1);
    assert_ne!(mapping.accepted(), before);
}

#[tokio::test]
async fn batches_are_cut_to_size_and_keep_their_order() {
    let (stores, config) = five().await;
    let config = StreamMappingConfig {
        batch_size: 2,
        ..config
    };
    let (function, seen) = remembering(|_, _| Ok(String::new()));
    let mapping = start(&stores, function, config).await;
    mapping.idle().await;
    assert_eq!(seen.keys(), [vec!["a", "b"], vec!["c", "d"], vec!["e"]]);
    let first = &seen.all()[0]["Records"][0];
    assert_eq!(first["eventName"], "INSERT");
    assert_eq!(first["eventSource"], "aws:dynamodb");
    assert_eq!(first["dynamodb"]["NewImage"], json!({ "pk": { "S": "a" } }));
}

#[tokio::test]
async fn a_crash_in_the_middle_of_a_batch_sends_it_again() {
    let (stores, config) = five().await;
    let (function, seen) = remembering(|_, _| Ok(String::new()));
    let calls = Arc::new(Mutex::new(0));
    let hanging = {
        let calls = Arc::clone(&calls);
        Function::in_process("hanging", move |invocation: Invocation| {
            let first = {
                let mut calls = calls.lock().unwrap();
                *calls += 1;
                *calls == 1
            };
            let function = function.clone();
            async move {
                if first {
                    std::future::pending::<()>().await;
                }
                function
                    .invoke(invocation.payload, Duration::from_secs(5))
                    .await
            }
        })
    };
    let mapping = start(&stores, hanging, config).await;
    eventually("the first invocation", async || *calls.lock().unwrap() == 1).await;
    mapping.crash().await;
    mapping.idle().await;
    assert!(seen.all().is_empty());
    mapping.resume().await;
    mapping.idle().await;
    assert_eq!(seen.keys(), [vec!["a", "b", "c", "d", "e"]]);
}

#[tokio::test]
async fn a_paused_mapping_reads_nothing_and_goes_on_where_it_stopped() {
    let (stores, config) = five().await;
    let (function, seen) = remembering(|_, _| Ok(String::new()));
    let mapping = start(&stores, function, config).await;
    mapping.idle().await;
    mapping.pause().await;
    put(&stores, "f").await;
    mapping.idle().await;
    assert_eq!(seen.all().len(), 1);
    mapping.resume().await;
    mapping.idle().await;
    assert_eq!(seen.keys().last().unwrap(), &["f"]);
}

//! Queues, the bus, and what is none of these.

use super::*;

fn message(id: &str, queue: &str, body: &str) -> Value {
    json!({
        "messageId": id, "receiptHandle": "r", "body": body, "attributes": {}, "messageAttributes": {},
        "md5OfBody": "x", "eventSource": "aws:sqs", "eventSourceARN": queue, "awsRegion": "eu-west-1",
    })
}

const QUEUE: &str = "arn:aws:sqs:eu-west-1:000000000000:commerce";

fn notification(order: &str, project: &str) -> String {
    format!(
        r#"{{"notificationType":"ResourceUpdated","projectKey":"{project}","resource":{{"typeId":"order","id":"{order}"}},"version":3,"oldVersion":1}}"#
    )
}

#[tokio::test]
async fn messages_of_a_provider_s_queue_are_settled_one_by_one_and_what_is_refused_comes_again() {
    let (machine, worker) = start().await;
    let batch = json!({"Records": [
        message("m1", QUEUE, &notification("o1", "project-1")),
        message("m2", QUEUE, &notification("o2", "project-2")),
        message("m3", "arn:aws:sqs:eu-west-1:000000000000:other", &notification("o3", "project-1")),
        message("m4", QUEUE, "not json"),
    ]});
    let served = worker.ingest.serve(&batch.to_string()).await.unwrap();
    let told = serde_json::to_value(&served).unwrap();
    let expected =
        json!({"batchItemFailures": [{"itemIdentifier": "m2"}, {"itemIdentifier": "m3"}]});
    assert_eq!(told, expected);
    // The one that is no JSON is kept too, and ends in a decision.
    assert_eq!(machine.relay(&worker, 100).await.unwrap(), 2);
    machine
        .standin
        .show("/project-1/orders/o1", r#"{"id":"o1","version":3}"#);
    machine.settle(&worker).await.unwrap();
    let order = key("commercetools", "project-1", "live", "order", "o1");
    assert_eq!(
        outcomes(&story(&machine, &worker, &order).await),
        [Outcome::Applied]
    );
}

#[tokio::test]
async fn an_event_of_the_bus_is_taken_or_fails_as_a_whole_and_no_such_endpoint_is_open_to_http() {
    let (machine, worker) = start().await;
    let event = |source: &str| {
        json!({
            "version": "0", "id": "1", "detail-type": "x", "source": source, "account": "0", "time": "t",
            "region": "r", "resources": [],
            "detail": serde_json::from_str::<Value>(&notification("o1", "project-1")).unwrap(),
        })
        .to_string()
    };
    let own = event("aws.partner/commercetools.com/project-1");
    assert!(matches!(
        worker.ingest.serve(&own).await,
        Ok(Served::Taken {})
    ));
    assert!(
        worker
            .ingest
            .serve(&event("aws.partner/somebody"))
            .await
            .is_err()
    );
    let http = unsigned("commerce", "POST", "", &notification("o1", "project-1"));
    assert_eq!(handle(&worker, &http).await.status_code, 404);
    assert_eq!(machine.relay(&worker, 100).await.unwrap(), 1);
}

#[tokio::test]
async fn an_invocation_of_another_kind_fails_and_the_process_lives() {
    let (machine, worker) = start().await;
    // A 400 in the result would be taken for done by whoever invokes with anything but a request.
    for odd in [
        "{}",
        "[]",
        "null",
        "5",
        r#"{"Records":5}"#,
        r#"{"Records":[]}"#,
        r#"{"Records":[{"body":"x"}]}"#,
        r#"{"Records":[{"messageId":"","body":null}]}"#,
        r#"{"detail":{}}"#,
        "not json",
    ] {
        assert!(worker.ingest.serve(odd).await.is_err(), "{odd}");
    }
    let one = json!({"Records": [{"messageId": "m1", "body": null}]});
    let served = worker.ingest.serve(&one.to_string()).await.unwrap();
    let expected = json!({"batchItemFailures": [{"itemIdentifier": "m1"}]});
    assert_eq!(serde_json::to_value(&served).unwrap(), expected);
    let body = change(1, 62515, "7");
    let fine = signed(&machine, "crm", &[], &format!("[{body}]"));
    assert_eq!(handle(&worker, &fine).await.status_code, 200);
}

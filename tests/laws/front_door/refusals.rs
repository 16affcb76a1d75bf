//! What is refused, and how it is said.

use super::*;

#[tokio::test]
async fn bad_input_gets_the_answer_of_the_design_and_the_process_lives() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    let good = v2(&machine, &about("sub_1", "evt_1"));
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut event = good.clone();
        change(&mut event);
        event
    };
    let cases: Vec<(&str, Value, u16, &str)> = vec![
        (
            "an unknown endpoint",
            changed(&|e| e["rawPath"] = json!("/webhooks/nobody")),
            404,
            "unknown-endpoint",
        ),
        (
            "no endpoint",
            changed(&|e| e["rawPath"] = json!("/")),
            404,
            "unknown-endpoint",
        ),
        (
            "an endpoint and more",
            changed(&|e| e["rawPath"] = json!("/webhooks/billing/x")),
            404,
            "unknown-endpoint",
        ),
        (
            "an endpoint that is no name",
            changed(&|e| e["rawPath"] = json!("/webhooks/%00")),
            404,
            "unknown-endpoint",
        ),
        (
            "a wrong method",
            changed(&|e| e["requestContext"]["http"]["method"] = json!("PUT")),
            405,
            "method",
        ),
        (
            "a form",
            changed(&|e| e["headers"]["content-type"] = json!("application/x-www-form-urlencoded")),
            415,
            "media-type",
        ),
        (
            "an empty body",
            changed(&|e| e["body"] = json!("")),
            400,
            "empty",
        ),
        (
            "no body",
            changed(&|e| e["body"] = Value::Null),
            400,
            "empty",
        ),
        (
            "bad base64",
            changed(&|e| {
                e["isBase64Encoded"] = json!(true);
                e["body"] = json!("%%%");
            }),
            400,
            "bad-event",
        ),
        (
            "a changed body",
            changed(&|e| e["body"] = json!("{}")),
            401,
            "signature-mismatch",
        ),
        (
            "no signature",
            changed(&|e| {
                e["headers"]
                    .as_object_mut()
                    .unwrap()
                    .remove("stripe-signature");
            }),
            401,
            "signature-missing",
        ),
        (
            "a malformed signature",
            changed(&|e| e["headers"]["stripe-signature"] = json!("nonsense")),
            401,
            "signature-malformed",
        ),
        (
            "a charset beside the media type",
            changed(&|e| e["headers"]["content-type"] = json!("Application/JSON; charset=utf-8")),
            200,
            "new",
        ),
        (
            "no media type",
            changed(&|e| {
                e["headers"].as_object_mut().unwrap().remove("content-type");
            }),
            200,
            "duplicate",
        ),
        ("something that is no request", json!({}), 400, "bad-event"),
        ("a queue's event", json!({"Records": []}), 400, "bad-event"),
        ("a list", json!([]), 400, "bad-event"),
    ];
    for (what, event, status, word) in cases {
        let reply = handle(&worker, &event).await;
        assert_eq!(reply.status_code, status, "{what}: {}", reply.body);
        assert!(reply.body.contains(word), "{what}: {}", reply.body);
    }
    assert_eq!(
        worker.ingest.handle_text("not even json").await.status_code,
        400
    );
}

#[tokio::test]
async fn an_unknown_endpoint_is_answered_alike_whatever_is_sent_there() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    let mut one = v2(&machine, &about("sub_1", "evt_1"));
    one["rawPath"] = json!("/webhooks/nobody");
    let mut other = one.clone();
    other["body"] = json!("");
    other["rawPath"] = json!("/webhooks/Some%20Body");
    other["requestContext"]["http"]["method"] = json!("DELETE");
    assert_eq!(
        handle(&worker, &one).await.body,
        handle(&worker, &other).await.body
    );
}

#[tokio::test]
async fn a_stale_or_future_signature_is_named_and_a_foreign_account_is_refused() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    let body = about("sub_1", "evt_1");
    for (at, word) in [
        (NOW - 301, "signature-too-old"),
        (NOW + 301, "signature-in-future"),
        (NOW, "new"),
    ] {
        let event = machine.signed_at("billing", &[], &body, at).unwrap();
        let reply = worker.ingest.handle_text(&event).await;
        assert!(reply.body.contains(word), "{at}: {}", reply.body);
        assert!(!reply.body.contains("whsec_"));
    }
    let foreign = body.replace("\"livemode\"", "\"account\":\"acct_stranger\",\"livemode\"");
    assert_eq!(post(&machine, &worker, &foreign).await.status_code, 403);
    let test_mode = body.replace("\"livemode\":true", "\"livemode\":false");
    assert!(
        post(&machine, &worker, &test_mode)
            .await
            .body
            .contains("other-environment")
    );
    let unrouted = body.replace("customer.subscription.updated", "invoice.upcoming");
    assert!(
        post(&machine, &worker, &unrouted)
            .await
            .body
            .contains("unrouted")
    );
}

#[tokio::test]
async fn an_id_is_handled_exactly_or_refused_and_walks_the_whole_way() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    let long = "x".repeat(1024);
    let exact = [
        "a#b",
        "a/b",
        "a b",
        "..",
        "%2e%2e",
        "😊",
        "\u{ffff}",
        "18446744073709551616",
        "?x=1",
        long.as_str(),
    ];
    for (number, id) in exact.iter().enumerate() {
        let body = order_event(&format!("evt_{number}"), "PLACE", 1, "new")
            .replace("\"PLACE\"", &json!(id).to_string());
        let reply = machine.deliver(&worker, "erp", &[], &body).await.unwrap();
        assert_eq!(reply.status_code, 200, "{id}: {}", reply.body);
    }
    machine.settle(&worker).await.unwrap();
    for id in exact {
        assert_eq!(
            says(&story(&machine, &worker, &order(id)).await),
            "new",
            "{id}"
        );
    }
    for id in [String::new(), "x".repeat(3000)] {
        let body = order_event("evt_bad", &id, 1, "new");
        assert_eq!(
            machine
                .deliver(&worker, "erp", &[], &body)
                .await
                .unwrap()
                .status_code,
            422
        );
    }
}

#[tokio::test]
async fn a_store_that_is_down_or_throttles_acknowledges_nothing() {
    let machine = machine().await;
    for fault in [Fault::LostRequest, Fault::Throttled, Fault::Conflict] {
        let faults = Faults::strike("PutItem", 0, usize::MAX, fault);
        let worker = machine.worker_over(Some(faults.client())).unwrap();
        let reply = post(
            &machine,
            &worker,
            &about("sub_1", &format!("evt_{fault:?}")),
        )
        .await;
        assert_eq!(reply.status_code, 503, "{fault:?}");
        assert!(reply.headers.contains_key("retry-after"));
    }
    let worker = machine.worker().unwrap();
    assert_eq!(
        machine.relay(&worker, 100).await.unwrap(),
        0,
        "nothing was stored"
    );
}

#[tokio::test]
async fn while_a_secret_is_rolled_both_count_and_a_retired_one_does_not() {
    let start = async |secrets: &str| {
        let config = CONFIG.replace("[\"env:BILLING\"]", secrets);
        Machine::start(Place::Temporary, &config, NOW)
            .await
            .unwrap()
    };
    let signed_by = async |secrets: &str| v2(&start(secrets).await, &about("sub_1", "evt_1"));
    let old = signed_by("[\"env:BILLING\"]").await;
    let new = signed_by("[\"env:NEW\"]").await;
    let retired = signed_by("[\"env:RETIRED\"]").await;
    let machine = start("[\"env:NEW\", \"env:BILLING\"]").await;
    let worker = machine.worker().unwrap();
    for (event, expected) in [(&old, 200), (&new, 200), (&retired, 401)] {
        assert_eq!(handle(&worker, event).await.status_code, expected);
    }
    // Both in one header, as a sender writes them while it rolls.
    let value = |event: &Value| {
        event["headers"]["stripe-signature"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let one = value(&retired);
    let (_, second) = value(&new)
        .split_once(',')
        .map(|(t, s)| (t.to_owned(), s.to_owned()))
        .unwrap();
    let mut rolled = new.clone();
    rolled["headers"]["stripe-signature"] = json!(format!("{one},{second}"));
    assert_eq!(handle(&worker, &rolled).await.status_code, 200);
}

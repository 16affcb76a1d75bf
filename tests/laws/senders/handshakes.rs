//! Requests that are no events.

use super::*;

#[tokio::test]
async fn a_subscription_s_handshake_is_answered_in_both_shapes_of_a_gateway_and_only_with_the_token()
 {
    let (machine, worker) = start().await;
    let reference = &machine
        .config()
        .integration("messages")
        .unwrap()
        .handshake_token;
    let secrets = lastword_local::machine::made_up_secrets(machine.config()).unwrap();
    let token = secrets[reference.as_ref().unwrap()].expose();
    let query = format!("hub.mode=subscribe&hub.verify_token={token}&hub.challenge=1158201444");
    let event = unsigned("messages", "GET", &query, "");
    let reply = handle(&worker, &event).await;
    assert_eq!(
        (reply.status_code, reply.body.as_str()),
        (200, "1158201444")
    );
    assert_eq!(reply.headers["content-type"], "text/plain; charset=utf-8");
    let pairs: Value = query
        .split('&')
        .map(|pair| pair.split_once('=').unwrap())
        .map(|(name, value)| (name.to_owned(), json!(value)))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let rest = json!({
        "resource": "/webhooks/{integration}", "path": "/webhooks/messages", "httpMethod": "GET",
        "headers": {}, "multiValueHeaders": {}, "queryStringParameters": pairs,
        "multiValueQueryStringParameters": null, "pathParameters": null, "stageVariables": null,
        "requestContext": {"httpMethod": "GET", "identity": {"sourceIp": "127.0.0.1"}, "stage": "prod"},
        "body": null, "isBase64Encoded": false,
    });
    assert_eq!(handle(&worker, &rest).await.body, "1158201444");
    for wrong in [
        "hub.mode=subscribe&hub.verify_token=guess&hub.challenge=1",
        "hub.mode=subscribe&hub.challenge=1",
    ] {
        let reply = handle(&worker, &unsigned("messages", "GET", wrong, "")).await;
        assert_eq!(reply.status_code, 403, "{}", reply.body);
        assert!(!reply.body.contains(token));
    }
    assert_eq!(
        handle(&worker, &unsigned("messages", "GET", "", ""))
            .await
            .status_code,
        405
    );
}

#[tokio::test]
async fn a_signed_handshake_is_answered_after_its_signature_was_checked_and_never_before() {
    let (machine, worker) = start().await;
    let body = r#"{"type":"url_verification","challenge":"3eZbrw1aB"}"#;
    let reply = handle(&worker, &unsigned("chat", "POST", "", body)).await;
    assert_eq!(reply.status_code, 401);
    assert!(!reply.body.contains("3eZbrw1aB"));
    let reply = handle(&worker, &signed(&machine, "chat", &[], body)).await;
    assert_eq!(reply.status_code, 200);
    assert!(reply.body.contains("3eZbrw1aB"), "{}", reply.body);
    assert_eq!(machine.relay(&worker, 100).await.unwrap(), 0);
}

#[tokio::test]
async fn a_sender_that_reads_bodies_gets_none_whether_it_is_believed_or_not() {
    let (machine, worker) = start().await;
    let body = r#"{"events":[],"firstEventSequence": 0,"lastEventSequence": 0, "entropy": "x"}"#;
    let event = signed(&machine, "books", &[], body);
    let reply = handle(&worker, &event).await;
    assert_eq!((reply.status_code, reply.body.as_str()), (200, ""));
    let mut forged = event;
    forged["body"] = json!(body.replace("\"x\"", "\"y\""));
    let reply = handle(&worker, &forged).await;
    assert_eq!((reply.status_code, reply.body.as_str()), (401, ""));
}

#[tokio::test]
async fn an_unsigned_ping_is_answered_and_stores_nothing_and_is_no_way_around_the_signature() {
    let (machine, worker) = start().await;
    let ping = unsigned("store", "POST", "", "webhook_id=3");
    assert_eq!(handle(&worker, &ping).await.status_code, 200);
    let mut claimed = ping.clone();
    claimed["headers"] = json!({"x-wc-webhook-signature": "AAAA"});
    assert_ne!(handle(&worker, &claimed).await.status_code, 200);
    let order = unsigned("store", "POST", "", r#"{"id":1,"webhook_id":3}"#);
    assert_eq!(handle(&worker, &order).await.status_code, 401);
    assert_eq!(machine.relay(&worker, 100).await.unwrap(), 0);
}

#[tokio::test]
async fn an_authentic_request_without_a_body_says_nothing_and_other_methods_are_refused() {
    let (machine, worker) = start().await;
    let integration = machine.config().integration("crm").unwrap();
    let secrets = lastword_local::machine::made_up_secrets(machine.config()).unwrap();
    let keys = [secrets[&integration.signing[0]].expose()];
    let keys = integration.keys(keys).unwrap();
    let headers = Headers::default();
    let get = integration.request("GET", "", &headers, b"");
    let signed = integration
        .contract
        .signature
        .sign(&get, &keys, NOW)
        .unwrap();
    let mut event = unsigned("crm", "GET", "", "");
    assert_eq!(handle(&worker, &event).await.status_code, 401);
    for (name, value) in &signed.headers {
        event["headers"][name.to_ascii_lowercase()] = json!(value);
    }
    assert_eq!(
        handle(&worker, &event).await.body,
        r#"{"received":"no-event"}"#
    );
    for method in ["PUT", "DELETE", "HEAD"] {
        event["requestContext"]["http"]["method"] = json!(method);
        let reply = handle(&worker, &event).await;
        assert_eq!(reply.status_code, 405, "{method}");
        assert_eq!(reply.headers["allow"], "POST, GET");
    }
    assert_eq!(machine.relay(&worker, 100).await.unwrap(), 0);
}

//! The same request in every shape that a gateway hands it over.

use super::*;

#[tokio::test]
async fn the_same_delivery_in_every_gateway_s_shape_is_one_event() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    let plain = v2(&machine, &about("sub_1", "evt_ç😊"));
    let mut staged = plain.clone();
    staged["rawPath"] = json!("/prod/webhooks/billing/");
    let mut url = plain.clone();
    url["requestContext"]["domainName"] = json!("abc.lambda-url.eu-west-1.on.aws");
    url["routeKey"] = json!("$default");
    let shapes = [
        plain.clone(),
        in_base64(plain.clone()),
        staged,
        url,
        v1(&plain, true),
        v1(&plain, false),
        in_base64(v1(&plain, true)),
    ];
    for (number, event) in shapes.iter().enumerate() {
        let reply = handle(&worker, event).await;
        let expected = if number == 0 { "new" } else { "duplicate" };
        assert_eq!(
            (reply.status_code, reply.body),
            (200, format!("{{\"received\":\"{expected}\"}}")),
            "{event}"
        );
    }
}

#[tokio::test]
async fn a_header_in_any_casing_counts_and_a_missing_one_fails_closed() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    let body =
        r#"{"action":"opened","issue":{"number":7},"repository":{"id":99,"owner":{"id":10}}}"#;
    let event: Value = serde_json::from_str(
        &machine
            .signed(
                "code",
                &[("X-GitHub-Event", "issues"), ("X-GitHub-Delivery", "guid")],
                body,
            )
            .unwrap(),
    )
    .unwrap();
    for name in [
        "x-hub-signature-256",
        "X-Hub-Signature-256",
        "X-HUB-SIGNATURE-256",
    ] {
        let mut cased = event.clone();
        let headers = cased["headers"].as_object_mut().unwrap();
        let signature = headers.remove("x-hub-signature-256").unwrap();
        headers.insert(name.to_owned(), signature);
        assert_eq!(handle(&worker, &cased).await.status_code, 200, "{name}");
        let headers = cased["headers"].as_object_mut().unwrap();
        headers.remove(name);
        let reply = handle(&worker, &cased).await;
        assert_eq!(reply.status_code, 401);
        assert!(reply.body.contains("signature-missing"), "{}", reply.body);
    }
}

#[tokio::test]
async fn every_value_of_a_repeated_signature_is_tried_and_none_is_silently_the_last() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    let plain = v1(&v2(&machine, &about("sub_1", "evt_1")), true);
    let good = plain["multiValueHeaders"]["Stripe-Signature"][0].clone();
    let bad = json!(format!("t={NOW},v1={}", "0".repeat(64)));
    for (values, expected) in [
        (json!([bad, good]), 200),
        (json!([good, bad]), 200),
        (json!([bad, bad]), 401),
        (json!([]), 401),
        (json!(vec![good; 9]), 401),
    ] {
        let mut event = plain.clone();
        event["headers"] = json!({"Content-Type": "application/json"});
        event["multiValueHeaders"]["Stripe-Signature"] = values.clone();
        let reply = handle(&worker, &event).await;
        assert_eq!(reply.status_code, expected, "{values}: {}", reply.body);
    }
}

#[tokio::test]
async fn a_body_of_any_size_that_a_gateway_hands_over_is_kept_to_the_byte() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    for (number, bytes) in [399_000, 401_000, 4_400_000, 5_900_000]
        .into_iter()
        .enumerate()
    {
        let body = order_event(&format!("evt_{number}"), &format!("o_{number}"), 1, "new");
        let filler = noise(bytes - body.len() - 13);
        let body = body.replacen('{', &format!("{{\"noise\":\"{filler}\","), 1);
        assert!(body.len().abs_diff(bytes) < 50, "{}", body.len());
        let event: Value =
            serde_json::from_str(&machine.signed("erp", &[], &body).unwrap()).unwrap();
        let reply = handle(&worker, &event).await;
        assert_eq!(reply.body, r#"{"received":"new"}"#, "{bytes}");
        // The same bytes in base64 are the same event.
        let again = handle(&worker, &in_base64(event)).await;
        assert_eq!(again.body, r#"{"received":"duplicate"}"#, "{bytes}");
        machine.settle(&worker).await.unwrap();
        let known = story(&machine, &worker, &order(&format!("o_{number}"))).await;
        assert_eq!(says(&known), "new", "{bytes}");
    }
}

//! Where the signature does not reach: URLs, queries, names.

use super::*;

#[tokio::test]
async fn a_signed_url_is_the_registered_one_wherever_the_request_arrives() {
    let (machine, worker) = start().await;
    let body = r#"{"merchant_id":"M1","type":"payment.updated","event_id":"e1","data":{"type":"payment","id":"p1"}}"#;
    let mut event = signed(&machine, "till", &[], body);
    event["rawPath"] = json!("/prod/webhooks/till");
    event["rawQueryString"] = json!("something=else");
    event["requestContext"]["domainName"] = json!("abc.execute-api.eu-west-1.amazonaws.com");
    assert_eq!(handle(&worker, &event).await.status_code, 200);
    // Another registered URL signs something else.
    let elsewhere = CONFIG.replace("/webhooks/till?x=1", "/webhooks/till");
    let other = Machine::start(Place::Temporary, &elsewhere, NOW)
        .await
        .unwrap();
    let reply = handle(&other.worker().unwrap(), &event).await;
    assert_eq!(reply.status_code, 401, "{}", reply.body);
}

#[tokio::test]
async fn where_only_the_query_is_signed_the_query_and_never_the_body_says_what_to_look_at() {
    let (machine, worker) = start().await;
    let integration = machine.config().integration("pay").unwrap();
    let secrets = lastword_local::machine::made_up_secrets(machine.config()).unwrap();
    let keys = integration
        .keys([secrets[&integration.signing[0]].expose()])
        .unwrap();
    let body =
        r#"{"action":"payment.updated","type":"payment","id":5,"data":{"id":"999"},"user_id":77}"#;
    let query = "data.id=123&type=payment";
    let headers = Headers::default();
    let request = integration.request("POST", query, &headers, body.as_bytes());
    let signed = integration
        .contract
        .signature
        .sign(&request, &keys, NOW)
        .unwrap();
    let mut event = unsigned("pay", "POST", query, body);
    for (name, value) in &signed.headers {
        event["headers"][name.to_ascii_lowercase()] = json!(value);
    }
    assert_eq!(handle(&worker, &event).await.status_code, 200);
    machine
        .standin
        .show("/v1/payments/123", r#"{"id":123,"status":"approved"}"#);
    machine.settle(&worker).await.unwrap();
    let payment = key("mercadopago", "77", "live", "payment", "123");
    let known = story(&machine, &worker, &payment).await;
    assert!(says(&known).contains("approved"), "{known:?}");
    // The same signature with another id in the query is nobody's.
    event["rawQueryString"] = json!("data.id=999&type=payment");
    assert_eq!(handle(&worker, &event).await.status_code, 401);
}

#[tokio::test]
async fn an_unsigned_shop_name_chooses_nothing_and_another_shop_s_is_refused() {
    let (machine, worker) = start().await;
    let body = r#"{"id":820982911946154508,"updated_at":"2021-12-31T19:00:00-05:00"}"#;
    let post = |shop: &'static str, delivery: &'static str| {
        let headers = [
            ("X-Shopify-Topic", "orders/updated"),
            ("X-Shopify-Shop-Domain", shop),
            ("X-Shopify-Webhook-Id", delivery),
        ];
        signed(&machine, "shop", &headers, body)
    };
    let own = "shop1.myshopify.com";
    let reply = handle(&worker, &post(own, "w1")).await;
    assert_eq!(reply.body, r#"{"received":"new"}"#);
    assert_eq!(
        handle(&worker, &post("shop2.myshopify.com", "w2"))
            .await
            .status_code,
        403
    );
    // Sent again under another id it is another event, which only makes us look again.
    assert_eq!(
        handle(&worker, &post(own, "w3")).await.body,
        r#"{"received":"new"}"#
    );
    let order = key("shopify", own, "live", "order", "820982911946154508");
    machine.settle(&worker).await.unwrap();
    machine.give_back().await;
    let known = story(&machine, &worker, &order).await;
    // Nothing is at the stand-in: an absence proves nothing here.
    assert!(known.projection.is_none_or(|held| held.contents.is_none()));
}

#[tokio::test]
async fn equal_bodies_of_two_objects_or_two_moments_are_two_events() {
    let (machine, worker) = start().await;
    let deleted = |topic: &'static str, delivery: &'static str| {
        let headers = [
            ("X-WC-Webhook-Topic", topic),
            ("X-WC-Webhook-Delivery-ID", delivery),
        ];
        signed(&machine, "store", &headers, r#"{"id":7}"#)
    };
    let orders = [
        deleted("order.deleted", "d1"),
        deleted("customer.deleted", "d1"),
        deleted("order.deleted", "d2"),
    ];
    for order in &orders {
        assert_eq!(handle(&worker, order).await.body, r#"{"received":"new"}"#);
    }
    assert_eq!(
        handle(&worker, &orders[0]).await.body,
        r#"{"received":"duplicate"}"#
    );
    assert_eq!(machine.relay(&worker, 100).await.unwrap(), 3);
}

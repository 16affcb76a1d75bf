//! Laws 1 to 3 for every kind of sender: batches, handshakes, signed URLs, unsigned names, queues.

use base64::Engine as _;
use lastword_contracts::Headers;
use lastword_domain::{Outcome, Reason};
use lastword_ingest::Served;
use lastword_ingest::answer::Reply;
use lastword_local::machine::{Machine, Worker};
use lastword_local::stores::Place;
use serde_json::{Value, json};

use crate::world::*;

const CONFIG: &str = r#"
[integrations.crm]
contract = "hubspot"
account = "62515"
environment = "live"
signing_secrets = ["env:CRM"]
api_key = "env:CRM_KEY"
url = "https://hooks.example.com/webhooks/crm"

[integrations.shop]
contract = "shopify"
account = "shop1.myshopify.com"
environment = "live"
signing_secrets = ["env:SHOP"]
api_key = "env:SHOP_KEY"

[integrations.till]
contract = "square"
account = "M1"
environment = "production"
signing_secrets = ["env:TILL"]
api_key = "env:TILL_KEY"
url = "https://hooks.example.com/webhooks/till?x=1"

[integrations.pay]
contract = "mercadopago"
account = "77"
environment = "live"
signing_secrets = ["env:PAY"]
api_key = "env:PAY_KEY"

[integrations.messages]
contract = "meta"
account = "106540352242922"
environment = "live"
signing_secrets = ["env:MESSAGES"]
api_key = "env:MESSAGES_KEY"
handshake_token = "env:MESSAGES_TOKEN"

[integrations.chat]
contract = "slack"
account = "T1"
environment = "live"
signing_secrets = ["env:CHAT"]
api_key = "env:CHAT_KEY"

[integrations.books]
contract = "xero"
account = "tenant-1"
environment = "live"
signing_secrets = ["env:BOOKS"]

[integrations.store]
contract = "woocommerce"
account = "store.example.com"
environment = "live"
signing_secrets = ["env:STORE"]
api_key = "env:STORE_KEY"

[integrations.commerce]
contract = "commercetools"
account = "project-1"
environment = "live"
api_key = "env:COMMERCE_KEY"
feeds = ["arn:aws:sqs:eu-west-1:000000000000:commerce", "aws.partner/commercetools.com/project-1"]
"#;

async fn start() -> (Machine, Worker) {
    let machine = Machine::start(Place::Temporary, CONFIG, NOW).await.unwrap();
    let worker = machine.worker().unwrap();
    (machine, worker)
}

async fn handle(worker: &Worker, event: &Value) -> Reply {
    worker.ingest.handle_text(&event.to_string()).await
}

fn signed(machine: &Machine, endpoint: &str, headers: &[(&str, &str)], body: &str) -> Value {
    serde_json::from_str(&machine.signed(endpoint, headers, body).unwrap()).unwrap()
}

fn unsigned(endpoint: &str, method: &str, query: &str, body: &str) -> Value {
    let path = format!("/webhooks/{endpoint}");
    let mut event: Value = serde_json::from_str(&lastword_local::machine::gateway_event(
        &path,
        &json!({}),
        body,
    ))
    .unwrap();
    event["requestContext"]["http"]["method"] = json!(method);
    event["rawQueryString"] = json!(query);
    event
}

fn change(id: u64, portal: u64, object: &str) -> String {
    format!(
        r#"{{"eventId": {id}, "subscriptionId":5, "subscriptionType": "contact.propertyChange", "portalId":{portal},"objectId":{object},"occurredAt":1.10}}"#
    )
}

fn contact(id: &str) -> lastword_domain::ResourceKey {
    key("hubspot", "62515", "live", "contact", id)
}

#[tokio::test]
async fn a_delivery_of_several_events_is_kept_as_its_events_to_the_byte_and_each_is_decided() {
    let (machine, worker) = start().await;
    let items = [
        change(1, 62515, "7"),
        change(2, 62515, "8"),
        change(3, 62515, "7"),
    ];
    let body = format!("[{} ,{},\n{}]", items[0], items[1], items[2]);
    let reply = handle(&worker, &signed(&machine, "crm", &[], &body)).await;
    assert_eq!(
        (reply.status_code, reply.body.as_str()),
        (200, r#"{"received":"new"}"#)
    );
    // The stream has one record for each row.
    assert_eq!(machine.relay(&worker, 100).await.unwrap(), 3);
    for id in ["7", "8"] {
        machine.standin.show(
            &format!("/crm/v3/objects/contacts/{id}"),
            json!({"id": id}).to_string(),
        );
    }
    machine.settle(&worker).await.unwrap();
    for (id, events) in [("7", 2), ("8", 1)] {
        let story = story(&machine, &worker, &contact(id)).await;
        assert_eq!(outcomes(&story).len(), events, "{id}");
    }
    // The same again, in another delivery with one more: only that one is new.
    let again = format!("[{},{}]", items[1], change(4, 62515, "8"));
    let reply = handle(&worker, &signed(&machine, "crm", &[], &again)).await;
    assert_eq!(reply.body, r#"{"received":"new"}"#);
    assert_eq!(machine.relay(&worker, 100).await.unwrap(), 1);
}

#[tokio::test]
async fn beside_a_foreign_account_s_event_one_s_own_are_kept_and_the_delivery_is_refused() {
    let (machine, worker) = start().await;
    let foreign = format!("[{},{}]", change(1, 62515, "7"), change(2, 1, "8"));
    let reply = handle(&worker, &signed(&machine, "crm", &[], &foreign)).await;
    assert_eq!(reply.status_code, 403);
    // Not acknowledged, and not lost: whatever the provider does next, our own is decided.
    assert_eq!(machine.relay(&worker, 100).await.unwrap(), 1);
    let alone = format!("[{}]", change(2, 1, "8"));
    let reply = handle(&worker, &signed(&machine, "crm", &[], &alone)).await;
    assert_eq!(reply.status_code, 403);
    assert_eq!(machine.relay(&worker, 100).await.unwrap(), 0);
}

#[tokio::test]
async fn an_event_that_cannot_be_read_or_named_is_kept_and_refuses_none_of_its_neighbours() {
    let (machine, worker) = start().await;
    let long = "9".repeat(3000);
    let odd = format!("[{},5,{}]", change(1, 62515, "7"), change(2, 62515, &long));
    let reply = handle(&worker, &signed(&machine, "crm", &[], &odd)).await;
    assert_eq!(reply.status_code, 200, "{}", reply.body);
    assert_eq!(machine.relay(&worker, 100).await.unwrap(), 3);
}

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

#[tokio::test]
async fn bytes_that_were_parsed_and_written_again_do_not_verify_and_the_original_does() {
    let (machine, worker) = start().await;
    let body = r#"[{"eventId": 9, "subscriptionType":"contact.creation","portalId":62515,"objectId":1.10, "b":"\u00e9"}]"#;
    let event = signed(&machine, "crm", &[], body);
    let mut again = event.clone();
    let value: Value = serde_json::from_str(body).unwrap();
    again["body"] = json!(value.to_string());
    assert_eq!(handle(&worker, &again).await.status_code, 401);
    assert_eq!(handle(&worker, &event).await.status_code, 200);
    // Decompressed by a gateway: the bytes are not those that were signed.
    let mut zipped = event;
    zipped["headers"]["content-encoding"] = json!("gzip");
    zipped["body"] = json!(base64::engine::general_purpose::STANDARD.encode([0x1f, 0x8b, 8]));
    zipped["isBase64Encoded"] = json!(true);
    assert_eq!(handle(&worker, &zipped).await.status_code, 401);
}

#[tokio::test]
async fn what_nothing_can_be_kept_of_is_accepted_and_ends_in_a_decision_that_says_so() {
    let (machine, worker) = start().await;
    let body = r#"{"object":"whatsapp_business_account","entry":[{"id":"0","changes":[{"field":"messages","value":{"metadata":{"phone_number_id":"106540352242922"},"statuses":[{"id":"wamid.1","status":"read"},{"id":"wamid.2","status":"sent"}]}}]}]}"#;
    let reply = handle(&worker, &signed(&machine, "messages", &[], body)).await;
    assert_eq!(reply.body, r#"{"received":"new"}"#, "{}", reply.body);
    machine.settle(&worker).await.unwrap();
    for id in ["wamid.1/read", "wamid.2/sent"] {
        let status = key("meta", "106540352242922", "live", "whatsapp_status", id);
        let known = story(&machine, &worker, &status).await;
        assert_eq!(outcomes(&known), [Outcome::Ignored], "{id}");
        assert_eq!(known.decisions[0].reason, Some(Reason::NothingKept));
    }
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

#[tokio::test]
async fn an_event_about_very_many_things_is_kept_whole_or_about_itself_and_never_refused_for_ever()
{
    let (machine, worker) = start().await;
    let message = |number: usize, length: usize| {
        format!(
            r#"{{"id":"wamid.{}{number}","status":"read"}}"#,
            "x".repeat(length)
        )
    };
    for (length, rows) in [(90, 1), (400, 1)] {
        let statuses: Vec<_> = (0..900).map(|number| message(number, length)).collect();
        let noise = crate::world::noise(300_000);
        let body = format!(
            r#"{{"object":"whatsapp_business_account","entry":[{{"id":"0","changes":[{{"field":"messages","value":{{"metadata":{{"phone_number_id":"106540352242922"}},"noise":"{noise}","statuses":[{}]}}}}]}}]}}"#,
            statuses.join(",")
        );
        let reply = handle(&worker, &signed(&machine, "messages", &[], &body)).await;
        assert_eq!(reply.status_code, 200, "{length}: {}", reply.body);
        assert_eq!(reply.body, r#"{"received":"new"}"#);
        assert!(
            machine.relay(&worker, 100).await.unwrap() >= rows,
            "{length}"
        );
    }
}

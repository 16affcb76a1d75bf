//! What a gateway, a queue or a stranger behind them may hand over: no event panics, and none is taken for
//! something that it is not.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm
)]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lastword_ingest::request::Delivery;
use serde_json::{Value, json};

const RUNS: usize = 4000;

fn v2() -> Value {
    json!({
        "version": "2.0", "routeKey": "$default", "rawPath": "/webhooks/x", "rawQueryString": "",
        "headers": {"content-type": "application/json"},
        "requestContext": {"http": {"method": "POST", "path": "/webhooks/x", "protocol": "HTTP/1.1",
            "sourceIp": "127.0.0.1", "userAgent": "x"}, "stage": "$default", "requestId": "r",
            "routeKey": "$default", "accountId": "0", "apiId": "a", "domainName": "d", "domainPrefix": "d",
            "time": "t", "timeEpoch": 1},
        "body": "{}", "isBase64Encoded": false,
    })
}

#[test]
fn every_body_comes_out_as_it_went_in_or_is_refused() {
    let inputs = bolero::check!()
        .with_iterations(RUNS)
        .with_type::<(bool, Vec<u8>)>();
    inputs.for_each(|(encoded, body)| {
        let mut event = v2();
        event["isBase64Encoded"] = json!(encoded);
        if *encoded {
            event["body"] = json!(STANDARD.encode(body));
            let delivery = Delivery::parse(&event.to_string()).unwrap();
            assert_eq!(delivery.body, *body);
        }
        let text = String::from_utf8_lossy(body);
        event["body"] = json!(text);
        match Delivery::parse(&event.to_string()) {
            Ok(delivery) if !encoded => assert_eq!(delivery.body, text.as_bytes()),
            Ok(_) => {}
            Err(_) => assert!(encoded),
        }
    });
}

#[test]
fn an_event_with_anything_in_the_place_of_anything_is_read_or_refused() {
    const PLACES: [&str; 12] = [
        "/version",
        "/rawPath",
        "/rawQueryString",
        "/headers",
        "/headers/content-type",
        "/body",
        "/isBase64Encoded",
        "/requestContext",
        "/requestContext/http",
        "/requestContext/http/method",
        "/routeKey",
        "/cookies",
    ];
    let odd = [
        json!(null),
        json!(1),
        json!("x"),
        json!([]),
        json!({}),
        json!(true),
        json!("\u{0}%%%"),
        json!(["a", 1]),
        json!({"a": ["b"]}),
        json!("\u{1F60A}".repeat(2000)),
        json!(-1.5),
        json!("GET / HTTP"),
    ];
    let inputs = bolero::check!()
        .with_iterations(RUNS)
        .with_type::<Vec<(u8, u8)>>();
    inputs.for_each(|changes| {
        let mut event = v2();
        for (place, value) in changes.iter().take(6) {
            let place = PLACES[usize::from(*place) % PLACES.len()];
            if let Some(at) = event.pointer_mut(place) {
                *at = odd[usize::from(*value) % odd.len()].clone();
            }
        }
        drop(Delivery::parse(&event.to_string()));
    });
}

#[test]
fn what_is_no_event_at_all_is_refused() {
    let inputs = bolero::check!()
        .with_iterations(RUNS)
        .with_type::<Vec<u8>>();
    inputs.for_each(|bytes| {
        assert!(Delivery::parse(&String::from_utf8_lossy(bytes)).is_err());
    });
    let deep = format!(
        "{{\"version\":\"2.0\",\"headers\":{}{}}}",
        "[".repeat(50_000),
        "]".repeat(50_000)
    );
    assert!(Delivery::parse(&deep).is_err());
}

//! Real requests reach a function as events, and its replies come back as responses.

use std::time::Duration;

use axum::{Router, routing::get};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use lastword_local::{
    function::{Function, FunctionError},
    gateway::{Gateway, GatewayConfig, LARGEST_REQUEST},
};
use serde_json::{Value, json};

use crate::bench::remembering;

pub(crate) async fn call(
    method: Method,
    url: String,
    headers: &[(&str, &str)],
    body: impl Into<Bytes>,
) -> (StatusCode, HeaderMap, Bytes) {
    let client = Client::builder(TokioExecutor::new()).build_http();
    let mut request = Request::builder().method(method).uri(url);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let reply = client
        .request(request.body(Full::new(body.into())).unwrap())
        .await
        .unwrap();
    let (parts, body) = reply.into_parts();
    (
        parts.status,
        parts.headers,
        body.collect().await.unwrap().to_bytes(),
    )
}

#[tokio::test]
async fn a_real_http_request_becomes_a_version_2_event() {
    let (function, seen) = remembering(|_, _| {
        Ok(json!({ "statusCode": 202, "headers": { "x-id": "7" }, "body": "kept" }).to_string())
    });
    let gateway = Gateway::start(GatewayConfig::new(function)).await.unwrap();
    let (status, headers, body) = call(
        Method::POST,
        format!("{}/hooks/main?a=1&a=2", gateway.url()),
        &[
            ("Content-Type", "application/json"),
            ("X-Sig", "s1"),
            ("X-Sig", "s2"),
            ("User-Agent", "t"),
        ],
        r#"{"id": 1 }"#,
    )
    .await;
    assert_eq!((status, &body[..]), (StatusCode::ACCEPTED, &b"kept"[..]));
    assert_eq!(headers["x-id"], "7");
    let event = &seen.all()[0];
    assert_eq!(event["version"], "2.0");
    assert_eq!(event["rawPath"], "/hooks/main");
    assert_eq!(event["rawQueryString"], "a=1&a=2");
    assert_eq!(event["headers"]["x-sig"], "s1,s2");
    assert_eq!(event["body"], r#"{"id": 1 }"#);
    assert_eq!(event["isBase64Encoded"], false);
    let context = &event["requestContext"];
    assert_eq!(context["stage"], "$default");
    assert!(context["timeEpoch"].is_u64() && context["requestId"].is_string());
    let expected = json!({
        "method": "POST", "path": "/hooks/main", "protocol": "HTTP/1.1",
        "sourceIp": "127.0.0.1", "userAgent": "t",
    });
    assert_eq!(context["http"], expected);
}

#[tokio::test]
async fn a_function_that_fails_is_a_500_and_says_nothing_more() {
    let function = Function::in_process("broken", |_| async {
        Err(FunctionError::failed("a secret"))
    });
    let gateway = Gateway::start(GatewayConfig::new(function)).await.unwrap();
    let (status, _, body) = call(Method::GET, gateway.url(), &[], "").await;
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(&body[..], br#"{"message":"Internal Server Error"}"#);
}

#[tokio::test]
async fn a_function_slower_than_the_gateway_is_a_504() {
    let function = Function::in_process("endless", |_| std::future::pending());
    let config = GatewayConfig {
        timeout: Duration::from_millis(20),
        ..GatewayConfig::new(function)
    };
    let gateway = Gateway::start(config).await.unwrap();
    let (status, ..) = call(Method::GET, gateway.url(), &[], "").await;
    assert_eq!(status, StatusCode::GATEWAY_TIMEOUT);
}

#[tokio::test]
async fn a_body_over_a_limit_never_reaches_the_function() {
    let (function, seen) = remembering(|_, _| Ok("{}".to_owned()));
    let gateway = Gateway::start(GatewayConfig::new(function)).await.unwrap();
    let huge = vec![b'x'; LARGEST_REQUEST + 1];
    let (status, ..) = call(Method::POST, gateway.url(), &[], huge).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    // 5 MB of bytes that are not text are more than 6 MB of event.
    let large = vec![0xff; 5 * 1024 * 1024];
    let (status, _, body) = call(Method::POST, gateway.url(), &[], large).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(&body[..], br#"{"message":"Request Too Long"}"#);
    assert!(seen.all().is_empty());
}

#[tokio::test]
async fn extra_routes_are_answered_beside_the_function() {
    let (function, seen) = remembering(|_, _| Ok(r#"{"from":"function"}"#.to_owned()));
    let extra = Router::new().route("/page", get(|| async { "page" }));
    let config = GatewayConfig {
        extra: Some(extra),
        ..GatewayConfig::new(function)
    };
    let gateway = Gateway::start(config).await.unwrap();
    let (_, _, page) = call(Method::GET, format!("{}/page", gateway.url()), &[], "").await;
    assert_eq!(&page[..], b"page");
    let (_, _, other) = call(Method::GET, format!("{}/other", gateway.url()), &[], "").await;
    assert_eq!(
        serde_json::from_slice::<Value>(&other).unwrap(),
        json!({ "from": "function" })
    );
    assert_eq!(seen.all().len(), 1);
}

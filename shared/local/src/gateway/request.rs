//! Writes an HTTP request as an event of payload format 2.0; may not read the body's meaning.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    time::{SystemTime, UNIX_EPOCH},
};

use axum::http::{
    HeaderMap, Version,
    header::{CONTENT_TYPE, COOKIE, HOST, USER_AGENT},
    request::Parts,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{clients::ACCOUNT, function::request_id};

/// Writes the event.
pub(super) fn event(parts: &Parts, body: &[u8], peer: SocketAddr) -> String {
    let path = parts.uri.path();
    let query = parts.uri.query().unwrap_or_default();
    let mut event = json!({
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "headers": headers(&parts.headers, peer),
        "requestContext": context(parts, path, peer),
        "isBase64Encoded": false,
    });
    let mut put = |name: &str, value: Value| {
        if let Some(object) = event.as_object_mut() {
            object.insert(name.to_owned(), value);
        }
    };
    let cookies = cookies(&parts.headers);
    if !cookies.is_empty() {
        put("cookies", json!(cookies));
    }
    if !query.is_empty() {
        put("queryStringParameters", json!(parameters(query)));
    }
    if !body.is_empty() {
        match std::str::from_utf8(body) {
            Ok(text) if is_text(&parts.headers) => put("body", json!(text)),
            Ok(_) | Err(_) => {
                put("body", json!(STANDARD.encode(body)));
                put("isBase64Encoded", json!(true));
            }
        }
    }
    event.to_string()
}

fn context(parts: &Parts, path: &str, peer: SocketAddr) -> Value {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let host = text(&parts.headers, HOST.as_str()).unwrap_or_default();
    json!({
        "accountId": ACCOUNT,
        "apiId": "local",
        "domainName": host,
        "domainPrefix": host.split(['.', ':']).next().unwrap_or_default(),
        "http": {
            "method": parts.method.as_str(),
            "path": path,
            "protocol": protocol(parts.version),
            "sourceIp": peer.ip().to_string(),
            "userAgent": text(&parts.headers, USER_AGENT.as_str()).unwrap_or_default(),
        },
        "requestId": request_id(),
        "routeKey": "$default",
        "stage": "$default",
        "time": written(now.as_secs()),
        "timeEpoch": u64::try_from(now.as_millis()).unwrap_or_default(),
    })
}

/// As in `12/Mar/2020:19:03:58 +0000`.
fn written(seconds: u64) -> String {
    let at = i64::try_from(seconds)
        .ok()
        .and_then(|s| Timestamp::from_second(s).ok())
        .unwrap_or_default();
    at.strftime("%d/%b/%Y:%H:%M:%S +0000").to_string()
}

fn protocol(version: Version) -> &'static str {
    if version == Version::HTTP_10 {
        "HTTP/1.0"
    } else {
        "HTTP/1.1"
    }
}

/// Lower-cased names, repeated ones joined by a comma, cookies apart, and what the gateway adds.
fn headers(headers: &HeaderMap, peer: SocketAddr) -> BTreeMap<String, String> {
    let mut written: BTreeMap<String, String> = headers
        .keys()
        .filter(|name| **name != COOKIE)
        .filter_map(|name| Some((name.as_str().to_owned(), text(headers, name.as_str())?)))
        .collect();
    let came_from = match written.get("x-forwarded-for") {
        Some(before) => format!("{before}, {}", peer.ip()),
        None => peer.ip().to_string(),
    };
    written.insert("x-forwarded-for".to_owned(), came_from);
    written.insert("x-forwarded-proto".to_owned(), "http".to_owned());
    written
}

/// All values of one header. Bytes that are not UTF-8 are replaced: an event is JSON text.
fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    let values: Vec<String> = headers
        .get_all(name)
        .iter()
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        .collect();
    (!values.is_empty()).then(|| values.join(","))
}

fn cookies(headers: &HeaderMap) -> Vec<String> {
    headers
        .get_all(COOKIE)
        .iter()
        .flat_map(|value| {
            let line = String::from_utf8_lossy(value.as_bytes()).into_owned();
            line.split(';')
                .map(|cookie| cookie.trim().to_owned())
                .collect::<Vec<_>>()
        })
        .filter(|cookie| !cookie.is_empty())
        .collect()
}

fn parameters(query: &str) -> BTreeMap<String, String> {
    let mut parameters: BTreeMap<String, String> = BTreeMap::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = decoded(value);
        parameters
            .entry(decoded(name))
            .and_modify(|before| {
                before.push(',');
                before.push_str(&value);
            })
            .or_insert(value);
    }
    parameters
}

/// Percent and plus decoding; what is not valid stays as it came.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        rest = behind;
        let escaped = behind
            .split_at_checked(2)
            .filter(|_| first == b'%')
            .and_then(|(digits, after)| Some((hex::decode(digits).ok()?.first().copied()?, after)));
        match escaped {
            Some((byte, after)) => {
                bytes.push(byte);
                rest = after;
            }
            None if first == b'+' => bytes.push(b' '),
            None => bytes.push(first),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The media types whose bodies travel as text. All others, and bodies without one, are encoded.
fn is_text(headers: &HeaderMap) -> bool {
    let media = text(headers, CONTENT_TYPE.as_str()).unwrap_or_default();
    let media = media
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    media.starts_with("text/")
        || [
            "application/json",
            "application/javascript",
            "application/xml",
        ]
        .contains(&media.as_str())
        || media.ends_with("+json")
        || media.ends_with("+xml")
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn written_event(request: Request<()>, body: &[u8]) -> Value {
        let (parts, ()) = request.into_parts();
        let peer = SocketAddr::from(([127, 0, 0, 1], 9));
        serde_json::from_str(&event(&parts, body, peer)).unwrap()
    }

    #[test]
    fn repeated_headers_are_joined_and_cookies_stand_apart() {
        let request = Request::post("/hooks/a?x=1&x=%41+b&y")
            .header("X-Sig", "one")
            .header("x-sig", "two")
            .header("cookie", "a=1; b=2")
            .header("content-type", "application/vnd.api+json; charset=utf-8")
            .body(())
            .unwrap();
        let event = written_event(request, b"{}");
        assert_eq!(event["headers"]["x-sig"], "one,two");
        assert!(event["headers"].get("cookie").is_none());
        assert_eq!(event["cookies"], json!(["a=1", "b=2"]));
        assert_eq!(
            event["queryStringParameters"],
            json!({ "x": "1,A b", "y": "" })
        );
        assert_eq!(event["rawQueryString"], "x=1&x=%41+b&y");
        assert_eq!(
            (&event["body"], &event["isBase64Encoded"]),
            (&json!("{}"), &json!(false))
        );
    }

    #[test]
    fn a_body_that_is_not_text_is_encoded() {
        let form = Request::post("/")
            .header("content-type", "application/x-www-form-urlencoded")
            .body(())
            .unwrap();
        let event = written_event(form, b"a=1");
        assert_eq!(
            (&event["body"], &event["isBase64Encoded"]),
            (&json!("YT0x"), &json!(true))
        );
        let lie = Request::post("/")
            .header("content-type", "text/plain")
            .body(())
            .unwrap();
        let event = written_event(lie, &[0xff]);
        assert_eq!(
            (&event["body"], &event["isBase64Encoded"]),
            (&json!("/w=="), &json!(true))
        );
    }

    #[test]
    fn a_request_without_a_body_has_none() {
        let event = written_event(Request::get("/").body(()).unwrap(), b"");
        assert!(event.get("body").is_none());
        assert_eq!(event["requestContext"]["http"]["method"], "GET");
    }

    #[test]
    fn time_is_written_as_the_gateway_writes_it() {
        assert_eq!(written(1_583_348_638), "04/Mar/2020:19:03:58 +0000");
    }
}

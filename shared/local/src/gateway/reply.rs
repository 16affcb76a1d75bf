//! Turns a function's reply into an HTTP response; a reply that cannot be one is a failure, not a guess.

use axum::{
    body::Body,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value};

/// The response that `text` asks for. A reply without a status code is itself the body of a 200.
pub(super) fn response(text: &str) -> Option<Response> {
    let reply: Value = serde_json::from_str(text).ok()?;
    let Some(object) = reply
        .as_object()
        .filter(|object| object.contains_key("statusCode"))
    else {
        return Some(as_body(&reply));
    };
    let status = status(object.get("statusCode")?)?;
    let mut response = Response::new(Body::from(body(object)?));
    *response.status_mut() = status;
    *response.headers_mut() = headers(object)?;
    if !response.headers().contains_key(header::CONTENT_TYPE) {
        let text = HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().insert(header::CONTENT_TYPE, text);
    }
    Some(response)
}

fn as_body(reply: &Value) -> Response {
    let body = reply
        .as_str()
        .map_or_else(|| reply.to_string(), str::to_owned);
    (
        StatusCode::OK,
        [(header::CONTENT_TYPE, "application/json")],
        body,
    )
        .into_response()
}

fn status(code: &Value) -> Option<StatusCode> {
    let number = code.as_u64().or_else(|| code.as_str()?.parse().ok())?;
    StatusCode::from_u16(u16::try_from(number).ok()?).ok()
}

fn body(reply: &Map<String, Value>) -> Option<Vec<u8>> {
    let text = match reply.get("body") {
        None | Some(Value::Null) => return Some(Vec::new()),
        Some(body) => body.as_str()?,
    };
    if reply
        .get("isBase64Encoded")
        .and_then(Value::as_bool)
        .unwrap_or(false)
    {
        STANDARD.decode(text).ok()
    } else {
        Some(text.as_bytes().to_vec())
    }
}

fn headers(reply: &Map<String, Value>) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    let mut put = |name: &str, value: &Value| {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        let name = HeaderName::try_from(name).ok()?;
        // Framing is the server's own business.
        if name != header::CONTENT_LENGTH && name != header::TRANSFER_ENCODING {
            headers.append(name, HeaderValue::try_from(value).ok()?);
        }
        Some(())
    };
    for (name, value) in reply
        .get("headers")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let many = reply
            .get("multiValueHeaders")
            .and_then(|many| many.get(name));
        if many.is_none() {
            put(name, value)?;
        }
    }
    for (name, values) in reply
        .get("multiValueHeaders")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        for value in values.as_array()? {
            put(name, value)?;
        }
    }
    for cookie in reply
        .get("cookies")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        put("set-cookie", cookie)?;
    }
    Some(headers)
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;

    use super::*;

    async fn bytes(response: Response) -> Vec<u8> {
        to_bytes(response.into_body(), 1 << 20)
            .await
            .unwrap()
            .to_vec()
    }

    #[tokio::test]
    async fn a_reply_is_answered_with_its_status_headers_cookies_and_bytes() {
        let text = r#"{"statusCode":202,"headers":{"x-a":"1","x-b":"0"},"multiValueHeaders":{"x-b":["2","3"]},
            "cookies":["c=1"],"body":"aGk=","isBase64Encoded":true}"#;
        let response = response(text).unwrap();
        assert_eq!(response.status(), StatusCode::ACCEPTED);
        assert_eq!(response.headers()["x-a"], "1");
        assert_eq!(response.headers().get_all("x-b").iter().count(), 2);
        assert_eq!(response.headers()["set-cookie"], "c=1");
        assert_eq!(bytes(response).await, b"hi");
    }

    #[tokio::test]
    async fn a_reply_without_a_status_code_is_the_body_of_a_200() {
        let response = response(r#"{"ok":true}"#).unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "application/json");
        assert_eq!(bytes(response).await, br#"{"ok":true}"#);
    }

    #[test]
    fn a_reply_that_cannot_be_a_response_is_none() {
        for text in [
            "oops",
            r#"{"statusCode":99}"#,
            r#"{"statusCode":"x"}"#,
            r#"{"statusCode":200,"body":7}"#,
            r#"{"statusCode":200,"headers":{"a b":"1"}}"#,
            r#"{"statusCode":200,"body":"!","isBase64Encoded":true}"#,
        ] {
            assert!(response(text).is_none(), "{text}");
        }
    }
}

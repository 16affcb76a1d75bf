//! What the body of an answer shows of a key.

use serde_json::Value;

/// Whether the pointer (RFC 6901) finds something that is neither null nor empty.
pub(crate) fn shows(body: &[u8], pointer: &str) -> Result<bool, &'static str> {
    let body: Value = serde_json::from_slice(body).map_err(|_| "its body is no JSON")?;
    Ok(match body.pointer(pointer) {
        None | Some(Value::Null) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(list)) => !list.is_empty(),
        Some(Value::Object(object)) => !object.is_empty(),
        // Also `false` and 0: a value stands there.
        Some(Value::Bool(_) | Value::Number(_)) => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn something_is_there_when_it_is_neither_null_nor_empty() {
        for (body, pointer, expected) in [
            (r#"{"data":[{"id":1}]}"#, "/data/0", true),
            (r#"{"data":[{"id":1}]}"#, "/data", true),
            (r#"{"data":[]}"#, "/data/0", false),
            (r#"{"data":[]}"#, "/data", false),
            (r#"{"data":[{}]}"#, "/data/0", false),
            (r#"{"data":[null]}"#, "/data/0", false),
            (r#"{"data":""}"#, "/data", false),
            (r#"{"data":"x"}"#, "/data", true),
            (r#"{"total":0}"#, "/total", true),
            (r#"{"a/b":{"~":1}}"#, "/a~1b/~0", true),
            ("{}", "", false),
            ("[1]", "", true),
            ("null", "/data", false),
        ] {
            assert_eq!(
                shows(body.as_bytes(), pointer),
                Ok(expected),
                "{body} {pointer}"
            );
        }
    }

    #[test]
    fn a_body_that_cannot_be_read_shows_nothing_either_way() {
        for body in [
            &b""[..],
            b"<html>",
            b"{\"data\":[",
            b"\xff",
            &[b'['; 100_000],
        ] {
            assert!(shows(body, "/data/0").is_err());
        }
    }
}

//! A recorded request as a file describes it. Files of others are read too: what is optional may be missing,
//! and a value may be written in more than one way.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lastword_contracts::Headers;
use serde_json::{Map, Value};

/// One recorded request.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) provider: String,
    pub(super) expect: String,
    pub(super) method: String,
    /// The URL as it is registered at the provider.
    pub(super) url: Option<String>,
    /// Without its question mark.
    pub(super) query: String,
    /// As a gateway hands them over: names in lower case, values of one name joined.
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: Vec<u8>,
    /// The clock, in Unix seconds.
    pub(super) now: Option<u64>,
    /// What may be a key, the surest first.
    pub(super) secrets: Vec<String>,
    /// What may be one where nothing of that is.
    pub(super) public_keys: Vec<String>,
    pub(super) token: Option<String>,
    /// The schemes that are accepted; all when the file does not say.
    pub(super) schemes: Vec<String>,
    /// The status that must come, when it is one and no other.
    pub(super) status: Option<u16>,
    pub(super) response: Option<String>,
    pub(super) response_json: Option<Value>,
    /// The text that is signed.
    pub(super) signed_text: Option<String>,
    members: Map<String, Value>,
}

/// Where files write the text that is signed.
const SIGNED_TEXT: [&str; 8] = [
    "data_to_sign",
    "string_to_sign",
    "message",
    "manifest",
    "message_string",
    "signed_content",
    "signed_payload",
    "expected_message",
];

impl Entry {
    /// Reads one.
    pub(super) fn read(raw: &Value) -> Result<Self, String> {
        let members = raw.as_object().ok_or("an entry that is no object")?;
        let text = |name: &str| members.get(name).and_then(plain);
        let needed = |name: &str| text(name).ok_or_else(|| format!("it has no {name:?}"));
        let url = text("notification_url").or_else(|| text("url"));
        let in_url = url.as_deref().and_then(|url| url.split_once('?'));
        let query = match members.get("query") {
            Some(query) => query_of(query)?,
            None => in_url
                .map(|(_, query)| query.to_owned())
                .unwrap_or_default(),
        };
        Ok(Self {
            provider: needed("provider")?,
            expect: needed("expect")?,
            method: text("method").map_or_else(|| "POST".to_owned(), |it| it.to_ascii_uppercase()),
            query,
            headers: headers(members.get("headers"))?,
            body: body(members)?,
            now: now(members.get("now_unix"))?,
            secrets: secrets(members, &["cert_pem", "jwk", "secret", "secrets"]),
            public_keys: secrets(members, &["public_key", "public_key_pem"]),
            token: text("verify_token"),
            schemes: members.get("schemes").map(values).unwrap_or_default(),
            status: text("expected_status").and_then(|status| status.parse().ok()),
            response: text("expected_response"),
            response_json: members.get("expected_response_json").cloned(),
            signed_text: SIGNED_TEXT.iter().find_map(|name| text(name)),
            url,
            members: members.clone(),
        })
    }

    /// A member that is plain text, for a parameter of the same name.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let inner = self.members.get("parameters").and_then(|all| all.get(name));
        inner.or_else(|| self.members.get(name)).and_then(plain)
    }

    /// The headers as the door reads them.
    pub(super) fn headers(&self) -> Headers {
        let all = self.headers.iter();
        all.map(|(name, value)| (name.as_str(), value.as_str()))
            .collect()
    }
}

/// A text, or a number or a flag as text.
pub(super) fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Every value of a header or a parameter.
fn values(value: &Value) -> Vec<String> {
    match value {
        Value::Array(all) => all.iter().filter_map(plain).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            plain(value).into_iter().collect()
        }
    }
}

/// As an object, or as a list of pairs.
fn headers(raw: Option<&Value>) -> Result<BTreeMap<String, String>, String> {
    let unfit = || "its headers are neither an object nor pairs".to_owned();
    let mut all = BTreeMap::new();
    match raw {
        None | Some(Value::Null) => {}
        Some(Value::Object(members)) => {
            for (name, value) in members {
                join(&mut all, name, value);
            }
        }
        Some(Value::Array(pairs)) => {
            for pair in pairs {
                match pair.as_array().map(Vec::as_slice) {
                    Some([Value::String(name), value]) => join(&mut all, name, value),
                    Some(_) | None => return Err(unfit()),
                }
            }
        }
        Some(Value::Bool(_) | Value::Number(_) | Value::String(_)) => return Err(unfit()),
    }
    Ok(all)
}

fn join(all: &mut BTreeMap<String, String>, name: &str, value: &Value) {
    for value in values(value) {
        all.entry(name.to_ascii_lowercase())
            .and_modify(|whole| {
                whole.push(',');
                whole.push_str(&value);
            })
            .or_insert(value);
    }
}

/// The exact bytes; none when there is no body at all.
fn body(members: &Map<String, Value>) -> Result<Vec<u8>, String> {
    let text = |name: &str| members.get(name).and_then(Value::as_str);
    if let Some(encoded) = text("body_base64") {
        return STANDARD
            .decode(encoded)
            .map_err(|error| format!("body_base64: {error}"));
    }
    let plain = text("body_utf8").or_else(|| text("body"));
    Ok(plain.unwrap_or_default().as_bytes().to_vec())
}

/// As text, or as an object of names and values.
fn query_of(raw: &Value) -> Result<String, String> {
    match raw {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text.strip_prefix('?').unwrap_or(text).to_owned()),
        Value::Object(members) => {
            let mut query = form_urlencoded::Serializer::new(String::new());
            for (name, value) in members {
                for value in values(value) {
                    query.append_pair(name, &value);
                }
            }
            Ok(query.finish())
        }
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            Err("its query is neither a text nor an object".to_owned())
        }
    }
}

fn now(raw: Option<&Value>) -> Result<Option<u64>, String> {
    let Some(text) = raw.and_then(plain) else {
        return Ok(None);
    };
    let seconds: Option<f64> = text.parse().ok();
    match (text.parse(), seconds) {
        (Ok(whole), _) => Ok(Some(whole)),
        // Parts of a second are of no account here.
        (Err(_), Some(part)) if (0.0..1e15).contains(&part) => {
            Ok(format!("{part:.0}").parse().ok())
        }
        (Err(_), Some(_) | None) => Err(format!("now_unix is no time: {text}")),
    }
}

fn secrets(members: &Map<String, Value>, names: &[&str]) -> Vec<String> {
    let named = names.iter().filter_map(|name| members.get(*name));
    let texts = named.flat_map(|value| match value {
        // A JWK.
        Value::Object(_) => vec![value.to_string()],
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            values(value)
        }
    });
    // An empty one is none.
    texts
        .map(trimmed)
        .filter(|secret| !secret.is_empty())
        .collect()
}

/// A PEM is the same without the newline after it; any other secret is what it is, to the byte.
fn trimmed(secret: String) -> String {
    if secret.trim_start().starts_with("-----BEGIN") {
        secret.trim().to_owned()
    } else {
        secret
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_optional_may_be_missing() {
        let entry = Entry::read(&json!({ "provider": "acme", "expect": "valid" })).unwrap();
        assert_eq!((entry.method.as_str(), entry.query.as_str()), ("POST", ""));
        assert!(entry.body.is_empty() && entry.headers.is_empty() && entry.secrets.is_empty());
        let why = Entry::read(&json!({ "expect": "valid" })).unwrap_err();
        assert_eq!(why, "it has no \"provider\"");
        assert!(Entry::read(&json!(7)).is_err());
    }

    #[test]
    fn a_value_may_be_written_in_more_than_one_way() {
        let entry = Entry::read(&json!({
            "provider": "acme",
            "expect": "valid",
            "method": "get",
            "url": "https://example.com/hook?a=1",
            "headers": { "X-Id": ["1", 2], "x-id": "3", "X-Count": 4, "X-None": null },
            "body_utf8": "é",
            "now_unix": "1700000000.4",
            "jwk": { "kty": "EC" },
            "secret": "-----BEGIN PUBLIC KEY-----\nAA==\n",
        }))
        .unwrap();
        assert_eq!(
            (entry.method.as_str(), entry.query.as_str()),
            ("GET", "a=1")
        );
        assert_eq!(
            json!(entry.headers),
            json!({ "x-count": "4", "x-id": "1,2,3" })
        );
        assert_eq!(
            (entry.body.as_slice(), entry.now),
            ("é".as_bytes(), Some(1_700_000_000))
        );
        assert_eq!(entry.secrets[0], "{\"kty\":\"EC\"}");
        assert!(entry.secrets[1].ends_with("AA=="));
    }

    #[test]
    fn a_query_of_its_own_stands_before_that_of_the_url() {
        let entry = |query: Value| {
            let raw = json!({
                "provider": "acme", "expect": "valid", "query": query, "url": "https://example.com/?b=2",
            });
            Entry::read(&raw).unwrap().query
        };
        assert_eq!(entry(json!("?a=1")), "a=1");
        assert_eq!(entry(json!({ "a b": ["1", "&"] })), "a+b=1&a+b=%26");
    }
}

//! How a provider signs, in words.

use lastword_contracts::signature::Algorithm;
use serde_json::Value;

use super::{flag, in_line, one_of, plain};

pub(in crate::command::contracts) fn algorithm(value: &Value) -> Vec<String> {
    let known: Result<Algorithm, _> = serde_json::from_value(value.clone());
    known.map_or_else(|_| plain(value), |known| vec![known.title().to_owned()])
}

/// Several signatures in one value.
pub(in crate::command::contracts) fn list(value: &Value) -> Vec<String> {
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let separator = text("separator").unwrap_or_default();
    let mut lines = vec![match (text("joint"), text("label")) {
        (Some(joint), Some(label)) => format!(
            "a list, apart by {separator:?}: each {:?}; any that matches is enough, other labels are \
             passed over",
            format!("{label}{joint}signature")
        ),
        (Some(joint), None) => format!(
            "a list, apart by {separator:?}: each {:?}; any that matches is enough",
            format!("label{joint}signature")
        ),
        (None, _) => {
            format!("a list of signatures, apart by {separator:?}; any that matches is enough")
        }
    }];
    match text("timestamp") {
        Some("first") => lines.push("the first item is the signed time".to_owned()),
        Some(label) => lines.push(format!("the signed time is labelled {label:?}")),
        None => {}
    }
    lines
}

pub(in crate::command::contracts) fn each_item(value: &Value) -> Vec<String> {
    let way = in_line(value);
    vec![format!(
        "every item at {way} is signed by itself; all must match"
    )]
}

pub(in crate::command::contracts) fn window(value: &Value) -> Vec<String> {
    vec![format!("{value} seconds from our clock, either way")]
}

pub(in crate::command::contracts) fn bytes(value: &Value) -> Vec<String> {
    let bounds: Vec<_> = value
        .as_array()
        .into_iter()
        .flatten()
        .map(Value::to_string)
        .collect();
    vec![format!("{} bytes once decoded", bounds.join(" to "))]
}

pub(in crate::command::contracts) fn key(value: &Value) -> Vec<String> {
    one_of(
        value,
        &[
            ("text", TEXT_KEY),
            ("hex", "the secret is the key in hexadecimal"),
            ("base64", "the secret is the key in base64"),
            ("sha1", "the key is the SHA-1 of the secret"),
            ("pem", "a public key or certificate in PEM"),
            ("jwk", "a JWK"),
        ],
    )
}

pub(in crate::command::contracts) fn prefix_is(value: &Value) -> Vec<String> {
    one_of(
        value,
        &[
            ("kept", "a part of the key"),
            ("stripped", "taken off, and must be there"),
            ("optional", "taken off where it is there"),
        ],
    )
}

pub(in crate::command::contracts) fn by_default(value: &Value) -> Vec<String> {
    flag(
        value,
        "without being named",
        "only where an integration names it in `schemes`",
    )
}

pub(in crate::command::contracts) fn exclusive(value: &Value) -> Vec<String> {
    flag(
        value,
        "where it is there, no other scheme counts",
        "other schemes count too",
    )
}

/// Of a key that a contract does not describe.
pub(in crate::command::contracts) const TEXT_KEY: &str = "the secret's bytes as they are";

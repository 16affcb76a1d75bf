//! What a scheme is made of: algorithm, encoding, the header's grammar, and what is concatenated.

use serde::Deserialize;

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Algorithm {
    HmacSha256,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Encoding {
    Hex,
    Base64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Format {
    /// `t=1700000000,v1=…,v1=…`
    Pairs {
        timestamp: String,
        signature: String,
    },
    /// `sha256=…`
    Prefixed(String),
}

/// What is signed, in order.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Template(pub(super) Vec<Part>);

#[derive(Debug, Clone)]
pub(super) enum Part {
    Text(Box<str>),
    Timestamp,
    Body,
}

impl TryFrom<String> for Template {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            let (name, after) = after
                .split_once('}')
                .ok_or_else(|| format!("{text:?} has an open brace"))?;
            if !before.is_empty() {
                parts.push(Part::Text(before.into()));
            }
            parts.push(match name {
                "timestamp" => Part::Timestamp,
                "body" => Part::Body,
                other => {
                    return Err(format!(
                        "{text:?} names {other:?}; known are timestamp and body"
                    ));
                }
            });
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.into()));
        }
        if !parts.iter().any(|part| matches!(part, Part::Body)) {
            return Err(format!("{text:?} does not sign the body"));
        }
        Ok(Self(parts))
    }
}

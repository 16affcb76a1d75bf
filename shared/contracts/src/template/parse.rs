//! A template from its text: `{value|turned}` and `[parts that may be left out]`.

use super::{Part, Segment, Template, Turned, Value};
use crate::source::Source;

impl TryFrom<String> for Template {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut segments = Vec::new();
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (optional, inner, after) = match rest.strip_prefix('[') {
                Some(inner) => {
                    let (inner, after) = inner
                        .split_once(']')
                        .ok_or_else(|| format!("{text:?} has an open bracket"))?;
                    (true, inner, after)
                }
                None => {
                    let end = rest.find('[').unwrap_or(rest.len());
                    let (inner, after) = rest.split_at(end);
                    (false, inner, after)
                }
            };
            let parts = parts(inner).map_err(|why| format!("{text:?} {why}"))?;
            segments.push(Segment { optional, parts });
            rest = after;
        }
        Ok(Self {
            text: text.into(),
            segments,
        })
    }
}

fn parts(text: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').ok_or("has an open brace")?;
        if !before.is_empty() {
            parts.push(Part::Text(before.into()));
        }
        parts.push(value(name)?);
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest.into()));
    }
    Ok(parts)
}

fn value(text: &str) -> Result<Part, String> {
    let (name, turned) = match text.split_once('|') {
        None => (text, None),
        Some((name, word)) => (name, Some(turned(word)?)),
    };
    let value = match name.split_once(':') {
        None => match name {
            "body" => Value::Body,
            "timestamp" => Value::Timestamp,
            "method" => Value::Method,
            "url" => Value::Url,
            "target" => Value::Target,
            "secret" => Value::Secret,
            "kid" => Value::Kid,
            "form" => Value::Form,
            other => return Err(format!("names {other:?}, which is not known")),
        },
        Some(("parameter", name)) => Value::Parameter(name.into()),
        Some(("named-headers", name)) => Value::NamedHeaders(name.into()),
        Some(("hmac-sha256" | "hmac-sha1", place)) => Value::Mac(Source::parse(place)?),
        Some(_) => Value::Place(Source::parse(name)?),
    };
    Ok(Part::Value(value, turned))
}

fn turned(word: &str) -> Result<Turned, String> {
    Ok(match word {
        "lower" => Turned::Lower,
        "crc32" => Turned::Crc32,
        "port" => Turned::Port,
        "no-port" => Turned::NoPort,
        "unreserved" => Turned::Unreserved,
        "base64" => Turned::Base64,
        other => return Err(format!("turns a value into {other:?}, which is not known")),
    })
}

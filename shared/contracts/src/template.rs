//! What is concatenated: for a signature, for a handshake's answer, for the request of a key.
//!
//! `{timestamp}.{body}`; a part in square brackets is left out when a value in it is missing.

mod parse;
mod values;

use std::borrow::Cow;
use std::cell::OnceCell;

use serde::Deserialize;

use crate::request::Request;
use crate::source::{OneOrMany, Source};
use values::{MOST_FIELDS, contains};

/// A text with places in it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Template {
    text: Box<str>,
    segments: Vec<Segment>,
}

/// Several templates that are tried in turn.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "OneOrMany")]
pub(crate) struct Candidates(pub(crate) Vec<Template>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Segment {
    optional: bool,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(Box<str>),
    Value(Value, Option<Turned>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    Body,
    Timestamp,
    Method,
    Url,
    Target,
    Secret,
    Kid,
    Form,
    Parameter(Box<str>),
    NamedHeaders(Box<str>),
    Place(Source),
    Mac(Source),
}

/// What is done with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turned {
    Lower,
    Crc32,
    Port,
    NoPort,
    Unreserved,
    Base64,
}

/// Makes the hex MAC of a value.
pub(crate) type Mac<'m> = &'m dyn Fn(&[u8]) -> Option<String>;

/// What a template's values come from.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'s> {
    pub(crate) request: &'s Request<'s>,
    /// As the sender wrote it.
    pub(crate) timestamp: Option<&'s str>,
    pub(crate) secret: Option<&'s str>,
    pub(crate) kid: Option<&'s str>,
    /// The JSON text of the item that is looked at.
    pub(crate) item: Option<&'s str>,
    /// The form's fields in order, made once for all keys and templates.
    pub(crate) form: Option<&'s OnceCell<String>>,
    /// The hex MAC of a value under the integration's first key.
    pub(crate) mac: Option<Mac<'s>>,
}

impl<'s> Scope<'s> {
    pub(crate) fn of(request: &'s Request<'s>) -> Self {
        Self {
            request,
            timestamp: None,
            secret: None,
            kid: None,
            item: None,
            form: None,
            mac: None,
        }
    }

    pub(crate) fn place(&self, source: &Source) -> Option<Cow<'s, str>> {
        match (source, self.item) {
            (Source::Item(pointer), Some(item)) => pointer.text(item),
            (
                Source::Item(_)
                | Source::Header(_)
                | Source::Query(_)
                | Source::Form(_)
                | Source::Body(_)
                | Source::Digest
                | Source::Const(_),
                _,
            ) => self.request.text(source),
        }
    }
}

impl Template {
    /// Whether it holds the body's bytes, or all of a form's fields.
    pub(crate) fn holds_body(&self) -> bool {
        let mut parts = self.segments.iter().flat_map(|segment| &segment.parts);
        // A checksum of it can be met by another body.
        parts.any(|part| matches!(part, Part::Value(Value::Body, None)))
    }

    /// The places whose MAC it holds.
    pub(crate) fn macs(&self) -> impl Iterator<Item = &Source> {
        self.values().filter_map(|value| {
            if let Value::Mac(place) = value {
                Some(place)
            } else {
                None
            }
        })
    }

    /// Whether it needs the configured URL.
    pub(crate) fn needs_url(&self) -> bool {
        self.values()
            .any(|value| matches!(value, Value::Url | Value::Target))
    }

    /// Whether it holds the integration's secret.
    pub(crate) fn needs_secret(&self) -> bool {
        self.values().any(|value| matches!(value, Value::Secret))
    }

    /// The places that it holds.
    pub(crate) fn places(&self) -> impl Iterator<Item = &Source> {
        self.values().filter_map(|value| {
            if let Value::Place(place) | Value::Mac(place) = value {
                Some(place)
            } else {
                None
            }
        })
    }

    /// The parameters that it needs.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &str> {
        self.values().filter_map(|value| {
            if let Value::Parameter(name) = value {
                Some(&**name)
            } else {
                None
            }
        })
    }

    fn values(&self) -> impl Iterator<Item = &Value> {
        let parts = self.segments.iter().flat_map(|segment| &segment.parts);
        parts.filter_map(|part| match part {
            Part::Value(value, _) => Some(value),
            Part::Text(_) => None,
        })
    }

    /// Gives out its text piece by piece; a large body is not copied.
    pub(crate) fn pieces(&self, scope: &Scope<'_>, give: &mut dyn FnMut(&[u8])) {
        for segment in &self.segments {
            if segment.optional && segment.is_missing(scope) {
                continue;
            }
            for part in &segment.parts {
                match part {
                    Part::Text(text) => give(text.as_bytes()),
                    Part::Value(Value::Body, None) => give(scope.request.body),
                    Part::Value(Value::Timestamp, None) => {
                        give(scope.timestamp.unwrap_or_default().as_bytes());
                    }
                    Part::Value(value, turned) => {
                        give(&value.bytes(*turned, scope).unwrap_or_default());
                    }
                }
            }
        }
    }

    /// Whether a value in a part that may be left out holds the text that ends such a part: the same signed text
    /// could then be divided in another way.
    pub(crate) fn is_ambiguous(&self, scope: &Scope<'_>) -> bool {
        self.segments
            .iter()
            .filter(|segment| segment.optional)
            .any(|segment| {
                let Some(Part::Text(end)) = segment.parts.last() else {
                    return false;
                };
                segment.parts.iter().any(|part| match part {
                    Part::Text(_) => false,
                    Part::Value(value, turned) => value
                        .bytes(*turned, scope)
                        .is_some_and(|value| contains(&value, end.as_bytes())),
                })
            })
    }

    /// Whether it holds a form of more fields than any sender has: sorting them is work that a stranger could
    /// ask for.
    pub(crate) fn is_too_long(&self, scope: &Scope<'_>) -> bool {
        let holds = self.values().any(|value| matches!(value, Value::Form));
        let fields = || {
            scope
                .request
                .body
                .iter()
                .filter(|byte| **byte == b'&')
                .count()
                + 1
        };
        holds && scope.request.is_form() && fields() > MOST_FIELDS
    }

    /// Its text in one piece.
    pub(crate) fn bytes(&self, scope: &Scope<'_>) -> Vec<u8> {
        let mut all = Vec::with_capacity(scope.request.body.len() + 128);
        self.pieces(scope, &mut |piece| all.extend_from_slice(piece));
        all
    }

    /// Its text, where it is one.
    pub(crate) fn string(&self, scope: &Scope<'_>) -> Option<String> {
        String::from_utf8(self.bytes(scope)).ok()
    }
}

impl Segment {
    fn is_missing(&self, scope: &Scope<'_>) -> bool {
        self.parts.iter().any(|part| match part {
            Part::Text(_) => false,
            Part::Value(value, turned) => value
                .bytes(*turned, scope)
                .is_none_or(|value| value.is_empty()),
        })
    }
}

impl TryFrom<OneOrMany> for Candidates {
    type Error = String;

    fn try_from(texts: OneOrMany) -> Result<Self, String> {
        let texts = texts.all().into_iter();
        let all: Vec<_> = texts.map(Template::try_from).collect::<Result<_, _>>()?;
        if all.is_empty() {
            return Err("an empty list; expected at least one template".to_owned());
        }
        Ok(Self(all))
    }
}

impl std::fmt::Display for Template {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests;

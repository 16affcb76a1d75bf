//! What is concatenated: for a signature, for a handshake's answer, for the request of a key.
//!
//! `{timestamp}.{body}`; a part in square brackets is left out when a value in it is missing.

use std::borrow::Cow;
use std::cell::OnceCell;

use serde::Deserialize;

use crate::request::Request;
use crate::source::{OneOrMany, Source};

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
        self.values().filter_map(|value| match value {
            Value::Mac(source) => Some(source),
            Value::Body
            | Value::Timestamp
            | Value::Method
            | Value::Url
            | Value::Target
            | Value::Secret
            | Value::Kid
            | Value::Form
            | Value::Parameter(_)
            | Value::NamedHeaders(_)
            | Value::Place(_) => None,
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
        self.values().filter_map(|value| match value {
            Value::Place(source) | Value::Mac(source) => Some(source),
            Value::Body
            | Value::Timestamp
            | Value::Method
            | Value::Url
            | Value::Target
            | Value::Secret
            | Value::Kid
            | Value::Form
            | Value::Parameter(_)
            | Value::NamedHeaders(_) => None,
        })
    }

    /// The parameters that it needs.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &str> {
        self.values().filter_map(|value| match value {
            Value::Parameter(name) => Some(&**name),
            Value::Body
            | Value::Timestamp
            | Value::Method
            | Value::Url
            | Value::Target
            | Value::Secret
            | Value::Kid
            | Value::Form
            | Value::NamedHeaders(_)
            | Value::Place(_)
            | Value::Mac(_) => None,
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

impl Value {
    fn bytes<'s>(&self, turned: Option<Turned>, scope: &Scope<'s>) -> Option<Cow<'s, [u8]>> {
        let text = |text: &'s str| Some(Cow::Borrowed(text.as_bytes()));
        let url = || scope.request.endpoint.url.as_deref();
        let value = match self {
            Self::Body => Some(Cow::Borrowed(scope.request.body)),
            Self::Timestamp => scope.timestamp.and_then(text),
            Self::Method => text(scope.request.method),
            Self::Secret => scope.secret.and_then(text),
            Self::Kid => scope.kid.and_then(text),
            Self::Url => url().map(|held| owned(with_digest(held, scope.request).into_owned())),
            Self::Target => url().map(|held| owned(target(held).to_owned())),
            Self::Parameter(name) => {
                let parameters = &scope.request.endpoint.parameters;
                parameters.get(&**name).and_then(|value| text(value))
            }
            Self::Form => Some(match scope.form {
                Some(made) => {
                    let text = made.get_or_init(|| sorted_form(scope.request));
                    Cow::Borrowed(text.as_bytes())
                }
                None => owned(sorted_form(scope.request)),
            }),
            Self::NamedHeaders(name) => named_headers(scope.request, name).map(owned),
            Self::Place(source) => scope.place(source).map(|value| owned(value.into_owned())),
            Self::Mac(source) => {
                let value = scope.place(source)?;
                scope.mac?(value.as_bytes()).map(owned)
            }
        }?;
        Some(match turned {
            None => value,
            Some(turned) => Cow::Owned(turned.apply(&value)),
        })
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    !part.is_empty() && text.windows(part.len()).any(|window| window == part)
}

fn owned(text: String) -> Cow<'static, [u8]> {
    Cow::Owned(text.into_bytes())
}

/// A sender that signs a digest of its body puts it into the URL that it calls, after what is registered.
fn with_digest<'u>(url: &'u str, request: &Request<'_>) -> Cow<'u, str> {
    const NAME: &str = "bodySHA256=";
    let sent = request.query.split('&').find(|pair| pair.starts_with(NAME));
    match sent {
        Some(pair) if !url.contains(NAME) => {
            let joint = if url.contains('?') { '&' } else { '?' };
            Cow::Owned(format!("{url}{joint}{pair}"))
        }
        Some(_) | None => Cow::Borrowed(url),
    }
}

/// Path and query of a URL.
fn target(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.find('/')
        .map_or("/", |at| rest.get(at..).unwrap_or("/"))
}

/// The most fields of a form that is signed.
const MOST_FIELDS: usize = 1000;

/// Name and value of every field after each other, sorted; equal fields once.
fn sorted_form(request: &Request<'_>) -> String {
    let mut fields: Vec<_> = request.form().collect();
    fields.sort();
    fields.dedup();
    let pairs = fields.iter();
    pairs
        .flat_map(|(name, value)| [&**name, &**value])
        .collect()
}

fn named_headers(request: &Request<'_>, list: &str) -> Option<String> {
    // The list is one value whose commas are its own.
    let names = request.headers.all(list).next()?;
    let pair = |name: &str| {
        let value = request.headers.all(name).next()?;
        Some(format!("{}:{}", name.to_ascii_lowercase(), value.trim()))
    };
    let pairs: Vec<_> = names
        .split(',')
        .filter_map(|name| pair(name.trim()))
        .collect();
    Some(pairs.join(";"))
}

impl Turned {
    fn apply(self, value: &[u8]) -> Vec<u8> {
        match self {
            Self::Lower => value.to_ascii_lowercase(),
            Self::Crc32 => crc32fast::hash(value).to_string().into_bytes(),
            Self::Port => port(value, true),
            Self::NoPort => port(value, false),
            Self::Unreserved => unreserved(value),
            Self::Base64 => {
                use base64::Engine as _;
                base64::engine::general_purpose::STANDARD
                    .encode(value)
                    .into_bytes()
            }
        }
    }
}

/// The URL with or without the port that its scheme has anyway.
fn port(url: &[u8], with: bool) -> Vec<u8> {
    let text = String::from_utf8_lossy(url);
    let Some((scheme, rest)) = text.split_once("://") else {
        return url.to_vec();
    };
    let own = if scheme == "http" { ":80" } else { ":443" };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let bare = host.strip_suffix(own).unwrap_or(host);
    let has_other = bare.rsplit_once(':').is_some_and(|(_, port)| {
        !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
    });
    let added = if with && !has_other { own } else { "" };
    format!("{scheme}://{bare}{added}{path}").into_bytes()
}

/// Some senders decode these characters of the URL before they sign it.
fn unreserved(url: &[u8]) -> Vec<u8> {
    const DECODED: [&str; 12] = [
        "%3A", "%2F", "%3F", "%40", "%21", "%24", "%27", "%28", "%29", "%2A", "%2C", "%3B",
    ];
    const PLAIN: [&str; 12] = [":", "/", "?", "@", "!", "$", "'", "(", ")", "*", ",", ";"];
    let mut text = String::from_utf8_lossy(url).into_owned();
    for (encoded, plain) in DECODED.iter().zip(PLAIN) {
        text = text
            .replace(encoded, plain)
            .replace(&encoded.to_ascii_lowercase(), plain);
    }
    text.into_bytes()
}

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

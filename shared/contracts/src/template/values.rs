//! What a template's values are in a request, and what is done with them.

use std::borrow::Cow;

use super::{Scope, Turned, Value};
use crate::request::Request;

impl Value {
    pub(super) fn bytes<'s>(
        &self,
        turned: Option<Turned>,
        scope: &Scope<'s>,
    ) -> Option<Cow<'s, [u8]>> {
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

pub(super) fn contains(text: &[u8], part: &[u8]) -> bool {
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
pub(super) const MOST_FIELDS: usize = 1000;

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

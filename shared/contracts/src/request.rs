//! A request as the front door sees it, and what is configured about the door. Nothing is verified here.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::extract::Pointer;
use crate::headers::Headers;
use crate::source::Source;

/// What is configured about an endpoint that a scheme or a handshake may need.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Endpoint {
    /// The URL as it is registered at the provider. Behind a gateway, a stage or a custom domain it is not
    /// what the function sees, so it is never taken from the request.
    pub url: Option<String>,
    /// The contract's further settings.
    pub parameters: BTreeMap<String, String>,
}

/// One request.
#[derive(Clone, Copy)]
pub struct Request<'r> {
    /// `POST`, `GET` …
    pub method: &'r str,
    /// The query as it was sent, without its question mark.
    pub query: &'r str,
    /// All headers.
    pub headers: &'r Headers,
    /// The exact bytes.
    pub body: &'r [u8],
    /// What is configured.
    pub endpoint: &'r Endpoint,
}

/// Law 14: neither the body nor a value of the query, which may be a token, is shown.
impl std::fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} {:?} of {} bytes",
            self.method,
            self.headers,
            self.body.len()
        )
    }
}

impl<'r> Request<'r> {
    /// A value of the query; the first of that name.
    #[must_use]
    pub fn in_query(&self, name: &str) -> Option<Cow<'r, str>> {
        pair(self.query.as_bytes(), name)
    }

    /// A field of a body that is declared as a form; the first of that name.
    #[must_use]
    pub fn in_form(&self, name: &str) -> Option<Cow<'r, str>> {
        self.is_form().then(|| pair(self.body, name)).flatten()
    }

    /// All fields of the form.
    pub fn form(&self) -> impl Iterator<Item = (Cow<'r, str>, Cow<'r, str>)> {
        let body: &[u8] = if self.is_form() { self.body } else { b"" };
        form_urlencoded::parse(body)
    }

    /// Whether the body is a form: declared as one, or undeclared and like one. A JSON text, which begins with
    /// a bracket or a quote, is not.
    #[must_use]
    pub fn is_form(&self) -> bool {
        match self.headers.all("content-type").next() {
            Some(media) => media
                .trim_start()
                .get(..FORM.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(FORM)),
            None => {
                let like_one =
                    |byte: &u8| byte.is_ascii_alphanumeric() || b"=&%+-_.~*".contains(byte);
                self.body.contains(&b'=') && self.body.iter().all(like_one)
            }
        }
    }

    /// The text at a place outside items, `None` when there is none, or when it is repeated and differs.
    #[must_use]
    pub fn text(&self, source: &Source) -> Option<Cow<'r, str>> {
        match source {
            Source::Header(name) => self.headers.one(name).map(Cow::Borrowed),
            Source::Query(name) => self.in_query(name),
            Source::Form(name) => self.in_form(name),
            Source::Body(pointer) | Source::Item(pointer) => self.in_body(pointer),
            Source::Const(text) => Some(Cow::Owned(text.clone())),
            Source::Digest => None,
        }
    }

    /// The plain value at a pointer of a JSON body.
    #[must_use]
    pub fn in_body(&self, pointer: &Pointer) -> Option<Cow<'r, str>> {
        let text = std::str::from_utf8(self.body).ok()?;
        pointer.text(text.strip_prefix('\u{feff}').unwrap_or(text))
    }

    /// Whether all these places hold these values; `*` stands for any, the empty text for none.
    #[must_use]
    pub fn holds(&self, wanted: &BTreeMap<String, Wanted>) -> bool {
        wanted.values().all(|wanted| {
            let found = self.text(&wanted.at);
            match wanted.value.as_str() {
                "*" => found.is_some_and(|value| !value.is_empty()),
                "" => found.is_none_or(|value| value.is_empty()),
                value => found.as_deref() == Some(value),
            }
        })
    }
}

/// A value that is expected at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Where.
    pub at: Source,
    /// What.
    pub value: String,
}

/// Reads `{ "header:X" = "v1" }`.
///
/// # Errors
/// When a place is none.
pub(crate) fn wanted<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, Wanted>, D::Error> {
    use serde::Deserialize as _;
    use serde::de::Error as _;
    let raw = BTreeMap::<String, String>::deserialize(deserializer)?;
    raw.into_iter()
        .map(|(place, value)| {
            let at = Source::parse(&place).map_err(D::Error::custom)?;
            Ok((place, Wanted { at, value }))
        })
        .collect()
}

const FORM: &str = "application/x-www-form-urlencoded";

fn pair<'t>(text: &'t [u8], name: &str) -> Option<Cow<'t, str>> {
    let mut pairs = form_urlencoded::parse(text);
    pairs.find(|(held, _)| held == name).map(|(_, value)| value)
}

//! What a provider is answered. 2xx only after the Inbox commit, or when there is nothing to keep.

use std::collections::BTreeMap;

use lastword_contracts::{AnswerBody, HandshakeAnswer, SignatureError};
use lastword_store::Accepted;
use serde::Serialize;

/// What came of one delivery.
#[derive(Debug)]
#[must_use]
pub enum Answer {
    /// The exact bytes of all its events are durable. The word is that of the event that says most.
    Stored(Accepted),
    /// No event: the provider tries the endpoint.
    Handshake(HandshakeAnswer),
    /// A handshake that does not know the endpoint's token.
    WrongToken,
    /// Well signed, and about nothing that is kept.
    Ignored(&'static str),
    /// No such endpoint. The same answer for all of them.
    UnknownEndpoint,
    /// Not a way in which this provider sends.
    Method(String),
    /// Not a media type that this provider sends.
    MediaType(String),
    /// Nothing in it.
    Empty,
    /// The gateway's event is not a request that can be read.
    BadEvent(String),
    /// The signature check that failed.
    Unauthentic(SignatureError),
    /// It speaks of an account that this endpoint is not for.
    ForeignAccount,
    /// An id that cannot be kept exactly.
    Unkeepable(String),
    /// The store could not be used: nothing is acknowledged, the provider tries again.
    Unavailable,
}

/// The reply as API Gateway (both formats) and function URLs take it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reply {
    /// The HTTP status.
    pub status_code: u16,
    /// Its headers.
    pub headers: BTreeMap<String, String>,
    /// Its body.
    pub body: String,
    /// Never.
    pub is_base64_encoded: bool,
}

#[derive(Serialize)]
struct Problem<'a> {
    r#type: String,
    title: &'static str,
    status: u16,
    detail: &'a str,
}

impl Answer {
    /// A short word for metrics.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Stored(Accepted::New(_)) => "new",
            Self::Stored(Accepted::Duplicate(_)) => "duplicate",
            Self::Stored(Accepted::Variant(_)) => "variant",
            Self::Ignored(word) => word,
            Self::Handshake(_) => "handshake",
            Self::WrongToken => "handshake-wrong-token",
            Self::UnknownEndpoint => "unknown-endpoint",
            Self::Method(_) => "method",
            Self::MediaType(_) => "media-type",
            Self::Empty => "empty",
            Self::BadEvent(_) => "bad-event",
            Self::Unauthentic(error) => error.word(),
            Self::ForeignAccount => "foreign-account",
            Self::Unkeepable(_) => "unkeepable",
            Self::Unavailable => "unavailable",
        }
    }

    /// The reply.
    #[must_use]
    pub fn reply(&self) -> Reply {
        match self {
            Self::Stored(_) | Self::Ignored(_) => Reply {
                status_code: 200,
                headers: media("application/json"),
                body: format!("{{\"received\":\"{}\"}}", self.word()),
                is_base64_encoded: false,
            },
            Self::Handshake(answer) => Reply {
                status_code: answer.status,
                headers: handshake_headers(answer),
                body: answer.body.clone(),
                is_base64_encoded: false,
            },
            Self::WrongToken => self.problem(
                403,
                "Handshake refused",
                "the handshake's token is not this endpoint's",
            ),
            Self::UnknownEndpoint => {
                self.problem(404, "Unknown endpoint", "there is no such webhook endpoint")
            }
            Self::Method(known) => self.problem(
                405,
                "Method not allowed",
                &format!("webhooks are sent with {known}"),
            ),
            Self::MediaType(known) => self.problem(
                415,
                "Unsupported media type",
                &format!("this endpoint takes {known}"),
            ),
            Self::Empty => self.problem(400, "Empty body", "the request has no body"),
            Self::BadEvent(detail) => self.problem(400, "Unreadable request", detail),
            // Not a verdict: the provider tries again.
            Self::Unauthentic(error @ SignatureError::KeyNeeded(_)) => self.problem(
                503,
                "Try again",
                &format!("the signature could not be checked: {error}"),
            ),
            Self::Unauthentic(error) => {
                self.problem(401, "Signature check failed", &error.to_string())
            }
            Self::ForeignAccount => self.problem(
                403,
                "Account not served here",
                "the account named in the body is not on this endpoint's list",
            ),
            Self::Unkeepable(detail) => self.problem(422, "Unusable identifier", detail),
            Self::Unavailable => self.problem(
                503,
                "Try again",
                "the event was not stored and is not acknowledged",
            ),
        }
    }

    fn problem(&self, status: u16, title: &'static str, detail: &str) -> Reply {
        let problem = Problem {
            r#type: format!("urn:lastword:{}", self.word()),
            title,
            status,
            detail,
        };
        let mut headers = media("application/problem+json");
        let mut add = |name: &str, value: &str| headers.insert(name.to_owned(), value.to_owned());
        if let Self::Method(known) = self {
            add("allow", known);
        }
        if status == 503 {
            add("retry-after", "2");
        }
        let body = serde_json::to_string(&problem).unwrap_or_default();
        Reply {
            status_code: status,
            headers,
            body,
            is_base64_encoded: false,
        }
    }
}

impl Reply {
    /// As a provider that reads bodies wants it.
    #[must_use]
    pub fn with_body(mut self, body: AnswerBody) -> Self {
        match body {
            AnswerBody::Any => {}
            AnswerBody::Empty => {
                self.body.clear();
                self.headers.remove("content-type");
            }
        }
        self
    }
}

fn media(media: &str) -> BTreeMap<String, String> {
    BTreeMap::from([("content-type".to_owned(), media.to_owned())])
}

/// What is repeated to whoever asks is never taken for a page.
fn handshake_headers(answer: &HandshakeAnswer) -> BTreeMap<String, String> {
    let mut headers: BTreeMap<_, _> = answer.headers.iter().cloned().collect();
    if let Some(kind) = answer.media_type {
        headers.insert("content-type".to_owned(), kind.to_owned());
        headers.insert("x-content-type-options".to_owned(), "nosniff".to_owned());
    }
    headers
}

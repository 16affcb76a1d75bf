//! What a scheme is made of, as its contract writes it. Nothing is computed here.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::check::Challenge;
use super::fetch::FetchRules;
use crate::contract::Certainty;
use crate::items::Items;
use crate::request::{Wanted, wanted};
use crate::source::{Source, Sources};
use crate::template::Candidates;

/// One way in which a provider signs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scheme {
    /// Its name in reports and configuration.
    pub name: String,
    /// Whether an integration accepts it without naming it.
    #[serde(default = "yes")]
    pub default: bool,
    /// Whether no other scheme counts when its signature is there.
    #[serde(default)]
    pub exclusive: bool,
    /// How the signature is made.
    pub algorithm: Algorithm,
    /// Where it stands.
    pub at: Option<Sources>,
    /// Only requests that hold these values are signed so.
    #[serde(default, deserialize_with = "wanted")]
    pub(crate) when: BTreeMap<String, Wanted>,
    /// Every item of the body is signed by itself.
    pub(crate) each: Option<Items>,
    pub(super) prefix: Option<String>,
    pub(super) list: Option<List>,
    #[serde(default)]
    pub(super) encoding: Encoding,
    /// How a secret becomes a key.
    #[serde(default)]
    pub key: KeyForm,
    /// What every secret begins with.
    pub secret_prefix: Option<String>,
    /// What becomes of that beginning.
    #[serde(default)]
    pub prefix_is: PrefixIs,
    /// The least and the most bytes of a key, once decoded.
    pub(super) key_bytes: Option<[usize; 2]>,
    pub(crate) signed: Option<Candidates>,
    /// Where the signed time stands, when not in the list.
    pub(super) timestamp: Option<Source>,
    #[serde(default)]
    pub(super) time_unit: TimeUnit,
    /// How far the signed time may be from ours, either way; in seconds.
    pub tolerance_seconds: Option<u64>,
    /// Whether strangers are given MACs of challenges: a signed text that is one then never counts.
    pub(crate) challenges: Option<Challenge>,
    /// Where the body's SHA-256 stands, in hex, when that is signed instead of the body.
    pub(crate) body_digest: Option<Source>,
    /// Keys that are asked for.
    pub fetch: Option<FetchRules>,
    /// What is read though the signature does not cover it.
    #[serde(default)]
    pub uncovered: Vec<Uncovered>,
    /// Where this is known from.
    #[serde(default)]
    pub source: String,
    /// How sure it is.
    #[serde(default)]
    pub certainty: Certainty,
}

const fn yes() -> bool {
    true
}

/// How a signature is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// HMAC over SHA-1.
    HmacSha1,
    /// HMAC over SHA-256.
    HmacSha256,
    /// A plain SHA-256 of a text that holds the secret.
    Sha256,
    /// Ed25519.
    Ed25519,
    /// RSA PKCS#1 v1.5 over SHA-256.
    RsaSha256,
    /// A JWT by ECDSA P-256 that holds the body's SHA-256.
    JwtEs256,
    /// The secret itself.
    Token,
    /// HTTP Basic; the secret is `user:password`.
    Basic,
    /// No HTTP: the queue's own permissions.
    Queue,
}

impl Algorithm {
    /// What people call it.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::HmacSha1 => "HMAC-SHA1",
            Self::HmacSha256 => "HMAC-SHA256",
            Self::Sha256 => "plain SHA-256 with the secret in the text",
            Self::Ed25519 => "Ed25519",
            Self::RsaSha256 => "RSA-SHA256",
            Self::JwtEs256 => "JWT, ECDSA P-256",
            Self::Token => "the secret itself, no signature",
            Self::Basic => "HTTP Basic, no signature",
            Self::Queue => "none: the queue's own permissions",
        }
    }

    /// Whether a signature of so many bytes can be one; another is not even compared.
    pub(super) fn may_be(self, length: usize) -> bool {
        match self {
            Self::HmacSha1 => length == 20,
            Self::HmacSha256 | Self::Sha256 => length == 32,
            Self::Ed25519 => length == 64,
            // Of keys of 2048 to 8192 bits.
            Self::RsaSha256 => (256..=1024).contains(&length),
            Self::JwtEs256 | Self::Token | Self::Basic | Self::Queue => length > 0,
        }
    }

    /// Whether a holder of the integration's secret could sign, as for a sample.
    #[must_use]
    pub fn is_symmetric(self) -> bool {
        match self {
            Self::HmacSha1 | Self::HmacSha256 | Self::Sha256 | Self::Token | Self::Basic => true,
            Self::Ed25519 | Self::RsaSha256 | Self::JwtEs256 | Self::Queue => false,
        }
    }
}

/// How a signature is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Encoding {
    /// Hexadecimal.
    #[default]
    Hex,
    /// Standard base64 with padding.
    Base64,
}

/// How a secret becomes a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyForm {
    /// Its bytes.
    #[default]
    Text,
    /// It is written in hexadecimal.
    Hex,
    /// It is written in base64.
    Base64,
    /// The SHA-1 of its bytes.
    Sha1,
    /// A public key or a certificate in PEM.
    Pem,
    /// A JWK.
    Jwk,
}

/// What becomes of the beginning that every secret has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrefixIs {
    /// It is part of the key.
    #[default]
    Kept,
    /// It is taken off.
    Stripped,
    /// It is taken off when it is there.
    Optional,
}

/// How a time is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeUnit {
    /// Unix seconds.
    #[default]
    Seconds,
    /// Unix milliseconds.
    Milliseconds,
    /// Milliseconds when it is above 10^11, else seconds.
    Auto,
    /// RFC 3339.
    Rfc3339,
}

/// Several signatures, or a time and signatures, in one value.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct List {
    pub(super) separator: String,
    pub(super) joint: Option<String>,
    pub(super) label: Option<String>,
    pub(super) timestamp: Option<String>,
}

/// What a contract reads though its signature does not cover it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Uncovered {
    /// The body is a hint.
    #[serde(rename = "body")]
    Body,
    /// The event's id can be changed by whoever sends it again.
    #[serde(rename = "event id")]
    EventId,
    /// Its type too.
    #[serde(rename = "event type")]
    EventType,
    /// The account too.
    #[serde(rename = "account")]
    Account,
    /// The environment too.
    #[serde(rename = "environment")]
    Environment,
    /// There is no signed time: an old delivery can be sent again.
    #[serde(rename = "time")]
    Time,
}

impl Uncovered {
    /// As it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Body => "body",
            Self::EventId => "event id",
            Self::EventType => "event type",
            Self::Account => "account",
            Self::Environment => "environment",
            Self::Time => "time",
        }
    }
}

impl Scheme {
    /// Whether its signature covers the body's bytes.
    #[must_use]
    pub fn covers_body(&self) -> bool {
        match self.algorithm {
            // A secret that is sent vouches for the whole request, and for nothing once it was seen.
            Algorithm::Token | Algorithm::Basic | Algorithm::JwtEs256 | Algorithm::Queue => true,
            Algorithm::HmacSha1
            | Algorithm::HmacSha256
            | Algorithm::Sha256
            | Algorithm::Ed25519
            | Algorithm::RsaSha256 => {
                let holds = |candidates: &Candidates| {
                    candidates.0.iter().all(|template| template.holds_body())
                };
                self.signed.as_ref().is_some_and(holds)
                    || self.body_digest.is_some()
                    || self.covers_payload()
            }
        }
    }

    /// The only field of a form that counts is signed as a whole.
    fn covers_payload(&self) -> bool {
        let mut places = self.signed.iter().flat_map(|all| &all.0).map(|template| {
            let mut places = template.places();
            places.any(|place| matches!(place, Source::Form(_)))
        });
        places
            .next()
            .is_some_and(|first| first && places.all(|other| other))
    }

    /// What is signed, for people.
    #[must_use]
    pub fn signed_text(&self) -> String {
        match &self.signed {
            None => String::new(),
            Some(candidates) => {
                let texts: Vec<_> = candidates.0.iter().map(ToString::to_string).collect();
                texts.join("  or  ")
            }
        }
    }

    /// Whether the configured URL is signed.
    #[must_use]
    pub fn needs_url(&self) -> bool {
        let mut templates = self.signed.iter().flat_map(|all| &all.0);
        templates.any(|template| template.needs_url())
    }

    /// The integration's parameters that it needs.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &str> {
        let templates = self.signed.iter().flat_map(|all| &all.0);
        let fetch = self.fetch.iter().flat_map(FetchRules::parameters);
        templates
            .flat_map(|template| template.parameters())
            .chain(fetch)
    }

    /// The headers that are signed or hold something that a check reads, besides the signature itself.
    pub fn headers(&self) -> impl Iterator<Item = &str> {
        let signed = self.signed.iter().flat_map(|all| &all.0);
        let places = signed.flat_map(|template| template.places());
        places.chain(&self.timestamp).filter_map(Source::header)
    }
}

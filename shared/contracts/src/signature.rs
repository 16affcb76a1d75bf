//! Law 2, authentic first: the signature is checked over the exact bytes before anything is parsed.
//!
//! [`SignatureRules::verify`] is the only maker of [`Verified`], and what follows takes nothing else: a
//! body that was not verified cannot be parsed by mistake. A missing header, key or scheme fails closed.

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::Deserialize;
use sha2::Sha256;

use crate::headers::Headers;

/// How a provider signs. A template over what is concatenated; not one function for each provider.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignatureRules {
    algorithm: Algorithm,
    /// The header that holds the signature.
    pub header: String,
    format: Format,
    signed: Template,
    encoding: Encoding,
    /// How far the signed time may be from ours, either way; in seconds.
    pub tolerance_seconds: Option<u64>,
    /// What every secret of this provider begins with.
    pub secret_prefix: Option<String>,
    /// Where this is known from.
    pub source: String,
    /// How sure it is.
    pub certainty: Certainty,
}

/// How sure a claim of a contract is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    /// Read in the provider's own repositories or documentation.
    Read,
    /// A dated quotation of the provider by others.
    Quoted,
    /// From experience; to be checked before it is relied on.
    Believed,
    /// Not established.
    Unknown,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Algorithm {
    HmacSha256,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Encoding {
    Hex,
    Base64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Format {
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
struct Template(Vec<Part>);

#[derive(Debug, Clone)]
enum Part {
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

/// One active secret, its key schedule already computed.
#[derive(Clone)]
pub struct SigningKey(Hmac<Sha256>);

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SigningKey(redacted)")
    }
}

/// Why a secret cannot be a key. Never shows the secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Not what this provider's secrets look like.
    #[error("the secret does not begin with {expected:?} as this provider's secrets do")]
    Prefix {
        /// What it should begin with.
        expected: String,
    },
    /// Nothing there.
    #[error("the secret is empty")]
    Empty,
}

/// Bytes whose signature was checked.
#[derive(Debug, Clone, Copy)]
pub struct Verified<'a>(&'a [u8]);

impl<'a> Verified<'a> {
    /// The exact bytes that were signed.
    #[must_use]
    pub fn bytes(self) -> &'a [u8] {
        self.0
    }
}

/// Which check failed. Names the check, never the secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// No such header, or no value in it.
    #[error("the header {header} is missing")]
    MissingHeader {
        /// Its name.
        header: String,
    },
    /// The header is there, but not of its form.
    #[error("the header {header} is malformed: {what}")]
    Malformed {
        /// Its name.
        header: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// None of the signatures is by any active secret over these bytes.
    #[error("no signature matches an active secret over the bytes received")]
    NoMatch,
    /// Signed right, too long ago.
    #[error("the signed time is {seconds} s ago, more than {tolerance} s")]
    TooOld {
        /// How long ago.
        seconds: u64,
        /// How long is allowed.
        tolerance: u64,
    },
    /// Signed right, too far in the future.
    #[error("the signed time is {seconds} s ahead, more than {tolerance} s")]
    InFuture {
        /// How far ahead.
        seconds: u64,
        /// How far is allowed.
        tolerance: u64,
    },
}

impl SignatureError {
    /// A short word for metrics and problem types.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::MissingHeader { .. } => "signature-missing",
            Self::Malformed { .. } => "signature-malformed",
            Self::NoMatch => "signature-mismatch",
            Self::TooOld { .. } => "signature-too-old",
            Self::InFuture { .. } => "signature-in-future",
        }
    }
}

/// What a signature header says.
struct Claim<'h> {
    timestamp: Option<&'h str>,
    signatures: Vec<Vec<u8>>,
}

impl SignatureRules {
    /// A key from an active secret.
    ///
    /// # Errors
    /// When the secret cannot be one of this provider's.
    pub fn key(&self, secret: &str) -> Result<SigningKey, KeyError> {
        if secret.is_empty() {
            return Err(KeyError::Empty);
        }
        match &self.secret_prefix {
            Some(prefix) if !secret.starts_with(prefix.as_str()) => Err(KeyError::Prefix {
                expected: prefix.clone(),
            }),
            Some(_) | None => match self.algorithm {
                Algorithm::HmacSha256 => Hmac::new_from_slice(secret.as_bytes())
                    .map(SigningKey)
                    .map_err(|_| KeyError::Empty),
            },
        }
    }

    /// Checks the body against the header and every active key; comparison is in constant time. `now` is
    /// Unix time in seconds.
    ///
    /// Every value of a repeated header is tried: a signature can only match if its maker had a secret.
    ///
    /// # Errors
    /// Names the check that failed.
    pub fn verify<'b>(
        &self,
        headers: &Headers,
        body: &'b [u8],
        keys: &[SigningKey],
        now: u64,
    ) -> Result<Verified<'b>, SignatureError> {
        let mut failure = SignatureError::MissingHeader {
            header: self.header.clone(),
        };
        for value in headers.all(&self.header) {
            match self
                .claim(value)
                .and_then(|claim| self.check(&claim, body, keys, now))
            {
                Ok(()) => return Ok(Verified(body)),
                Err(why) => failure = why,
            }
        }
        Err(failure)
    }

    fn claim<'h>(&self, value: &'h str) -> Result<Claim<'h>, SignatureError> {
        let malformed = |what| SignatureError::Malformed {
            header: self.header.clone(),
            what,
        };
        let mut claim = Claim {
            timestamp: None,
            signatures: Vec::new(),
        };
        for item in value.split(',').map(str::trim) {
            match &self.format {
                Format::Pairs {
                    timestamp,
                    signature,
                } => {
                    let (name, value) = item
                        .split_once('=')
                        .ok_or_else(|| malformed("an item without '='"))?;
                    if name == timestamp && claim.timestamp.replace(value).is_some() {
                        return Err(malformed("two timestamps"));
                    }
                    if name == signature {
                        claim.signatures.extend(self.decode(value));
                    }
                }
                Format::Prefixed(prefix) => {
                    let value = item
                        .strip_prefix(prefix.as_str())
                        .ok_or_else(|| malformed("another prefix than expected"))?;
                    claim.signatures.push(
                        self.decode(value)
                            .ok_or_else(|| malformed("not an encoded signature"))?,
                    );
                }
            }
        }
        if claim.signatures.is_empty() {
            return Err(malformed("no signature of the expected scheme"));
        }
        Ok(claim)
    }

    fn decode(&self, text: &str) -> Option<Vec<u8>> {
        use base64::Engine as _;
        match self.encoding {
            Encoding::Hex => hex::decode(text).ok(),
            Encoding::Base64 => base64::engine::general_purpose::STANDARD.decode(text).ok(),
        }
    }

    fn check(
        &self,
        claim: &Claim<'_>,
        body: &[u8],
        keys: &[SigningKey],
        now: u64,
    ) -> Result<(), SignatureError> {
        let time = self.time(claim)?;
        let mut matched = false;
        for key in keys {
            let mut mac = key.0.clone();
            for part in &self.signed.0 {
                match part {
                    Part::Text(text) => mac.update(text.as_bytes()),
                    Part::Timestamp => mac.update(claim.timestamp.unwrap_or_default().as_bytes()),
                    Part::Body => mac.update(body),
                }
            }
            for signature in &claim.signatures {
                matched |= mac.clone().verify_slice(signature).is_ok();
            }
        }
        if !matched {
            return Err(SignatureError::NoMatch);
        }
        let (Some(time), Some(tolerance)) = (time, self.tolerance_seconds) else {
            return Ok(());
        };
        if now.saturating_sub(time) > tolerance {
            return Err(SignatureError::TooOld {
                seconds: now.saturating_sub(time),
                tolerance,
            });
        }
        if time.saturating_sub(now) > tolerance {
            return Err(SignatureError::InFuture {
                seconds: time.saturating_sub(now),
                tolerance,
            });
        }
        Ok(())
    }

    /// The signed time, where this scheme has one; a scheme with a tolerance must have one.
    fn time(&self, claim: &Claim<'_>) -> Result<Option<u64>, SignatureError> {
        let malformed = |what| SignatureError::Malformed {
            header: self.header.clone(),
            what,
        };
        match claim.timestamp {
            Some(text) => text
                .parse()
                .map(Some)
                .map_err(|_| malformed("a timestamp that is no number of seconds")),
            None if self.tolerance_seconds.is_some() => Err(malformed("no timestamp")),
            None => Ok(None),
        }
    }

    /// A header value that signs this body, as the provider would; for samples and tests.
    #[must_use]
    pub fn sign(&self, body: &[u8], key: &SigningKey, now: u64) -> String {
        let timestamp = now.to_string();
        let mut mac = key.0.clone();
        for part in &self.signed.0 {
            match part {
                Part::Text(text) => mac.update(text.as_bytes()),
                Part::Timestamp => mac.update(timestamp.as_bytes()),
                Part::Body => mac.update(body),
            }
        }
        use base64::Engine as _;
        let bytes = mac.finalize().into_bytes();
        let signature = match self.encoding {
            Encoding::Hex => hex::encode(bytes),
            Encoding::Base64 => base64::engine::general_purpose::STANDARD.encode(bytes),
        };
        match &self.format {
            Format::Pairs {
                timestamp: t,
                signature: s,
            } => format!("{t}={timestamp},{s}={signature}"),
            Format::Prefixed(prefix) => format!("{prefix}{signature}"),
        }
    }
}

#[cfg(test)]
mod tests;

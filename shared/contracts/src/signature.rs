//! Law 2, authentic first: the signature is checked over the exact bytes before anything is parsed.
//!
//! [`SignatureRules::verify`] is the only maker of [`Verified`], and what follows takes nothing else: a
//! body that was not verified cannot be parsed by mistake. A missing header, key or scheme fails closed.

mod error;
mod scheme;

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::Deserialize;
use sha2::Sha256;

use crate::headers::Headers;
pub use error::SignatureError;
use scheme::{Algorithm, Encoding, Format, Part, Template};

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

/// What a signature header says.
struct Claim<'h> {
    timestamp: Option<&'h str>,
    signatures: Vec<Vec<u8>>,
}

impl SignatureRules {
    /// The most values of a repeated signature header that are tried.
    pub const MOST_VALUES: usize = 8;

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
    /// Every value of a repeated header is tried: a signature can only match if its maker had a secret. But
    /// each costs a pass over the body for each key, which a stranger must not be able to multiply, so a
    /// header of more than [`Self::MOST_VALUES`] values is refused unread.
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
        if headers.all(&self.header).count() > Self::MOST_VALUES {
            return Err(SignatureError::Malformed {
                header: self.header.clone(),
                what: "it is repeated more often than is read",
            });
        }
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

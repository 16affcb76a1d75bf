//! Law 2, authentic first: the signature is checked over the exact bytes before anything is believed.
//!
//! [`Schemes::verify`] and [`Schemes::carried`] are the only makers of [`Verified`], and what follows takes
//! nothing else: a body that was not verified cannot be read by mistake. A missing header, key or scheme
//! fails closed. The schemes are data; this room knows algorithms and grammars, and no provider by name. It
//! may not fetch a key or read a clock: both are given to it.

mod check;
mod claim;
mod compare;
mod error;
mod fetch;
mod jwt;
mod key;
mod scheme;
mod sign;

use serde::Deserialize;

use crate::request::Request;
use check::Against;
pub(crate) use check::Challenge;
pub use check::FetchedKeys;
pub use error::SignatureError;
pub use fetch::{FetchRules, KeyRequest, NoKey};
pub use key::{KeyError, SigningKey};
pub use scheme::{Algorithm, Encoding, KeyForm, PrefixIs, Scheme, TimeUnit, Uncovered};
pub use sign::{CannotSign, Signed};

/// The ways in which a provider signs; a request that satisfies one is authentic.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
pub struct Schemes(Vec<Scheme>);

/// Which schemes an integration accepts, and the active keys of each.
#[derive(Debug, Clone, Default)]
pub struct Keys(Vec<Accepted>);

#[derive(Debug, Clone, Default)]
struct Accepted {
    accepted: bool,
    keys: Vec<SigningKey>,
}

/// Bytes whose signature was checked.
#[derive(Clone, Copy)]
pub struct Verified<'a> {
    bytes: &'a [u8],
}

/// Law 14: not the bytes themselves.
impl std::fmt::Debug for Verified<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Verified({} bytes)", self.bytes.len())
    }
}

impl<'a> Verified<'a> {
    /// The exact bytes that were signed.
    #[must_use]
    pub fn bytes(self) -> &'a [u8] {
        self.bytes
    }
}

impl Schemes {
    /// All of them, the best first.
    pub fn iter(&self) -> impl Iterator<Item = &Scheme> {
        self.0.iter()
    }

    /// The schemes that an integration accepts: those it names, else the contract's own choice.
    ///
    /// # Errors
    /// Names the one that there is none of.
    pub fn accept(&self, named: Option<&[&str]>) -> Result<Keys, String> {
        for name in named.into_iter().flatten() {
            if !self.0.iter().any(|scheme| scheme.name == *name) {
                let known: Vec<_> = self.0.iter().map(|scheme| scheme.name.as_str()).collect();
                return Err(format!("found {name:?}; known are {}", known.join(", ")));
            }
        }
        let accepted = |scheme: &Scheme| match named {
            Some(named) => named.contains(&scheme.name.as_str()),
            None => scheme.default,
        };
        let all = self.0.iter().map(|scheme| Accepted {
            accepted: accepted(scheme),
            keys: Vec::new(),
        });
        Ok(Keys(all.collect()))
    }

    /// Adds an active secret to every accepted scheme whose key it can be.
    ///
    /// # Errors
    /// When it can be none's.
    pub fn add_secret(&self, keys: &mut Keys, secret: &str) -> Result<(), KeyError> {
        let mut failure = None;
        let mut fits = false;
        for (scheme, held) in self.0.iter().zip(&mut keys.0) {
            if !held.accepted {
                continue;
            }
            match scheme.key(secret) {
                Ok(key) => {
                    held.keys.push(key);
                    fits = true;
                }
                // What a key is asked for with is not itself one.
                Err(KeyError::Unfit(_))
                    if scheme.fetch.as_ref().is_some_and(FetchRules::needs_secret) =>
                {
                    held.keys.push(SigningKey::text_only(secret));
                    fits = true;
                }
                Err(why) => {
                    failure.get_or_insert(why);
                }
            }
        }
        match failure {
            Some(why) if !fits => Err(why),
            Some(_) | None => Ok(()),
        }
    }

    /// Checks a request against every accepted scheme and its keys. `now` is Unix time in seconds;
    /// `tolerance` replaces the schemes' own, in seconds.
    ///
    /// # Errors
    /// Names the check that failed; of several schemes the one that came furthest.
    pub fn verify<'b>(
        &self,
        request: &Request<'b>,
        keys: &Keys,
        fetched: &FetchedKeys,
        now: u64,
        tolerance: Option<u64>,
    ) -> Result<Verified<'b>, SignatureError> {
        let mut failure: Option<SignatureError> = None;
        for (scheme, held) in self.0.iter().zip(&keys.0) {
            let without_keys = held.keys.is_empty() && scheme.fetch.is_none();
            let by_queue = scheme.algorithm == Algorithm::Queue;
            if !held.accepted || !request.holds(&scheme.when) {
                continue;
            }
            if without_keys && !by_queue {
                // A request that is signed is held to its signature, also where no key of ours can check it.
                if scheme.exclusive && scheme.is_there(request) {
                    return Err(SignatureError::NoMatch);
                }
                continue;
            }
            let against = Against {
                keys: &held.keys,
                fetched,
                now,
                tolerance,
            };
            let why = match scheme.check(request, against) {
                Ok(()) => {
                    return Ok(Verified {
                        bytes: request.body,
                    });
                }
                Err(why) => why,
            };
            let is_there = !matches!(why, SignatureError::Missing { .. });
            if scheme.exclusive && is_there {
                return Err(why);
            }
            failure = Some(match failure {
                Some(earlier) => earlier.or_further(why),
                None => why,
            });
        }
        Err(failure.unwrap_or_else(|| self.none_applies(keys)))
    }

    fn none_applies(&self, keys: &Keys) -> SignatureError {
        let accepted = self.0.iter().zip(&keys.0).find(|(_, held)| held.accepted);
        let place = accepted
            .or_else(|| self.0.iter().zip(&keys.0).next())
            .map_or_else(|| "the signature".to_owned(), |(scheme, _)| scheme.place());
        SignatureError::Missing { place }
    }

    /// What came through a queue that only the provider may write to: the queue's permissions are the
    /// signature. Only for a contract that has no other.
    #[must_use]
    pub fn carried<'b>(&self, bytes: &'b [u8]) -> Option<Verified<'b>> {
        let mut schemes = self.0.iter();
        schemes
            .any(|scheme| scheme.algorithm == Algorithm::Queue)
            .then_some(Verified { bytes })
    }

    /// Whether any check needs a secret of the integration: a key that is published may need none.
    #[must_use]
    pub fn needs_secret(&self) -> bool {
        let without = |scheme: &Scheme| {
            let fetch = scheme.fetch.as_ref();
            scheme.algorithm == Algorithm::Queue || fetch.is_some_and(|fetch| !fetch.needs_secret())
        };
        !self.0.iter().any(without)
    }

    /// Whether the configured URL is signed by a scheme that is accepted without being named.
    #[must_use]
    pub fn needs_url(&self) -> bool {
        let mut accepted = self.0.iter().filter(|scheme| scheme.default);
        accepted.any(Scheme::needs_url)
    }

    /// Whether a request holds anything where a signature should stand.
    #[must_use]
    pub fn is_signed(&self, request: &Request<'_>) -> bool {
        self.0.iter().any(|scheme| scheme.is_there(request))
    }

    /// The key that a request was signed with, with which a signed handshake is answered.
    #[must_use]
    pub fn signed_with<'k>(
        &self,
        request: &Request<'_>,
        keys: &'k Keys,
        now: u64,
        tolerance: Option<u64>,
    ) -> Option<&'k SigningKey> {
        let fetched = FetchedKeys::new();
        let all = self.0.iter().zip(&keys.0).filter(|(_, held)| held.accepted);
        let mut all = all.flat_map(|(scheme, held)| held.keys.iter().map(move |key| (scheme, key)));
        all.find(|(scheme, key)| {
            let against = Against {
                keys: std::slice::from_ref(*key),
                fetched: &fetched,
                now,
                tolerance,
            };
            scheme.check(request, against).is_ok()
        })
        .map(|(_, key)| key)
    }

    /// How the key of a request is asked for.
    #[must_use]
    pub fn fetching(&self, request: &KeyRequest) -> Option<&FetchRules> {
        let mut schemes = self.0.iter();
        schemes
            .find(|scheme| scheme.name == request.scheme)
            .and_then(|scheme| scheme.fetch.as_ref())
    }
}

impl Keys {
    /// The first key of an accepted scheme, with which a handshake is answered.
    #[must_use]
    pub fn first(&self) -> Option<&SigningKey> {
        self.0.iter().find_map(|held| held.keys.first())
    }

    /// Whether any accepted scheme could accept anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|held| held.keys.is_empty())
    }

    /// Whether a scheme of this number is accepted.
    #[must_use]
    pub fn accepts(&self, at: usize) -> bool {
        self.0.get(at).is_some_and(|held| held.accepted)
    }
}

#[cfg(test)]
mod tests;

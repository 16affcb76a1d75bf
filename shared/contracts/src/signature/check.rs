//! One scheme over one request: every claim against every key, in constant time.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::compare::{basic, equal, matching};
use super::error::SignatureError;
use super::jwt::Jwt;
use super::key::SigningKey;
use super::scheme::{Algorithm, Scheme};
use crate::request::Request;
use crate::template::{Scope, Template};

/// Keys that were asked for, by their request's name.
pub type FetchedKeys = BTreeMap<String, SigningKey>;

/// What a scheme is checked with.
#[derive(Clone, Copy)]
pub(super) struct Against<'k> {
    pub(super) keys: &'k [SigningKey],
    pub(super) fetched: &'k FetchedKeys,
    pub(super) now: u64,
    pub(super) tolerance: Option<u64>,
}

impl Scheme {
    /// The most values of a repeated signature that are tried.
    pub const MOST_VALUES: usize = 8;
    /// The most bytes of all of them together.
    const MOST_BYTES: usize = 16 * 1024;
    /// The most items of all of them together: a sender that keeps ten old keys signs with each.
    const MOST_SIGNATURES: usize = 16;

    /// Whether anything stands where its signature should.
    pub(super) fn is_there(&self, request: &Request<'_>) -> bool {
        !self.values(&Scope::of(request)).is_empty()
    }

    /// How many items the values hold.
    fn items(&self, values: &[Cow<'_, str>]) -> usize {
        let separator = self.separator();
        values
            .iter()
            .map(|value| value.split(separator).count())
            .sum()
    }

    /// Whether this request is signed so, and right.
    pub(super) fn check(
        &self,
        request: &Request<'_>,
        against: Against<'_>,
    ) -> Result<(), SignatureError> {
        let form = std::cell::OnceCell::new();
        let scope = Scope {
            form: Some(&form),
            ..Scope::of(request)
        };
        let Some(items) = &self.each else {
            return self.check_one(&scope, against);
        };
        let text =
            std::str::from_utf8(request.body).map_err(|_| self.malformed("the body is no JSON"))?;
        let items = items
            .of(text)
            .map_err(|_| self.malformed("the body does not hold the items that are signed"))?
            .unwrap_or_default();
        if items.is_empty() {
            return Err(SignatureError::Missing {
                place: self.place(),
            });
        }
        items.into_iter().try_for_each(|item| {
            let scope = Scope {
                item: Some(item),
                ..scope
            };
            self.check_one(&scope, against)
        })
    }

    fn check_one(&self, scope: &Scope<'_>, against: Against<'_>) -> Result<(), SignatureError> {
        if self.algorithm == Algorithm::Queue {
            return Err(SignatureError::NotByHttp);
        }
        let values = self.values(scope);
        if values.is_empty() {
            return Err(SignatureError::Missing {
                place: self.place(),
            });
        }
        // Each costs a pass over the body for each key, which a stranger must not be able to multiply.
        if values.len() > Self::MOST_VALUES {
            return Err(self.malformed("it is repeated more often than is read"));
        }
        let written = values.iter().map(|value| value.len()).sum::<usize>();
        if written > Self::MOST_BYTES || self.items(&values) > Self::MOST_SIGNATURES {
            return Err(self.malformed("it holds more than is read"));
        }
        let mut failure = None;
        for value in &values {
            match self.check_value(value, scope, against) {
                Ok(()) => return Ok(()),
                Err(why) => failure = Some(why),
            }
        }
        Err(failure.unwrap_or(SignatureError::NoMatch))
    }

    fn check_value(
        &self,
        value: &str,
        scope: &Scope<'_>,
        against: Against<'_>,
    ) -> Result<(), SignatureError> {
        let keys = against.keys;
        match self.algorithm {
            Algorithm::Token => matching(keys, |key| equal(key, value.as_bytes())),
            Algorithm::Basic => {
                let given = basic(value).ok_or_else(|| self.malformed("it is not HTTP Basic"))?;
                matching(keys, |key| equal(key, &given))
            }
            Algorithm::JwtEs256 => self.check_jwt(value, scope, against),
            Algorithm::HmacSha1
            | Algorithm::HmacSha256
            | Algorithm::Sha256
            | Algorithm::Ed25519
            | Algorithm::RsaSha256 => self.check_claim(value, scope, against),
            Algorithm::Queue => Err(SignatureError::NotByHttp),
        }
    }

    fn check_jwt(
        &self,
        value: &str,
        scope: &Scope<'_>,
        against: Against<'_>,
    ) -> Result<(), SignatureError> {
        let jwt = Jwt::read(value).map_err(|what| self.malformed(what))?;
        let body = scope.request.body;
        let check = |key: &SigningKey| jwt.check(key, body, against.now);
        let pinned = against.keys.iter().map(check).find(Result::is_ok);
        let made = match pinned {
            Some(made) => made?,
            None => check(self.fetched(scope, Some(&jwt.kid), against)?)?,
        };
        self.within(Some(made), against.now, against.tolerance)
    }

    fn check_claim(
        &self,
        value: &str,
        scope: &Scope<'_>,
        against: Against<'_>,
    ) -> Result<(), SignatureError> {
        let claim = self.claim(value, scope)?;
        let scope = Scope {
            timestamp: claim.timestamp.as_deref(),
            ..*scope
        };
        let time = self.time(scope.timestamp)?;
        self.check_digest(&scope)?;
        let templates = self.templates(&scope)?;
        let matches = |key: &SigningKey| key.matches(templates, &claim, &scope);
        // Every key is tried whatever the others said: how long it takes tells nothing.
        let pinned = against
            .keys
            .iter()
            .fold(false, |any, key| any | matches(key));
        let matched =
            pinned || (self.fetch.is_some() && matches(self.fetched(&scope, None, against)?));
        if !matched {
            return Err(SignatureError::NoMatch);
        }
        self.within(time, against.now, against.tolerance)
    }

    /// What may have been signed; refused where it could have been something else, or is too dear to find out.
    fn templates(&self, scope: &Scope<'_>) -> Result<&[Template], SignatureError> {
        let templates = self.signed.as_ref().map(|all| all.0.as_slice());
        let templates = templates.unwrap_or_default();
        for template in templates {
            if template.is_too_long(scope) {
                return Err(self.malformed("the form that it signs has too many fields"));
            }
            if template.is_ambiguous(scope) {
                return Err(self.malformed("a signed value holds what separates values"));
            }
            let text = || template.bytes(scope);
            if self
                .challenges
                .is_some_and(|kind| kind.is_one(text().trim_ascii()))
            {
                return Err(SignatureError::NoMatch);
            }
        }
        Ok(templates)
    }

    /// Where a digest is signed instead of the body, the body must be what it is of. A form's fields are
    /// signed themselves.
    fn check_digest(&self, scope: &Scope<'_>) -> Result<(), SignatureError> {
        let Some(place) = &self.body_digest else {
            return Ok(());
        };
        if scope.request.is_form() || scope.request.body.is_empty() {
            return Ok(());
        }
        let told = scope.place(place).ok_or_else(|| SignatureError::Missing {
            place: place.to_string(),
        })?;
        let own = hex::encode(Sha256::digest(scope.request.body));
        let same = own.as_bytes().ct_eq(told.to_ascii_lowercase().as_bytes());
        if bool::from(same) {
            Ok(())
        } else {
            Err(SignatureError::NoMatch)
        }
    }

    fn fetched<'k>(
        &self,
        scope: &Scope<'_>,
        kid: Option<&str>,
        against: Against<'k>,
    ) -> Result<&'k SigningKey, SignatureError> {
        let rules = self.fetch.as_ref().ok_or(SignatureError::NoMatch)?;
        // A key that is pinned is the only one that counts.
        if against.keys.iter().any(SigningKey::is_pinned) {
            return Err(SignatureError::NoMatch);
        }
        // What opens the provider's door to its keys is the integration's secret.
        let secret = against.keys.first().and_then(SigningKey::text);
        let request = rules.request(&Scope { secret, ..*scope }, kid, &self.name)?;
        against
            .fetched
            .get(&request.name)
            .ok_or_else(|| SignatureError::KeyNeeded(Box::new(request)))
    }
}

/// How a provider writes its challenges: short and random, and like no delivery of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Challenge {
    /// A number in hexadecimal.
    #[default]
    Hex,
    /// Letters, digits, hyphens and underscores.
    Token,
}

impl Challenge {
    pub(crate) fn is_one(self, text: &[u8]) -> bool {
        let fits = |byte: &u8| match self {
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Token => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'),
        };
        (16..=64).contains(&text.len()) && text.iter().all(fits)
    }
}

//! Signs a request as its provider would: for samples, for tests, for people who try an endpoint.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::scheme::{Algorithm, Encoding, KeyForm, Scheme};
use super::{Keys, Schemes};
use crate::request::Request;
use crate::source::Source;
use crate::template::Scope;

/// What has to be added to a request so that it is signed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Signed {
    /// Headers.
    pub headers: Vec<(String, String)>,
    /// The place in the body and the value that belongs there, for schemes that sign so.
    pub in_body: Option<(Source, String)>,
}

/// Why a sample cannot be signed here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CannotSign {
    /// Only the provider has the key.
    #[error("{0} is signed with a key that only the provider has")]
    Asymmetric(String),
    /// No accepted scheme has a key.
    #[error("no accepted scheme has a key")]
    NoKey,
    /// Every item is signed by itself, and there is none.
    #[error("the body does not hold the items that are signed")]
    NoItem,
}

impl Schemes {
    /// Signs with the first accepted scheme that has a key. `now` is Unix time in seconds.
    ///
    /// # Errors
    /// When only the provider could.
    pub fn sign(&self, request: &Request<'_>, keys: &Keys, now: u64) -> Result<Signed, CannotSign> {
        let mut asymmetric = None;
        for (scheme, held) in self.0.iter().zip(&keys.0) {
            let Some(key) = held.keys.first().filter(|_| held.accepted) else {
                continue;
            };
            if !scheme.algorithm.is_symmetric() {
                asymmetric.get_or_insert(scheme);
                continue;
            }
            return scheme.sign(request, key, now);
        }
        Err(match asymmetric {
            Some(scheme) => CannotSign::Asymmetric(scheme.name.clone()),
            None => CannotSign::NoKey,
        })
    }
}

impl Schemes {
    /// The texts that accepted schemes sign of a request, as far as it says what is in them: for those who
    /// compare texts and cannot check signatures.
    #[must_use]
    pub fn signed_texts(&self, request: &Request<'_>, keys: &Keys) -> Vec<Vec<u8>> {
        let accepted = self.0.iter().zip(&keys.0).filter(|(_, held)| held.accepted);
        let mut texts = Vec::new();
        for (scheme, held) in accepted {
            let values = scheme.values(&Scope::of(request));
            let claims = values
                .iter()
                .filter_map(|value| scheme.claim(value, &Scope::of(request)).ok());
            let times: Vec<_> = claims.filter_map(|claim| claim.timestamp).collect();
            let scope = Scope {
                timestamp: times.first().map(|time| &**time),
                secret: held.keys.first().and_then(super::SigningKey::text),
                ..Scope::of(request)
            };
            let templates = scheme.signed.iter().flat_map(|all| &all.0);
            texts.extend(templates.map(|template| template.bytes(&scope)));
        }
        texts
    }

    /// A secret of the form that the first accepted scheme needs, for a stack whose sender is ours too. None
    /// where only the provider could make one that is of any use.
    #[must_use]
    pub fn made_up_secret(&self, keys: &Keys, seed: &[u8; 32]) -> Option<String> {
        let schemes = self.0.iter().enumerate();
        let mut accepted = schemes
            .filter(|(at, _)| keys.accepts(*at))
            .map(|(_, scheme)| scheme);
        let scheme = accepted.find(|scheme| scheme.algorithm.is_symmetric())?;
        let text = match (scheme.algorithm, scheme.key) {
            (Algorithm::Basic, _) => format!("lastword:{}", hex::encode(seed)),
            (_, KeyForm::Base64) => STANDARD.encode(seed),
            (_, KeyForm::Text | KeyForm::Hex | KeyForm::Sha1 | KeyForm::Pem | KeyForm::Jwk) => {
                hex::encode(seed)
            }
        };
        let prefix = scheme.secret_prefix.as_deref().unwrap_or_default();
        Some(format!("{prefix}{text}"))
    }
}

impl Scheme {
    fn sign(
        &self,
        request: &Request<'_>,
        key: &super::SigningKey,
        now: u64,
    ) -> Result<Signed, CannotSign> {
        let mut signed = Signed::default();
        let written = self.time_unit.text(now);
        if let Some(Source::Header(name)) = &self.timestamp {
            signed.headers.push((name.clone(), written.clone()));
        }
        for wanted in self.when.values() {
            if let Source::Header(name) = &wanted.at
                && !matches!(wanted.value.as_str(), "*" | "")
            {
                signed.headers.push((name.clone(), wanted.value.clone()));
            }
        }
        let text = std::str::from_utf8(request.body).unwrap_or_default();
        let items = match &self.each {
            None => None,
            Some(each) => Some(each.of(text).ok().flatten().ok_or(CannotSign::NoItem)?),
        };
        let in_body;
        let timestamp = match &self.timestamp {
            Some(place @ (Source::Body(_) | Source::Item(_) | Source::Form(_))) => {
                in_body = request.text(place);
                in_body.as_deref()
            }
            Some(Source::Header(_) | Source::Query(_) | Source::Digest | Source::Const(_))
            | None => Some(written.as_str()),
        };
        let scope = Scope {
            timestamp,
            secret: key.text(),
            item: items.as_ref().and_then(|items| items.first().copied()),
            ..Scope::of(request)
        };
        let value = self.value(key, &scope, &written);
        match self.at.as_ref().and_then(|at| at.as_slice().last()) {
            Some(Source::Header(name)) => {
                signed.headers.push((name.replace('*', "1"), value));
            }
            Some(other) => signed.in_body = Some((other.clone(), value)),
            None => {}
        }
        Ok(signed)
    }

    /// What stands where the signature should.
    fn value(&self, key: &super::SigningKey, scope: &Scope<'_>, written: &str) -> String {
        let secret = key.text().unwrap_or_default();
        match self.algorithm {
            Algorithm::Token => return secret.to_owned(),
            Algorithm::Basic => return format!("Basic {}", STANDARD.encode(secret)),
            Algorithm::HmacSha1
            | Algorithm::HmacSha256
            | Algorithm::Sha256
            | Algorithm::Ed25519
            | Algorithm::RsaSha256
            | Algorithm::JwtEs256
            | Algorithm::Queue => {}
        }
        let template = self.signed.as_ref().and_then(|all| all.0.first());
        let tag = template.and_then(|template| key.tag(template, scope));
        let tag = tag.as_ref().map(|tag| tag.as_slice()).unwrap_or_default();
        let signature = match self.encoding {
            Encoding::Hex => hex::encode(tag),
            Encoding::Base64 => STANDARD.encode(tag),
        };
        let Some(list) = &self.list else {
            return format!("{}{signature}", self.prefix.as_deref().unwrap_or_default());
        };
        let separator = &list.separator;
        match &list.joint {
            None if list.timestamp.is_some() => format!("{written}{separator}{signature}"),
            None => signature,
            Some(joint) => {
                let label = list.label.as_deref().unwrap_or("key");
                let time = match &list.timestamp {
                    Some(name) => format!("{name}{joint}{written}{separator}"),
                    None => String::new(),
                };
                format!("{time}{label}{joint}{signature}")
            }
        }
    }
}

//! Keys that a provider publishes: which may be asked for, and what an answer must be.
//!
//! A request names the key, so a stranger chooses what is asked for. It may only be something of the hosts
//! that the contract names, over https, at their own port.

use std::collections::BTreeMap;

use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, ServerName, TrustAnchor, UnixTime};
use serde::Deserialize;
use webpki::{EndEntityCert, KeyUsage, ring as algorithms};

use super::error::SignatureError;
use super::key::{KeyError, SigningKey};
use crate::extract::Pointer;
use crate::template::{Scope, Template};

/// Where keys are asked for.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FetchRules {
    /// The address.
    url: Template,
    /// The hosts it may be at; with a path behind it, only directly below that.
    pub hosts: Vec<String>,
    /// Whose certificate it must be.
    subject: Option<String>,
    /// What is posted; without it nothing is.
    json: Option<BTreeMap<String, Template>>,
    /// Where the key stands in the answer.
    at: Option<Pointer>,
}

/// A key that has to be asked for.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyRequest {
    /// The scheme that needs it.
    pub scheme: String,
    /// What it is kept under.
    pub name: String,
    /// Where to ask.
    pub url: String,
    /// What to post, when something is.
    pub json: Option<String>,
}

impl std::fmt::Debug for KeyRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // What is posted holds a secret.
        write!(f, "KeyRequest({})", self.url)
    }
}

/// Why an answer is no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoKey {
    /// It is not what was asked for.
    #[error("the answer holds no key: {0}")]
    Unreadable(&'static str),
    /// It is a certificate that may not be believed.
    #[error("the certificate is not believed: {0}")]
    Distrusted(String),
}

impl FetchRules {
    /// Whether keys are asked for with the integration's secret.
    pub(super) fn needs_secret(&self) -> bool {
        let mut members = self.json.iter().flatten();
        members.any(|(_, template)| template.needs_secret())
    }

    /// The parameters of the integration that it needs.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &str> {
        let members = self.json.iter().flatten().map(|(_, template)| template);
        members
            .chain(std::iter::once(&self.url))
            .flat_map(|template| template.parameters())
    }

    /// The request for a key that a delivery names.
    pub(super) fn request(
        &self,
        scope: &Scope<'_>,
        kid: Option<&str>,
        scheme: &str,
    ) -> Result<KeyRequest, SignatureError> {
        let scope = Scope { kid, ..*scope };
        let foreign = SignatureError::ForeignKey;
        let url = self.url.string(&scope).unwrap_or_default();
        let address = url
            .strip_prefix("https://")
            .ok_or(foreign("its address is not https"))?;
        if !self.hosts.iter().any(|known| is_at(address, known)) {
            return Err(foreign(
                "its address is not where this provider publishes keys",
            ));
        }
        let plain = url.len() <= 1024 && url.bytes().all(|byte| byte.is_ascii_graphic());
        if !plain {
            return Err(foreign("its address is not a plain one"));
        }
        let json = self.json.as_ref().map(|members| {
            let member = |(name, template): (&String, &Template)| {
                let value = template.string(&scope).unwrap_or_default();
                (name.clone(), serde_json::Value::String(value))
            };
            serde_json::Value::Object(members.iter().map(member).collect()).to_string()
        });
        Ok(KeyRequest {
            scheme: scheme.to_owned(),
            name: format!("{url} {}", kid.unwrap_or_default()),
            url,
            json,
        })
    }

    /// The key in an answer. `now` is Unix time in seconds.
    ///
    /// # Errors
    /// When there is none, or none that may be believed.
    pub fn read(
        &self,
        answer: &[u8],
        roots: &[TrustAnchor<'_>],
        now: u64,
    ) -> Result<SigningKey, NoKey> {
        let text = std::str::from_utf8(answer).map_err(|_| NoKey::Unreadable("no text"))?;
        if let Some(subject) = &self.subject {
            return certificate(text, subject, roots, now);
        }
        let text = match &self.at {
            None => text,
            Some(at) => at
                .raw(text)
                .ok_or(NoKey::Unreadable("nothing where the contract says"))?,
        };
        SigningKey::jwk(text).map_err(|error| match error {
            KeyError::Unfit(what) => NoKey::Unreadable(what),
            KeyError::Prefix { .. } | KeyError::Empty => NoKey::Unreadable("no JWK"),
        })
    }
}

/// A host is compared whole: a user, a port, a trailing dot or a longer name is another host. Where a path
/// follows it, the address goes on with one plain name and nothing else, so that one key has one address.
fn is_at(address: &str, known: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if known.contains('/') {
        let name = address.strip_prefix(known).unwrap_or_default();
        return !name.is_empty() && !name.contains("..") && name.bytes().all(plain);
    }
    address.split('/').next() == Some(known)
}

/// A chain in PEM, the provider's own certificate first.
fn certificate(
    pem: &str,
    subject: &str,
    roots: &[TrustAnchor<'_>],
    now: u64,
) -> Result<SigningKey, NoKey> {
    let distrusted = |error: webpki::Error| NoKey::Distrusted(error.to_string());
    let chain: Vec<_> = CertificateDer::pem_slice_iter(pem.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(|_| NoKey::Unreadable("no certificate in PEM"))?;
    let (own, between) = chain
        .split_first()
        .ok_or(NoKey::Unreadable("no certificate in it"))?;
    let certificate = EndEntityCert::try_from(own).map_err(distrusted)?;
    certificate
        .verify_for_usage(
            webpki::ALL_VERIFICATION_ALGS,
            roots,
            between,
            UnixTime::since_unix_epoch(std::time::Duration::from_secs(now)),
            KeyUsage::server_auth(),
            None,
            None,
        )
        .map_err(distrusted)?;
    let name = ServerName::try_from(subject).map_err(|_| NoKey::Unreadable("no such name"))?;
    certificate
        .verify_is_valid_for_subject_name(&name)
        .map_err(distrusted)?;
    Ok(SigningKey::of_certificate(own.as_ref()))
}

/// The one algorithm of certificates and public keys here.
pub(super) const RSA: &dyn rustls_pki_types::SignatureVerificationAlgorithm =
    algorithms::RSA_PKCS1_2048_8192_SHA256;

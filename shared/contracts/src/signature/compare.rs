//! A key against what was signed: every signature is compared, in constant time.

use std::borrow::Cow;

use hmac::Mac as _;
use ring::signature::{ED25519, UnparsedPublicKey};
use rustls_pki_types::SubjectPublicKeyInfoDer;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use webpki::{EndEntityCert, RawPublicKeyEntity};

use super::claim::Claim;
use super::error::SignatureError;
use super::fetch::RSA;
use super::key::{Material, SigningKey};
use crate::template::{Scope, Template};

impl SigningKey {
    /// Whether one of the claim's signatures is by this key over one of the texts.
    pub(super) fn matches(
        &self,
        templates: &[Template],
        claim: &Claim<'_>,
        scope: &Scope<'_>,
    ) -> bool {
        let scope = Scope {
            secret: self.text(),
            ..*scope
        };
        templates.iter().fold(false, |any, template| {
            any | match self.tag(template, &scope) {
                Some(tag) => claim.signatures.iter().fold(false, |any, signature| {
                    any | bool::from(tag.as_slice().ct_eq(signature))
                }),
                None => self.verifies(template, claim, &scope),
            }
        })
    }

    /// What a holder of this key computes over a text; `None` for a public key.
    pub(super) fn tag(&self, template: &Template, scope: &Scope<'_>) -> Option<Tag> {
        match &self.0 {
            Material::Hmac256(mac) => {
                let mut mac = mac.clone();
                template.pieces(scope, &mut |piece| mac.update(piece));
                Some(Tag::of(&mac.finalize().into_bytes()))
            }
            Material::Hmac1(key) => {
                let mut mac = ring::hmac::Context::with_key(key);
                template.pieces(scope, &mut |piece| mac.update(piece));
                Some(Tag::of(mac.sign().as_ref()))
            }
            Material::Text(_) => {
                let mut hash = Sha256::new();
                template.pieces(scope, &mut |piece| hash.update(piece));
                Some(Tag::of(&hash.finalize()))
            }
            Material::Ed25519(_)
            | Material::PublicKey(_)
            | Material::Certificate(_)
            | Material::Jwk { .. } => None,
        }
    }

    /// The hex MAC of a value, for a handshake.
    pub(crate) fn hex_mac(&self, value: &[u8]) -> Option<String> {
        match &self.0 {
            Material::Hmac256(mac) => {
                let mut mac = mac.clone();
                mac.update(value);
                Some(hex::encode(mac.finalize().into_bytes()))
            }
            Material::Hmac1(key) => Some(hex::encode(ring::hmac::sign(key, value))),
            Material::Text(_)
            | Material::Ed25519(_)
            | Material::PublicKey(_)
            | Material::Certificate(_)
            | Material::Jwk { .. } => None,
        }
    }

    fn verifies(&self, template: &Template, claim: &Claim<'_>, scope: &Scope<'_>) -> bool {
        let text = template.bytes(scope);
        let mut signatures = claim.signatures.iter();
        signatures.any(|signature| match &self.0 {
            Material::Ed25519(key) => UnparsedPublicKey::new(&ED25519, key)
                .verify(&text, signature)
                .is_ok(),
            Material::PublicKey(der) => {
                let der = SubjectPublicKeyInfoDer::from(der.as_slice());
                let key = RawPublicKeyEntity::try_from(&der);
                key.is_ok_and(|key| key.verify_signature(RSA, &text, signature).is_ok())
            }
            Material::Certificate(der) => {
                let der = der.as_slice().into();
                let key = EndEntityCert::try_from(&der);
                key.is_ok_and(|key| key.verify_signature(RSA, &text, signature).is_ok())
            }
            Material::Hmac256(_)
            | Material::Hmac1(_)
            | Material::Text(_)
            | Material::Jwk { .. } => false,
        })
    }
}

/// A tag of at most 32 bytes, without an allocation.
pub(super) struct Tag([u8; 32], usize);

impl Tag {
    fn of(bytes: &[u8]) -> Self {
        let mut tag = [0; 32];
        let length = bytes.len().min(tag.len());
        for (to, from) in tag.iter_mut().zip(bytes) {
            *to = *from;
        }
        Self(tag, length)
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        self.0.get(..self.1).unwrap_or_default()
    }
}

pub(super) fn matching(
    keys: &[SigningKey],
    fits: impl Fn(&SigningKey) -> bool,
) -> Result<(), SignatureError> {
    // Every key is looked at.
    let any = keys.iter().fold(false, |any, key| any | fits(key));
    any.then_some(()).ok_or(SignatureError::NoMatch)
}

/// Compared by their hashes, so that not even the length is told by the time it takes.
pub(super) fn equal(key: &SigningKey, given: &[u8]) -> bool {
    let Some(secret) = key.text() else {
        return false;
    };
    let (own, given) = (Sha256::digest(secret.as_bytes()), Sha256::digest(given));
    bool::from(own.as_slice().ct_eq(given.as_slice()))
}

/// User and password of an `Authorization` header.
pub(super) fn basic(value: &str) -> Option<Cow<'static, [u8]>> {
    use base64::Engine as _;
    let (word, given) = value.trim().split_once(' ')?;
    if !word.eq_ignore_ascii_case("basic") {
        return None;
    }
    let given = base64::engine::general_purpose::STANDARD.decode(given.trim());
    given.ok().map(Cow::Owned)
}

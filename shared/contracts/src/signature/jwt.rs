//! A JWT as a signature: ECDSA over P-256, naming its key, and holding the body's SHA-256.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::error::SignatureError;
use super::key::{Material, SigningKey};

/// A JWT whose parts were read, and nothing more.
pub(super) struct Jwt<'t> {
    /// Which key signed it, as it says itself.
    pub(super) kid: String,
    signed: &'t str,
    signature: Vec<u8>,
    claims: Claims,
}

#[derive(Deserialize)]
struct Claims {
    iat: u64,
    request_body_sha256: String,
}

#[derive(Deserialize)]
struct Head {
    alg: String,
    kid: String,
}

impl<'t> Jwt<'t> {
    /// Reads it. Any other algorithm than the one expected is refused before its key is even looked for.
    pub(super) fn read(text: &'t str) -> Result<Self, &'static str> {
        let (signed, signature) = text.rsplit_once('.').ok_or("it is no JWT")?;
        let (head, claims) = signed.split_once('.').ok_or("it is no JWT")?;
        let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| "it is no JWT");
        let head: Head =
            serde_json::from_slice(&decode(head)?).map_err(|_| "its head names no key")?;
        if head.alg != "ES256" {
            return Err("it is of another algorithm than ES256");
        }
        let claims = serde_json::from_slice(&decode(claims)?)
            .map_err(|_| "it does not hold a time and the body's hash")?;
        Ok(Self {
            kid: head.kid,
            signed,
            signature: decode(signature)?,
            claims,
        })
    }

    /// Whether this key made it over this body; then the time it was made, in Unix seconds.
    pub(super) fn check(
        &self,
        key: &SigningKey,
        body: &[u8],
        now: u64,
    ) -> Result<u64, SignatureError> {
        let Material::Jwk {
            kid,
            point,
            expired_at,
        } = &key.0
        else {
            return Err(SignatureError::NoMatch);
        };
        if *kid != self.kid {
            return Err(SignatureError::NoMatch);
        }
        if expired_at.is_some_and(|expired| expired <= now) {
            return Err(SignatureError::ForeignKey("it has expired"));
        }
        let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
        let right = public
            .verify(self.signed.as_bytes(), &self.signature)
            .is_ok();
        let hash = hex::encode(Sha256::digest(body));
        let same = hash
            .as_bytes()
            .ct_eq(self.claims.request_body_sha256.as_bytes());
        if right && bool::from(same) {
            Ok(self.claims.iat)
        } else {
            Err(SignatureError::NoMatch)
        }
    }
}

//! Active secrets as keys. A key shows nothing of the secret, and its material is wiped when it goes.

use hmac::{Hmac, KeyInit as _};
use ring::digest;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, SubjectPublicKeyInfoDer};
use serde::Deserialize;
use sha2::Sha256;
use zeroize::Zeroizing;

use super::scheme::{Algorithm, KeyForm, PrefixIs, Scheme};

/// One active secret, ready for its scheme.
#[derive(Clone)]
pub struct SigningKey(pub(super) Material);

#[derive(Clone)]
pub(super) enum Material {
    /// The key schedule is computed once.
    Hmac256(Hmac<Sha256>),
    Hmac1(ring::hmac::Key),
    Text(Zeroizing<String>),
    Ed25519(Vec<u8>),
    PublicKey(Vec<u8>),
    Certificate(Vec<u8>),
    Jwk {
        kid: String,
        point: Vec<u8>,
        expired_at: Option<u64>,
    },
}

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
    /// Not of the form that a key needs.
    #[error("the secret is no key: {0}")]
    Unfit(&'static str),
}

impl Scheme {
    /// A key from an active secret.
    ///
    /// # Errors
    /// When the secret cannot be one of this scheme's.
    pub fn key(&self, secret: &str) -> Result<SigningKey, KeyError> {
        if secret.is_empty() {
            return Err(KeyError::Empty);
        }
        let text = self.without_prefix(secret)?;
        let material = match self.algorithm {
            Algorithm::HmacSha256 => {
                let key = self.bytes(text)?;
                Hmac::new_from_slice(&key)
                    .map(Material::Hmac256)
                    .map_err(|_| KeyError::Empty)?
            }
            Algorithm::HmacSha1 => Material::Hmac1(ring::hmac::Key::new(
                ring::hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
                &self.bytes(text)?,
            )),
            Algorithm::Sha256 | Algorithm::Token | Algorithm::Basic => {
                let whole =
                    |(user, password): (&str, &str)| !user.is_empty() && !password.is_empty();
                if self.algorithm == Algorithm::Basic && !text.split_once(':').is_some_and(whole) {
                    return Err(KeyError::Unfit("expected user:password"));
                }
                Material::Text(Zeroizing::new(text.to_owned()))
            }
            Algorithm::Ed25519 => {
                let key = self.bytes(text)?;
                if key.len() != 32 {
                    return Err(KeyError::Unfit("an Ed25519 public key has 32 bytes"));
                }
                Material::Ed25519(key.to_vec())
            }
            Algorithm::RsaSha256 => return SigningKey::pem(text),
            Algorithm::JwtEs256 => return SigningKey::jwk(text),
            Algorithm::Queue => return Err(KeyError::Unfit("this provider's events have none")),
        };
        Ok(SigningKey(material))
    }

    fn without_prefix<'s>(&self, secret: &'s str) -> Result<&'s str, KeyError> {
        let Some(prefix) = &self.secret_prefix else {
            return Ok(secret);
        };
        let stripped = secret.strip_prefix(prefix.as_str());
        let needed = || KeyError::Prefix {
            expected: prefix.clone(),
        };
        match self.prefix_is {
            // The prefix alone is known to everybody.
            _ if stripped == Some("") => Err(KeyError::Empty),
            PrefixIs::Kept => stripped.map(|_| secret).ok_or_else(needed),
            PrefixIs::Stripped => stripped.ok_or_else(needed),
            PrefixIs::Optional => Ok(stripped.unwrap_or(secret)),
        }
    }

    fn bytes(&self, text: &str) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        use base64::Engine as _;
        let key = match self.key {
            KeyForm::Text => text.as_bytes().to_vec(),
            KeyForm::Hex => {
                hex::decode(text).map_err(|_| KeyError::Unfit("expected hexadecimal digits"))?
            }
            KeyForm::Base64 => base64::engine::general_purpose::STANDARD
                .decode(text)
                .map_err(|_| KeyError::Unfit("expected base64 with its padding"))?,
            KeyForm::Sha1 => {
                let hash = digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, text.as_bytes());
                hash.as_ref().to_vec()
            }
            KeyForm::Pem | KeyForm::Jwk => {
                return Err(KeyError::Unfit("this algorithm has another kind of key"));
            }
        };
        if key.is_empty() {
            return Err(KeyError::Empty);
        }
        if self
            .key_bytes
            .is_some_and(|[least, most]| !(least..=most).contains(&key.len()))
        {
            return Err(KeyError::Unfit(
                "its key is shorter or longer than this provider's are",
            ));
        }
        Ok(Zeroizing::new(key))
    }
}

impl SigningKey {
    /// A secret that keys are asked for with.
    pub(super) fn text_only(secret: &str) -> Self {
        Self(Material::Text(Zeroizing::new(secret.to_owned())))
    }

    /// A public key or a certificate in PEM.
    fn pem(text: &str) -> Result<Self, KeyError> {
        if let Ok(key) = SubjectPublicKeyInfoDer::from_pem_slice(text.as_bytes()) {
            return Ok(Self(Material::PublicKey(key.as_ref().to_vec())));
        }
        let unfit = KeyError::Unfit("expected a public key or a certificate in PEM");
        let certificate = CertificateDer::from_pem_slice(text.as_bytes()).map_err(|_| unfit)?;
        Ok(Self::of_certificate(certificate.as_ref()))
    }

    pub(super) fn of_certificate(der: &[u8]) -> Self {
        Self(Material::Certificate(der.to_vec()))
    }

    /// A JWK of ECDSA P-256.
    pub(super) fn jwk(text: &str) -> Result<Self, KeyError> {
        #[derive(Deserialize)]
        struct Jwk {
            kty: String,
            crv: String,
            kid: String,
            x: String,
            y: String,
            #[serde(default)]
            expired_at: Option<u64>,
        }
        use base64::Engine as _;
        let unfit = |_| KeyError::Unfit("expected a JWK of an EC key");
        let jwk: Jwk = serde_json::from_str(text).map_err(unfit)?;
        if jwk.kty != "EC" || jwk.crv != "P-256" {
            return Err(KeyError::Unfit("expected an EC key of P-256"));
        }
        let number = |text: &str| {
            let bytes = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(text);
            bytes.ok().filter(|bytes| bytes.len() == 32)
        };
        let (Some(x), Some(y)) = (number(&jwk.x), number(&jwk.y)) else {
            return Err(KeyError::Unfit("its coordinates are not of 32 bytes"));
        };
        let mut point = vec![4];
        point.extend(x);
        point.extend(y);
        Ok(Self(Material::Jwk {
            kid: jwk.kid,
            point,
            expired_at: jwk.expired_at,
        }))
    }

    /// Whether it is a provider's public key itself, and not what one is asked for with.
    pub(super) fn is_pinned(&self) -> bool {
        match &self.0 {
            Material::Ed25519(_)
            | Material::PublicKey(_)
            | Material::Certificate(_)
            | Material::Jwk { .. } => true,
            Material::Hmac256(_) | Material::Hmac1(_) | Material::Text(_) => false,
        }
    }

    /// The secret, of algorithms whose text holds it.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.0 {
            Material::Text(text) => Some(text),
            Material::Hmac256(_)
            | Material::Hmac1(_)
            | Material::Ed25519(_)
            | Material::PublicKey(_)
            | Material::Certificate(_)
            | Material::Jwk { .. } => None,
        }
    }
}

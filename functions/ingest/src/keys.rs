//! The active keys of every integration, and their renewal when a secret is rolled.
//!
//! Keys are computed once, at the start, and again when a signature matches none of them and the secrets
//! may be read again: a rolled secret is taken up without a redeployment.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lastword_config::{Config, Integration, SecretRef};
use lastword_contracts::Keys;
use lastword_domain::name::IntegrationName;
use lastword_runtime::{Level, Line, SecretError, SecretSource, Secrets, Vault};
use zeroize::Zeroizing;

/// What one endpoint checks its requests with.
pub(crate) struct Held {
    pub(crate) keys: Keys,
    pub(crate) handshake_token: Option<Zeroizing<String>>,
}

type All = BTreeMap<IntegrationName, Held>;

/// The active signing keys.
pub struct KeyRing {
    vault: Vault,
    keys: Mutex<Arc<All>>,
}

/// Why there are no keys.
#[derive(Debug, thiserror::Error)]
pub enum KeyRingError {
    /// A secret could not be had.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// A secret is no key of its provider.
    #[error("integrations.{integration}.{setting}: {reference}: {why}")]
    Unfit {
        /// Whose.
        integration: IntegrationName,
        /// Which of its settings names it.
        setting: &'static str,
        /// Where it is kept.
        reference: SecretRef,
        /// What is wrong with it.
        why: String,
    },
}

impl KeyRing {
    /// Reads every signing secret of the configuration.
    ///
    /// # Errors
    /// When one is missing or unfit.
    pub async fn load(config: &Config, source: SecretSource) -> Result<Self, KeyRingError> {
        Self::of(config, Vault::open(source, config.signing_secrets()).await?)
    }

    /// From secrets that are at hand; they are never read again.
    ///
    /// # Errors
    /// When one is missing or unfit.
    pub fn fixed(config: &Config, secrets: Secrets) -> Result<Self, KeyRingError> {
        Self::of(config, Vault::fixed(secrets))
    }

    fn of(config: &Config, vault: Vault) -> Result<Self, KeyRingError> {
        let keys = Mutex::new(Arc::new(make(config, &vault.secrets())?));
        Ok(Self { vault, keys })
    }

    /// The keys as they are now.
    pub(crate) fn now(&self) -> Arc<All> {
        Arc::clone(&self.lock())
    }

    /// The keys of secrets read again, if they may be; `now` is Unix time in seconds.
    pub(crate) async fn renewed(&self, config: &Config, now: u64) -> Option<Arc<All>> {
        let secrets = self.vault.renewed(now).await?;
        match make(config, &secrets) {
            Ok(keys) => {
                let keys = Arc::new(keys);
                *self.lock() = Arc::clone(&keys);
                Some(keys)
            }
            Err(error) => {
                Line::new(
                    Level::Error,
                    "a rolled secret is no key; the keys held stay in use",
                )
                .error(&error)
                .emit();
                None
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Arc<All>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn make(config: &Config, secrets: &Secrets) -> Result<All, KeyRingError> {
    config
        .integrations
        .iter()
        .map(|(name, integration)| Ok((name.clone(), held(integration, secrets)?)))
        .collect()
}

fn held(integration: &Integration, secrets: &Secrets) -> Result<Held, KeyRingError> {
    let unfit = |setting, reference: &SecretRef, why: String| KeyRingError::Unfit {
        integration: integration.name.clone(),
        setting,
        reference: reference.clone(),
        why,
    };
    let secret = |setting, reference| {
        secrets
            .get(reference)
            .ok_or_else(|| unfit(setting, reference, "it was not found".into()))
    };
    let mut keys = integration.schemes.clone();
    for reference in &integration.signing {
        let setting = "signing_secrets";
        let secret = secret(setting, reference)?;
        let schemes = &integration.contract.signature;
        schemes
            .add_secret(&mut keys, secret.expose())
            .map_err(|error| unfit(setting, reference, error.to_string()))?;
    }
    let token = integration.handshake_token.as_ref();
    let token = token
        .map(|reference| secret("handshake_token", reference))
        .transpose()?;
    Ok(Held {
        keys,
        handshake_token: token.map(|token| Zeroizing::new(token.expose().to_owned())),
    })
}

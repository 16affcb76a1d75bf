//! The active signing keys of every integration, and their renewal when a secret is rolled.
//!
//! Keys are computed once, at the start, and again when a signature matches none of them and the secrets
//! may be read again: a rolled secret is taken up without a redeployment.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lastword_config::{Config, Integration, SecretRef};
use lastword_contracts::SigningKey;
use lastword_domain::name::IntegrationName;
use lastword_runtime::{Level, Line, SecretError, SecretSource, Secrets, Vault};

type Keys = BTreeMap<IntegrationName, Vec<SigningKey>>;

/// The active signing keys.
pub struct KeyRing {
    vault: Vault,
    keys: Mutex<Arc<Keys>>,
}

/// Why there are no keys.
#[derive(Debug, thiserror::Error)]
pub enum KeyRingError {
    /// A secret could not be had.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// A secret is no key of its provider.
    #[error("integrations.{integration}.signing_secrets: {reference}: {why}")]
    Unfit {
        /// Whose.
        integration: IntegrationName,
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
    pub(crate) fn now(&self) -> Arc<Keys> {
        Arc::clone(&self.lock())
    }

    /// The keys of secrets read again, if they may be; `now` is Unix time in seconds.
    pub(crate) async fn renewed(&self, config: &Config, now: u64) -> Option<Arc<Keys>> {
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

    fn lock(&self) -> MutexGuard<'_, Arc<Keys>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn make(config: &Config, secrets: &Secrets) -> Result<Keys, KeyRingError> {
    let keys = |integration: &Integration| {
        integration
            .signing
            .iter()
            .map(|reference| key(integration, reference, secrets))
            .collect::<Result<Vec<_>, _>>()
    };
    config
        .integrations
        .iter()
        .map(|(name, integration)| Ok((name.clone(), keys(integration)?)))
        .collect()
}

fn key(
    integration: &Integration,
    reference: &SecretRef,
    secrets: &Secrets,
) -> Result<SigningKey, KeyRingError> {
    let unfit = |why: String| KeyRingError::Unfit {
        integration: integration.name.clone(),
        reference: reference.clone(),
        why,
    };
    let secret = secrets
        .get(reference)
        .ok_or_else(|| unfit("it was not found".into()))?;
    integration
        .contract
        .signature
        .key(secret.expose())
        .map_err(|error| unfit(error.to_string()))
}

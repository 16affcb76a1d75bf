//! The active signing keys of every integration, and their renewal when a secret is rolled.
//!
//! Keys are computed once, at the start. When a signature matches none of them, the secrets are read
//! again, at most once a minute: a rolled secret is taken up without a redeployment, and a stranger with
//! bad signatures costs one read a minute.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use lastword_config::{Config, Integration, SecretRef, SecretValue};
use lastword_contracts::SigningKey;
use lastword_domain::name::IntegrationName;
use lastword_runtime::{SecretError, SecretSource};

type Keys = BTreeMap<IntegrationName, Vec<SigningKey>>;

/// Seconds between two renewals.
const RENEWAL: u64 = 60;

/// The active signing keys.
pub struct KeyRing {
    source: Option<SecretSource>,
    held: Mutex<Held>,
}

struct Held {
    keys: Arc<Keys>,
    renewed_at: u64,
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
        let secrets = source.resolve_all(&config.signing_secrets()).await?;
        let keys = make(config, &secrets)?;
        Ok(Self {
            source: Some(source),
            held: Mutex::new(Held {
                keys: Arc::new(keys),
                renewed_at: 0,
            }),
        })
    }

    /// From secrets that are at hand; they are never read again.
    ///
    /// # Errors
    /// When one is missing or unfit.
    pub fn fixed(
        config: &Config,
        secrets: &BTreeMap<SecretRef, SecretValue>,
    ) -> Result<Self, KeyRingError> {
        let keys = make(config, secrets)?;
        Ok(Self {
            source: None,
            held: Mutex::new(Held {
                keys: Arc::new(keys),
                renewed_at: 0,
            }),
        })
    }

    /// The keys as they are now.
    pub(crate) fn now(&self) -> Arc<Keys> {
        Arc::clone(&self.lock().keys)
    }

    /// Reads the secrets again, unless that was done within the last minute. `None`: nothing is new.
    pub(crate) async fn renewed(&self, config: &Config, now: u64) -> Option<Arc<Keys>> {
        let source = self.source.as_ref()?;
        {
            let mut held = self.lock();
            if now.saturating_sub(held.renewed_at) < RENEWAL {
                return None;
            }
            held.renewed_at = now;
        }
        // A failure here leaves the keys as they are: the signature then simply does not match.
        let secrets = source.resolve_all(&config.signing_secrets()).await.ok()?;
        let keys = Arc::new(make(config, &secrets).ok()?);
        self.lock().keys = Arc::clone(&keys);
        Some(keys)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn make(config: &Config, secrets: &BTreeMap<SecretRef, SecretValue>) -> Result<Keys, KeyRingError> {
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
    secrets: &BTreeMap<SecretRef, SecretValue>,
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

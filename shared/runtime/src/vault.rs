//! Secrets as they were last read, and when they may be read again.
//!
//! A secret is rolled while a process lives. Whoever meets a refusal that a newer secret may explain asks
//! for a renewal; it is granted at most once every ten seconds, so that a stranger with bad signatures
//! costs six reads a minute and no more. A renewal that fails leaves what is held, and says so.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lastword_config::{SecretRef, SecretValue};

use crate::secrets::{SecretError, SecretSource};
use crate::telemetry::{Level, Line};

/// Seconds between two renewals.
const RENEWAL: u64 = 10;

/// Secrets by their references.
pub type Secrets = Arc<BTreeMap<SecretRef, SecretValue>>;

/// Secrets that can be read again.
#[derive(Debug)]
pub struct Vault {
    source: Option<SecretSource>,
    references: Vec<SecretRef>,
    held: Mutex<Held>,
}

#[derive(Debug)]
struct Held {
    secrets: Secrets,
    renewed_at: u64,
}

impl Vault {
    /// Reads these secrets now.
    ///
    /// # Errors
    /// When one of them cannot be had.
    pub async fn open(
        source: SecretSource,
        references: Vec<SecretRef>,
    ) -> Result<Self, SecretError> {
        let secrets = Arc::new(source.resolve_all(&references).await?);
        let held = Mutex::new(Held {
            secrets,
            renewed_at: 0,
        });
        Ok(Self {
            source: Some(source),
            references,
            held,
        })
    }

    /// Secrets that are at hand and are never read again.
    #[must_use]
    pub fn fixed(secrets: Secrets) -> Self {
        Self {
            source: None,
            references: Vec::new(),
            held: Mutex::new(Held {
                secrets,
                renewed_at: 0,
            }),
        }
    }

    /// The secrets as they were last read.
    #[must_use]
    pub fn secrets(&self) -> Secrets {
        Arc::clone(&self.lock().secrets)
    }

    /// Reads the secrets again, unless that was done just now; `now` is Unix time in seconds. `None`:
    /// there is nothing newer to be had.
    pub async fn renewed(&self, now: u64) -> Option<Secrets> {
        let source = self.source.as_ref()?;
        {
            let mut held = self.lock();
            if now.saturating_sub(held.renewed_at) < RENEWAL {
                return None;
            }
            held.renewed_at = now;
        }
        match source.resolve_all(&self.references).await {
            Ok(secrets) => {
                let secrets = Arc::new(secrets);
                self.lock().secrets = Arc::clone(&secrets);
                Some(secrets)
            }
            Err(error) => {
                Line::new(
                    Level::Error,
                    "secrets were not renewed; the ones held stay in use",
                )
                .error(&error)
                .emit();
                None
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::env::VarError;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::clients::{ClientSettings, Clients, Endpoints, Patience};

    #[tokio::test]
    async fn a_rolled_secret_is_taken_up_once_it_is_asked_for_and_not_more_often_than_allowed() {
        static ASKED: AtomicUsize = AtomicUsize::new(0);
        let lookup = |_: &str| -> Result<String, VarError> {
            Ok(format!("secret-{}", ASKED.fetch_add(1, Ordering::SeqCst)))
        };
        let clients = Clients::new(ClientSettings::local(
            Endpoints::default(),
            Patience::background(),
        ));
        let reference = SecretRef::parse("env:ROLLED").unwrap();
        let source = SecretSource::new(lookup, clients);
        let vault = Vault::open(source, vec![reference.clone()]).await.unwrap();
        let held = |secrets: Secrets| secrets[&reference].expose().to_owned();
        assert_eq!(held(vault.secrets()), "secret-0");
        assert_eq!(held(vault.renewed(1000).await.unwrap()), "secret-1");
        assert!(vault.renewed(1009).await.is_none());
        assert_eq!(held(vault.secrets()), "secret-1");
        assert_eq!(held(vault.renewed(1010).await.unwrap()), "secret-2");
    }
}

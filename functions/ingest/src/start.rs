//! Starts ingest from its environment, or says why it cannot start.

use std::env::VarError;
use std::sync::Arc;
use std::time::Duration;

use lastword_config::Config;
use lastword_contracts::KeyRequest;
use lastword_runtime::{Clients, Fetcher, Patience, SecretSource, environment};
use lastword_store::{Inbox, Moment};

use crate::handler::Ingest;
use crate::keys::KeyRing;
use crate::published::{Fetch, PublishedKeys};

/// What stops a start, in words for the log.
pub type StartFailure = Box<dyn std::error::Error + Send + Sync>;

/// Makes everything that lives as long as the process.
///
/// # Errors
/// When anything is missing or wrong: the function then does not start, and nothing is acknowledged.
pub async fn from_environment() -> Result<Ingest, StartFailure> {
    let config = environment::configuration()?;
    let table = environment::required("LASTWORD_INBOX_TABLE")?;
    let clients = Clients::from_env(Patience::ingest())?;
    // Secrets may take their time once; a webhook's write may not.
    let secrets = SecretSource::new(variable, clients.with_patience(Patience::background()));
    let keys = KeyRing::load(&config, secrets).await?;
    let inbox = Inbox::new(clients.dynamodb(), table);
    let published = published(&config)?;
    let ingest = Ingest::new(config, keys, inbox, Arc::new(Moment::now));
    Ok(ingest.with_published(published))
}

/// What asks for published keys, where any contract has such; otherwise no root certificate is even read.
///
/// # Errors
/// When the environment names a bundle of certificates that cannot be used.
pub fn published(config: &Config) -> Result<PublishedKeys, StartFailure> {
    let mut schemes = config
        .integrations
        .values()
        .flat_map(|integration| integration.contract.signature.iter());
    if !schemes.any(|scheme| scheme.fetch.is_some()) {
        return Ok(PublishedKeys::none());
    }
    let fetcher = Fetcher::from_env()?;
    let roots = fetcher.anchors();
    let fetch: Fetch = Arc::new(move |key: KeyRequest| {
        let fetcher = fetcher.clone();
        Box::pin(async move {
            let asked = fetcher.fetch(&key.url, key.json.as_deref());
            match tokio::time::timeout(PATIENCE, asked).await {
                Ok(answer) => answer,
                Err(_) => Err("it took too long".to_owned()),
            }
        })
    });
    Ok(PublishedKeys::new(fetch, roots))
}

/// Within the shortest deadline of a provider that publishes keys.
const PATIENCE: Duration = Duration::from_secs(2);

fn variable(name: &str) -> Result<String, VarError> {
    std::env::var(name)
}

//! Starts ingest from its environment, or says why it cannot start.

use std::env::VarError;
use std::sync::Arc;

use lastword_runtime::{Clients, Patience, SecretSource, environment};
use lastword_store::{Inbox, Moment};

use crate::handler::Ingest;
use crate::keys::KeyRing;

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
    Ok(Ingest::new(config, keys, inbox, Arc::new(Moment::now)))
}

fn variable(name: &str) -> Result<String, VarError> {
    std::env::var(name)
}

//! Starts reconcile from its environment, or says why it cannot start.

use std::env::VarError;
use std::sync::Arc;
use std::time::Duration;

use lastword_provider::{HostOverrides, ProviderClient};
use lastword_queue::Queue;
use lastword_runtime::{Clients, Patience, SecretSource, Vault, environment};
use lastword_store::{Moment, State};

use crate::handler::Handler;
use crate::reconciler::Reconciler;

/// The time that is taken for given where no true deadline is.
pub const ASSUMED: Duration = Duration::from_secs(20);

/// What stops a start, in words for the log.
pub type StartFailure = Box<dyn std::error::Error + Send + Sync>;

/// Makes everything that lives as long as the process.
///
/// # Errors
/// When anything is missing or wrong.
pub async fn from_environment() -> Result<Handler, StartFailure> {
    let config = environment::configuration()?;
    let inbox = environment::required("LASTWORD_INBOX_TABLE")?;
    let state = environment::required("LASTWORD_STATE_TABLE")?;
    let url = environment::required("LASTWORD_QUEUE_URL")?;
    // Only loopback hosts are taken: this is how the stand-ins of a local stack are reached.
    let hosts =
        HostOverrides::parse(&environment::optional("LASTWORD_LOCAL_API")?.unwrap_or_default())?;
    let clients = Clients::from_env(Patience::background())?;
    let source = SecretSource::new(variable, clients.clone());
    let vault = Vault::open(source, config.api_secrets()).await?;
    let state = State::new(clients.dynamodb(), inbox, state);
    let provider = ProviderClient::new(hosts)?;
    let reconciler = Reconciler::new(
        Arc::new(config),
        state,
        provider,
        Arc::new(vault),
        Arc::new(Moment::now),
    )?;
    Ok(Handler::new(reconciler, Queue::new(clients.sqs(), url)))
}

fn variable(name: &str) -> Result<String, VarError> {
    std::env::var(name)
}

//! Starts reconcile from its environment, or says why it cannot start.

use std::env::VarError;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use lambda_runtime::Context;
use lastword_provider::{HostOverrides, ProviderClient};
use lastword_queue::Queue;
use lastword_runtime::{Clients, Patience, SecretSource, Vault, environment};
use lastword_store::{Moment, State};

use crate::handler::Handler;
use crate::reconciler::Reconciler;

/// The time that is taken for given where no true deadline is.
const ASSUMED: Duration = Duration::from_secs(20);

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

/// How long this invocation may still take.
#[must_use]
pub fn time_left(context: &Context) -> Duration {
    left(context.deadline(), SystemTime::now())
}

/// A deadline that is over before the work began is none: runners on a developer's machine give such.
fn left(deadline: SystemTime, now: SystemTime) -> Duration {
    match deadline.duration_since(now) {
        Ok(left) if left > Duration::ZERO => left,
        Ok(_) | Err(_) => ASSUMED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_that_was_over_before_the_work_began_is_none() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1000);
        assert_eq!(
            left(now + Duration::from_secs(7), now),
            Duration::from_secs(7)
        );
        assert_eq!(left(now, now), ASSUMED);
        assert_eq!(left(SystemTime::UNIX_EPOCH, now), ASSUMED);
    }
}

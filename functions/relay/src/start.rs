//! Starts the relay from its environment, or says why it cannot start.

use lastword_destinations::Bus;
use lastword_queue::Queue;
use lastword_runtime::{Clients, Patience, StartError, environment};

use crate::handler::Relay;

/// Makes everything that lives as long as the process.
///
/// # Errors
/// When a variable is missing or unusable.
pub fn from_environment() -> Result<Relay, StartError> {
    let url = environment::required("LASTWORD_QUEUE_URL")?;
    let clients = Clients::from_env(Patience::background())?;
    let effects = environment::required("LASTWORD_EFFECTS_QUEUE_URL")?;
    let bus = environment::required("LASTWORD_BUS")?;
    let signals = Queue::new(clients.sqs(), url);
    let effects = Queue::new(clients.sqs(), effects);
    let bus = Bus::new(clients.eventbridge(), bus);
    Ok(Relay::new(signals, effects, bus))
}

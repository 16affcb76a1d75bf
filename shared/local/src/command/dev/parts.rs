//! What the functions are made of, whether they run inside or outside; starts nothing.

use std::{collections::BTreeSet, path::PathBuf, time::Duration};

use lastword_config::Config;
use lastword_provider::HostOverrides;
use lastword_runtime::Endpoints;

use super::secrets::Secrets;
use crate::{function::Function, machine::Failure};

// The template's numbers.

/// Ingest's deadline.
pub(super) const INGEST_TIMEOUT: Duration = Duration::from_secs(10);
/// The gateway's patience with it.
pub(super) const GATEWAY_TIMEOUT: Duration = Duration::from_secs(11);
/// Relay's deadline.
pub(super) const RELAY_TIMEOUT: Duration = Duration::from_secs(30);
/// Reconcile's deadline.
pub(super) const RECONCILE_TIMEOUT: Duration = Duration::from_secs(30);
/// Dispatch's deadline.
pub(super) const DISPATCH_TIMEOUT: Duration = Duration::from_secs(60);
/// Draft's deadline.
pub(super) const DRAFT_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a received effect stays hidden: 6 times that.
pub(super) const EFFECTS_VISIBILITY: Duration = Duration::from_secs(360);
/// How often an effect is received before it is moved to the dead letters.
pub(super) const MOST_EFFECT_RECEIVES: u32 = 1000;
/// How long a received message stays hidden: 6 times the deadline of whoever received it.
pub(super) const VISIBILITY: Duration = Duration::from_secs(180);
/// How often a message is received before it is moved to the dead letters.
pub(super) const MOST_RECEIVES: u32 = 50;

/// What the functions are made of.
pub(super) struct Parts {
    /// The configuration.
    pub(super) config: Config,
    /// Its file; `None` is the one that was built in.
    pub(super) file: Option<PathBuf>,
    /// The stores and the parameter store.
    pub(super) endpoints: Endpoints,
    /// The signals' queue.
    pub(super) queue_url: String,
    /// The effects' queue.
    pub(super) effects_url: String,
    /// Where destinations are on this machine: as text, for the variable.
    pub(super) destinations: String,
    /// What the parameter store and the variables hold.
    pub(super) secrets: Secrets,
    /// Stand-ins of providers: as text, for the variable.
    pub(super) api: String,
    /// The time to check signatures by, in Unix seconds, instead of now.
    pub(super) clock: Option<u64>,
    /// Where lines are written.
    pub(super) log: PathBuf,
}

/// The functions, to be invoked.
pub(super) struct Functions {
    pub(super) ingest: Function,
    pub(super) relay: Function,
    pub(super) reconcile: Function,
    pub(super) dispatch: Function,
    pub(super) draft: Function,
    /// How many batches reconcile takes at once.
    pub(super) reconciles: usize,
    /// How many batches dispatch takes at once.
    pub(super) dispatches: usize,
}

/// The stand-ins that were asked for, checked: loopback only, and of providers that are configured.
pub(super) fn stand_ins(asked: &[String], config: &Config) -> Result<String, Failure> {
    let text = asked.join(",");
    let hosts = HostOverrides::parse(&text)?;
    let known: BTreeSet<_> = config
        .integrations
        .values()
        .map(|integration| &integration.contract.name)
        .collect();
    match hosts.providers().find(|name| !known.contains(name)) {
        None => Ok(text),
        Some(name) => {
            let known: Vec<_> = known.iter().map(|name| name.as_str()).collect();
            let known = known.join(", ");
            Err(
                format!("--api {name}=…: no integration has this contract; known are {known}")
                    .into(),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stand_in_is_on_this_machine_and_of_a_configured_provider() {
        let config = Config::parse("lastword.toml", lastword_config::BUILT_IN).unwrap();
        let asked = |text: &str| stand_ins(&[text.to_owned()], &config);
        assert!(asked("stripe=http://127.0.0.1:1").is_ok());
        let error = asked("stripe=http://10.0.0.1:1").unwrap_err().to_string();
        assert!(error.contains("not this machine"), "{error}");
        let error = asked("shopify=http://127.0.0.1:1").unwrap_err().to_string();
        assert!(error.contains("generic-hmac, github, stripe"), "{error}");
        assert_eq!(stand_ins(&[], &config).unwrap(), "");
    }
}

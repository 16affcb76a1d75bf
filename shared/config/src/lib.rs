//! `lastword.toml`: what this deployment receives, for whom, and with which secrets (by name only).
//!
//! Everything that can be wrong with it is found when it is read, all at once, each with its line, what
//! was found and what is expected; a function refuses to start with a wrong one. This room may not
//! resolve a secret, read the environment or open a file.

mod checking;
pub mod destination;
pub mod effect;
pub mod integration;
pub mod meaning;
mod problem;
mod raw;
pub mod secret;
mod url;
pub mod wording;

use std::collections::BTreeMap;
use std::time::Duration;

use lastword_domain::name::{DestinationName, IntegrationName};
use lastword_domain::retry::RetryPolicy;

pub use destination::{Channel, Destination, HttpDestination, LookUp, QueueDestination};
pub use effect::{Effect, Effects, On};
pub use integration::{Integration, Resource};
pub use meaning::{Member, RuleText, RuleTexts, Subject, Subjects};
pub use problem::{ConfigError, Problem};
pub use secret::{InvalidSecretRef, SecretRef, SecretValue};
pub use wording::{Wording, Wordings};

/// The configuration that was built in: the workspace's `lastword.toml`.
pub const BUILT_IN: &str = include_str!("../../../lastword.toml");

/// A configuration that holds together.
#[derive(Debug, Clone)]
pub struct Config {
    /// As the file was called, for messages.
    pub file: String,
    /// By the name in the URL.
    pub integrations: BTreeMap<IntegrationName, Integration>,
    /// Things of our own business, decided from several resources.
    pub subjects: Subjects,
    /// What the business must do about what is told.
    pub effects: Effects,
    /// Where effects go; the event bus is always among them, as [`destination::BUS`].
    pub destinations: BTreeMap<DestinationName, Destination>,
    /// How messages to people are worded.
    pub wordings: Wordings,
    /// How often and how long what could not be found out is tried again.
    pub retry: RetryPolicy,
}

impl Config {
    /// Reads and checks a configuration. `file` is only for messages.
    ///
    /// # Errors
    /// Lists everything that is wrong.
    pub fn parse(file: &str, text: &str) -> Result<Self, ConfigError> {
        checking::check(file, text)
    }

    /// The integration of this name, as it stands in a URL.
    #[must_use]
    pub fn integration(&self, name: &str) -> Option<&Integration> {
        IntegrationName::parse(name)
            .ok()
            .and_then(|name| self.integrations.get(&name))
    }

    /// The integration whose events come through this queue or event source.
    #[must_use]
    pub fn fed_by(&self, feed: &str) -> Option<&Integration> {
        let mut all = self.integrations.values();
        all.find(|integration| integration.feeds.iter().any(|own| own == feed))
    }

    /// Every secret that checks signatures and handshakes.
    #[must_use]
    pub fn signing_secrets(&self) -> Vec<SecretRef> {
        let all = self.integrations.values();
        all.flat_map(|integration| {
            integration
                .signing
                .iter()
                .chain(&integration.handshake_token)
        })
        .cloned()
        .collect()
    }

    /// Every secret that reads a provider's API.
    #[must_use]
    pub fn api_secrets(&self) -> Vec<SecretRef> {
        self.integrations
            .values()
            .flat_map(|integration| integration.api_keys.values().cloned())
            .collect()
    }

    /// Every secret that a destination needs.
    #[must_use]
    pub fn destination_secrets(&self) -> Vec<SecretRef> {
        let all = self.destinations.values();
        all.filter_map(Destination::secret).cloned().collect()
    }
}

/// How long a body is kept when the integration does not say.
pub const DEFAULT_RETENTION: Duration = Duration::from_secs(30 * 24 * 3600);

/// How often and how long, when the configuration does not say: about two hours in all.
pub const DEFAULT_RETRY: RetryPolicy = RetryPolicy {
    attempts: 20,
    first_delay: Duration::from_secs(1),
    longest_delay: Duration::from_secs(600),
};

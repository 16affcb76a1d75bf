//! A contract: what one provider guarantees. Read from its TOML file; every claim names its source.

mod builtin;
mod claims;
mod resource;
mod soundness;

use std::collections::BTreeMap;

use lastword_domain::name::{Environment, Provider, ResourceType};
use serde::Deserialize;

use crate::handshake::Handshake;
use crate::items::Items;
use crate::payload::PayloadRules;
use crate::signature::{Schemes, Uncovered};
use crate::source::{Source, Sources};
pub use claims::{Absent, Acknowledge, AnswerBody, Certainty, List, Order, Quota};
pub use resource::{FactRules, KindOfVersion, ResourceRules, StrategyName};

/// What one provider guarantees.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// Its name in configuration and keys.
    pub name: Provider,
    /// Its name for people.
    pub title: String,
    /// What its bodies may be declared as.
    pub media_types: Vec<String>,
    /// How its deliveries are sent. One without a body says nothing and is acknowledged when it is authentic.
    #[serde(default = "post")]
    pub methods: Vec<String>,
    /// Whether an integration may define resource types of its own.
    #[serde(default)]
    pub open_resources: bool,
    /// Settings that an integration must give: name and explanation.
    #[serde(default)]
    pub parameters: BTreeMap<String, String>,
    /// Settings that it may give.
    #[serde(default)]
    pub optional_parameters: BTreeMap<String, String>,
    /// How a body is read, when it is not JSON itself.
    pub payload: Option<PayloadRules>,
    /// How it signs.
    pub signature: Schemes,
    /// Requests of its that are no events.
    #[serde(default)]
    pub handshake: Vec<Handshake>,
    /// What makes its events the ones they are.
    pub event: EventRules,
    /// How its objects are read.
    pub api: Option<Api>,
    /// Its kinds of objects.
    #[serde(default)]
    pub resources: BTreeMap<ResourceType, ResourceRules>,
    /// What is known of the order of its deliveries.
    pub order: Option<Order>,
    /// How it wants to be answered, and what it does else.
    #[serde(default)]
    pub acknowledge: Acknowledge,
    /// What "not there" means.
    pub absence: Option<Absent>,
    /// What can be listed to find what was missed.
    #[serde(default)]
    pub list: Vec<List>,
    /// How often it may be asked.
    #[serde(default)]
    pub quota: Vec<Quota>,
}

/// Where an event's identity stands.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventRules {
    /// The way to several events in one body.
    pub items: Option<Items>,
    /// The event's id; the values of several places are joined with a slash.
    pub id: Sources,
    /// Why two events never have the same bytes, where the id is made of them.
    pub distinct: Option<String>,
    /// What stands for the id where a part of it is absent; without it such an event cannot be read.
    pub id_otherwise: Option<Source>,
    /// Its type; several places are joined with a full stop. The first is always there, later ones that
    /// are absent are left out.
    #[serde(rename = "type")]
    pub kind: Sources,
    /// What stands for the type where its first part is absent, as in a provider's other kind of bodies.
    pub type_otherwise: Option<Source>,
    /// The account it is about; absent in the body means the integration's own.
    pub account: Option<Source>,
    /// Names the account without being signed: it never chooses, but another account is refused.
    pub account_hint: Option<Source>,
    /// Which of the provider's worlds it is about.
    pub environment: Option<EnvironmentRules>,
    /// What a person has to know.
    pub note: Option<String>,
    /// Where this is known from.
    #[serde(default)]
    pub source: String,
    /// How sure it is.
    #[serde(default)]
    pub certainty: Certainty,
}

/// How the body names the provider's world.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvironmentRules {
    /// Where.
    pub from: Source,
    /// What its values mean.
    pub values: BTreeMap<String, Environment>,
}

/// How objects are read. The host is the contract's and nothing in a body can change it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Api {
    /// Scheme and host.
    pub host: Option<String>,
    /// Other hosts, by environment.
    #[serde(default)]
    pub hosts: BTreeMap<Environment, String>,
    /// A host of the account's own; `{account}` stands for it.
    pub account_host: Option<String>,
    /// The `Authorization` header; `{secret}` stands for the account's key, `{basic}` for it in base64.
    pub authorization: Option<String>,
    /// Further headers of every request.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The header that names another account than the integration's own.
    pub account_header: Option<String>,
    /// What the statuses that say "not there" mean.
    #[serde(default)]
    pub absent: BTreeMap<String, Absence>,
    /// Where this is known from.
    #[serde(default)]
    pub source: String,
    /// How sure it is.
    #[serde(default)]
    pub certainty: Certainty,
}

/// Law 7: what "not there" proves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Absence {
    /// It is deleted.
    Deleted,
    /// It is deleted if an event said so too, or if it was known to be deleted; else nothing.
    DeletedIfTold,
    /// Nothing.
    ProvesNothing,
}

/// Why there is no such contract.
#[derive(Debug, thiserror::Error)]
pub enum ContractError {
    /// No file of that name is built in.
    #[error("unknown contract {found:?}; {}`lastword contracts` lists them", meant(.nearest))]
    Unknown {
        /// What was asked for.
        found: String,
        /// What was perhaps meant.
        nearest: Option<&'static str>,
    },
    /// The file does not say what a contract must.
    #[error("the contract {name} is not sound: {why}")]
    Unsound {
        /// Which.
        name: String,
        /// What is wrong.
        why: String,
    },
}

fn post() -> Vec<String> {
    vec!["POST".to_owned()]
}

fn meant(name: &Option<&'static str>) -> String {
    name.map_or_else(String::new, |name| format!("did you mean {name:?}? "))
}

impl Contract {
    /// From a contract's text.
    ///
    /// # Errors
    /// Says what is missing or contradictory.
    pub fn parse(text: &str) -> Result<Self, String> {
        toml::from_str::<Self>(text)
            .map_err(|error| error.to_string())?
            .checked()
    }

    /// From a contract's text as it is built in for functions.
    fn parse_lean(text: &str) -> Result<Self, String> {
        serde_json::from_str::<Self>(text)
            .map_err(|error| error.to_string())?
            .checked()
    }

    fn checked(self) -> Result<Self, String> {
        if self.resources.is_empty() && !self.open_resources {
            return Err("it has no resources and allows none to be defined".to_owned());
        }
        self.check_signature()?;
        self.check_event()?;
        self.check_identity()?;
        self.check_api()?;
        for (kind, rules) in &self.resources {
            self.check(kind, rules)
                .map_err(|why| format!("resource {kind}: {why}"))?;
        }
        Ok(self)
    }

    /// Whether a body may be believed only as far as it says what to look at, because a signature that is
    /// accepted does not cover it.
    #[must_use]
    pub fn body_is_a_hint(&self) -> bool {
        let mut schemes = self.signature.iter();
        schemes.any(|scheme| scheme.uncovered.contains(&Uncovered::Body))
    }

    /// Whether its events come through a queue and not by HTTP.
    #[must_use]
    pub fn by_queue(&self) -> bool {
        self.signature.carried(b"").is_some()
    }
}

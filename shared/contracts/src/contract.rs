//! A contract: what one provider guarantees. Read from its TOML file; every claim names its source.

mod soundness;

use std::collections::BTreeMap;

use lastword_domain::Strategy;
use lastword_domain::name::{Environment, Provider, ResourceType};
use serde::Deserialize;

use crate::extract::Pointer;
use crate::pattern::Patterns;
use crate::signature::{Certainty, SignatureRules};
use crate::source::{Source, Sources};

/// The contracts that are built in, by name.
const BUILTIN: [(&str, &str); 3] = [
    ("generic-hmac", include_str!("../generic-hmac.toml")),
    ("github", include_str!("../github.toml")),
    ("stripe", include_str!("../stripe.toml")),
];

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
    /// Whether an integration may define resource types of its own.
    #[serde(default)]
    pub open_resources: bool,
    /// How it signs.
    pub signature: SignatureRules,
    /// What makes its events the ones they are.
    pub event: EventRules,
    /// How its objects are read.
    pub api: Option<Api>,
    /// Its kinds of objects.
    #[serde(default)]
    pub resources: BTreeMap<ResourceType, ResourceRules>,
}

/// Where an event's identity stands.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventRules {
    /// The event's id.
    pub id: Source,
    /// Its type; several places are joined with a full stop. The first is always there, later ones that
    /// are absent are left out.
    #[serde(rename = "type")]
    pub kind: Sources,
    /// The account it is about; absent in the body means the integration's own.
    pub account: Option<Source>,
    /// Which of the provider's worlds it is about.
    pub environment: Option<EnvironmentRules>,
    /// Where this is known from.
    pub source: String,
    /// How sure it is.
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
    pub host: String,
    /// The `Authorization` header; `{secret}` stands for the account's key.
    pub authorization: String,
    /// Further headers of every request.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The header that names another account than the integration's own.
    pub account_header: Option<String>,
    /// What the statuses that say "not there" mean.
    #[serde(default)]
    pub absent: BTreeMap<String, Absence>,
    /// Where this is known from.
    pub source: String,
    /// How sure it is.
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

/// What is known of one kind of object.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResourceRules {
    /// Which events are about it.
    pub events: Patterns,
    /// Where its id stands; several places are joined with a slash.
    pub id: Sources,
    /// Members that the body of an event about it never holds. Where an unsigned header names the event's
    /// type, they tell a body of its own from one that was sent again under another name.
    #[serde(default)]
    pub without: Vec<Pointer>,
    /// What the contract's evidence allows, the best first.
    pub strategies: Vec<StrategyName>,
    /// The path that reads it; `{0}`, `{1}` stand for the parts of its id.
    pub read: Option<String>,
    /// Where the last part of its id stands in what the read API answers.
    pub read_id: Option<Pointer>,
    /// Where the whole object stands in the body.
    pub snapshot: Option<Pointer>,
    /// Where its version stands in the body.
    pub version: Option<Pointer>,
    /// Where its version stands in what the read API answers.
    pub read_version: Option<Pointer>,
    /// Events that say it is deleted.
    #[serde(default)]
    pub deleted_by: Patterns,
    /// A member that is `true` in what the read API answers when it is deleted.
    pub deleted_when: Option<Pointer>,
    /// Where this is known from.
    #[serde(default)]
    pub source: String,
    /// How sure it is.
    pub certainty: Option<Certainty>,
}

/// A strategy's word, checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct StrategyName(pub Strategy);

impl TryFrom<String> for StrategyName {
    type Error = String;
    fn try_from(word: String) -> Result<Self, String> {
        Strategy::parse(&word)
            .map(Self)
            .ok_or_else(|| format!("found {word:?}, expected \"current\" or \"version\""))
    }
}

/// Why there is no such contract.
#[derive(Debug, thiserror::Error)]
pub enum ContractError {
    /// No file of that name is built in.
    #[error("unknown contract {found:?}; known are {known}")]
    Unknown {
        /// What was asked for.
        found: String,
        /// What there is.
        known: String,
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

impl Contract {
    /// The names of the contracts that are built in.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILTIN.iter().map(|(name, _)| *name)
    }

    /// A contract that is built in. Only the one asked for is parsed.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn builtin(name: &str) -> Result<Self, ContractError> {
        let unknown = || ContractError::Unknown {
            found: name.to_owned(),
            known: Self::names().collect::<Vec<_>>().join(", "),
        };
        let (_, text) = BUILTIN
            .iter()
            .find(|(held, _)| *held == name)
            .ok_or_else(unknown)?;
        Self::parse(text).map_err(|why| ContractError::Unsound {
            name: name.to_owned(),
            why,
        })
    }

    /// From a contract's text.
    ///
    /// # Errors
    /// Says what is missing or contradictory.
    pub fn parse(text: &str) -> Result<Self, String> {
        let contract: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        if contract.resources.is_empty() && !contract.open_resources {
            return Err("it has no resources and allows none to be defined".to_owned());
        }
        contract.check_event()?;
        for (kind, rules) in &contract.resources {
            contract
                .check(kind, rules)
                .map_err(|why| format!("resource {kind}: {why}"))?;
        }
        Ok(contract)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_contract_that_is_built_in_is_sound_and_called_as_its_file() {
        for name in Contract::names() {
            assert_eq!(Contract::builtin(name).unwrap().name.as_str(), name);
        }
    }

    #[test]
    fn an_unknown_contract_is_named_with_the_known_ones() {
        let error = Contract::builtin("strpe").unwrap_err().to_string();
        assert_eq!(
            error,
            "unknown contract \"strpe\"; known are generic-hmac, github, stripe"
        );
    }
}

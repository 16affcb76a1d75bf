//! One configured endpoint: a contract, whose data it may speak of, and what of it is kept.

use std::collections::BTreeMap;
use std::time::Duration;

use lastword_contracts::{Contract, Reader, ResourceRules};
use lastword_domain::Strategy;
use lastword_domain::name::{Account, Environment, IntegrationName, ResourceType};

use crate::secret::SecretRef;

/// One configured endpoint.
#[derive(Debug, Clone)]
pub struct Integration {
    /// Its name in the URL.
    pub name: IntegrationName,
    /// What its provider guarantees.
    pub contract: Contract,
    /// The account that is meant when an event names none.
    pub account: Account,
    /// The provider's world it belongs to.
    pub environment: Environment,
    /// Where its active signing secrets are kept.
    pub signing: Vec<SecretRef>,
    /// Where the key is kept that reads each account's objects.
    pub api_keys: BTreeMap<Account, SecretRef>,
    /// What is kept of it.
    pub resources: BTreeMap<ResourceType, Resource>,
    /// How long bodies are kept.
    pub retention: Duration,
    /// The contract's rules, arranged for reading requests.
    pub reader: Reader,
}

/// One kind of object that is kept.
#[derive(Debug, Clone)]
pub struct Resource {
    /// How its state is found.
    pub strategy: Strategy,
    /// What the contract knows of it.
    pub rules: ResourceRules,
}

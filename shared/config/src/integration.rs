//! One configured endpoint: a contract, whose data it may speak of, and what of it is kept.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use lastword_contracts::signature::{CannotSign, Signed};
use lastword_contracts::{
    Contract, Endpoint, Headers, KeyError, Keys, Reader, Request, ResourceRules,
};
use lastword_domain::name::{Account, Environment, IntegrationName, ResourceType};
use lastword_domain::{StatusOrder, Strategy};

use crate::meaning::RuleTexts;
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
    /// The schemes it accepts, still without keys.
    pub schemes: Keys,
    /// How far a signed time may be from ours, when not as the contract says; in seconds.
    pub tolerance_seconds: Option<u64>,
    /// The registered URL and further settings that a scheme or a handshake needs.
    pub endpoint: Endpoint,
    /// Where the token is kept that a handshake must show.
    pub handshake_token: Option<SecretRef>,
    /// What its events come through instead of HTTP: the ARN of a queue, or the name of an event source.
    pub feeds: Vec<String>,
    /// Where the key is kept that reads each account's objects.
    pub api_keys: BTreeMap<Account, SecretRef>,
    /// What is kept of it.
    pub resources: BTreeMap<ResourceType, Resource>,
    /// Kinds of objects of which the events are recorded and nothing is kept.
    pub recorded: BTreeSet<ResourceType>,
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
    /// What the contract knows of it, with the facts that this deployment keeps besides.
    pub rules: ResourceRules,
    /// Strategy `transition`: the order of its statuses.
    pub order: Option<StatusOrder>,
    /// What its states mean.
    pub meaning: RuleTexts,
}

impl Integration {
    /// The keys of these active secrets, for the schemes that are accepted.
    ///
    /// # Errors
    /// When one of them cannot be a key of any.
    pub fn keys<'s>(&self, secrets: impl IntoIterator<Item = &'s str>) -> Result<Keys, KeyError> {
        let mut keys = self.schemes.clone();
        for secret in secrets {
            self.contract.signature.add_secret(&mut keys, secret)?;
        }
        Ok(keys)
    }

    /// A request to this endpoint.
    #[must_use]
    pub fn request<'r>(
        &'r self,
        method: &'r str,
        query: &'r str,
        headers: &'r Headers,
        body: &'r [u8],
    ) -> Request<'r> {
        Request {
            method,
            query,
            headers,
            body,
            endpoint: &self.endpoint,
        }
    }

    /// What makes a POST of this body one that its provider signed; for samples and tests. `now` is Unix time
    /// in seconds.
    ///
    /// # Errors
    /// When only the provider could sign it.
    pub fn sign(
        &self,
        keys: &Keys,
        headers: &Headers,
        body: &[u8],
        now: u64,
    ) -> Result<Signed, CannotSign> {
        let request = self.request("POST", "", headers, body);
        self.contract.signature.sign(&request, keys, now)
    }
}

//! The file as it is written, every value with its place in the text.

mod destination;

use std::collections::BTreeMap;

use lastword_contracts::{Api, FactRules, ResourceRules};
use serde::Deserialize;
use toml::Spanned;

pub(crate) use destination::{RawDestination, RawLookUp};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    #[serde(default)]
    pub(crate) integrations: BTreeMap<Spanned<String>, Spanned<RawIntegration>>,
    #[serde(default)]
    pub(crate) subjects: BTreeMap<Spanned<String>, Spanned<RawSubject>>,
    #[serde(default)]
    pub(crate) effects: BTreeMap<Spanned<String>, Spanned<RawEffect>>,
    #[serde(default)]
    pub(crate) destinations: BTreeMap<Spanned<String>, Spanned<RawDestination>>,
    #[serde(default)]
    pub(crate) wordings: BTreeMap<Spanned<String>, Spanned<RawWording>>,
    pub(crate) retry: Option<RawRetry>,
}

/// A declared action.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawEffect {
    /// `subject`, `integration/resource` or `integration/resource/fact`.
    pub(crate) on: Spanned<String>,
    pub(crate) when: Option<Spanned<String>>,
    #[serde(rename = "while")]
    pub(crate) holds: Option<Spanned<String>>,
    #[serde(default)]
    pub(crate) data: BTreeMap<Spanned<String>, Spanned<String>>,
    pub(crate) to: Option<Spanned<String>>,
    pub(crate) settle_seconds: Option<Spanned<u64>>,
    pub(crate) version: Option<Spanned<u32>>,
    pub(crate) wording: Option<Spanned<String>>,
}

/// A message to a person.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawWording {
    pub(crate) template: Option<Spanned<String>>,
    pub(crate) brief: Option<String>,
    pub(crate) most_characters: Option<Spanned<i64>>,
    #[serde(default)]
    pub(crate) must_mention: Vec<Spanned<String>>,
    #[serde(default)]
    pub(crate) never_says: Vec<Spanned<String>>,
    pub(crate) fields: Option<Vec<Spanned<String>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawIntegration {
    pub(crate) contract: Spanned<String>,
    pub(crate) account: Spanned<String>,
    pub(crate) environment: Spanned<String>,
    pub(crate) signing_secrets: Option<Spanned<Vec<Spanned<String>>>>,
    pub(crate) schemes: Option<Spanned<Vec<String>>>,
    pub(crate) url: Option<Spanned<String>>,
    #[serde(default)]
    pub(crate) parameters: BTreeMap<Spanned<String>, Spanned<String>>,
    pub(crate) handshake_token: Option<Spanned<String>>,
    pub(crate) tolerance_seconds: Option<Spanned<u64>>,
    #[serde(default)]
    pub(crate) feeds: Vec<Spanned<String>>,
    /// How objects are read, where the contract leaves that to the deployment.
    pub(crate) api: Option<Spanned<Api>>,
    pub(crate) api_key: Option<Spanned<String>>,
    #[serde(default)]
    pub(crate) accounts: BTreeMap<Spanned<String>, RawAccount>,
    pub(crate) resources: Option<Vec<Spanned<String>>>,
    #[serde(default)]
    pub(crate) strategies: BTreeMap<Spanned<String>, Spanned<String>>,
    #[serde(default)]
    pub(crate) define: BTreeMap<Spanned<String>, Spanned<ResourceRules>>,
    /// Facts that this deployment keeps, by resource type and name, beside the contract's own.
    #[serde(default)]
    pub(crate) facts: BTreeMap<Spanned<String>, BTreeMap<Spanned<String>, Spanned<FactRules>>>,
    /// What states mean, by resource type.
    #[serde(default)]
    pub(crate) rules: BTreeMap<Spanned<String>, RawRules>,
    pub(crate) retention_days: Option<Spanned<u32>>,
}

/// What is concluded from a state, or from a subject's members.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawRules {
    pub(crate) state: Option<Spanned<String>>,
    #[serde(default)]
    pub(crate) allow: BTreeMap<Spanned<String>, Spanned<String>>,
    #[serde(default)]
    pub(crate) data: BTreeMap<Spanned<String>, Spanned<String>>,
    #[serde(default)]
    pub(crate) review: BTreeMap<Spanned<String>, RawReview>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawReview {
    pub(crate) when: Spanned<String>,
    pub(crate) evidence: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawSubject {
    #[serde(default)]
    pub(crate) members: BTreeMap<Spanned<String>, Spanned<RawMember>>,
    #[serde(default)]
    pub(crate) rules: RawRules,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawMember {
    /// `integration/resource`.
    pub(crate) from: Spanned<String>,
    pub(crate) link: Spanned<String>,
    #[serde(default)]
    pub(crate) many: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawAccount {
    pub(crate) api_key: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawRetry {
    pub(crate) attempts: Option<Spanned<u32>>,
    pub(crate) first_delay_seconds: Option<Spanned<f64>>,
    pub(crate) longest_delay_seconds: Option<Spanned<f64>>,
}

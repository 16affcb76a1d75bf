//! The file as it is written, every value with its place in the text.

use std::collections::BTreeMap;

use lastword_contracts::ResourceRules;
use serde::Deserialize;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    #[serde(default)]
    pub(crate) integrations: BTreeMap<Spanned<String>, Spanned<RawIntegration>>,
    pub(crate) retry: Option<RawRetry>,
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
    pub(crate) api_key: Option<Spanned<String>>,
    #[serde(default)]
    pub(crate) accounts: BTreeMap<Spanned<String>, RawAccount>,
    pub(crate) resources: Option<Vec<Spanned<String>>>,
    #[serde(default)]
    pub(crate) strategies: BTreeMap<Spanned<String>, Spanned<String>>,
    #[serde(default)]
    pub(crate) define: BTreeMap<Spanned<String>, Spanned<ResourceRules>>,
    pub(crate) retention_days: Option<Spanned<u32>>,
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

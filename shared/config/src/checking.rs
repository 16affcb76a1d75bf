//! From the file as written to a configuration that holds together. Nothing is guessed; everything that
//! is wrong is collected, so that one reading of the messages is enough.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::time::Duration;

use lastword_contracts::contract::StrategyName;
use lastword_contracts::{Contract, Reader, ResourceRules, Tenant};
use lastword_domain::Strategy;
use lastword_domain::name::{Account, Environment, IntegrationName, NameError, ResourceType};
use lastword_domain::retry::RetryPolicy;
use toml::Spanned;

use crate::integration::{Integration, Resource};
use crate::problem::{ConfigError, Problem, line_of};
use crate::raw::{File, RawIntegration, RawRetry};
use crate::secret::SecretRef;
use crate::{Config, DEFAULT_RETENTION, DEFAULT_RETRY};

/// Collects what is wrong.
struct Checker<'t> {
    text: &'t str,
    problems: Vec<Problem>,
}

pub(crate) fn check(file: &str, text: &str) -> Result<Config, ConfigError> {
    let mut checker = Checker {
        text,
        problems: Vec::new(),
    };
    let fail = |problems| {
        Err(ConfigError {
            file: file.to_owned(),
            problems,
        })
    };
    let raw: File = match toml::from_str(text) {
        Ok(raw) => raw,
        Err(error) => {
            let line = line_of(text, error.span().map_or(0, |span| span.start));
            let message = error.message().to_owned();
            return fail(vec![Problem {
                line,
                setting: String::new(),
                message,
            }]);
        }
    };
    let retry = checker.retry(raw.retry.as_ref());
    let mut integrations = BTreeMap::new();
    for (name, raw) in &raw.integrations {
        let setting = format!("integrations.{}", name.get_ref());
        let parsed = checker.name(name, &setting, IntegrationName::parse);
        let integration = checker.integration(&setting, raw, parsed.clone());
        if let (Some(name), Some(integration)) = (parsed, integration) {
            integrations.insert(name, integration);
        }
    }
    if raw.integrations.is_empty() {
        checker.report(
            0,
            "integrations",
            "none is configured; expected at least one, such as [integrations.billing]",
        );
    }
    if checker.problems.is_empty() {
        Ok(Config {
            integrations,
            retry,
        })
    } else {
        checker.problems.sort_by_key(|problem| problem.line);
        fail(checker.problems)
    }
}

impl Checker<'_> {
    fn report(&mut self, offset: usize, setting: &str, message: impl Display) {
        let problem = Problem {
            line: line_of(self.text, offset),
            setting: setting.to_owned(),
            message: message.to_string(),
        };
        self.problems.push(problem);
    }

    fn name<T>(
        &mut self,
        text: &Spanned<String>,
        setting: &str,
        parse: impl Fn(&str) -> Result<T, NameError>,
    ) -> Option<T> {
        parse(text.get_ref())
            .map_err(|error| {
                self.report(
                    text.span().start,
                    setting,
                    format_args!("found {:?}: {error}", text.get_ref()),
                )
            })
            .ok()
    }

    fn secret(&mut self, text: &Spanned<String>, setting: &str) -> Option<SecretRef> {
        SecretRef::parse(text.get_ref())
            .map_err(|error| self.report(text.span().start, setting, error))
            .ok()
    }

    fn integration(
        &mut self,
        setting: &str,
        raw: &Spanned<RawIntegration>,
        name: Option<IntegrationName>,
    ) -> Option<Integration> {
        let at = raw.span().start;
        let raw = raw.get_ref();
        let contract = self.contract(setting, &raw.contract);
        let account = self.name(&raw.account, &format!("{setting}.account"), Account::parse);
        let environment = self.name(
            &raw.environment,
            &format!("{setting}.environment"),
            Environment::parse,
        );
        let signing = self.signing(setting, raw);
        let retention = self.retention(setting, raw);
        let (contract, account, environment) = (contract?, account?, environment?);
        self.environment(setting, raw, &contract, &environment);
        let resources = self.resources(setting, raw, &contract);
        let (api_keys, further) = self.accounts(setting, at, raw, &account, &resources);
        let tenant = Tenant {
            provider: contract.name.clone(),
            account: account.clone(),
            further,
            environment: environment.clone(),
        };
        let rules = resources
            .iter()
            .map(|(kind, resource)| (kind.clone(), resource.rules.clone()))
            .collect();
        let reader = Reader::new(tenant, &contract.event, &rules);
        let name = name?;
        Some(Integration {
            name,
            contract,
            account,
            environment,
            signing,
            api_keys,
            resources,
            retention,
            reader,
        })
    }

    fn contract(&mut self, setting: &str, name: &Spanned<String>) -> Option<Contract> {
        Contract::builtin(name.get_ref())
            .map_err(|error| self.report(name.span().start, &format!("{setting}.contract"), error))
            .ok()
    }

    fn signing(&mut self, setting: &str, raw: &RawIntegration) -> Vec<SecretRef> {
        let setting = format!("{setting}.signing_secrets");
        let secrets: Vec<_> = raw
            .signing_secrets
            .get_ref()
            .iter()
            .filter_map(|text| self.secret(text, &setting))
            .collect();
        if raw.signing_secrets.get_ref().is_empty() {
            let message = "found an empty list; without a secret no signature can be checked; expected one or more references";
            self.report(raw.signing_secrets.span().start, &setting, message);
        }
        secrets
    }

    fn retention(&mut self, setting: &str, raw: &RawIntegration) -> Duration {
        let Some(days) = &raw.retention_days else {
            return DEFAULT_RETENTION;
        };
        if !(4..=3650).contains(days.get_ref()) {
            let message = format!(
                "found {}; expected 4 to 3650 days (providers try again for up to 3 days)",
                days.get_ref()
            );
            self.report(
                days.span().start,
                &format!("{setting}.retention_days"),
                message,
            );
        }
        Duration::from_secs(u64::from(*days.get_ref()) * 24 * 3600)
    }

    /// Where the body names the provider's world, the configured one must be among those it can name.
    fn environment(
        &mut self,
        setting: &str,
        raw: &RawIntegration,
        contract: &Contract,
        environment: &Environment,
    ) {
        let Some(rules) = &contract.event.environment else {
            return;
        };
        if !rules.values.values().any(|known| known == environment) {
            let known = rules
                .values
                .values()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(" or ");
            let message = format!(
                "found {environment:?}; {} events are of {known}",
                contract.title,
                environment = environment.as_str()
            );
            self.report(
                raw.environment.span().start,
                &format!("{setting}.environment"),
                message,
            );
        }
    }

    fn resources(
        &mut self,
        setting: &str,
        raw: &RawIntegration,
        contract: &Contract,
    ) -> BTreeMap<ResourceType, Resource> {
        let mut rules = self.presets(setting, raw, contract);
        for (name, defined) in &raw.define {
            let setting = format!("{setting}.define.{}", name.get_ref());
            if !contract.open_resources {
                let message = format!(
                    "the contract {:?} does not let resource types be defined",
                    contract.name.as_str()
                );
                self.report(name.span().start, &setting, message);
            } else if let Err(why) = defined.get_ref().check(contract.api.is_some()) {
                self.report(defined.span().start, &setting, why);
            } else if let Some(kind) = self.name(name, &setting, ResourceType::parse) {
                rules.insert(kind, defined.get_ref().clone());
            }
        }
        if rules.is_empty() && self.problems.is_empty() {
            let message = "no resource types: expected some in `resources` or under `define`";
            self.report(raw.contract.span().start, setting, message);
        }
        let strategies = self.strategies(setting, raw, &rules);
        rules
            .into_iter()
            .filter_map(|(kind, rules)| {
                let first = rules.strategies.first().map(|name| name.0)?;
                let strategy = strategies.get(&kind).copied().unwrap_or(first);
                Some((kind, Resource { strategy, rules }))
            })
            .collect()
    }

    /// The contract's own resource types: the ones asked for, or all.
    fn presets(
        &mut self,
        setting: &str,
        raw: &RawIntegration,
        contract: &Contract,
    ) -> BTreeMap<ResourceType, ResourceRules> {
        let Some(wanted) = &raw.resources else {
            return contract.resources.clone();
        };
        let mut rules = BTreeMap::new();
        for name in wanted {
            let setting = format!("{setting}.resources");
            let Some(kind) = self.name(name, &setting, ResourceType::parse) else {
                continue;
            };
            match contract.resources.get(&kind) {
                Some(preset) => {
                    rules.insert(kind, preset.clone());
                }
                None => {
                    let known = contract
                        .resources
                        .keys()
                        .map(ToString::to_string)
                        .collect::<Vec<_>>()
                        .join(", ");
                    let message =
                        format!("found {:?}; {} has {known}", kind.as_str(), contract.title);
                    self.report(name.span().start, &setting, message);
                }
            }
        }
        rules
    }

    fn strategies(
        &mut self,
        setting: &str,
        raw: &RawIntegration,
        rules: &BTreeMap<ResourceType, ResourceRules>,
    ) -> BTreeMap<ResourceType, Strategy> {
        let mut chosen = BTreeMap::new();
        for (name, word) in &raw.strategies {
            let setting = format!("{setting}.strategies.{}", name.get_ref());
            let Some(kind) = self.name(name, &setting, ResourceType::parse) else {
                continue;
            };
            let Some(rules) = rules.get(&kind) else {
                self.report(
                    name.span().start,
                    &setting,
                    "no such resource type is kept by this integration",
                );
                continue;
            };
            let allowed = |strategy| rules.strategies.contains(&StrategyName(strategy));
            match Strategy::parse(word.get_ref()).filter(|strategy| allowed(*strategy)) {
                Some(strategy) => {
                    chosen.insert(kind, strategy);
                }
                None => {
                    let known = rules
                        .strategies
                        .iter()
                        .map(|name| name.0.as_str())
                        .collect::<Vec<_>>()
                        .join(", ");
                    let message = format!(
                        "found {:?}; the contract's evidence allows {known}",
                        word.get_ref()
                    );
                    self.report(word.span().start, &setting, message);
                }
            }
        }
        chosen
    }

    fn accounts(
        &mut self,
        setting: &str,
        at: usize,
        raw: &RawIntegration,
        own: &Account,
        resources: &BTreeMap<ResourceType, Resource>,
    ) -> (BTreeMap<Account, SecretRef>, BTreeSet<Account>) {
        let main = raw
            .api_key
            .as_ref()
            .and_then(|text| self.secret(text, &format!("{setting}.api_key")));
        let mut keys: BTreeMap<_, _> = main
            .iter()
            .map(|secret| (own.clone(), secret.clone()))
            .collect();
        let mut further = BTreeSet::new();
        for (name, account) in &raw.accounts {
            let setting = format!("{setting}.accounts.{}", name.get_ref());
            let Some(parsed) = self.name(name, &setting, Account::parse) else {
                continue;
            };
            let secret = match &account.api_key {
                Some(text) => self.secret(text, &format!("{setting}.api_key")),
                None => main.clone(),
            };
            keys.extend(secret.map(|secret| (parsed.clone(), secret)));
            further.insert(parsed);
        }
        let read = resources
            .iter()
            .find(|(_, resource)| resource.rules.read.is_some());
        if let Some((kind, _)) = read.filter(|_| raw.api_key.is_none()) {
            let message = format!(
                "missing; expected a secret reference, because {kind} is read from the provider's API"
            );
            self.report(at, &format!("{setting}.api_key"), message);
        }
        (keys, further)
    }

    fn retry(&mut self, raw: Option<&RawRetry>) -> RetryPolicy {
        let Some(raw) = raw else { return DEFAULT_RETRY };
        let mut policy = DEFAULT_RETRY;
        if let Some(attempts) = &raw.attempts {
            policy.attempts = *attempts.get_ref();
            if !(1..=40).contains(&policy.attempts) {
                let message = format!(
                    "found {}; expected 1 to 40 (the queue gives up at 50)",
                    policy.attempts
                );
                self.report(attempts.span().start, "retry.attempts", message);
            }
        }
        let mut seconds = |value: &Option<Spanned<f64>>, setting, otherwise| {
            let Some(value) = value else { return otherwise };
            // A message can be hidden for twelve hours at most.
            if !(0.01..=43_200.0).contains(value.get_ref()) {
                let message = format!("found {}; expected 0.01 to 43200 seconds", value.get_ref());
                self.report(value.span().start, setting, message);
                return otherwise;
            }
            Duration::from_secs_f64(*value.get_ref())
        };
        policy.first_delay = seconds(
            &raw.first_delay_seconds,
            "retry.first_delay_seconds",
            policy.first_delay,
        );
        policy.longest_delay = seconds(
            &raw.longest_delay_seconds,
            "retry.longest_delay_seconds",
            policy.longest_delay,
        );
        policy
    }
}

#[cfg(test)]
mod tests;

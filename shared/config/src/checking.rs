//! From the file as written to a configuration that holds together. Nothing is guessed; everything that
//! is wrong is collected, so that one reading of the messages is enough.

mod accounts;
mod api;
mod destinations;
mod door;
mod effects;
mod meaning;
mod overlaps;
mod resources;
mod wordings;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::Duration;

use lastword_contracts::{Contract, Reader, Tenant};
use lastword_domain::name::{Account, Environment, IntegrationName, NameError};
use toml::Spanned;

use crate::integration::Integration;
use crate::problem::{ConfigError, Problem, line_of};
use crate::raw::{File, RawIntegration};
use crate::secret::SecretRef;
use crate::{Config, DEFAULT_RETENTION};

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
    let mut places = Vec::new();
    for (name, raw) in &raw.integrations {
        let setting = format!("integrations.{}", name.get_ref());
        let parsed = checker.name(name, &setting, IntegrationName::parse);
        let integration = checker.integration(&setting, raw, parsed.clone());
        if let (Some(name), Some(integration)) = (parsed, integration) {
            places.push((raw.span().start, name.clone()));
            integrations.insert(name, integration);
        }
    }
    checker.overlaps(places, &integrations);
    let subjects = checker.subjects(&raw.subjects, &integrations);
    let destinations = checker.destinations(&raw.destinations);
    let wordings = checker.wordings(&raw.wordings);
    let known = effects::Known {
        integrations: &integrations,
        subjects: &subjects,
        destinations: &destinations,
        wordings: &raw.wordings,
    };
    let effects = checker.effects(&raw.effects, &known);
    checker.worded(&raw.wordings, &effects);
    if raw.integrations.is_empty() {
        checker.report(
            0,
            "integrations",
            "none is configured; expected at least one, such as [integrations.billing]",
        );
    }
    if checker.problems.is_empty() {
        Ok(Config {
            file: file.to_owned(),
            integrations,
            subjects,
            effects,
            destinations,
            wordings,
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
        let (mut contract, account, environment) = (contract?, account?, environment?);
        self.api(setting, raw, &mut contract);
        let door = self.door(setting, at, raw, &contract, signing);
        self.environment(setting, raw, &contract, &environment);
        let mut told = self.resources(setting, raw, &contract);
        self.meanings(setting, raw, &mut told.kept);
        let (api_keys, further) = self.accounts(setting, at, raw, &account, &told.kept);
        let tenant = Tenant {
            provider: contract.name.clone(),
            account: account.clone(),
            further,
            environment: environment.clone(),
        };
        let reader = Reader::new(tenant, &contract, &told.rules);
        let name = name?;
        Some(Integration {
            name,
            contract,
            account,
            environment,
            signing: door.signing,
            schemes: door.schemes,
            tolerance_seconds: door.tolerance_seconds,
            endpoint: door.endpoint,
            handshake_token: door.handshake_token,
            feeds: door.feeds,
            api_keys,
            recorded: told.recorded(),
            resources: told.kept,
            retention,
            reader,
        })
    }

    fn contract(&mut self, setting: &str, name: &Spanned<String>) -> Option<Contract> {
        Contract::builtin(name.get_ref())
            .map_err(|error| self.report(name.span().start, &format!("{setting}.contract"), error))
            .ok()
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
}

#[cfg(test)]
mod tests;

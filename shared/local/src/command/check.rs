//! `lastword check`: everything that is wrong with a configuration, or what it receives; resolves no
//! secret.

use std::collections::BTreeSet;

use lastword_config::{Config, ConfigError, Integration, SecretRef};
use serde_json::{Value, json};

mod effects;
mod meaning;

use super::{
    Found, Outcome,
    cli::Check,
    configuration::Source,
    show::{self, BAD, Cell, GOOD, PLAIN},
};

pub(super) fn run(asked: &Check) -> Outcome {
    let source = Source::named(&asked.config)?;
    let checked = source.parse();
    if asked.json {
        show::say(&format!("{}\n", as_json(&checked)));
    }
    match checked {
        Ok(config) => {
            if !asked.json {
                show::say(&as_table(&config));
                show::say(&meaning::as_table(&config));
                show::say(&effects::as_table(&config));
                show::say(&format!("\n{}: nothing is wrong\n", source.name()));
            }
            Ok(Found::Well)
        }
        Err(error) => {
            show::remark(&error.to_string());
            Ok(Found::Wrong)
        }
    }
}

fn as_json(checked: &Result<Config, ConfigError>) -> Value {
    match checked {
        Ok(config) => {
            let integrations: Vec<_> = config.integrations.values().map(integration).collect();
            let subjects = meaning::subjects(config);
            json!({
                "ok": true,
                "problems": [],
                "integrations": integrations,
                "subjects": subjects,
                "effects": effects::effects(config),
                "destinations": effects::destinations(config),
            })
        }
        Err(error) => {
            let problems: Vec<_> = error
                .problems
                .iter()
                .map(|problem| {
                    json!({
                        "file": error.file,
                        "line": problem.line,
                        "setting": problem.setting,
                        "message": problem.message,
                    })
                })
                .collect();
            json!({ "ok": false, "problems": problems, "integrations": [] })
        }
    }
}

fn integration(integration: &Integration) -> Value {
    let resources: Vec<_> = integration
        .resources
        .iter()
        .map(|(kind, resource)| {
            json!({
                "type": kind,
                "strategy": resource.strategy.as_str(),
                "facts": resource.rules.facts.keys().collect::<Vec<_>>(),
                "rules": meaning::names(&resource.meaning),
            })
        })
        .collect();
    let secrets: Vec<_> = secrets(integration)
        .into_iter()
        .map(|(purpose, reference)| {
            json!({
                "purpose": purpose,
                "reference": reference.to_string(),
                "set": is_set(&reference),
            })
        })
        .collect();
    json!({
        "name": integration.name,
        "contract": integration.contract.name,
        "endpoint": integration.feeds.is_empty().then(|| endpoint(integration)),
        "feeds": integration.feeds,
        "recorded": integration.recorded,
        "accounts": accounts(integration),
        "environment": integration.environment,
        "resources": resources,
        "secrets": secrets,
    })
}

fn as_table(config: &Config) -> String {
    let heads = [
        "INTEGRATION",
        "CONTRACT",
        "ENDPOINT",
        "ACCOUNT",
        "ENVIRONMENT",
        "RESOURCE: STRATEGY",
        "SECRET",
    ];
    let row = |integration: &Integration| {
        let kept = integration.resources.iter();
        let recorded = integration.recorded.iter();
        let secrets = secrets(integration);
        let unset = secrets.iter().any(|(_, it)| is_set(it) == Some(false));
        vec![
            Cell::new(integration.name.as_str()).styled(GOOD),
            Cell::new(integration.contract.name.as_str()),
            Cell::lines(doors(integration)),
            Cell::lines(accounts(integration)),
            Cell::new(integration.environment.as_str()),
            Cell::lines(
                kept.map(|(kind, kept)| format!("{kind}: {}", kept.strategy.as_str()))
                    .chain(recorded.map(|kind| format!("{kind}: only recorded"))),
            ),
            Cell::lines(secrets.iter().map(secret)).styled(if unset { BAD } else { PLAIN }),
        ]
    };
    show::table(&heads, config.integrations.values().map(row).collect())
}

/// Where its events come in: the endpoint, or what they come through instead.
fn doors(integration: &Integration) -> Vec<String> {
    if integration.feeds.is_empty() {
        vec![endpoint(integration)]
    } else {
        integration.feeds.clone()
    }
}

/// Where its webhooks are posted to.
pub(super) fn endpoint(integration: &Integration) -> String {
    format!("/webhooks/{}", integration.name)
}

/// The integration's own account first.
fn accounts(integration: &Integration) -> Vec<String> {
    let own = &integration.account;
    let further = integration
        .api_keys
        .keys()
        .filter(|account| *account != own);
    std::iter::once(own)
        .chain(further)
        .map(ToString::to_string)
        .collect()
}

/// What each secret is for, and where it is kept; each once.
fn secrets(integration: &Integration) -> Vec<(&'static str, SecretRef)> {
    let signing = integration.signing.iter().map(|it| ("signing", it));
    let keys: BTreeSet<_> = integration.api_keys.values().collect();
    let keys = keys.into_iter().map(|it| ("api key", it));
    let token = integration.handshake_token.iter();
    signing
        .chain(keys)
        .chain(token.map(|it| ("handshake token", it)))
        .map(|(purpose, reference)| (purpose, reference.clone()))
        .collect()
}

fn secret((purpose, reference): &(&str, SecretRef)) -> String {
    let set = match is_set(reference) {
        Some(true) => " (set)",
        Some(false) => " (not set here)",
        None => "",
    };
    format!("{purpose} {reference}{set}")
}

/// Whether a variable has a value here; of other places nothing is known without asking them.
fn is_set(reference: &SecretRef) -> Option<bool> {
    reference
        .parameter()
        .is_none()
        .then(|| std::env::var_os(reference.name()).is_some_and(|value| !value.is_empty()))
}

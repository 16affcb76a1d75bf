//! What a configuration does on the outside: its effects, and where they go.

use std::env;

use lastword_config::{Channel, Config, Destination, Effect, SecretRef};
use serde_json::{Value, json};

use crate::command::show::{self, BAD, Cell, GOOD, PLAIN};

/// Effects and destinations, where there are any.
pub(super) fn as_table(config: &Config) -> String {
    let mut text = String::new();
    let row = |(name, effect): (&_, &Effect)| {
        let wording = effect.wording.as_ref();
        let to = match wording {
            Some(wording) => format!("{}, worded as {wording}", effect.to),
            None => effect.to.to_string(),
        };
        vec![
            Cell::new(format!("{name} #{}", effect.version)).styled(GOOD),
            Cell::new(effect.on.to_string()),
            Cell::new(conditions(effect)),
            Cell::new(to),
            Cell::lines(effect.data.keys().cloned()),
        ]
    };
    if !config.effects.is_empty() {
        let heads = ["EFFECT", "ON", "SENT", "TO", "TELLS"];
        let rows = config.effects.iter().map(row).collect();
        text.push_str(&format!("\n{}", show::table(&heads, rows)));
    }
    let row = |destination: &Destination| {
        let secret = destination.secret();
        let missing = secret.is_some_and(|secret| is_set(secret) == Some(false));
        vec![
            Cell::new(destination.name.as_str()).styled(GOOD),
            Cell::new(place(destination)),
            Cell::new(doubt(destination)),
            Cell::lines(secret.map(ToString::to_string)).styled(if missing { BAD } else { PLAIN }),
        ]
    };
    let heads = ["DESTINATION", "WHERE", "WHEN AN ANSWER IS LOST", "SECRET"];
    if config.destinations.len() > 1 || !config.effects.is_empty() {
        let rows = config.destinations.values().map(row).collect();
        text.push_str(&format!("\n{}", show::table(&heads, rows)));
    }
    text
}

fn conditions(effect: &Effect) -> String {
    let settle = effect.settle.as_secs();
    let when = match (&effect.when, &effect.holds) {
        (None, None) => "always",
        (Some(_), None) => "when",
        (None, Some(_)) => "while",
        (Some(_), Some(_)) => "when, while",
    };
    match settle {
        0 => when.to_owned(),
        seconds => format!("{when}, after {seconds} s"),
    }
}

fn place(destination: &Destination) -> String {
    match &destination.channel {
        Channel::Bus => "the event bus".to_owned(),
        Channel::Queue(queue) => queue.url.clone(),
        // What stands behind a question mark may be a secret.
        Channel::Http(http) => http.url.split('?').next().unwrap_or_default().to_owned(),
    }
}

/// What is done when nobody knows whether it acted.
fn doubt(destination: &Destination) -> &'static str {
    match (destination.remembers(), destination.lookup()) {
        (Some(_), _) => "sent again under the same key",
        (None, Some(_)) => "the destination is asked",
        (None, None) => "a person has to find out",
    }
}

fn is_set(reference: &SecretRef) -> Option<bool> {
    let set = || env::var_os(reference.name()).is_some_and(|value| !value.is_empty());
    reference.parameter().is_none().then(set)
}

pub(super) fn effects(config: &Config) -> Vec<Value> {
    let each = config.effects.iter();
    each.map(|(name, effect)| {
        json!({
            "name": name,
            "version": effect.version,
            "on": effect.on.to_string(),
            "when": effect.when.is_some(),
            "while": effect.holds.is_some(),
            "settle_seconds": effect.settle.as_secs(),
            "to": effect.to,
            "wording": effect.wording,
            "data": effect.data.keys().collect::<Vec<_>>(),
        })
    })
    .collect()
}

pub(super) fn destinations(config: &Config) -> Vec<Value> {
    let each = config.destinations.values();
    each.map(|destination| {
        json!({
            "name": destination.name,
            "where": place(destination),
            "idempotent": destination.remembers().is_some(),
            "lookup": destination.lookup().is_some(),
            "secret": destination.secret().map(ToString::to_string),
        })
    })
    .collect()
}

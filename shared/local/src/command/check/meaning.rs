//! What a configuration concludes: the rules of resources, and the subjects with their members.

use lastword_config::meaning::RuleTexts;
use lastword_config::{Config, Subject};
use serde_json::{Value, json};

use crate::command::show::{self, Cell, GOOD};

/// The names of everything that is declared: `state`, `allow.access`, `review.paid-and-cancelled`.
pub(super) fn names(rules: &RuleTexts) -> Vec<String> {
    let state = rules.state.iter().map(|_| "state".to_owned());
    let allow = rules.allow.keys().map(|name| format!("allow.{name}"));
    let data = rules.data.keys().map(|name| format!("data.{name}"));
    let review = rules.review.keys().map(|name| format!("review.{name}"));
    state.chain(allow).chain(data).chain(review).collect()
}

/// Facts, rules and subjects, where there are any.
pub(super) fn as_table(config: &Config) -> String {
    let mut rows = Vec::new();
    for integration in config.integrations.values() {
        for (kind, resource) in &integration.resources {
            let facts = resource.rules.facts.keys();
            let facts: Vec<_> = facts.map(|fact| format!("fact {fact}")).collect();
            let all: Vec<_> = facts.into_iter().chain(names(&resource.meaning)).collect();
            if !all.is_empty() {
                rows.push(vec![
                    Cell::new(format!("{}/{kind}", integration.name)).styled(GOOD),
                    Cell::new("-"),
                    Cell::lines(all),
                ]);
            }
        }
    }
    for (kind, subject) in &config.subjects {
        rows.push(vec![
            Cell::new(format!("subject {kind}")).styled(GOOD),
            Cell::lines(members(subject)),
            Cell::lines(names(&subject.rules)),
        ]);
    }
    if rows.is_empty() {
        return String::new();
    }
    let heads = ["ABOUT", "DECIDED FROM", "FACTS AND RULES"];
    format!("\n{}", show::table(&heads, rows))
}

fn members(subject: &Subject) -> Vec<String> {
    let each = subject.members.iter();
    each.map(|(role, member)| {
        let many = if member.many { ", many" } else { "" };
        format!("{role}: {}/{}{many}", member.integration, member.resource)
    })
    .collect()
}

pub(super) fn subjects(config: &Config) -> Vec<Value> {
    let each = config.subjects.iter();
    each.map(|(kind, subject)| {
        let members: Vec<_> = subject
            .members
            .iter()
            .map(|(role, member)| {
                json!({
                    "role": role,
                    "integration": member.integration,
                    "type": member.resource,
                    "many": member.many,
                })
            })
            .collect();
        json!({ "kind": kind, "members": members, "rules": names(&subject.rules) })
    })
    .collect()
}

//! `lastword contracts`: which providers' guarantees are built in, and what each of them says; knows nothing of
//! any configuration.
//!
//! [`text`] is a contract as it is written, [`rows`] what its members are called, [`words`] what their values
//! mean, [`sections`] puts them into order.

mod rows;
mod sections;
mod text;
mod words;

use std::collections::BTreeMap;

use lastword_contracts::{Contract, contract::Certainty};
use lastword_domain::Strategy;
use serde_json::{Value, json};

use super::{
    Found, Outcome,
    cli::{Contracts, OneContract},
    show::{self, Cell, GOOD, HEADING, QUIET},
};
use crate::machine::Failure;

/// How wide columns of several words get.
const COLUMN: usize = 36;
/// And that of the titles.
const TITLE: usize = 24;

pub(super) fn run(asked: &Contracts) -> Outcome {
    let told = match &asked.one {
        Some(OneContract::Show { name }) => one(name, asked.json)?,
        None => {
            let all: Vec<_> = Contract::names()
                .map(Contract::explained)
                .collect::<Result<_, _>>()?;
            if asked.json {
                let all: Vec<_> = all.iter().map(as_json).collect();
                format!("{}\n", json!({ "contracts": all }))
            } else {
                table(&all)
            }
        }
    };
    show::say(&told);
    Ok(Found::Well)
}

/// One contract, whole.
fn one(name: &str, json: bool) -> Result<String, Failure> {
    let contract = Contract::explained(name)?;
    let written = text::json(name)?;
    if json {
        return Ok(format!("{written}\n"));
    }
    let mut told = format!("{}\n", show::painted(&contract.title, HEADING));
    for section in sections::all(&written) {
        told.push_str(&section.as_text());
    }
    Ok(told)
}

/// The least sure of what is claimed about its signatures.
fn certainty(contract: &Contract) -> Certainty {
    let all = contract.signature.iter().map(|scheme| scheme.certainty);
    all.max().unwrap_or(Certainty::Unknown)
}

/// Its resource types that can be kept, by the best strategy of each.
fn kept(contract: &Contract) -> BTreeMap<&'static str, Vec<&str>> {
    let mut kept: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (kind, rules) in &contract.resources {
        let best = rules.strategies.first().map(|name| name.0);
        if let Some(best) = best {
            kept.entry(best.as_str()).or_default().push(kind.as_str());
        }
    }
    kept
}

/// How it signs, the best first.
fn schemes(contract: &Contract) -> Vec<String> {
    let scheme = |scheme: &lastword_contracts::signature::Scheme| {
        let asked = if scheme.default {
            ""
        } else {
            " (only when named)"
        };
        format!("{}: {}{asked}", scheme.name, scheme.algorithm.title())
    };
    let all = contract.signature.iter().map(scheme);
    all.flat_map(|scheme| words::wrapped(&scheme, COLUMN))
        .collect()
}

fn table(contracts: &[Contract]) -> String {
    let row = |contract: &Contract| {
        let mut lines: Vec<String> = kept(contract)
            .into_iter()
            .flat_map(|(strategy, kinds)| {
                words::wrapped(&format!("{strategy}: {}", kinds.join(", ")), COLUMN)
            })
            .collect();
        if contract.open_resources {
            lines.push("those that the integration defines".to_owned());
        }
        let nothing = lines.is_empty();
        if nothing {
            lines.push("none; events are taken in".to_owned());
        }
        let certainty = certainty(contract);
        vec![
            Cell::new(contract.name.as_str()).styled(GOOD),
            Cell::lines(words::wrapped(&contract.title, TITLE)),
            Cell::lines(schemes(contract)),
            Cell::lines(lines).styled(if nothing { QUIET } else { show::PLAIN }),
            Cell::new(certainty.as_str()),
        ]
    };
    let heads = ["NAME", "TITLE", "SIGNS", "KEPT", "CERTAINTY"];
    show::table(&heads, contracts.iter().map(row).collect())
}

fn as_json(contract: &Contract) -> Value {
    let schemes: Vec<_> = contract
        .signature
        .iter()
        .map(|scheme| {
            json!({
                "name": scheme.name,
                "algorithm": scheme.algorithm.title(),
                "default": scheme.default,
                "certainty": scheme.certainty.as_str(),
            })
        })
        .collect();
    let resources: Vec<_> = contract
        .resources
        .iter()
        .map(|(kind, rules)| {
            let strategies = rules.strategies.iter().map(|name| name.0);
            let strategies: Vec<_> = strategies.map(Strategy::as_str).collect();
            json!({ "type": kind, "strategies": strategies })
        })
        .collect();
    json!({
        "name": contract.name,
        "title": contract.title,
        "signature": schemes,
        "certainty": certainty(contract).as_str(),
        "resources": resources,
        "open_resources": contract.open_resources,
    })
}

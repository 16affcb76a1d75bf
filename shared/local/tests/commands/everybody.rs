//! `sign` for every contract at once: nothing but what it prints is needed for the front door to take a request.

use std::fmt::Write as _;

use lastword_contracts::Contract;
use serde_json::{Value, json};

use crate::bench::{Desk, NOW};

/// One integration for every contract whose sender shares a secret with us, named like its contract, and each
/// secret.
pub(crate) fn everybody() -> (String, Vec<(Contract, String)>) {
    let (mut config, mut senders) = (String::new(), Vec::new());
    for contract in Contract::names().map(|name| Contract::builtin(name).unwrap()) {
        let keys = contract.signature.accept(None).unwrap();
        let Some(secret) = contract.signature.made_up_secret(&keys, &[7; 32]) else {
            continue;
        };
        let name = &contract.name;
        let environment = contract.event.environment.as_ref();
        let environment =
            environment.map_or("live", |it| it.values.values().next().unwrap().as_str());
        write!(
            config,
            "[integrations.{name}]\ncontract = \"{name}\"\naccount = \"mine\"\nenvironment = \"{environment}\"\n\
             signing_secrets = [\"env:SIGNING\"]\napi_key = \"env:API\"\nurl = \"https://h.example.com/{name}\"\n"
        )
        .unwrap();
        for parameter in contract.parameters.keys() {
            writeln!(config, "parameters.{parameter} = \"x\"").unwrap();
        }
        if contract.open_resources {
            writeln!(
                config,
                "define.thing = {{ events = [\"*\"], id = \"body:/id\", snapshot = \"\", version = \"/v\", \
                 strategies = [\"version\"] }}"
            )
            .unwrap();
        }
        senders.push((contract, secret));
    }
    (config, senders)
}

/// A body that holds what any scheme reads in it.
fn body(contract: &Contract) -> String {
    if contract.media_types[0].ends_with("json") {
        json!({ "id": "1", "type": "thing.changed", "webhookTimestamp": NOW * 1000 }).to_string()
    } else {
        "a=1&b=2".to_owned()
    }
}

fn type_header(contract: &Contract) -> Option<&str> {
    contract.event.kind.as_slice().first()?.header()
}

/// What `sign` prints of a body of this sender, as a recorded request; none where a signature stands in the
/// body.
fn recorded(desk: &Desk, contract: &Contract, secret: &str) -> Option<Value> {
    let name = contract.name.as_str();
    let body = body(contract);
    desk.put("body", &body);
    let kind = type_header(contract).map(|name| format!("{name}: thing.changed"));
    let now = NOW.to_string();
    let mut arguments = vec!["sign", name, "body", "--json"];
    arguments.extend(["--secret", secret, "--now", &now]);
    arguments.extend(kind.iter().flat_map(|header| ["--header", header]));
    let said = desk.run(&arguments);
    let scheme = contract.signature.iter().next().unwrap();
    let mut places = scheme.at.as_ref().unwrap().as_slice().iter();
    if places.any(|place| !place.is_outside()) {
        // It may stand in items, or in a form, that this body does not have.
        let told = (said.code == Some(0)).then(|| said.json());
        assert!(told.is_none_or(|told| told["in_body"]["value"].is_string()));
        return None;
    }
    assert_eq!(said.code, Some(0), "{name}: {}", said.err);
    let told = said.json();
    assert_eq!(told["in_body"], Value::Null, "{name}");
    Some(json!({
        "id": name, "provider": name, "expect": "valid", "secret": secret, "now_unix": NOW,
        "headers": told["headers"], "body_utf8": body, "url": format!("https://h.example.com/{name}"),
    }))
}

#[test]
fn every_contract_whose_sender_shares_a_secret_is_signed_so_that_the_front_door_takes_it() {
    let (config, senders) = everybody();
    let desk = Desk::new();
    desk.put("lastword.toml", config);
    let vectors: Vec<_> = senders
        .iter()
        .filter_map(|(contract, secret)| recorded(&desk, contract, secret))
        .collect();
    assert!(vectors.len() > 25, "{} were signed", vectors.len());
    desk.put("vectors.json", json!(vectors).to_string());
    let said = desk.run(&["vectors", "vectors.json"]);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
}

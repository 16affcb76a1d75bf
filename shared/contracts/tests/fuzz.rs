//! What a stranger may write: header values, bodies, forms, XML. Nothing panics, nothing grows without end.
//!
//! Each target is a short run in every test run. `cargo bolero test --target-dir … <name>` runs one of them
//! under a fuzzer for as long as one likes.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm
)]

use std::collections::BTreeMap;

use lastword_contracts::{Contract, Endpoint, FetchedKeys, Headers, Keys, Reader, Request, Tenant};
use lastword_domain::name::{Account, Environment};

const NOW: u64 = 1_796_065_200;
const RUNS: usize = 4000;

/// A contract with keys of a made-up secret, ready to be tried.
struct Door {
    contract: Contract,
    keys: Keys,
    reader: Reader,
    endpoint: Endpoint,
}

fn doors() -> Vec<Door> {
    Contract::names().map(door).collect()
}

fn door(name: &str) -> Door {
    let contract = Contract::builtin(name).unwrap();
    let all: Vec<_> = contract
        .signature
        .iter()
        .map(|scheme| scheme.name.as_str())
        .collect();
    let mut keys = contract.signature.accept(Some(&all)).unwrap();
    if let Some(secret) = contract.signature.made_up_secret(&keys, &[7; 32]) {
        contract.signature.add_secret(&mut keys, &secret).unwrap();
    }
    let account = Account::parse("main").unwrap();
    let environment = contract.event.environment.as_ref();
    let environment = environment.and_then(|rules| rules.values.values().next().cloned());
    let tenant = Tenant {
        provider: contract.name.clone(),
        account,
        further: [].into(),
        environment: environment.unwrap_or_else(|| Environment::parse("live").unwrap()),
    };
    let reader = Reader::new(tenant, &contract, &contract.resources);
    let parameters = contract
        .parameters
        .keys()
        .map(|name| (name.clone(), "p".to_owned()));
    Door {
        endpoint: Endpoint {
            url: Some("https://hooks.example.com/webhooks/x".to_owned()),
            parameters: parameters.collect(),
        },
        contract,
        keys,
        reader,
    }
}

/// Text out of words that mean something to a grammar and bytes that do not.
fn text(choices: &[u8]) -> String {
    const WORDS: [&str; 32] = [
        "t=",
        "v1=",
        "v1,",
        "v0=",
        "sha256=",
        ",",
        ";",
        "&",
        "|",
        " ",
        "=",
        ":",
        "1796065200",
        "00",
        "AAAA",
        "-1",
        "+1",
        "99999999999999999999",
        "whsec_",
        "Basic ",
        "e30",
        ".",
        "ts=",
        "h1=",
        "\u{feff}",
        "ü😊",
        "\0",
        "%",
        "%2F",
        "{body}",
        "18446744073709551616",
        "\r\n",
    ];
    let mut text = String::new();
    for byte in choices {
        match WORDS.get(usize::from(byte % 48)) {
            Some(word) => text.push_str(word),
            None => text.push(char::from(*byte)),
        }
    }
    text
}

#[test]
fn no_header_value_passes_without_a_secret_or_harms_anything() {
    let doors = doors();
    let inputs = bolero::check!()
        .with_iterations(RUNS)
        .with_type::<(u8, Vec<u8>, Vec<u8>)>();
    inputs.for_each(|(which, value, body)| {
        let door = &doors[usize::from(*which) % doors.len()];
        let value = text(value);
        let mut headers = Headers::default();
        for scheme in door.contract.signature.iter() {
            for place in scheme.at.iter().flat_map(|at| at.as_slice()) {
                if let lastword_contracts::Source::Header(name) = place {
                    headers.add(&name.replace('*', "1"), &value);
                }
            }
            for name in scheme.headers() {
                headers.add(name, &value);
            }
        }
        let request = Request {
            method: "POST",
            query: &value,
            headers: &headers,
            body,
            endpoint: &door.endpoint,
        };
        let fetched = FetchedKeys::new();
        let checked = door
            .contract
            .signature
            .verify(&request, &door.keys, &fetched, NOW, None);
        assert!(checked.is_err(), "{}: {value:?}", door.contract.name);
        for handshake in &door.contract.handshake {
            if handshake.is(&request, &door.contract.signature) {
                drop(handshake.answer(&request, door.keys.first(), Some("token")));
            }
        }
    });
}

/// JSON that is nearly what a contract expects: its own members, with odd values.
fn json(choices: &[u8], depth: usize) -> String {
    const NAMES: [&str; 24] = [
        "id",
        "type",
        "data",
        "object",
        "events",
        "entry",
        "changes",
        "value",
        "event",
        "account",
        "notificationItems",
        "NotificationRequestItem",
        "payload",
        "livemode",
        "resource",
        "action",
        "repository",
        "owner",
        "number",
        "issue",
        "order",
        "merchant_id",
        "statuses",
        "live",
    ];
    const VALUES: [&str; 16] = [
        "1",
        "\"a\"",
        "null",
        "true",
        "1e400",
        "1.10",
        "-0",
        "\"\"",
        "\"\\u0000\"",
        "\"\\ud83d\"",
        "18446744073709551617",
        "[]",
        "{}",
        "\"a/b\"",
        "nul",
        "\"\u{1F60A}\"",
    ];
    let Some((first, rest)) = choices.split_first() else {
        return "{}".to_owned();
    };
    let name = NAMES[usize::from(*first) % NAMES.len()];
    let (one, other) = rest.split_at(rest.len() / 2);
    match first % 5 {
        _ if depth > 60 => "0".to_owned(),
        0 => VALUES[usize::from(*first) / 5 % VALUES.len()].to_owned(),
        1 => format!("[{},{}]", json(one, depth + 1), json(other, depth + 1)),
        2 => format!(
            "{{\"{name}\":{},\"{name}\":{}}}",
            json(one, depth + 1),
            json(other, depth + 1)
        ),
        3 | 4.. => format!(
            "{{\"{name}\":{},\"id\":{}}}",
            json(one, depth + 1),
            json(other, depth + 1)
        ),
    }
}

/// Signs a body as its provider would, and reads it. Whatever it is, it ends somewhere.
fn read(door: &Door, body: &[u8]) {
    let empty = Headers::default();
    let request = |headers| Request {
        method: "POST",
        query: "data.id=1",
        headers,
        body,
        endpoint: &door.endpoint,
    };
    let schemes = &door.contract.signature;
    let carried = schemes.carried(body);
    let signed = schemes
        .sign(&request(&empty), &door.keys, NOW)
        .unwrap_or_default();
    let headers: Headers = signed
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let request = request(&headers);
    let fetched = FetchedKeys::new();
    let checked = schemes.verify(&request, &door.keys, &fetched, NOW, None);
    if let Some(verified) = carried.or(checked.ok()) {
        drop(door.reader.read(&request, verified));
    }
}

#[test]
fn every_body_that_is_signed_ends_somewhere() {
    let doors = doors();
    let inputs = bolero::check!()
        .with_iterations(RUNS)
        .with_type::<(u8, bool, Vec<u8>)>();
    inputs.for_each(|(which, raw, choices)| {
        let door = &doors[usize::from(*which) % doors.len()];
        if *raw {
            read(door, choices);
        } else {
            read(door, json(choices, 0).as_bytes());
        }
    });
}

#[test]
fn deep_wide_and_repeated_bodies_take_no_more_than_their_length() {
    let doors = doors();
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let objects = format!("{}1{}", "{\"data\":".repeat(50_000), "}".repeat(50_000));
    let wide = format!("{{\"events\":[{}1]}}", "1,".repeat(200_000));
    let names = format!("{{{}\"id\":1}}", "\"id\":1,".repeat(50_000));
    let form = format!("a=1{}", "&a=1".repeat(100_000));
    let xml = format!("bt_payload={}", "PGE%2B".repeat(50_000));
    for door in &doors {
        for body in [&deep, &objects, &wide, &names, &form, &xml] {
            read(door, body.as_bytes());
        }
    }
}

#[test]
fn whatever_is_written_as_a_contract_s_expression_is_read_or_refused() {
    let inputs = bolero::check!()
        .with_iterations(RUNS)
        .with_type::<Vec<u8>>();
    inputs.for_each(|choices| {
        let text = text(choices);
        drop(lastword_contracts::Source::parse(&text));
        drop(lastword_contracts::Pointer::parse(&text));
        drop(lastword_contracts::items::Items::try_from(text.clone()));
        drop(lastword_contracts::template::Template::try_from(
            text.clone(),
        ));
        let wanted: BTreeMap<&str, &str> = [("name", text.as_str())].into();
        drop(Contract::parse(&format!("{wanted:?}")));
    });
}

//! Every recorded event that is authentic reads as what it is about: not as an event that cannot be read, and,
//! over all of a provider's samples, as something that its contract names.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use std::path::Path;

use base64::Engine as _;
use lastword_contracts::reader::UNREADABLE;
use lastword_contracts::{
    Contract, Endpoint, FetchedKeys, Headers, Reader, Reading, Request, Source, Tenant,
};
use lastword_domain::name::{Account, Environment};
use serde_json::Value;

/// One recorded request.
struct Sample {
    id: String,
    query: String,
    headers: Headers,
    body: Vec<u8>,
    endpoint: Endpoint,
    secret: String,
    now: u64,
}

fn samples(name: &str) -> Vec<Sample> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("vectors/{name}.json"));
    let text = std::fs::read_to_string(file).unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    let all = all["vectors"].as_array().unwrap().iter();
    all.filter(|entry| entry["expect"] == "valid" && entry.get("handshake").is_none())
        .map(sample)
        .collect()
}

fn sample(entry: &Value) -> Sample {
    let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
    let headers = entry["headers"].as_object().unwrap().iter();
    let headers = headers.map(|(name, value)| (name.as_str(), value.as_str().unwrap()));
    let url = entry.get("url").map(|_| text("url"));
    let in_url = url.as_deref().and_then(|url| url.split_once('?'));
    let parameters = ["webhook_id", "public_key", "client_id", "host"];
    Sample {
        id: text("id"),
        query: match entry.get("query") {
            Some(_) => text("query"),
            None => in_url
                .map(|(_, query)| query.to_owned())
                .unwrap_or_default(),
        },
        headers: headers.collect(),
        body: base64::engine::general_purpose::STANDARD
            .decode(text("body_base64"))
            .unwrap(),
        endpoint: Endpoint {
            url,
            parameters: parameters.map(|name| (name.to_owned(), text(name))).into(),
        },
        secret: text("secret"),
        now: entry["now_unix"].as_u64().unwrap_or_default(),
    }
}

/// The account that the sample itself names, so that it is nobody else's.
fn account(contract: &Contract, request: &Request<'_>) -> Account {
    let named = |place: &Source| match (place, &contract.event.items) {
        (Source::Item(pointer), Some(items)) => {
            let text = std::str::from_utf8(request.body).ok()?;
            let all = items.of(text).ok().flatten()?;
            pointer.text(all.first()?).map(String::from)
        }
        _ => request.text(place).map(String::from),
    };
    let places = contract
        .event
        .account
        .iter()
        .chain(&contract.event.account_hint);
    let found = places.filter_map(named).next();
    Account::parse(found.as_deref().unwrap_or("main")).unwrap()
}

/// The types of what a sample is about; none when nothing is kept of its kind.
fn about(contract: &Contract, sample: &Sample) -> Option<Vec<String>> {
    let request = Request {
        method: "POST",
        query: &sample.query,
        headers: &sample.headers,
        body: &sample.body,
        endpoint: &sample.endpoint,
    };
    let schemes: Vec<_> = contract
        .signature
        .iter()
        .map(|scheme| scheme.name.as_str())
        .collect();
    let mut keys = contract.signature.accept(Some(&schemes)).unwrap();
    contract
        .signature
        .add_secret(&mut keys, sample.secret.trim())
        .unwrap();
    let fetched = FetchedKeys::new();
    let verified = contract
        .signature
        .verify(&request, &keys, &fetched, sample.now, None);
    let verified = verified.unwrap_or_else(|why| panic!("{}: {why}", sample.id));
    let environments = contract
        .event
        .environment
        .iter()
        .flat_map(|rules| rules.values.values());
    let live = Environment::parse("live").unwrap();
    let environments: Vec<_> = environments.cloned().chain([live]).collect();
    for environment in environments {
        let tenant = Tenant {
            provider: contract.name.clone(),
            account: account(contract, &request),
            further: [].into(),
            environment,
        };
        let reader = Reader::new(tenant, contract, &contract.resources);
        match reader.read(&request, verified) {
            Reading::Concerns(events) => {
                let resources = events.iter().flat_map(|event| &event.resources);
                return Some(resources.map(|key| key.kind.as_str().to_owned()).collect());
            }
            Reading::Unrouted(_) => return None,
            Reading::OtherEnvironment => {}
            other @ (Reading::Partly(_) | Reading::ForeignAccount | Reading::Refused(_)) => {
                panic!("{}: {other:?}", sample.id)
            }
        }
    }
    panic!("{}: of no environment", sample.id)
}

#[test]
fn every_authentic_sample_reads_as_something_that_its_contract_names() {
    // A command has no id and no type; it is kept about itself.
    const UNREAD: [&str; 1] = ["slack-command"];
    for name in Contract::names() {
        let contract = Contract::builtin(name).unwrap();
        if contract.by_queue() {
            continue;
        }
        let mut met = Vec::new();
        for sample in samples(name) {
            let about = about(&contract, &sample).unwrap_or_default();
            let is_read = !about.iter().any(|kind| kind == UNREADABLE);
            assert!(
                is_read || UNREAD.contains(&sample.id.as_str()),
                "{}: {about:?}",
                sample.id
            );
            met.extend(about);
        }
        let named = contract.resources.is_empty()
            || met
                .iter()
                .any(|kind| contract.resources.keys().any(|key| key.as_str() == kind));
        assert!(named, "{name}: {met:?}");
    }
}

//! The integration that one recorded request is for: its whole configuration is made of the request. It
//! accepts every scheme of its contract, or those that the file names, and belongs to the account that the request speaks of.

use std::{collections::BTreeMap, sync::Arc};

use lastword_config::{Config, Integration, SecretRef, SecretValue};
use lastword_contracts::{
    Contract, Endpoint as Registered, Headers, Request, payload, source::Source,
};
use lastword_runtime::Secrets;

use super::entry::Entry;

/// Its name in the URL.
pub(super) const NAME: &str = "vector";

/// What is said first of a secret that is no key of its provider.
pub(super) const UNFIT: &str = "its secret cannot be one: ";

const PLACEHOLDER: &str = "placeholder";
const URL: &str = "https://hooks.example.com/webhooks/vector";

/// A configuration with one integration, and its secrets.
pub(super) struct Endpoint {
    pub(super) config: Config,
    pub(super) secrets: Secrets,
}

impl Endpoint {
    pub(super) fn of(contract: &Contract, entry: &Entry) -> Result<Self, String> {
        if contract.by_queue() {
            return Err(format!(
                "the events of {} come through a queue",
                contract.title
            ));
        }
        let signing = signing(contract, entry)?;
        let token = token(contract, entry);
        let text = text(contract, entry, signing.len(), token.is_some());
        let mut config = Config::parse("vector", &text).map_err(|error| error.to_string())?;
        if let Some(url) = &entry.url {
            // What was recorded may be a URL that nobody could register.
            for integration in config.integrations.values_mut() {
                integration.endpoint.url = Some(url.clone());
            }
        }
        let mut secrets = BTreeMap::new();
        let mut keep = |name: String, value: String| {
            let reference = SecretRef::parse(&name).map_err(|error| error.to_string())?;
            let value = SecretValue::accept(value.into());
            let value = value.map_err(|why| format!("{UNFIT}{why}"))?;
            secrets.insert(reference, value);
            Ok::<_, String>(())
        };
        for (at, secret) in signing.into_iter().enumerate() {
            keep(format!("env:SECRET_{at}"), secret)?;
        }
        if let Some(token) = token {
            keep("env:TOKEN".to_owned(), token)?;
        }
        Ok(Self {
            config,
            secrets: Arc::new(secrets),
        })
    }

    pub(super) fn integration(&self) -> Result<&Integration, String> {
        let found = self.config.integration(NAME);
        found.ok_or_else(|| "the integration was not made".to_owned())
    }
}

/// Those of the entry's secrets that are keys of any scheme; made up where the entry has none at all.
fn signing(contract: &Contract, entry: &Entry) -> Result<Vec<String>, String> {
    let schemes = &contract.signature;
    let names: Vec<_> = schemes.iter().map(|scheme| scheme.name.as_str()).collect();
    let accepted = schemes.accept(Some(&names))?;
    let mut unfit = None;
    let mut fitting = |secrets: &[String]| {
        let mut fitting = secrets.to_vec();
        fitting.retain(|secret| {
            let added = schemes.add_secret(&mut accepted.clone(), secret);
            added.map_err(|why| unfit.get_or_insert(why)).is_ok()
        });
        fitting
    };
    let mut found = fitting(&entry.secrets);
    if found.is_empty() {
        found = fitting(&entry.public_keys);
    }
    if found.is_empty() && entry.expect == "message_string_only" {
        // Nothing is checked with it.
        return Ok(vec![PLACEHOLDER.to_owned()]);
    }
    match unfit {
        Some(why) if found.is_empty() => Err(format!("{UNFIT}{why}")),
        None if found.is_empty() => {
            let made = schemes.made_up_secret(&accepted, &[7; 32]);
            Ok(made.into_iter().collect())
        }
        Some(_) | None => Ok(found),
    }
}

/// The token that the entry states, else the right one for a request that is right, else its secret.
fn token(contract: &Contract, entry: &Entry) -> Option<String> {
    let headers = entry.headers();
    let endpoint = Registered::default();
    let request = request(entry, &headers, &endpoint);
    let mut places = contract.handshake.iter().filter_map(|it| it.token.as_ref());
    let shown = places.find_map(|place| request.text(place).map(String::from));
    let right = shown.filter(|_| entry.expect == "valid");
    let token = entry.token.clone().or(right);
    let token = token.or_else(|| entry.secrets.first().cloned());
    token.filter(|token| !token.is_empty() && token.trim() == token)
}

fn text(contract: &Contract, entry: &Entry, secrets: usize, token: bool) -> String {
    let whose = Whose::of(contract, entry);
    let schemes = contract.signature.iter().map(|it| it.name.as_str());
    let named = |scheme: &&str| entry.schemes.iter().any(|name| name == scheme);
    let schemes: Vec<_> = schemes
        .filter(|it| entry.schemes.is_empty() || named(it))
        .collect();
    let signing: Vec<_> = (0..secrets).map(|at| format!("env:SECRET_{at}")).collect();
    let mut text = format!("[integrations.{NAME}]\n");
    let mut set = |name: &str, value: String| {
        text.push_str(&format!("{name} = {value}\n"));
    };
    set("contract", quoted(contract.name.as_str()));
    set("account", quoted(&whose.account));
    set("environment", quoted(&whose.environment));
    set("signing_secrets", list(&signing));
    set("schemes", list(&schemes));
    set("url", quoted(URL));
    set("api_key", quoted("env:API_KEY"));
    if token {
        set("handshake_token", quoted("env:TOKEN"));
    }
    let needed = contract.parameters.keys();
    for name in needed.chain(contract.optional_parameters.keys()) {
        let value = entry.text(name);
        let placeholder = contract
            .parameters
            .contains_key(name)
            .then(|| PLACEHOLDER.to_owned());
        if let Some(value) = value.or(placeholder) {
            set(&format!("parameters.{}", quoted(name)), quoted(&value));
        }
    }
    for account in &whose.further {
        set(&format!("accounts.{}", quoted(account)), "{}".to_owned());
    }
    if contract.open_resources {
        text.push_str(ANYTHING);
    }
    text
}

/// Where a contract has no types of its own, every event is about itself.
const ANYTHING: &str = r#"
[integrations.vector.define.anything]
events = ["*"]
id = "digest"
snapshot = ""
version = "/version"
strategies = ["version"]
"#;

/// TOML's basic strings hold whatever JSON's do.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text)
        .to_string()
        .replace('\u{7f}', "\\u007f")
}

fn list(texts: &[impl AsRef<str>]) -> String {
    let all: Vec<_> = texts.iter().map(|text| quoted(text.as_ref())).collect();
    format!("[{}]", all.join(", "))
}

/// Whose data the request speaks of, and of which world.
struct Whose {
    account: String,
    further: Vec<String>,
    environment: String,
}

impl Whose {
    fn of(contract: &Contract, entry: &Entry) -> Self {
        let headers = entry.headers();
        let endpoint = Registered::default();
        let request = request(entry, &headers, &endpoint);
        let json = payload::json(contract.payload.as_ref(), &request).unwrap_or_default();
        let items = contract.event.items.as_ref();
        let items = items.and_then(|items| items.of(&json).ok().flatten());
        let items = items.unwrap_or_else(|| vec![&json]);
        let event = &contract.event;
        let named = event.account.iter().chain(&event.account_hint);
        let mut accounts: Vec<String> = named
            .flat_map(|place| {
                items
                    .iter()
                    .filter_map(|item| at(place, &request, &json, item))
            })
            .filter(|account| (1..=256).contains(&account.len()))
            .collect();
        accounts.sort();
        accounts.dedup();
        let environment = event.environment.as_ref().and_then(|rules| {
            let mut found = items
                .iter()
                .filter_map(|item| at(&rules.from, &request, &json, item));
            let told = found.find_map(|value| rules.values.get(&value).cloned());
            told.or_else(|| rules.values.values().next().cloned())
        });
        let mut accounts = accounts.into_iter();
        Self {
            account: accounts.next().unwrap_or_else(|| PLACEHOLDER.to_owned()),
            further: accounts.collect(),
            environment: environment.map_or_else(|| "live".to_owned(), String::from),
        }
    }
}

/// The value at a place of one event.
fn at(place: &Source, request: &Request<'_>, json: &str, item: &str) -> Option<String> {
    match place {
        Source::Body(pointer) => pointer.text(json).map(String::from),
        Source::Item(pointer) => pointer.text(item).map(String::from),
        Source::Header(_)
        | Source::Query(_)
        | Source::Form(_)
        | Source::Digest
        | Source::Const(_) => request.text(place).map(String::from),
    }
}

fn request<'r>(entry: &'r Entry, headers: &'r Headers, endpoint: &'r Registered) -> Request<'r> {
    Request {
        method: &entry.method,
        query: &entry.query,
        headers,
        body: &entry.body,
        endpoint,
    }
}

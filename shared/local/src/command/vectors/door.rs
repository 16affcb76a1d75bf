//! The real front door over an embedded store, for one recorded request after another.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lastword_config::Integration;
use lastword_contracts::{FetchedKeys, Keys, SignatureError};
use lastword_ingest::{Ingest, keys::KeyRing};
use lastword_runtime::{ClientSettings, Clients, Endpoints, Level, Patience, telemetry};
use lastword_store::{Inbox, Moment};
use serde_json::{Value, json};

use super::{
    Came,
    endpoint::{Endpoint, NAME, UNFIT},
    entry::Entry,
    names,
    verdict::{Expected, NOT_STARTED, STRING_ONLY},
};
use crate::{
    machine::{Failure, INBOX_TABLE, STATE_TABLE, gateway_event},
    stores::{Place, Stores},
};

pub(super) struct Door {
    stores: Stores,
    inbox: Inbox,
}

impl Door {
    pub(super) async fn open() -> Result<Self, Failure> {
        let stores = Stores::start(Place::Temporary).await?;
        lastword_store::tables::create(&stores.dynamodb(), INBOX_TABLE, STATE_TABLE).await?;
        let endpoints = Endpoints {
            dynamodb: Some(stores.dynamodb_url()),
            ..Endpoints::default()
        };
        // What is asked is the door's answer, not how fast this machine is.
        let clients = Clients::new(ClientSettings::local(endpoints, Patience::background()));
        let inbox = Inbox::new(clients.dynamodb(), INBOX_TABLE);
        Ok(Self { stores, inbox })
    }

    pub(super) async fn close(self) {
        self.stores.shutdown().await;
    }

    /// How a recorded request is answered.
    pub(super) async fn answer(&self, entry: &Entry, expected: Expected) -> Result<Came, String> {
        let contract = names::contract(&entry.provider)?;
        let endpoint = match Endpoint::of(&contract, entry) {
            // An endpoint with such a secret does not even start: nothing is taken there.
            Err(why) if why.starts_with(UNFIT) && expected == Expected::InvalidSignature => {
                return Ok(Came {
                    status: None,
                    word: NOT_STARTED.to_owned(),
                    body: String::new(),
                    hint: Some(why),
                });
            }
            endpoint => endpoint?,
        };
        let integration = endpoint.integration()?;
        let held = integration.signing.iter();
        let held = held.filter_map(|reference| endpoint.secrets.get(reference));
        let keys = integration.keys(held.map(|secret| secret.expose()));
        if expected == Expected::MessageStringOnly {
            let without = || integration.schemes.clone();
            return compared(entry, integration, &keys.unwrap_or_else(|_| without()));
        }
        let keys = keys.map_err(|error| error.to_string())?;
        let now = match entry.now {
            Some(now) => now,
            None => clock(entry, expected, integration, &keys),
        };
        let ring = KeyRing::fixed(&endpoint.config, Arc::clone(&endpoint.secrets));
        let ring = ring.map_err(|error| error.to_string())?;
        let clock = Arc::new(move || Moment::from_unix_ms(now.saturating_mul(1000)));
        let ingest = Ingest::new(endpoint.config, ring, self.inbox.clone(), clock);
        Ok(handled(&ingest, &event(entry)).await)
    }
}

/// The handler's answer. Its word is in the line that it logs: some providers want answers without a body.
async fn handled(ingest: &Ingest, event: &str) -> Came {
    let captured = telemetry::capture(Level::Info);
    let reply = ingest.handle_text(event).await;
    let lines = captured.text();
    drop(captured);
    let mut lines = lines
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    // The last, in case another one comes before it.
    let line = lines.rfind(|line| line.get("outcome").is_some());
    let text = |name| Some(line.as_ref()?.get(name)?.as_str()?.to_owned());
    Came {
        status: Some(reply.status_code),
        word: text("outcome").unwrap_or_default(),
        hint: text("hint"),
        body: reply.body,
    }
}

/// The clock of a request that states none: when it was signed. With a clock of zero, the check of a right
/// signature says how far ahead its time is.
fn clock(entry: &Entry, expected: Expected, integration: &Integration, keys: &Keys) -> u64 {
    if expected == Expected::TooOld {
        return Moment::now().unix_seconds();
    }
    if expected == Expected::InFuture {
        return 0;
    }
    let headers = entry.headers();
    let request = integration.request(&entry.method, &entry.query, &headers, &entry.body);
    let schemes = &integration.contract.signature;
    let checked = schemes.verify(&request, keys, &FetchedKeys::new(), 0, None);
    match checked.err() {
        Some(SignatureError::InFuture { seconds, .. }) => seconds,
        Some(
            SignatureError::Missing { .. }
            | SignatureError::Malformed { .. }
            | SignatureError::NoMatch
            | SignatureError::TooOld { .. }
            | SignatureError::ForeignKey(_)
            | SignatureError::KeyNeeded(_)
            | SignatureError::NotByHttp,
        )
        | None => 0,
    }
}

/// Whether the text that is signed is the one that the file states.
fn compared(entry: &Entry, integration: &Integration, keys: &Keys) -> Result<Came, String> {
    let expected = entry
        .signed_text
        .as_deref()
        .ok_or("it does not state the text that is signed")?;
    let headers = entry.headers();
    let contract = &integration.contract;
    let text = std::str::from_utf8(&entry.body).unwrap_or_default();
    let items = contract.event.items.as_ref();
    // Where every item is signed by itself, each is looked at as if it were alone.
    let items = items.and_then(|items| items.of(text).ok().flatten());
    let bodies = items.unwrap_or_default();
    let bodies = bodies.into_iter().map(str::as_bytes);
    let texts: Vec<_> = std::iter::once(entry.body.as_slice())
        .chain(bodies)
        .flat_map(|body| {
            let request = integration.request(&entry.method, &entry.query, &headers, body);
            contract.signature.signed_texts(&request, keys)
        })
        .collect();
    if texts.iter().any(|text| text == expected.as_bytes()) {
        return Ok(Came {
            status: None,
            word: STRING_ONLY.to_owned(),
            body: String::new(),
            hint: None,
        });
    }
    let texts: Vec<_> = texts
        .iter()
        .map(|text| format!("{:?}", String::from_utf8_lossy(text)))
        .collect();
    Err(format!("another text is signed: {}", texts.join(" or ")))
}

/// The request as API Gateway hands it over.
fn event(entry: &Entry) -> String {
    let path = format!("/webhooks/{NAME}");
    let plain = gateway_event(&path, &json!(entry.headers), "");
    let mut event: Value = serde_json::from_str(&plain).unwrap_or_default();
    for (pointer, value) in [
        ("/requestContext/http/method", json!(entry.method)),
        ("/rawQueryString", json!(entry.query)),
        ("/body", json!(STANDARD.encode(&entry.body))),
        ("/isBase64Encoded", json!(true)),
    ] {
        if let Some(place) = event.pointer_mut(pointer) {
            *place = value;
        }
    }
    event.to_string()
}

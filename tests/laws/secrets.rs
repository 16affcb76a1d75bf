//! Secrets and published keys over time: rolled, asked for, believed, and never a way to make us work.

mod published;
mod rolled;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lastword_config::Config;
use lastword_contracts::KeyRequest;
use lastword_ingest::Ingest;
use lastword_ingest::answer::Reply;
use lastword_ingest::keys::KeyRing;
use lastword_ingest::published::{Fetch, PublishedKeys};
use lastword_local::machine::{Machine, Worker, gateway_event};
use lastword_local::stores::Place;
use lastword_runtime::{ClientSettings, Clients, Endpoints, Patience, SecretSource};
use lastword_store::Moment;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::world::NOW;

const CONFIG: &str = r#"
[integrations.bank]
contract = "plaid"
account = "main"
environment = "live"
signing_secrets = ["env:BANK"]
parameters = { client_id = "c", host = "production.plaid.com" }

[integrations.wallet]
contract = "paypal"
account = "main"
environment = "live"
api_key = "env:WALLET_KEY"
parameters = { webhook_id = "WH-1" }

[integrations.erp]
contract = "generic-hmac"
account = "main"
environment = "live"
signing_secrets = ["env:ERP"]
[integrations.erp.define.order]
events = ["order.*"]
id = "body:/order/id"
snapshot = "/order"
version = "/order/version"
strategies = ["version"]
"#;

const BODY: &str = r#"{"webhook_type":"ITEM","webhook_code":"ERROR","item_id":"i1"}"#;

/// An ingest over a machine's inbox, with its own keys and a clock that can be set.
struct Door {
    _machine: Machine,
    worker: Worker,
    clock: Arc<AtomicU64>,
    asked: Arc<AtomicUsize>,
}

impl Door {
    /// `answer` is what every request for a published key gets.
    async fn with_keys(
        answer: impl Fn(&KeyRequest) -> Result<String, String> + Send + Sync + 'static,
    ) -> Self {
        let machine = Machine::start(Place::Temporary, CONFIG, NOW).await.unwrap();
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&asked);
        let fetch: Fetch = Arc::new(move |request| {
            counter.fetch_add(1, Ordering::SeqCst);
            let told = answer(&request).map(String::into_bytes);
            Box::pin(async move { told })
        });
        let config = machine.config().clone();
        let secrets = lastword_local::machine::made_up_secrets(&config).unwrap();
        let ring = KeyRing::fixed(&config, Arc::new(secrets)).unwrap();
        let published = PublishedKeys::new(fetch, Vec::new());
        Self::of(machine, &config, ring, asked, Some(published))
    }

    fn of(
        machine: Machine,
        config: &Config,
        ring: KeyRing,
        asked: Arc<AtomicUsize>,
        published: Option<PublishedKeys>,
    ) -> Self {
        let mut worker = machine.worker().unwrap();
        let clock = Arc::new(AtomicU64::new(NOW));
        let time = Arc::clone(&clock);
        let now = Arc::new(move || Moment::from_unix_ms(time.load(Ordering::SeqCst) * 1000));
        let ingest = Ingest::new(config.clone(), ring, worker.inbox.clone(), now);
        worker.ingest = match published {
            Some(published) => ingest.with_published(published),
            None => ingest,
        };
        Self {
            _machine: machine,
            worker,
            clock,
            asked,
        }
    }

    async fn post(&self, endpoint: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let headers: serde_json::Map<_, _> = headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), json!(value)))
            .collect();
        let path = format!("/webhooks/{endpoint}");
        let event = gateway_event(&path, &headers.into(), body);
        self.worker.ingest.handle_text(&event).await
    }

    async fn bank(&self, jwt: &str) -> Reply {
        self.post("bank", &[("plaid-verification", jwt)], BODY)
            .await
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    fn wait(&self, seconds: u64) {
        self.clock.fetch_add(seconds, Ordering::SeqCst);
    }
}

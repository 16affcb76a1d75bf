//! Secrets and published keys over time: rolled, asked for, believed, and never a way to make us work.

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

/// A provider's key pair.
struct Signer(EcdsaKeyPair, SystemRandom);

impl Signer {
    fn new() -> Self {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let pair = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, pair.as_ref(), &random).unwrap();
        Self(pair, random)
    }

    fn jwk(&self, kid: &str, expired_at: Option<u64>) -> String {
        let point = self.0.public_key().as_ref();
        let half = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let (x, y) = (half(&point[1..33]), half(&point[33..]));
        let key = json!({"kty": "EC", "crv": "P-256", "kid": kid, "x": x, "y": y, "expired_at": expired_at});
        json!({ "key": key }).to_string()
    }

    fn jwt(&self, head: &serde_json::Value, body: &str, at: u64) -> String {
        let hash: String = Sha256::digest(body.as_bytes())
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let claims = json!({"iat": at, "request_body_sha256": hash});
        let part = |value: &serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let text = format!("{}.{}", part(head), part(&claims));
        let signature = self.0.sign(&self.1, text.as_bytes()).unwrap();
        format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
    }

    fn sign(&self, kid: &str, at: u64) -> String {
        self.jwt(&json!({"alg": "ES256", "kid": kid, "typ": "JWT"}), BODY, at)
    }
}

#[tokio::test]
async fn a_published_key_is_asked_for_once_believed_for_a_while_and_then_asked_for_again() {
    let signer = Signer::new();
    let jwk = signer.jwk("k1", None);
    let door = Door::with_keys(move |_| Ok(jwk.clone())).await;
    for asked in [1, 1, 1] {
        assert_eq!(door.bank(&signer.sign("k1", NOW)).await.status_code, 200);
        assert_eq!(door.asked(), asked);
    }
    door.wait(3601);
    let later = signer.sign("k1", NOW + 3601);
    assert_eq!(door.bank(&later).await.status_code, 200);
    assert_eq!(door.asked(), 2);
    let stale = door.bank(&signer.sign("k1", NOW)).await;
    assert!(stale.body.contains("signature-too-old"), "{}", stale.body);
}

#[tokio::test]
async fn a_key_that_was_good_is_believed_for_a_day_while_it_cannot_be_had_and_strangers_cannot_hinder_it()
 {
    let signer = Signer::new();
    let jwk = signer.jwk("k1", None);
    let down = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let is_down = Arc::clone(&down);
    let door = Door::with_keys(move |request| match &request.json {
        Some(json) if json.contains("\"k1\"") && !is_down.load(Ordering::SeqCst) => Ok(jwk.clone()),
        Some(_) | None => Err("no answer".to_owned()),
    })
    .await;
    assert_eq!(door.bank(&signer.sign("k1", NOW)).await.status_code, 200);
    door.wait(3601);
    // A stranger uses up what may be asked for unknown names.
    for number in 0..50 {
        let reply = door
            .bank(&signer.sign(&format!("x{number}"), NOW + 3601))
            .await;
        assert_eq!(reply.status_code, 503);
    }
    let asked = door.asked();
    assert_eq!(
        door.bank(&signer.sign("k1", NOW + 3601)).await.status_code,
        200
    );
    assert_eq!(door.asked(), asked + 1);
    down.store(true, Ordering::SeqCst);
    door.wait(3601);
    for _ in 0..3 {
        assert_eq!(
            door.bank(&signer.sign("k1", NOW + 7202)).await.status_code,
            200
        );
    }
    assert_eq!(door.asked(), asked + 2);
    door.wait(24 * 3600);
    let day = NOW + 7202 + 24 * 3600;
    assert_eq!(door.bank(&signer.sign("k1", day)).await.status_code, 503);
}

#[tokio::test]
async fn a_key_that_cannot_be_had_is_no_verdict_and_is_not_asked_for_again_at_once() {
    let signer = Signer::new();
    let door = Door::with_keys(|_| Err("no answer".to_owned())).await;
    for _ in 0..3 {
        let reply = door.bank(&signer.sign("k1", NOW)).await;
        assert_eq!(reply.status_code, 503, "{}", reply.body);
        assert_eq!(reply.headers["retry-after"], "2");
    }
    assert_eq!(door.asked(), 1);
    door.wait(31);
    assert_eq!(door.bank(&signer.sign("k1", NOW)).await.status_code, 503);
    assert_eq!(door.asked(), 2);
}

#[tokio::test]
async fn a_stranger_who_names_many_keys_makes_us_ask_for_a_few() {
    let signer = Signer::new();
    let door = Door::with_keys(|_| Err("no such key".to_owned())).await;
    for number in 0..100 {
        let reply = door.bank(&signer.sign(&format!("k{number}"), NOW)).await;
        assert_eq!(reply.status_code, 503);
    }
    assert!(door.asked() <= 10, "{}", door.asked());
}

#[tokio::test]
async fn a_jwt_by_another_key_another_algorithm_or_over_another_body_is_refused() {
    let signer = Signer::new();
    let jwk = signer.jwk("k1", None);
    let door = Door::with_keys(move |_| Ok(jwk.clone())).await;
    let forged = Signer::new().sign("k1", NOW);
    assert_eq!(door.bank(&forged).await.status_code, 401);
    let other_body = signer.jwt(&json!({"alg": "ES256", "kid": "k1"}), "{}", NOW);
    assert_eq!(door.bank(&other_body).await.status_code, 401);
    for head in [
        json!({"alg": "none", "kid": "k1"}),
        json!({"alg": "HS256", "kid": "k1"}),
        json!({"alg": "ES256"}),
    ] {
        let reply = door.bank(&signer.jwt(&head, BODY, NOW)).await;
        assert!(reply.body.contains("signature-malformed"), "{}", reply.body);
    }
    for odd in ["", ".", "..", "a.b.c", "e30.e30.", &"a".repeat(100_000)] {
        assert_eq!(door.bank(odd).await.status_code, 401, "{odd:.20}");
    }
    assert_eq!(door.asked(), 1);
}

#[tokio::test]
async fn a_key_that_its_provider_has_retired_is_not_believed() {
    let signer = Signer::new();
    let jwk = signer.jwk("k1", Some(NOW - 1));
    let door = Door::with_keys(move |_| Ok(jwk.clone())).await;
    let reply = door.bank(&signer.sign("k1", NOW)).await;
    assert_eq!(reply.status_code, 401, "{}", reply.body);
}

#[tokio::test]
async fn a_certificate_is_asked_for_at_its_provider_s_hosts_and_nowhere_else() {
    let door = Door::with_keys(|_| Ok("no certificate".to_owned())).await;
    let signature = base64::engine::general_purpose::STANDARD.encode([7; 256]);
    let post = |url: &'static str| {
        let headers = [
            ("paypal-transmission-id", "t"),
            ("paypal-transmission-time", "2026-11-30T00:00:00Z"),
            ("paypal-transmission-sig", signature.as_str()),
            ("paypal-auth-algo", "SHA256withRSA"),
            ("paypal-cert-url", url),
        ];
        let door = &door;
        async move { door.post("wallet", &headers, "{}").await }
    };
    for elsewhere in [
        "http://api.paypal.com/v1/notifications/certs/c",
        "https://api.paypal.com.evil.example/c",
        "https://api.paypal.com@evil.example/c",
        "https://api.paypal.com:8443/c",
        "https://evil.example/api.paypal.com",
        "https://evil.example#https://api.paypal.com/c",
        "file:///etc/passwd",
        "https:///c",
        "https://api.paypal.com/v1/notifications/certs/",
        "https://api.paypal.com/v1/notifications/certs/a?b",
        "https://api.paypal.com/v1/notifications/certs/../../c",
        "https://api.paypal.com/v1/notifications/certs/a/b",
        "https://api.paypal.com/v1/notifications/certs/%2e%2e",
        "",
    ] {
        let reply = post(elsewhere).await;
        assert_eq!(reply.status_code, 401, "{elsewhere} {}", reply.body);
        assert_eq!(door.asked(), 0, "{elsewhere}");
    }
    // There it is asked for; what comes back is no certificate, so nothing is decided.
    assert_eq!(
        post("https://api.paypal.com/v1/notifications/certs/c")
            .await
            .status_code,
        503
    );
    assert_eq!(door.asked(), 1);
}

/// A door whose secret is looked up anew whenever that is allowed.
async fn rolling(secret: Arc<std::sync::Mutex<String>>) -> Door {
    let config = Config::parse(
        "test",
        &CONFIG[CONFIG.find("[integrations.erp]").unwrap()..],
    )
    .unwrap();
    let machine = Machine::start(Place::Temporary, CONFIG, NOW).await.unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let settings = ClientSettings::local(Endpoints::default(), Patience::background());
    let look_up = move |_: &str| {
        counter.fetch_add(1, Ordering::SeqCst);
        Ok(secret.lock().unwrap().clone())
    };
    let source = SecretSource::new(look_up, Clients::new(settings));
    let ring = KeyRing::load(&config, source).await.unwrap();
    Door::of(machine, &config, ring, asked, None)
}

fn erp(secret: &str, body: &str) -> String {
    let config = Config::parse("test", CONFIG).unwrap();
    let erp = config.integration("erp").unwrap();
    let keys = erp.keys([secret]).unwrap();
    let signed = erp.sign(
        &keys,
        &lastword_contracts::Headers::default(),
        body.as_bytes(),
        NOW,
    );
    signed.unwrap().headers.remove(0).1
}

#[tokio::test]
async fn a_rolled_secret_is_taken_up_and_garbage_makes_nobody_read_secrets_more_often() {
    let secret = Arc::new(std::sync::Mutex::new("old".to_owned()));
    let door = rolling(Arc::clone(&secret)).await;
    let order = r#"{"id":"e1","type":"order.changed","order":{"id":"o1","version":1}}"#;
    let post = |signature: String| {
        let door = &door;
        async move {
            let headers = [("x-signature-256", signature.as_str())];
            door.post("erp", &headers, order).await.status_code
        }
    };
    assert_eq!(post(erp("old", order)).await, 200);
    assert_eq!(door.asked(), 1);
    "new".clone_into(&mut secret.lock().unwrap());
    assert_eq!(post(erp("new", order)).await, 200);
    assert_eq!(door.asked(), 2);
    // A stranger's two hundred guesses within a few seconds.
    for guess in 0..200 {
        assert_eq!(post(erp(&format!("guess {guess}"), order)).await, 401);
    }
    assert_eq!(door.asked(), 2);
    for second in 1..=30 {
        door.wait(1);
        assert_eq!(post(erp("guess", order)).await, 401, "{second}");
    }
    assert!(door.asked() <= 5, "{}", door.asked());
    // The old one is retired.
    assert_eq!(post(erp("old", order)).await, 401);
}

#[tokio::test]
async fn a_secret_that_cannot_be_one_stops_the_start_and_is_named_and_not_shown() {
    for (contract, value, expected) in [
        (
            "stripe",
            "v1,whsec_SECRET",
            "does not begin with \"whsec_\"",
        ),
        ("stripe", "whsec_SECRET\n", "white space"),
        ("stripe", " whsec_SECRET", "white space"),
        ("stripe", "whsec_", "is empty"),
        ("standard-webhooks", "whsec_AA==", "shorter or longer"),
        ("pagarme", ":", "user:password"),
        ("pagarme", "SECRET:", "user:password"),
        ("standard-webhooks", "v1,whsec_c2VjcmV0", "base64"),
        ("standard-webhooks", "whsec_SECRET!", "base64"),
        ("adyen", "SECRET", "hexadecimal"),
        ("pagarme", "SECRET", "user:password"),
        ("wise", "SECRET", "PEM"),
        ("discord", "SECRET", "hexadecimal"),
    ] {
        let text = format!(
            "[integrations.door]\ncontract = \"{contract}\"\naccount = \"a\"\nenvironment = \"live\"\n\
             signing_secrets = [\"env:DOOR\"]\napi_key = \"env:KEY\"\n{}",
            if contract == "standard-webhooks" {
                "[integrations.door.define.thing]\nevents=[\"*\"]\nid=\"body:/id\"\nstrategies=[]\nwhy=\"a test\"\n"
            } else {
                ""
            }
        );
        let config = Config::parse("test", &text).unwrap();
        let settings = ClientSettings::local(Endpoints::default(), Patience::background());
        let look_up = move |_: &str| Ok(value.to_owned());
        let source = SecretSource::new(look_up, Clients::new(settings));
        let Err(error) = KeyRing::load(&config, source).await else {
            panic!("{contract} took {value:?}")
        };
        let told = error.to_string();
        assert!(told.contains(expected), "{contract} {value:?}: {told}");
        assert!(
            told.contains("env:DOOR") && !told.contains("SECRET"),
            "{told}"
        );
    }
}

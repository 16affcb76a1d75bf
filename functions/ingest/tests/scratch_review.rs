#![allow(
    missing_docs,
    clippy::all,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::expect_used
)]
use lastword_config::Config;
use lastword_ingest::{
    Ingest,
    keys::KeyRing,
    published::{Fetch, PublishedKeys},
};
use lastword_runtime::{ClientSettings, Clients, Endpoints, Patience};
use lastword_store::{Inbox, Moment};
use serde_json::json;
use std::sync::{
    Arc,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};
const CONFIG: &str = r#"
[integrations.wallet]
contract = "paypal"
account = "main"
environment = "live"
api_key = "env:WALLET_KEY"
parameters = { webhook_id = "WH-1" }
"#;
fn post(path: &str, headers: serde_json::Value, body: &str) -> String {
    json!({"version":"2.0","routeKey":"$default","rawPath":path,"rawQueryString":"","headers":headers,
    "requestContext":{"http":{"method":"POST","path":path,"protocol":"HTTP/1.1","sourceIp":"1.1.1.1","userAgent":"x"},"stage":"$default","requestId":"r","routeKey":"$default","accountId":"0","apiId":"a","domainName":"d","domainPrefix":"d","time":"t","timeEpoch":1},
    "body":body,"isBase64Encoded":false}).to_string()
}
#[test]
fn quota() {
    let rt = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    rt.block_on(async {
        let config = Config::parse("x", CONFIG).unwrap();
        let asked = Arc::new(AtomicUsize::new(0));
        let c = asked.clone();
        let good = Arc::new(AtomicUsize::new(0));
        let g = good.clone();
        let fetch: Fetch = Arc::new(move |r| { c.fetch_add(1, Ordering::SeqCst); if r.url.contains("CERT-good") { g.fetch_add(1, Ordering::SeqCst); } Box::pin(async move { Err("404".to_owned()) }) });
        let clients = Clients::new(ClientSettings::local(Endpoints::default(), Patience::background()));
        let inbox = Inbox::new(clients.dynamodb(), "t");
        let time = Arc::new(AtomicU64::new(1_796_065_200));
        let t2 = time.clone();
        let ingest = Ingest::new(config.clone(), KeyRing::fixed(&config, Arc::default()).unwrap(), inbox, Arc::new(move || Moment::from_unix_ms(t2.load(Ordering::SeqCst)*1000))).with_published(PublishedKeys::new(fetch, vec![]));
        let send = |url: String| { let i = &ingest; async move {
            i.handle_text(&post("/webhooks/wallet", json!({"content-type":"application/json","paypal-transmission-sig":"AAAA","paypal-transmission-id":"1","paypal-transmission-time":"t","paypal-cert-url":url}), "{}")).await }};
        for minute in 0..3 {
            for n in 0..10 { let r = send(format!("https://api.paypal.com/{minute}/{n}")).await; if n==0 { println!("BOGUS {} {}", r.status_code, r.body); } }
            let r = send("https://api.paypal.com/v1/notifications/certs/CERT-good".into()).await;
            println!("LEGIT minute {minute}: {} asked {} good-asked {}", r.status_code, asked.load(Ordering::SeqCst), good.load(Ordering::SeqCst));
            time.fetch_add(60, Ordering::SeqCst);
        }
        for ev in [r#"{"Records":[{"messageId":"1","body":"x"}]}"#, r#"{"Records":[{"messageId":"1","body":"x","eventSourceARN":"arn:x"},{"messageId":"2","body":null,"eventSourceARN":"arn:x"}]}"#, "{}"] {
            println!("SERVE {ev} -> {}", serde_json::to_string(&ingest.serve(ev).await.unwrap()).unwrap());
        }
    });
}

//! Webhook bodies of a wanted size that look like what a provider sends, signed as the provider would.

use std::fmt::Write as _;

use lastword_config::Config;
use lastword_contracts::Headers;
use lastword_local::machine::{gateway_event, made_up_secrets};
use serde_json::json;

/// The endpoint that the bodies are for, in the workspace's own `lastword.toml`.
pub(crate) const ENDPOINT: &str = "billing";

/// The built-in configuration, as every function has it.
pub(crate) fn config() -> Config {
    Config::parse("lastword.toml", lastword_config::BUILT_IN).expect("the built-in configuration")
}

/// An event about an invoice with as many lines as fit, `size` bytes in all. What differs from line to line
/// is what differs in a real one, so that it compresses like one.
pub(crate) fn invoice_event(event: &str, invoice: &str, size: usize) -> String {
    let mut noise = Noise::new(event);
    let head = format!(
        r#"{{"id":"{event}","object":"event","api_version":"2026-08-27","created":1796065200,"data":{{"object":{{"id":"{invoice}","object":"invoice","account_country":"DE","amount_due":{},"currency":"eur","customer":"cus_{}","customer_email":"{}@example.com","lines":{{"object":"list","data":["#,
        noise.below(100_000),
        noise.id(),
        noise.id(),
    );
    let tail = r#"]},"status":"paid"},"previous_attributes":{"status":"open"}},"livemode":false,"pending_webhooks":1,"request":{"id":null,"idempotency_key":null},"type":"invoice.paid","note":""#;
    let close = "\"}";
    let mut lines = String::new();
    loop {
        let comma = if lines.is_empty() { "" } else { "," };
        let mut line = String::new();
        write!(
            line,
            r#"{comma}{{"id":"il_{}","object":"line_item","amount":{},"currency":"eur","description":"{} × {} (at €{}.00 / month)","discountable":true,"period":{{"end":{},"start":{}}},"price":"price_{}","proration":false,"quantity":{}}}"#,
            noise.id(),
            noise.below(90_000),
            noise.below(9),
            noise.word(),
            noise.below(99),
            1_798_743_600 + noise.below(2_592_000),
            1_796_065_200 + noise.below(2_592_000),
            noise.id(),
            noise.below(9),
        )
        .expect("a text takes any text");
        if head.len() + lines.len() + line.len() + tail.len() + close.len() > size {
            break;
        }
        lines.push_str(&line);
    }
    let mut body = [head.as_str(), &lines, tail].concat();
    while body.len() + close.len() < size {
        body.push(char::from(
            b'a' + u8::try_from(noise.below(26)).expect("below 26"),
        ));
    }
    body.push_str(close);
    body
}

/// The gateway's event for a delivery of this body, signed at this time (Unix seconds).
pub(crate) fn delivery(config: &Config, body: &str, now: u64) -> String {
    let integration = config.integration(ENDPOINT).expect("the endpoint");
    let secrets = made_up_secrets(config).expect("made up");
    let reference = integration.signing.first().expect("a signing secret");
    let secret = secrets.get(reference).expect("its value").expose();
    let keys = integration.keys([secret]).expect("a key");
    let signed = integration.sign(&keys, &Headers::default(), body.as_bytes(), now);
    let signature = signed.expect("signed").headers.remove(0).1;
    let headers = json!({
        "accept": "*/*; q=0.5, application/xml",
        "cache-control": "no-cache",
        "content-length": body.len().to_string(),
        "content-type": "application/json; charset=utf-8",
        "host": "hooks.example.com",
        "stripe-signature": signature,
        "user-agent": "Stripe/1.0 (+https://stripe.com/docs/webhooks)",
        "x-amzn-trace-id": "Root=1-6a0f1c2e-0123456789abcdef01234567",
        "x-forwarded-for": "192.0.2.17",
        "x-forwarded-port": "443",
        "x-forwarded-proto": "https",
    });
    gateway_event(&format!("/webhooks/{ENDPOINT}"), &headers, body)
}

/// The same noise for the same seed on every machine.
struct Noise(u64);

impl Noise {
    fn new(seed: &str) -> Self {
        Self(seed.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        }))
    }

    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    fn id(&mut self) -> String {
        const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        (0..24)
            .map(|_| {
                let at = usize::try_from(self.below(DIGITS.len() as u64)).unwrap_or_default();
                char::from(DIGITS.get(at).copied().unwrap_or(b'0'))
            })
            .collect()
    }

    fn word(&mut self) -> &'static str {
        const WORDS: [&str; 6] = [
            "Basic seat",
            "Team seat",
            "Audit log",
            "Extra storage, 100 GB",
            "Priority support",
            "Sandbox",
        ];
        let at = usize::try_from(self.below(6)).unwrap_or_default();
        WORDS.get(at).copied().unwrap_or_default()
    }
}

//! Makes what a machine is fed with: a gateway's event, and secrets where the sender is ours too.

use std::collections::BTreeMap;

use lastword_config::{Config, SecretRef, SecretValue};
use serde_json::{Value, json};

use super::Failure;

/// An API Gateway HTTP API event (payload format 2.0).
#[must_use]
pub fn gateway_event(path: &str, headers: &Value, body: &str) -> String {
    json!({
        "version": "2.0",
        "routeKey": "POST /webhooks/{integration}",
        "rawPath": path,
        "rawQueryString": "",
        "headers": headers,
        "requestContext": {
            "accountId": "000000000000",
            "apiId": "local",
            "domainName": "localhost",
            "domainPrefix": "localhost",
            "http": {
                "method": "POST",
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": "127.0.0.1",
                "userAgent": "lastword",
            },
            "requestId": "local",
            "routeKey": "POST /webhooks/{integration}",
            "stage": "$default",
            "time": "30/Nov/2026:19:00:00 +0000",
            "timeEpoch": 1_796_065_200_000_u64,
        },
        "body": body,
        "isBase64Encoded": false,
    })
    .to_string()
}

/// A value for every secret that the configuration names, made from its name: enough where the sender
/// is ours too.
/// # Errors
/// Never for the contracts that are built in.
pub fn made_up_secrets(config: &Config) -> Result<BTreeMap<SecretRef, SecretValue>, Failure> {
    let mut secrets = BTreeMap::new();
    for integration in config.integrations.values() {
        let schemes = &integration.contract.signature;
        for reference in &integration.signing {
            let seed = seed(reference);
            let made = schemes.made_up_secret(&integration.schemes, &seed);
            let text = made.unwrap_or_else(|| hex(&seed));
            secrets.insert(reference.clone(), SecretValue::accept(text.into())?);
        }
        let others = integration.api_keys.values();
        for reference in others.chain(&integration.handshake_token) {
            let value = SecretValue::accept(hex(&seed(reference)).into())?;
            secrets.insert(reference.clone(), value);
        }
    }
    for reference in config.destination_secrets() {
        let value = SecretValue::accept(hex(&seed(&reference)).into())?;
        secrets.insert(reference, value);
    }
    Ok(secrets)
}

fn seed(reference: &SecretRef) -> [u8; 32] {
    *lastword_domain::Digest::of(reference.to_string().as_bytes()).as_bytes()
}

fn hex(seed: &[u8; 32]) -> String {
    seed.iter().map(|byte| format!("{byte:02x}")).collect()
}

//! What most likely went wrong when a signature does not match: for the log, never for the sender.
//!
//! The body is tried in the shapes that gateways and frameworks turn it into, and against the other
//! endpoints' keys. That costs passes over the body that a stranger could ask for, so it is done once in a
//! while and for ordinary sizes only. A hint never holds a secret or a piece of the body.

use std::sync::Mutex;
use std::sync::PoisonError;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lastword_config::{Config, Integration};
use lastword_contracts::{FetchedKeys, Keys, Request, SignatureError};

use crate::keys::KeyRing;

/// Seconds between two searches.
const PAUSE: u64 = 10;
/// The largest body that is tried.
const MOST_BYTES: usize = 256 * 1024;

/// When a cause was searched for last.
#[derive(Default)]
pub(crate) struct Hints(Mutex<Option<u64>>);

impl Hints {
    /// A likely cause of a refusal; `now` is Unix time in seconds.
    pub(crate) fn of(
        &self,
        error: &SignatureError,
        config: &Config,
        integration: &Integration,
        request: &Request<'_>,
        ring: &KeyRing,
        now: u64,
    ) -> &'static str {
        match error {
            SignatureError::Missing { .. } => {
                "the sender has no secret set for this endpoint, or something on the way drops the header"
            }
            SignatureError::Malformed { .. } => {
                "another version of the scheme, another provider, or something on the way rewrites the header"
            }
            SignatureError::TooOld { .. } => {
                "a replay, a delivery that was held up on the way, or the sender's clock is behind"
            }
            SignatureError::InFuture { .. } => "the sender's clock is ahead, or ours is behind",
            SignatureError::ForeignKey(_) => "not by this provider",
            SignatureError::KeyNeeded(_) => {
                "the provider's key could not be had; it will try again"
            }
            SignatureError::NotByHttp => "an endpoint of a provider that writes to a queue",
            SignatureError::NoMatch if self.may_search(now, request) => {
                search(config, integration, request, ring, now)
            }
            SignatureError::NoMatch => COMMON,
        }
    }

    fn may_search(&self, now: u64, request: &Request<'_>) -> bool {
        if request.body.len() > MOST_BYTES {
            return false;
        }
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let may = last.is_none_or(|last| now >= last + PAUSE || now < last);
        if may {
            *last = Some(now);
        }
        may
    }
}

const COMMON: &str = "another environment's or endpoint's secret, or the body was changed on the way (parsed and \
                      written again, decompressed, re-encoded)";

fn search(
    config: &Config,
    integration: &Integration,
    request: &Request<'_>,
    ring: &KeyRing,
    now: u64,
) -> &'static str {
    let all = ring.now();
    let none = Keys::default();
    let own = all.get(&integration.name).map_or(&none, |held| &held.keys);
    // The time is not what is asked about here.
    let fits = |integration: &Integration, keys: &Keys, body: &[u8]| {
        let request = Request { body, ..*request };
        let schemes = &integration.contract.signature;
        let checked = schemes.verify(&request, keys, &FetchedKeys::new(), now, Some(u64::MAX));
        checked.is_ok()
    };
    let elsewhere = config.integrations.values().any(|other| {
        other.name != integration.name
            && other.contract.name == integration.contract.name
            && all
                .get(&other.name)
                .is_some_and(|held| fits(other, &held.keys, request.body))
    });
    if elsewhere {
        return "it is signed with another endpoint's secret: its URL or its environment is mixed up";
    }
    let decoded = STANDARD.decode(request.body).ok();
    if decoded.is_some_and(|decoded| fits(integration, own, &decoded)) {
        return "the body arrives in base64 without being flagged so: a mapping template or a proxy encodes it";
    }
    let trimmed = request.body.trim_ascii();
    let with_newline = [trimmed, b"\n"].concat();
    if fits(integration, own, trimmed) || fits(integration, own, &with_newline) {
        return "white space was added to the body's end, or taken off it, on the way";
    }
    let compact = serde_json::from_slice::<serde_json::Value>(request.body)
        .ok()
        .and_then(|value| {
            let pretty = serde_json::to_vec_pretty(&value).ok()?;
            Some([serde_json::to_vec(&value).ok()?, pretty])
        });
    if compact.is_some_and(|shapes| shapes.iter().any(|body| fits(integration, own, body))) {
        return "the body was parsed and written again on the way: only its exact bytes verify";
    }
    if request.headers.all("content-encoding").next().is_some() {
        return "the body is declared as compressed: a gateway may have decompressed what was signed";
    }
    COMMON
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use lastword_config::{SecretRef, SecretValue};
    use lastword_contracts::Headers;

    use super::*;

    const CONFIG: &str = r#"
[integrations.live]
contract = "github"
account = "1"
environment = "live"
signing_secrets = ["env:LIVE"]
api_key = "env:KEY"
[integrations.test]
contract = "github"
account = "1"
environment = "test"
signing_secrets = ["env:TEST"]
api_key = "env:KEY"
"#;
    const BODY: &str = r#"{"a": 1.5, "b":"c"}"#;

    /// What is told of a body that was signed for one endpoint and arrives, as it is now, at another.
    fn hint(
        signed_for: &str,
        sent_to: &str,
        arrives: &[u8],
        headers: &[(&str, &str)],
    ) -> &'static str {
        let config = Config::parse("test", CONFIG).unwrap();
        let secret = |name: &str| {
            let reference = SecretRef::parse(&format!("env:{name}")).unwrap();
            (
                reference,
                SecretValue::accept(format!("secret of {name}").into()).unwrap(),
            )
        };
        let secrets = Arc::new([secret("LIVE"), secret("TEST")].into());
        let ring = KeyRing::fixed(&config, secrets).unwrap();
        let sender = config.integration(signed_for).unwrap();
        let all = ring.now();
        let keys = &all[&sender.name].keys;
        let mut all: Headers = headers.iter().copied().collect();
        for (name, value) in sender.sign(keys, &all, BODY.as_bytes(), 0).unwrap().headers {
            all.add(&name, &value);
        }
        let receiver = config.integration(sent_to).unwrap();
        let request = receiver.request("POST", "", &all, arrives);
        Hints::default().of(
            &SignatureError::NoMatch,
            &config,
            receiver,
            &request,
            &ring,
            0,
        )
    }

    #[test]
    fn each_common_cause_of_a_mismatch_is_told_by_its_name() {
        let body = BODY.as_bytes();
        let encoded = STANDARD.encode(body);
        let written = serde_json::from_str::<serde_json::Value>(BODY)
            .unwrap()
            .to_string();
        for (signed_for, arrives, told) in [
            ("test", body, "another endpoint's secret"),
            ("live", encoded.as_bytes(), "arrives in base64"),
            ("live", &[body, b"\n"].concat(), "white space"),
            ("live", b"{}", "another environment's"),
        ] {
            let found = hint(signed_for, "live", arrives, &[]);
            assert!(found.contains(told), "{told}: {found}");
        }
        // The sender signed what was then parsed and written again: only where the original is the compact form
        // can that be seen.
        assert_ne!(written, BODY);
        let zipped = hint(
            "live",
            "live",
            &[0x1f, 0x8b],
            &[("content-encoding", "gzip")],
        );
        assert!(zipped.contains("decompressed"), "{zipped}");
    }

    #[test]
    fn a_cause_is_searched_for_once_in_a_while_and_not_in_large_bodies() {
        let config = Config::parse("test", CONFIG).unwrap();
        let live = config.integration("live").unwrap();
        let headers = Headers::default();
        let hints = Hints::default();
        let small = live.request("POST", "", &headers, b"{}");
        let large = vec![b' '; MOST_BYTES + 1];
        let large = live.request("POST", "", &headers, &large);
        assert!(!hints.may_search(0, &large));
        assert!(hints.may_search(0, &small));
        assert!(!hints.may_search(PAUSE - 1, &small));
        assert!(hints.may_search(PAUSE, &small));
    }
}

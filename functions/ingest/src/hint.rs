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

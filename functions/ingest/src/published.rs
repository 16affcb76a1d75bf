//! Keys that providers publish, asked for when a delivery names one that is not held.
//!
//! A stranger's delivery chooses which key is asked for, so asking is bounded: only what the contract pins
//! (see [`lastword_contracts::signature::FetchRules`]), a few times a minute, one that failed not again for a
//! while, and only so many are kept. Two that ask for one key at once both ask: the answer is the same.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lastword_contracts::signature::FetchRules;
use lastword_contracts::{FetchedKeys, KeyRequest};
use lastword_runtime::{Level, Line, TrustAnchor};

/// The most requests of one minute.
const MOST_A_MINUTE: u32 = 10;
/// The most keys held; a provider has a handful.
const MOST_HELD: usize = 32;
/// How long a key is believed without being asked for again; in seconds.
const BELIEVED: u64 = 3600;
/// How long one that could not be had is not asked for again; in seconds.
const FAILED: u64 = 30;

/// An answer's bytes, or why there is none.
pub type Fetching = Pin<Box<dyn Future<Output = Result<Vec<u8>, String>> + Send>>;

/// Asks for a key.
pub type Fetch = Arc<dyn Fn(KeyRequest) -> Fetching + Send + Sync>;

/// The published keys that were asked for.
pub struct PublishedKeys {
    fetch: Option<Fetch>,
    roots: Vec<TrustAnchor<'static>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    keys: Arc<FetchedKeys>,
    believed_until: BTreeMap<String, u64>,
    failed_until: BTreeMap<String, u64>,
    minute: u64,
    asked: u32,
}

impl PublishedKeys {
    /// Asks nobody: for configurations without such a contract.
    #[must_use]
    pub fn none() -> Self {
        Self {
            fetch: None,
            roots: Vec::new(),
            state: Mutex::default(),
        }
    }

    /// Asks by this; certificates must come from these authorities.
    #[must_use]
    pub fn new(fetch: Fetch, roots: Vec<TrustAnchor<'static>>) -> Self {
        Self {
            fetch: Some(fetch),
            roots,
            state: Mutex::default(),
        }
    }

    /// The keys that are held; `now` is Unix time in seconds.
    pub(crate) fn now(&self, now: u64) -> Arc<FetchedKeys> {
        let mut state = self.lock();
        if state.believed_until.values().any(|until| *until <= now) {
            let mut keys = (*state.keys).clone();
            keys.retain(|name, _| {
                state
                    .believed_until
                    .get(name)
                    .is_some_and(|until| *until > now)
            });
            state.believed_until.retain(|_, until| *until > now);
            state.keys = Arc::new(keys);
        }
        Arc::clone(&state.keys)
    }

    /// The keys with this one; `None` when it cannot be had now.
    pub(crate) async fn with(
        &self,
        request: &KeyRequest,
        rules: &FetchRules,
        now: u64,
    ) -> Option<Arc<FetchedKeys>> {
        let fetch = self.fetch.as_ref().filter(|_| self.may_ask(request, now))?;
        let read = match fetch(request.clone()).await {
            Ok(answer) => rules
                .read(&answer, &self.roots, now)
                .map_err(|error| error.to_string()),
            Err(why) => Err(why),
        };
        let mut state = self.lock();
        match read {
            Ok(key) => {
                let mut keys = (*state.keys).clone();
                if keys.len() >= MOST_HELD {
                    keys.clear();
                    state.believed_until.clear();
                }
                keys.insert(request.name.clone(), key);
                state
                    .believed_until
                    .insert(request.name.clone(), now + BELIEVED);
                state.keys = Arc::new(keys);
                Some(Arc::clone(&state.keys))
            }
            Err(why) => {
                state
                    .failed_until
                    .insert(request.name.clone(), now + FAILED);
                drop(state);
                Line::new(Level::Warn, "a provider's published key could not be had")
                    .field("url", request.url.as_str())
                    .field("reason", why.as_str())
                    .emit();
                None
            }
        }
    }

    fn may_ask(&self, request: &KeyRequest, now: u64) -> bool {
        let mut state = self.lock();
        state.failed_until.retain(|_, until| *until > now);
        if state.failed_until.contains_key(&request.name) {
            return false;
        }
        if state.minute != now / 60 {
            state.minute = now / 60;
            state.asked = 0;
        }
        state.asked += 1;
        state.asked <= MOST_A_MINUTE
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! Keys that providers publish, asked for when a delivery names one that is not held.
//!
//! A stranger's delivery chooses which key is asked for, so asking is bounded, for each integration by itself: only
//! what the contract pins (see [`lastword_contracts::signature::FetchRules`]), a few unknown names a minute, one that
//! failed not again for a while, and only so many are kept. A key that was good before is asked for again outside
//! that bound, and is believed a while longer when it cannot be had: no stranger can make a provider's own
//! deliveries wait. Two that ask for one key at once both ask: the answer is the same.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lastword_contracts::signature::FetchRules;
use lastword_contracts::{FetchedKeys, KeyRequest, SigningKey};
use lastword_domain::name::IntegrationName;
use lastword_runtime::{Level, Line, TrustAnchor};

/// The most requests for names that were never good, in one minute.
const MOST_A_MINUTE: u32 = 10;
/// The most keys held; a provider has a handful.
const MOST_HELD: usize = 32;
/// How long a key is believed without being asked for again; in seconds.
const FRESH: u64 = 3600;
/// How long it is believed when it cannot be asked for again; in seconds.
const BELIEVED: u64 = 24 * 3600;
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
    state: Mutex<BTreeMap<IntegrationName, State>>,
}

/// What one integration has asked for.
#[derive(Default)]
struct State {
    /// What is believed now.
    keys: Arc<FetchedKeys>,
    /// When each was had, also of those that are no longer fresh.
    had: BTreeMap<String, (u64, SigningKey)>,
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

    /// The keys that are held and fresh; `now` is Unix time in seconds.
    pub(crate) fn now(&self, integration: &IntegrationName, now: u64) -> Arc<FetchedKeys> {
        if self.fetch.is_none() {
            return Arc::default();
        }
        let mut all = self.lock();
        let Some(state) = all.get_mut(integration) else {
            return Arc::default();
        };
        let fresh = |name: &String| {
            state
                .had
                .get(name)
                .is_some_and(|(at, _)| now < at.saturating_add(FRESH))
        };
        if !state.keys.keys().all(fresh) {
            let kept = state.keys.iter().filter(|(name, _)| fresh(name));
            let kept = kept
                .map(|(name, key)| (name.clone(), key.clone()))
                .collect();
            state.keys = Arc::new(kept);
        }
        Arc::clone(&state.keys)
    }

    /// The keys with this one; `None` when it cannot be had now.
    pub(crate) async fn with(
        &self,
        integration: &IntegrationName,
        request: &KeyRequest,
        rules: &FetchRules,
        now: u64,
    ) -> Option<Arc<FetchedKeys>> {
        let fetch = self.fetch.as_ref()?;
        let may = self
            .lock()
            .entry(integration.clone())
            .or_default()
            .may_ask(request, now);
        let read = if may {
            match fetch(request.clone()).await {
                Ok(answer) => rules
                    .read(&answer, &self.roots, now)
                    .map_err(|error| error.to_string()),
                Err(why) => Err(why),
            }
        } else {
            Err("it is not asked for again yet".to_owned())
        };
        let mut all = self.lock();
        let state = all.entry(integration.clone()).or_default();
        match read {
            Ok(key) => {
                state.keep(request, now, key.clone());
                Some(state.add(request, key))
            }
            Err(why) => {
                if may {
                    state
                        .failed_until
                        .insert(request.name.clone(), now + FAILED);
                    tell(request, &why);
                }
                let (at, key) = state.had.get(&request.name)?;
                let believed = now < at.saturating_add(BELIEVED);
                let key = key.clone();
                // For this delivery only: the next one asks again.
                believed.then(|| state.beside(request, key))
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<IntegrationName, State>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn may_ask(&mut self, request: &KeyRequest, now: u64) -> bool {
        self.failed_until.retain(|_, until| *until > now);
        if self.failed_until.contains_key(&request.name) {
            return false;
        }
        if self.had.contains_key(&request.name) {
            return true;
        }
        if self.minute != now / 60 {
            self.minute = now / 60;
            self.asked = 0;
        }
        self.asked += 1;
        self.asked <= MOST_A_MINUTE
    }

    fn keep(&mut self, request: &KeyRequest, now: u64, key: SigningKey) {
        self.had.insert(request.name.clone(), (now, key));
        if self.had.len() > MOST_HELD {
            let oldest = self.had.iter().min_by_key(|(_, (at, _))| *at);
            if let Some(name) = oldest.map(|(name, _)| name.clone()) {
                self.had.remove(&name);
            }
        }
    }

    fn add(&mut self, request: &KeyRequest, key: SigningKey) -> Arc<FetchedKeys> {
        self.keys = self.beside(request, key);
        Arc::clone(&self.keys)
    }

    fn beside(&self, request: &KeyRequest, key: SigningKey) -> Arc<FetchedKeys> {
        let mut keys = (*self.keys).clone();
        keys.retain(|name, _| self.had.contains_key(name));
        keys.insert(request.name.clone(), key);
        Arc::new(keys)
    }
}

/// The address is a stranger's text: only its host, which the contract pins, is told.
fn tell(request: &KeyRequest, why: &str) {
    let host = request.url.split('/').nth(2).unwrap_or_default();
    Line::new(Level::Warn, "a provider's published key could not be had")
        .field("host", host)
        .field("reason", why)
        .emit();
}

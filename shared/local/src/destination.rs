//! A stand-in of a place that effects go to: it acts in a way that can be counted, and is as unreliable as it is told.
//!
//! What it does is done in a task of its own, so that a caller who has given up changes nothing: a destination acts
//! late, too.

mod serve;

use std::{
    collections::{BTreeMap, VecDeque},
    fmt, io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use http::{HeaderMap, Method};
use tokio::task::JoinSet;

use crate::{
    loopback,
    standin::{Held, Hold},
};

/// How a destination meets a key that it has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Acts once for each `Idempotency-Key`, and answers a repetition as it answered the first.
    Idempotent,
    /// Acts each time, and can be asked: `GET /messages?key=…` answers 200 or 404, `GET /search?key=…` 200 with a
    /// list under `data`.
    LookUp,
    /// Acts each time, and cannot be asked.
    Plain,
}

/// What happens to one request.
enum Fate {
    /// Acts if asked to, then answers, or drops the connection where there is no status.
    Told { act: bool, status: Option<u16> },
    /// Waits before it acts.
    HeldBefore(Hold),
    /// Acts and waits before it answers.
    HeldAfter(Hold),
}

/// Tells the stand-in what to do with its next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Acts, then drops the connection without an answer: the response is lost.
    ActAndDrop,
    /// Drops the connection and does nothing.
    Drop,
    /// Acts, and answers this status.
    ActAndAnswer(u16),
    /// Does nothing, and answers this status.
    Answer(u16),
}

/// A request that came.
#[derive(Clone, PartialEq, Eq)]
pub struct Seen {
    /// `POST` or `GET`.
    pub method: Method,
    /// Path and query.
    pub path: String,
    /// All headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: String,
}

struct Shared {
    kind: Kind,
    actions: Mutex<BTreeMap<String, u32>>,
    seen: Mutex<Vec<Seen>>,
    fates: Mutex<VecDeque<Fate>>,
    look_ups: Mutex<VecDeque<u16>>,
    pause: Mutex<Duration>,
    retry_after: Mutex<Option<String>>,
    is_behind: Mutex<bool>,
}

/// A destination on loopback. Dropping it stops it.
pub struct Destination {
    shared: Arc<Shared>,
    address: SocketAddr,
    // A set of one, which owns the connections.
    serving: JoinSet<()>,
}

impl Destination {
    /// Starts on a free port.
    ///
    /// # Errors
    /// When no port can be opened.
    pub async fn start(kind: Kind) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            kind,
            actions: Mutex::default(),
            seen: Mutex::default(),
            fates: Mutex::default(),
            look_ups: Mutex::default(),
            pause: Mutex::default(),
            retry_after: Mutex::default(),
            is_behind: Mutex::default(),
        });
        let (listener, address) = loopback::listen(0).await?;
        let mut serving = JoinSet::new();
        serving.spawn(serve::accept(listener, Arc::clone(&shared)));
        Ok(Self {
            shared,
            address,
            serving,
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// How often it acted visibly, for each key; law 10 says once.
    #[must_use]
    pub fn actions(&self) -> BTreeMap<String, u32> {
        lock(&self.shared.actions).clone()
    }

    /// Every request that came, in order, also those that it did not act on.
    #[must_use]
    pub fn seen(&self) -> Vec<Seen> {
        lock(&self.shared.seen).clone()
    }

    /// The bodies of the requests that wanted something done, in order.
    #[must_use]
    pub fn bodies(&self) -> Vec<String> {
        let seen = lock(&self.shared.seen);
        let posts = seen.iter().filter(|seen| seen.method == Method::POST);
        posts.map(|seen| seen.body.clone()).collect()
    }

    /// Says what happens to the next `POST`, after those for which it was said already.
    pub fn next(&self, next: Next) {
        let (act, status) = match next {
            Next::ActAndDrop => (true, None),
            Next::Drop => (false, None),
            Next::ActAndAnswer(status) => (true, Some(status)),
            Next::Answer(status) => (false, Some(status)),
        };
        lock(&self.shared.fates).push_back(Fate::Told { act, status });
    }

    /// The next question is answered with this status, whatever is known.
    pub fn next_look_up(&self, status: u16) {
        lock(&self.shared.look_ups).push_back(status);
    }

    /// The next `POST` is acted on, and its answer held back.
    #[must_use]
    pub fn hold_next(&self) -> Held {
        let (held, hold) = Held::new();
        lock(&self.shared.fates).push_back(Fate::HeldAfter(hold));
        held
    }

    /// The next `POST` is held back before it is acted on. It is acted on when it is let go, also when nobody waits
    /// any more.
    #[must_use]
    pub fn hold_next_before_acting(&self) -> Held {
        let (held, hold) = Held::new();
        lock(&self.shared.fates).push_back(Fate::HeldBefore(hold));
        held
    }

    /// Takes every answer this long.
    pub fn take_time(&self, pause: Duration) {
        *lock(&self.shared.pause) = pause;
    }

    /// Sends this `Retry-After` with every answer.
    pub fn retry_after(&self, text: &str) {
        *lock(&self.shared.retry_after) = Some(text.to_owned());
    }

    /// Whether its look-ups do not show yet what it did.
    pub fn be_behind(&self, is_behind: bool) {
        *lock(&self.shared.is_behind) = is_behind;
    }

    /// Stops it and cuts what is under way.
    pub async fn shutdown(mut self) {
        self.serving.shutdown().await;
    }
}

impl fmt::Debug for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Destination")
            .field("kind", &self.shared.kind)
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seen")
            .field("method", &self.method)
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

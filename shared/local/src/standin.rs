//! A small stand-in of a provider's read API: it shows what it is told to show, fails when it is told
//! to, and can hold an answer back, so that a read becomes old on its way. It knows no provider.

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode, Uri},
    response::{IntoResponse, Response},
};
use tokio::sync::{Notify, oneshot};

use crate::loopback::{Served, serve};

/// What the stand-in shows at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// An object.
    Object(String),
    /// An answer with this status, and no object.
    Status(u16),
}

#[derive(Default)]
struct Shared {
    shown: Mutex<HashMap<String, Shown>>,
    reads: Mutex<HashMap<String, u64>>,
    holds: Mutex<HashMap<String, Vec<Hold>>>,
    pause: Mutex<Duration>,
    credentials: Mutex<Vec<String>>,
}

/// The other end of a [`Held`].
pub(crate) struct Hold {
    reached: Arc<Notify>,
    released: oneshot::Receiver<()>,
}

impl Hold {
    /// Says that it is reached, and waits until it is let go, or until the test is over.
    pub(crate) async fn wait(self) {
        self.reached.notify_one();
        self.released.await.unwrap_or(());
    }
}

/// An answer that is held back: its content is already what it will be.
pub struct Held {
    reached: Arc<Notify>,
    release: oneshot::Sender<()>,
}

impl Held {
    pub(crate) fn new() -> (Self, Hold) {
        let (release, released) = oneshot::channel();
        let reached = Arc::new(Notify::new());
        let hold = Hold {
            reached: Arc::clone(&reached),
            released,
        };
        (Self { reached, release }, hold)
    }

    /// Waits until a read has come and its answer is fixed.
    pub async fn reached(&self) {
        self.reached.notified().await;
    }

    /// Lets the answer go.
    pub fn release(self) {
        // The reader may be gone meanwhile; then nobody waits for the answer.
        self.release.send(()).unwrap_or(());
    }
}

/// A running stand-in.
pub struct StandIn {
    served: Served,
    shared: Arc<Shared>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl StandIn {
    /// Starts on a free port.
    /// # Errors
    /// When no port can be opened.
    pub async fn start() -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let router = Router::new()
            .fallback(answer)
            .with_state(Arc::clone(&shared));
        let served = serve(0, router).await?;
        Ok(Self { served, shared })
    }

    /// Where it listens.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.served.address())
    }

    /// Shows an object at a path from now on.
    pub fn show(&self, path: &str, object: impl Into<String>) {
        lock(&self.shared.shown).insert(path.to_owned(), Shown::Object(object.into()));
    }

    /// Answers a path with a bare status from now on.
    pub fn answer_with(&self, path: &str, status: u16) {
        lock(&self.shared.shown).insert(path.to_owned(), Shown::Status(status));
    }

    /// Takes every answer this long.
    pub fn take_time(&self, pause: Duration) {
        *lock(&self.shared.pause) = pause;
    }

    /// Holds the next answer of a path back; what it will say is fixed when the read comes.
    #[must_use]
    pub fn hold_next(&self, path: &str) -> Held {
        let (held, hold) = Held::new();
        lock(&self.shared.holds)
            .entry(path.to_owned())
            .or_default()
            .push(hold);
        held
    }

    /// How many reads a path had.
    #[must_use]
    pub fn reads_of(&self, path: &str) -> u64 {
        lock(&self.shared.reads)
            .get(path)
            .copied()
            .unwrap_or_default()
    }

    /// How many reads there were in all.
    #[must_use]
    pub fn reads(&self) -> u64 {
        lock(&self.shared.reads).values().sum()
    }

    /// The credentials that the reads came with, in order.
    #[must_use]
    pub fn credentials(&self) -> Vec<String> {
        lock(&self.shared.credentials).clone()
    }
}

async fn answer(State(shared): State<Arc<Shared>>, headers: HeaderMap, uri: Uri) -> Response {
    let path = uri.path().to_owned();
    *lock(&shared.reads).entry(path.clone()).or_default() += 1;
    let credential = headers.get("authorization").and_then(|v| v.to_str().ok());
    lock(&shared.credentials).push(credential.unwrap_or_default().to_owned());
    // What the answer says is what is true now, however long it then takes.
    let shown = lock(&shared.shown).get(&path).cloned();
    let hold = lock(&shared.holds).get_mut(&path).and_then(Vec::pop);
    let pause = *lock(&shared.pause);
    if let Some(hold) = hold {
        hold.wait().await;
    }
    tokio::time::sleep(pause).await;
    match shown {
        Some(Shown::Object(object)) => {
            ([("content-type", "application/json")], object).into_response()
        }
        Some(Shown::Status(status)) => StatusCode::from_u16(status)
            .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
            .into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

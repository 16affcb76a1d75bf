//! A Lambda Runtime API for one function: real binaries poll it; it may not start or end a process.
//!
//! Every process has an endpoint (a port) of its own over the function's one queue, so that it is known
//! which process took which invocation, and a death fails exactly what died with it.

use std::{
    collections::HashMap,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use axum::{
    Router,
    body::Bytes,
    extract::{DefaultBodyLimit, Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::Value;
use tokio::{
    sync::{Notify, mpsc, oneshot},
    time::timeout,
};

use crate::{
    function::{Function, FunctionError, function_arn, lost, request_id, timed_out},
    loopback::{self, Served},
};

/// The most a synchronous reply may weigh.
const MAXIMUM_REPLY: usize = 6 * 1024 * 1024;
/// How long an invocation waits for a process that takes it; a process may still be starting.
const START_PATIENCE: Duration = Duration::from_secs(30);

type Reply = Result<String, FunctionError>;

struct Waiting {
    id: String,
    payload: String,
    deadline: Duration,
    taken: oneshot::Sender<Arc<Marks>>,
    reply: oneshot::Sender<Reply>,
}

struct Taken {
    endpoint: Arc<Marks>,
    reply: oneshot::Sender<Reply>,
}

/// The invocations of one function that wait for a process, or for its reply.
pub(crate) struct Queue {
    name: String,
    sender: mpsc::UnboundedSender<Waiting>,
    receiver: tokio::sync::Mutex<mpsc::UnboundedReceiver<Waiting>>,
    taken: Mutex<HashMap<String, Taken>>,
}

impl Queue {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Waits for a process to take `payload`, then for its reply. The deadline runs from the taking.
    pub(crate) async fn call(&self, payload: String, deadline: Duration) -> Reply {
        let id = request_id();
        let (taken, taker) = oneshot::channel();
        let (reply, answer) = oneshot::channel();
        let waiting = Waiting { id: id.clone(), payload, deadline, taken, reply };
        self.sender.send(waiting).map_err(|_| lost("the Runtime API is gone"))?;
        let endpoint = match timeout(START_PATIENCE, taker).await {
            Err(_) => return Err(lost("no process took the invocation")),
            // Failed before it was taken: the reply says why.
            Ok(Err(_)) => return answer.await.unwrap_or_else(|_| Err(lost("dropped"))),
            Ok(Ok(endpoint)) => endpoint,
        };
        if let Ok(reply) = timeout(deadline, answer).await {
            reply.unwrap_or_else(|_| Err(lost("the process that took the invocation is gone")))
        } else {
            self.take_back(&id);
            endpoint.condemned.notify_one();
            Err(timed_out(deadline))
        }
    }

    async fn next(&self, endpoint: &Arc<Marks>) -> Option<(String, String, Duration)> {
        let mut receiver = self.receiver.lock().await;
        loop {
            let waiting = receiver.recv().await?;
            // A caller that went away needs no answer.
            if waiting.taken.send(Arc::clone(endpoint)).is_err() {
                continue;
            }
            let taken = Taken { endpoint: Arc::clone(endpoint), reply: waiting.reply };
            self.entries().insert(waiting.id.clone(), taken);
            return Some((waiting.id, waiting.payload, waiting.deadline));
        }
    }

    fn entries(&self) -> std::sync::MutexGuard<'_, HashMap<String, Taken>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_back(&self, id: &str) -> Option<Taken> {
        self.entries().remove(id)
    }

    fn answer(&self, id: &str, reply: Reply) -> StatusCode {
        match self.take_back(id) {
            None => StatusCode::BAD_REQUEST,
            Some(taken) => {
                taken.endpoint.first_response.get_or_init(Instant::now);
                // The caller may have given up meanwhile; the process did its part.
                drop(taken.reply.send(reply));
                StatusCode::ACCEPTED
            }
        }
    }

    /// Fails what `endpoint` had taken.
    fn abandon(&self, endpoint: &Arc<Marks>, reason: &str) {
        let mine: Vec<Taken> =
            self.entries().extract_if(|_, t| Arc::ptr_eq(&t.endpoint, endpoint)).map(|e| e.1).collect();
        for taken in mine {
            drop(taken.reply.send(Err(lost(reason))));
        }
    }

    /// Fails what nobody has taken: a function that cannot start answers nobody.
    fn fail_waiting(&self, reason: &str) {
        // A held lock means that another process waits for work, so nothing else waits.
        let Ok(mut receiver) = self.receiver.try_lock() else { return };
        while let Ok(waiting) = receiver.try_recv() {
            drop(waiting.reply.send(Err(FunctionError::failed(reason))));
        }
    }
}

/// What is known of one process, for a cold-start bench.
#[derive(Debug, Default)]
struct Marks {
    first_next: OnceLock<Instant>,
    first_response: OnceLock<Instant>,
    init_error: OnceLock<String>,
    condemned: Notify,
}

/// The Runtime API of one function.
#[derive(Clone)]
pub struct RuntimeApi {
    queue: Arc<Queue>,
}

impl RuntimeApi {
    /// An empty queue for the function `name`.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        Self {
            queue: Arc::new(Queue {
                name: name.into(),
                sender,
                receiver: tokio::sync::Mutex::new(receiver),
                taken: Mutex::default(),
            }),
        }
    }

    /// The function's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.queue.name()
    }

    /// The handle that callers invoke.
    #[must_use]
    pub fn function(&self) -> Function {
        Function::polled(Arc::clone(&self.queue))
    }

    /// Opens a port for one process (`AWS_LAMBDA_RUNTIME_API`).
    ///
    /// # Errors
    /// When no port can be opened.
    pub async fn endpoint(&self) -> io::Result<Endpoint> {
        let marks = Arc::new(Marks::default());
        let shared = Shared { queue: Arc::clone(&self.queue), marks: Arc::clone(&marks) };
        let served = loopback::serve(0, routes(shared)).await?;
        Ok(Endpoint { served, marks, queue: Arc::clone(&self.queue) })
    }
}

/// One process's door to the queue. Dropping it fails what the process had taken.
pub struct Endpoint {
    served: Served,
    marks: Arc<Marks>,
    queue: Arc<Queue>,
}

impl Endpoint {
    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.served.address()
    }

    /// When the process first asked for work: its initialisation is over.
    #[must_use]
    pub fn first_next(&self) -> Option<Instant> {
        self.marks.first_next.get().copied()
    }

    /// When the process first answered.
    #[must_use]
    pub fn first_response(&self) -> Option<Instant> {
        self.marks.first_response.get().copied()
    }

    /// What the process said when it could not start.
    #[must_use]
    pub fn init_error(&self) -> Option<&str> {
        self.marks.init_error.get().map(String::as_str)
    }

    /// Resolves when the process has overrun a deadline and must end, as an environment would.
    pub async fn condemned(&self) {
        self.marks.condemned.notified().await;
    }

    /// Fails what the process had taken, because it is gone.
    pub fn abandon(&self, reason: &str) {
        self.queue.abandon(&self.marks, reason);
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.abandon("the process that took the invocation is gone");
    }
}

#[derive(Clone)]
struct Shared {
    queue: Arc<Queue>,
    marks: Arc<Marks>,
}

fn routes(shared: Shared) -> Router {
    Router::new()
        .route("/2018-06-01/runtime/invocation/next", get(next))
        .route("/2018-06-01/runtime/invocation/{id}/response", post(response))
        .route("/2018-06-01/runtime/invocation/{id}/error", post(error))
        .route("/2018-06-01/runtime/init/error", post(init_error))
        .layer(DefaultBodyLimit::max(MAXIMUM_REPLY))
        .with_state(shared)
}

async fn next(State(shared): State<Shared>) -> Response {
    shared.marks.first_next.get_or_init(Instant::now);
    let Some((id, payload, deadline)) = shared.queue.next(&shared.marks).await else {
        return StatusCode::GONE.into_response();
    };
    let until = (SystemTime::now() + deadline).duration_since(UNIX_EPOCH).unwrap_or_default();
    let root = format!("Root=1-{:08x}-{:024x};Sampled=0", until.as_secs(), fastrand::u128(..) >> 32);
    let headers = [
        ("lambda-runtime-aws-request-id", id),
        ("lambda-runtime-deadline-ms", until.as_millis().to_string()),
        ("lambda-runtime-invoked-function-arn", function_arn(shared.queue.name())),
        ("lambda-runtime-trace-id", root),
        ("content-type", "application/json".to_owned()),
    ];
    (headers, payload).into_response()
}

async fn response(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    body: Result<Bytes, axum::extract::rejection::BytesRejection>,
) -> Response {
    let Ok(body) = body else {
        let refused = FunctionError::failed("the reply is larger than 6 MB");
        shared.queue.answer(&id, Err(refused));
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let reply = String::from_utf8(body.into())
        .map_err(|_| FunctionError::failed("the reply is not UTF-8"));
    status(shared.queue.answer(&id, reply))
}

async fn error(State(shared): State<Shared>, Path(id): Path<String>, body: Bytes) -> Response {
    status(shared.queue.answer(&id, Err(FunctionError::failed(describe(&body)))))
}

async fn init_error(State(shared): State<Shared>, body: Bytes) -> Response {
    let reason = describe(&body);
    shared.queue.fail_waiting(&format!("could not start: {reason}"));
    shared.marks.init_error.get_or_init(|| reason);
    status(StatusCode::ACCEPTED)
}

fn status(code: StatusCode) -> Response {
    let body = if code == StatusCode::ACCEPTED {
        r#"{"status":"OK"}"#
    } else {
        r#"{"errorType":"InvalidRequestID","errorMessage":"Invalid request ID"}"#
    };
    (code, [("content-type", "application/json")], body).into_response()
}

fn describe(body: &[u8]) -> String {
    let error: Value = serde_json::from_slice(body).unwrap_or_default();
    let text = |name| error.get(name).and_then(Value::as_str).unwrap_or("unknown");
    format!("{}: {}", text("errorType"), text("errorMessage"))
}

//! Answers EventBridge `PutEvents` and remembers what came; knows no rule, no target and no other call.

use std::{
    collections::VecDeque,
    fmt, io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::post,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::loopback::{self, Served};

/// The most entries that one call may have.
const MOST_ENTRIES: usize = 10;
/// The most bytes that they may have together: 1 MB since January 2026.
const MOST_BYTES: usize = 1024 * 1024;
/// A longer type is taken and then dropped, without a word, as in the cloud.
const MOST_TYPE: usize = 128;

/// An event that the bus took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BusEntry {
    /// Who it is from.
    pub source: String,
    /// What consumers choose it by.
    pub detail_type: String,
    /// A JSON object, as text.
    pub detail: String,
}

type Hearer = Arc<dyn Fn(&BusEntry) + Send + Sync>;

#[derive(Default)]
struct Shared {
    entries: Mutex<Vec<BusEntry>>,
    /// Codes for the next entries.
    failing: Mutex<VecDeque<String>>,
    /// Statuses and codes for the next whole calls.
    refusing: Mutex<VecDeque<(u16, String)>>,
    calls: Mutex<Vec<usize>>,
    hearer: Option<Hearer>,
}

/// An event bus on loopback. Dropping it stops it.
pub struct Bus {
    shared: Arc<Shared>,
    served: Served,
}

impl Bus {
    /// Serves on a free port.
    ///
    /// # Errors
    /// When no port can be opened.
    pub async fn start() -> io::Result<Self> {
        Self::serve(None).await
    }

    /// Serves on a free port and hands each event that it took to `hearer`, once, in order of arrival. It
    /// may not ask the bus anything: that waits for it.
    ///
    /// # Errors
    /// When no port can be opened.
    pub async fn start_heard_by(
        hearer: impl Fn(&BusEntry) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Self::serve(Some(Arc::new(hearer))).await
    }

    async fn serve(hearer: Option<Hearer>) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            hearer,
            ..Shared::default()
        });
        let router = Router::new()
            .route("/", post(answer))
            // Its own limit is told by the answer.
            .layer(axum::extract::DefaultBodyLimit::max(4 * MOST_BYTES))
            .with_state(Arc::clone(&shared));
        let served = loopback::serve(0, router).await?;
        Ok(Self { shared, served })
    }

    /// The endpoint (`AWS_ENDPOINT_URL_EVENTBRIDGE`).
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.served.address())
    }

    /// What it took, in order of arrival.
    #[must_use]
    pub fn entries(&self) -> Vec<BusEntry> {
        lock(&self.shared.entries).clone()
    }

    /// How many entries each call had, in order of arrival.
    #[must_use]
    pub fn calls(&self) -> Vec<usize> {
        lock(&self.shared.calls).clone()
    }

    /// Fails the next `count` entries with this code, inside an answer of 200, as the cloud does.
    pub fn fail_next(&self, count: usize, code: &str) {
        let codes = std::iter::repeat_n(code.to_owned(), count);
        lock(&self.shared.failing).extend(codes);
    }

    /// Answers the next whole call with this status and code.
    pub fn refuse_next(&self, status: u16, code: &str) {
        lock(&self.shared.refusing).push_back((status, code.to_owned()));
    }

    /// Stops it.
    pub async fn shutdown(self) {
        self.served.shutdown().await;
    }
}

impl fmt::Debug for Bus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bus")
            .field("address", &self.served.address())
            .finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Request {
    entries: Vec<Asked>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Asked {
    source: Option<String>,
    detail_type: Option<String>,
    detail: Option<String>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn answer(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    let target = headers
        .get("x-amz-target")
        .and_then(|value| value.to_str().ok());
    if target != Some("AWSEvents.PutEvents") {
        return refuse(400, "UnknownOperationException");
    }
    let Ok(request) = serde_json::from_slice::<Request>(&body) else {
        return refuse(400, "SerializationException");
    };
    lock(&shared.calls).push(request.entries.len());
    let refusal = lock(&shared.refusing).pop_front();
    if let Some((status, code)) = refusal {
        return refuse(status, &code);
    }
    if !(1..=MOST_ENTRIES).contains(&request.entries.len()) {
        return refuse(400, "ValidationException");
    }
    let of = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let bytes = |entry: &Asked| of(&entry.source) + of(&entry.detail_type) + of(&entry.detail);
    if request.entries.iter().map(bytes).sum::<usize>() > MOST_BYTES {
        return refuse(413, "RequestEntityTooLargeException");
    }
    let told: Vec<_> = request
        .entries
        .into_iter()
        .map(|entry| take(&shared, entry))
        .collect();
    let failed = told.iter().filter(|one| one["EventId"].is_null()).count();
    let told = json!({ "FailedEntryCount": failed, "Entries": told });
    reply(StatusCode::OK, &told)
}

/// What becomes of one entry.
fn take(shared: &Shared, asked: Asked) -> Value {
    let failure = |code: &str| json!({ "ErrorCode": code, "ErrorMessage": "told to fail" });
    let told = lock(&shared.failing).pop_front();
    if let Some(code) = told {
        return failure(&code);
    }
    let (Some(source), Some(detail_type), Some(detail)) =
        (asked.source, asked.detail_type, asked.detail)
    else {
        return failure("InvalidArgument");
    };
    if !serde_json::from_str::<Value>(&detail).is_ok_and(|detail| detail.is_object()) {
        return failure("MalformedDetail");
    }
    let number = {
        let mut entries = lock(&shared.entries);
        if detail_type.chars().count() <= MOST_TYPE {
            let entry = BusEntry {
                source,
                detail_type,
                detail,
            };
            entries.push(entry.clone());
            if let Some(hear) = &shared.hearer {
                hear(&entry);
            }
        }
        entries.len()
    };
    json!({ "EventId": format!("00000000-0000-0000-0000-{number:012}") })
}

fn refuse(status: u16, kind: &str) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    reply(
        status,
        &json!({ "__type": kind, "message": "told to refuse" }),
    )
}

fn reply(status: StatusCode, body: &Value) -> Response {
    (
        status,
        [("content-type", "application/x-amz-json-1.1")],
        body.to_string(),
    )
        .into_response()
}

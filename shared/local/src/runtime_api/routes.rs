//! The paths of the Runtime API for one process; may not decide what becomes of an invocation.

use std::{
    sync::Arc,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use axum::{
    Router,
    body::Bytes,
    extract::{DefaultBodyLimit, Path, State, rejection::BytesRejection},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::Value;

use super::queue::{Marks, Queue};
use crate::function::{FunctionError, function_arn};

/// The most a synchronous reply may weigh.
const MAXIMUM_REPLY: usize = 6 * 1024 * 1024;

#[derive(Clone)]
pub(super) struct Shared {
    pub(super) queue: Arc<Queue>,
    pub(super) marks: Arc<Marks>,
}

pub(super) fn routes(shared: Shared) -> Router {
    Router::new()
        .route("/2018-06-01/runtime/invocation/next", get(next))
        .route(
            "/2018-06-01/runtime/invocation/{id}/response",
            post(response),
        )
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
    let until = (SystemTime::now() + deadline)
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let root = format!(
        "Root=1-{:08x}-{:024x};Sampled=0",
        until.as_secs(),
        fastrand::u128(..) >> 32
    );
    let headers = [
        ("lambda-runtime-aws-request-id", id),
        ("lambda-runtime-deadline-ms", until.as_millis().to_string()),
        (
            "lambda-runtime-invoked-function-arn",
            function_arn(shared.queue.name()),
        ),
        ("lambda-runtime-trace-id", root),
        ("content-type", "application/json".to_owned()),
    ];
    (headers, payload).into_response()
}

async fn response(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let Ok(body) = body else {
        let refused = FunctionError::failed("the reply is larger than 6 MB");
        shared.queue.answer(&id, Err(refused));
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let reply =
        String::from_utf8(body.into()).map_err(|_| FunctionError::failed("the reply is not UTF-8"));
    status(shared.queue.answer(&id, reply))
}

async fn error(State(shared): State<Shared>, Path(id): Path<String>, body: Bytes) -> Response {
    status(
        shared
            .queue
            .answer(&id, Err(FunctionError::failed(describe(&body)))),
    )
}

async fn init_error(State(shared): State<Shared>, body: Bytes) -> Response {
    let reason = describe(&body);
    shared
        .queue
        .fail_waiting(&format!("could not start: {reason}"));
    shared.marks.init_error.get_or_init(|| reason);
    status(true)
}

fn status(known: bool) -> Response {
    let (code, body) = if known {
        (StatusCode::ACCEPTED, r#"{"status":"OK"}"#)
    } else {
        let body = r#"{"errorType":"InvalidRequestID","errorMessage":"Invalid request ID"}"#;
        (StatusCode::BAD_REQUEST, body)
    };
    (code, [("content-type", "application/json")], body).into_response()
}

fn describe(body: &[u8]) -> String {
    let error: Value = serde_json::from_slice(body).unwrap_or_default();
    let text = |name| error.get(name).and_then(Value::as_str).unwrap_or("unknown");
    format!("{}: {}", text("errorType"), text("errorMessage"))
}

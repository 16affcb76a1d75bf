//! A real HTTP server that turns requests into API Gateway events and replies back; decides nothing.
//!
//! It speaks the HTTP API's payload format 2.0 and keeps its limits, so that a function meets here what it
//! will meet in the cloud: 10 MB per request, 6 MB per event, 30 seconds per answer.

mod reply;
mod request;

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{ConnectInfo, Request, State},
    http::{StatusCode, header::CONTENT_LENGTH},
    response::{IntoResponse, Response},
};
use tokio::time::timeout;

use crate::{
    function::Function,
    loopback::{self, Served},
};

/// The largest request the gateway takes.
pub const LARGEST_REQUEST: usize = 10 * 1024 * 1024;
/// The largest event a function can be invoked with.
pub const LARGEST_EVENT: usize = 6 * 1024 * 1024;

/// What to serve.
pub struct GatewayConfig {
    /// The port; 0 is any free one.
    pub port: u16,
    /// Gets every request that no extra route takes.
    pub function: Function,
    /// The function's own deadline: past it, the answer is 500.
    pub function_timeout: Duration,
    /// The gateway's patience: past it, the answer is 504.
    pub timeout: Duration,
    /// Routes that are answered without the function. Must not have a fallback of their own.
    pub extra: Option<Router>,
}

impl GatewayConfig {
    /// `function` behind a free port, with the cloud's limits.
    #[must_use]
    pub fn new(function: Function) -> Self {
        Self {
            port: 0,
            function,
            function_timeout: Duration::from_secs(29),
            timeout: Duration::from_secs(30),
            extra: None,
        }
    }
}

/// A running gateway. Dropping it stops it.
pub struct Gateway {
    served: Served,
}

impl Gateway {
    /// Serves on loopback.
    ///
    /// # Errors
    /// When the port is taken.
    pub async fn start(config: GatewayConfig) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            function: config.function,
            function_timeout: config.function_timeout,
            timeout: config.timeout,
        });
        let mine = Router::new().fallback(answer).with_state(shared);
        let router = config.extra.unwrap_or_default().merge(mine);
        Ok(Self {
            served: loopback::serve(config.port, router).await?,
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.served.address()
    }

    /// Where it listens, for people and clients.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// Stops accepting and lets running requests end.
    pub async fn shutdown(self) {
        self.served.shutdown().await;
    }
}

struct Shared {
    function: Function,
    function_timeout: Duration,
    timeout: Duration,
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let announced = parts
        .headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse().ok());
    if announced.is_some_and(|length: u64| length > LARGEST_REQUEST as u64) {
        return too_long();
    }
    let Ok(body) = to_bytes(body, LARGEST_REQUEST).await else {
        return too_long();
    };
    let event = request::event(&parts, &body, peer);
    if event.len() > LARGEST_EVENT {
        return message(StatusCode::PAYLOAD_TOO_LARGE, "Request Too Long");
    }
    match timeout(
        shared.timeout,
        shared.function.invoke(event, shared.function_timeout),
    )
    .await
    {
        Err(_) => message(StatusCode::GATEWAY_TIMEOUT, "Endpoint request timed out"),
        Ok(Err(_)) => failed(),
        Ok(Ok(text)) => reply::response(&text).unwrap_or_else(failed),
    }
}

fn too_long() -> Response {
    let text = format!("HTTP content length exceeded {LARGEST_REQUEST} bytes.");
    (
        StatusCode::PAYLOAD_TOO_LARGE,
        [("content-type", "text/plain")],
        text,
    )
        .into_response()
}

fn failed() -> Response {
    message(StatusCode::INTERNAL_SERVER_ERROR, "Internal Server Error")
}

fn message(status: StatusCode, text: &str) -> Response {
    let body = Body::from(format!(r#"{{"message":"{text}"}}"#));
    (status, [("content-type", "application/json")], body).into_response()
}

//! A model on loopback: says what it is told to, and remembers what it heard.

use std::future::pending;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// What it says to every question.
#[derive(Clone)]
pub enum Says {
    Answer(u16, String),
    /// It hears, and never answers.
    Nothing,
}

#[derive(Clone)]
pub struct Heard {
    pub line: String,
    pub authorization: String,
    pub body: serde_json::Value,
}

/// Dropping it stops it.
pub struct StandIn {
    port: u16,
    heard: Arc<Mutex<Vec<Heard>>>,
    task: JoinHandle<()>,
}

impl StandIn {
    pub async fn start(says: Says) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let ears = Arc::clone(&heard);
        let router = Router::new().fallback(move |request: Request| answer(request, says, ears));
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { port, heard, task }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap().clone()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(
    request: Request,
    says: Says,
    ears: Arc<Mutex<Vec<Heard>>>,
) -> (StatusCode, [(&'static str, &'static str); 1], String) {
    let line = format!("{} {}", request.method(), request.uri());
    let authorization = request.headers().get("authorization");
    let authorization = authorization
        .map_or("", |value| value.to_str().unwrap())
        .to_owned();
    let body = axum::body::to_bytes(request.into_body(), 1 << 20)
        .await
        .unwrap();
    ears.lock().unwrap().push(Heard {
        line,
        authorization,
        body: serde_json::from_slice(&body).unwrap(),
    });
    match says {
        Says::Answer(status, body) => {
            let status = StatusCode::from_u16(status).unwrap();
            (status, [("content-type", "application/json")], body)
        }
        Says::Nothing => pending().await,
    }
}

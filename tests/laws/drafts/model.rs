//! A model that misbehaves as it is told, on loopback, and remembers what it was asked.

use std::future::pending;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use lastword_draft::Model;
use lastword_draft::asking::{Endpoint, OpenAi};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

#[derive(Clone)]
pub enum Says {
    Text(String),
    Status(u16),
    Nothing,
}

/// Dropping it stops it.
pub struct StandIn {
    url: String,
    asked: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl StandIn {
    /// Says these one after the other, and then the last of them again.
    pub async fn start(says: Vec<Says>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let ears = Arc::clone(&asked);
        let router = Router::new().fallback(async move |question: String| {
            let turn = {
                let mut ears = ears.lock().unwrap();
                ears.push(question);
                ears.len() - 1
            };
            match &says[turn.min(says.len() - 1)] {
                Says::Status(status) => StatusCode::from_u16(*status).unwrap().into_response(),
                Says::Nothing => pending().await,
                Says::Text(text) => json!({
                    "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]
                })
                .to_string()
                .into_response(),
            }
        });
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, asked, task }
    }

    pub fn model(&self) -> Model {
        let endpoint = Endpoint::parse(&format!("{}#small", self.url)).unwrap();
        Model::OpenAi(Box::new(OpenAi::new(endpoint, None).unwrap()))
    }

    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.task.abort();
    }
}

//! The stand-in's own side: what it does with a request, and what it answers.

use std::{io, sync::Arc};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpListener, task::JoinSet};

use super::{Fate, Kind, Seen, Shared, lock};

/// The status of an answer when nothing else is said.
const TAKEN: u16 = 201;

pub(super) async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                let shared = Arc::clone(&shared);
                let service = service_fn(move |request| serve(Arc::clone(&shared), request));
                connections.spawn(async move {
                    // A broken connection is the caller's to notice.
                    drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// An error here drops the connection without an answer.
async fn serve(
    shared: Arc<Shared>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, io::Error> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let seen = Seen {
        method: head.method,
        path: head.uri.to_string(),
        headers: head.headers,
        body: String::from_utf8_lossy(&body).into_owned(),
    };
    // In a task of its own: a caller who hangs up does not keep it from acting.
    let done = tokio::spawn(async move {
        lock(&shared.seen).push(seen.clone());
        let told = if seen.method == Method::POST {
            shared.post(&seen).await
        } else {
            Some(shared.get(&seen.path))
        };
        let pause = *lock(&shared.pause);
        tokio::time::sleep(pause).await;
        told.map(|(status, body)| shared.reply(status, body))
    });
    match done.await {
        Ok(Some(reply)) => Ok(reply),
        Ok(None) => Err(io::Error::other("told to drop the connection")),
        Err(stopped) => Err(io::Error::other(stopped)),
    }
}

impl Shared {
    async fn post(&self, seen: &Seen) -> Option<(u16, String)> {
        let fate = lock(&self.fates).pop_front();
        let (act, status, after) = match fate {
            None => (true, Some(TAKEN), None),
            Some(Fate::Told { act, status }) => (act, status, None),
            Some(Fate::HeldAfter(hold)) => (true, Some(TAKEN), Some(hold)),
            Some(Fate::HeldBefore(hold)) => {
                hold.wait().await;
                (true, Some(TAKEN), None)
            }
        };
        if act {
            self.act(&seen.headers);
        }
        if let Some(hold) = after {
            hold.wait().await;
        }
        status.map(|status| (status, "{\"private\":\"answer\"}".to_owned()))
    }

    fn act(&self, headers: &HeaderMap) {
        let key = headers.get("idempotency-key");
        let key = key.and_then(|key| key.to_str().ok()).unwrap_or_default();
        let mut actions = lock(&self.actions);
        let count = actions.entry(key.to_owned()).or_default();
        match self.kind {
            Kind::Idempotent => *count = 1,
            Kind::LookUp | Kind::Plain => *count += 1,
        }
    }

    fn get(&self, path: &str) -> (u16, String) {
        let none = || (404, String::new());
        if let Some(status) = lock(&self.look_ups).pop_front() {
            return (status, String::new());
        }
        let Some((place, key)) = path.split_once("?key=") else {
            return none();
        };
        let known = lock(&self.actions).contains_key(key) && !*lock(&self.is_behind);
        match (self.kind, place) {
            (Kind::LookUp, "/messages") if known => (200, format!("{{\"key\":\"{key}\"}}")),
            (Kind::LookUp, "/search") if known => {
                (200, format!("{{\"data\":[{{\"key\":\"{key}\"}}]}}"))
            }
            (Kind::LookUp, "/search") => (200, "{\"data\":[]}".to_owned()),
            (Kind::LookUp | Kind::Idempotent | Kind::Plain, _) => none(),
        }
    }

    fn reply(&self, status: u16, body: String) -> Response<Full<Bytes>> {
        let mut response = Response::builder().status(status);
        if let Some(pause) = lock(&self.retry_after).as_ref() {
            response = response.header("retry-after", pause.as_str());
        }
        let broken = |_| {
            Response::new(Full::from(
                "the stand-in was told something that is no answer",
            ))
        };
        response.body(Full::from(body)).unwrap_or_else(broken)
    }
}

//! One HTTP request on a connection of its own, and exactly how far it came.
//!
//! No connection is kept. One that has died while it was idle, or while the process was frozen, shows itself only
//! after a request was written to it, and that would make an unknown out of what was never sent. A connection for each
//! request costs a handshake; the certainty is worth it. HTTP/1.1, rustls over ring, no redirect, no second attempt.

use std::convert::Infallible;
use std::error::Error;
use std::future::pending;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use http::response::Parts;
use http::{Request, Uri};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1::{Connection, SendRequest, handshake};
use hyper::rt::{Read, Write};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use rustls::crypto::ring;
use tokio::time::{Instant, timeout_at};
use tower_service::Service;

/// There is no TLS to be had from the library that was built in.
#[derive(Debug, thiserror::Error)]
#[error("no TLS client can be made")]
pub struct NoTls(#[from] rustls::Error);

/// How far a request came.
#[derive(Debug)]
#[must_use]
pub(crate) enum Exchanged {
    /// Nothing of it was written.
    NotBegun(String),
    /// It was written, at least in part, and no whole answer came.
    Lost(String),
    /// A whole head of an answer came, and its body as far as it was wanted.
    Answered(Parts, Body),
}

/// What was read of a body.
#[derive(Debug)]
#[must_use]
pub(crate) enum Body {
    /// Nobody asked for it.
    NotRead,
    /// All of it.
    Whole(Bytes),
    /// More than was wanted.
    TooLarge,
    /// The connection ended within it.
    Cut,
}

/// Opens connections; plain ones where the URL says http, which the configuration allows for this machine only.
#[derive(Clone)]
pub(crate) struct Wire(HttpsConnector<HttpConnector>);

type Opened<T> = (SendRequest<Full<Bytes>>, Connection<T, Full<Bytes>>);

impl Wire {
    pub(crate) fn new() -> Result<Self, NoTls> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        let connector = HttpsConnectorBuilder::new()
            .with_provider_and_webpki_roots(ring::default_provider())?
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        Ok(Self(connector))
    }

    /// Sends one request, in `time` at most; `most` bytes of the answer's body are read, or none of it.
    pub(crate) async fn exchange(
        &self,
        to: Uri,
        request: Request<Full<Bytes>>,
        time: Duration,
        most: Option<usize>,
    ) -> Exchanged {
        let deadline = Instant::now() + time;
        let (sender, connection) = match timeout_at(deadline, self.open(to)).await {
            Ok(Ok(opened)) => opened,
            Ok(Err(why)) => return Exchanged::NotBegun(why),
            Err(_elapsed) => return Exchanged::NotBegun("no connection in time".to_owned()),
        };
        // Driven here and not in a task: when this ends, also for lack of time, the connection ends with it.
        let driven = async move {
            // How it ended is told to whoever waits for the answer.
            drop(connection.await);
            pending::<Infallible>().await
        };
        let told = async {
            tokio::select! {
                exchanged = talk(sender, request, most) => exchanged,
                never = driven => match never {},
            }
        };
        match timeout_at(deadline, told).await {
            Ok(exchanged) => exchanged,
            Err(_elapsed) => Exchanged::Lost("no answer in time".to_owned()),
        }
    }

    /// Resolves, connects and shakes hands.
    async fn open(&self, to: Uri) -> Result<Opened<impl Read + Write + Unpin + Send>, String> {
        let connected = self.0.clone().call(to).await;
        let io = connected.map_err(|error| format!("no connection: {}", kind_of(&*error)))?;
        handshake(io)
            .await
            .map_err(|_| "no connection: not ready".to_owned())
    }
}

async fn talk(
    mut sender: SendRequest<Full<Bytes>>,
    request: Request<Full<Bytes>>,
    most: Option<usize>,
) -> Exchanged {
    let answer = match sender.try_send_request(request).await {
        Ok(answer) => answer,
        // The library gives a request back if, and only if, it has not begun to write it.
        Err(error) if error.message().is_some() => {
            return Exchanged::NotBegun("the connection was closed at once".to_owned());
        }
        Err(error) => return Exchanged::Lost(lost(error.error()).to_owned()),
    };
    let (head, body) = answer.into_parts();
    let body = match most {
        None => Body::NotRead,
        Some(most) => collect(body, most).await,
    };
    Exchanged::Answered(head, body)
}

async fn collect(body: Incoming, most: usize) -> Body {
    match Limited::new(body, most).collect().await {
        Ok(whole) => Body::Whole(whole.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Body::TooLarge,
        Err(_lost) => Body::Cut,
    }
}

fn lost(error: &hyper::Error) -> &'static str {
    if error.is_parse() {
        "the answer was not HTTP"
    } else {
        "the connection was lost before the answer"
    }
}

/// The innermost kind: TLS errors come wrapped in one that only says "other".
fn kind_of(error: &(dyn Error + Send + Sync + 'static)) -> io::ErrorKind {
    let mut kind = io::ErrorKind::Other;
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = next {
        let as_io = error.downcast_ref::<io::Error>();
        if let Some(found) = as_io {
            kind = found.kind();
        }
        // An io::Error's own source skips the error that it wraps.
        next = match as_io.and_then(io::Error::get_ref) {
            Some(wrapped) => Some(wrapped),
            None => error.source(),
        };
    }
    kind
}

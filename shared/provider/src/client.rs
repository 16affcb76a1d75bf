//! The one HTTP client under every read: HTTP/1.1, rustls over ring, one pool.
//!
//! It may not follow a redirect, because the key would travel with it, and it may not wait longer than
//! it is told. A read is sent a second time only if the connection was lost before an answer's head came:
//! the provider closes idle connections, and a frozen function learns of it too late. Reads change nothing,
//! so the repetition is safe; and both began after the caller loaded its revision (law 5).

use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use http::response::Parts;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Empty, LengthLimitError, Limited};
use hyper::body::{Body, Incoming};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error as ClientError};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use lastword_config::{Integration, SecretValue};
use lastword_contracts::FactRules;
use lastword_contracts::evidence::facts::ToldFact;
use lastword_domain::name::FactKind;
use lastword_domain::{EventIdentity, ResourceKey};
use rustls::crypto::ring;

use crate::answer::{Answer, Unreadable};
use crate::hosts::HostOverrides;
use crate::interpret::{self, interpret};
use crate::request::{Prepared, prepare, prepare_event};

/// How long a read may take in all, where the caller has no reason for another time.
pub const DEFAULT_PATIENCE: Duration = Duration::from_secs(5);

/// The most bytes of a body that are read.
pub const MOST_BYTES: usize = 8 * 1024 * 1024;

/// The time for TCP; the caller's patience covers TLS too.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// Shorter than the idle time after which the other side has closed the connection.
const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(15);

/// There is no TLS to be had from the library that was built in.
#[derive(Debug, thiserror::Error)]
#[error("no TLS client can be made")]
pub struct NoTls(#[from] rustls::Error);

/// Reads providers' objects. Made once per process; cheap to clone.
#[derive(Clone)]
pub struct ProviderClient {
    http: Client<HttpsConnector<HttpConnector>, Empty<Bytes>>,
    hosts: HostOverrides,
}

impl ProviderClient {
    /// Opens nothing before the first read.
    ///
    /// # Errors
    /// When the TLS library that was built in supports none of its own versions.
    pub fn new(hosts: HostOverrides) -> Result<Self, NoTls> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
        // Plain HTTP is spoken to an override only: without one, the request's scheme is https.
        let connector = HttpsConnectorBuilder::new()
            .with_provider_and_webpki_roots(ring::default_provider())?
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        let http = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(POOL_IDLE_TIMEOUT)
            .build(connector);
        Ok(Self { http, hosts })
    }

    /// Reads one object, in `patience` at most. `secret` is the key that reads the resource's account.
    pub async fn read(
        &self,
        integration: &Integration,
        secret: Option<&SecretValue>,
        resource: &ResourceKey,
        patience: Duration,
    ) -> Answer {
        let prepared = match prepare(&self.hosts, integration, secret, resource) {
            Ok(prepared) => prepared,
            Err(cause) => return cause.into(),
        };
        let Prepared {
            request,
            api,
            rules,
        } = prepared;
        match self.exchange(request, patience).await {
            Ok((head, body)) => {
                interpret(head.status, &head.headers, &body, api, rules, &resource.id)
            }
            Err(cause) => cause.into(),
        }
    }

    /// Reads one event by its id, for the fact that it tells.
    ///
    /// # Errors
    /// Any answer but the event; none of them says that it never was.
    pub async fn read_event(
        &self,
        integration: &Integration,
        secret: Option<&SecretValue>,
        event: &EventIdentity,
        (kind, rules): (&FactKind, &FactRules),
        patience: Duration,
    ) -> Result<ToldFact, Answer> {
        let prepared = prepare_event(&self.hosts, integration, secret, event, rules)?;
        let (head, body) = self.exchange(prepared.request, patience).await?;
        interpret::read(head.status, &head.headers, &body, prepared.api, |body| {
            prepared.rules.read_back(kind, &event.id, body)
        })
    }

    async fn exchange(
        &self,
        request: Request<Empty<Bytes>>,
        patience: Duration,
    ) -> Result<(Parts, Bytes), Unreadable> {
        let exchanged = async {
            let (head, body) = self.send(request).await?.into_parts();
            // Only a success is read on: what an error says about itself changes nothing.
            let body = if head.status == StatusCode::OK {
                collect(body).await?
            } else {
                Bytes::new()
            };
            Ok((head, body))
        };
        match tokio::time::timeout(patience, exchanged).await {
            Ok(exchanged) => exchanged,
            Err(_elapsed) => Err(Unreadable::Timeout),
        }
    }

    async fn send(&self, request: Request<Empty<Bytes>>) -> Result<Response<Incoming>, Unreadable> {
        let first = self.http.request(request.clone()).await;
        match first.map_err(|error| cause(&error)) {
            Err(Unreadable::Lost) => {
                let second = self.http.request(request).await;
                second.map_err(|error| cause(&error))
            }
            settled => settled,
        }
    }
}

impl fmt::Debug for ProviderClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderClient")
            .field("hosts", &self.hosts)
            .finish_non_exhaustive()
    }
}

/// The whole body, or none of it.
async fn collect(body: Incoming) -> Result<Bytes, Unreadable> {
    if usize::try_from(body.size_hint().lower()).map_or(true, |least| least > MOST_BYTES) {
        return Err(Unreadable::TooLarge);
    }
    match Limited::new(body, MOST_BYTES).collect().await {
        Ok(whole) => Ok(whole.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(Unreadable::TooLarge),
        Err(_lost) => Err(Unreadable::Lost),
    }
}

fn cause(error: &ClientError) -> Unreadable {
    if error.is_connect() {
        return Unreadable::Connect(kind_of(error));
    }
    let not_http = error
        .source()
        .and_then(|source| source.downcast_ref::<hyper::Error>())
        .is_some_and(hyper::Error::is_parse);
    if not_http {
        Unreadable::NotHttp
    } else {
        Unreadable::Lost
    }
}

/// The innermost kind: TLS errors come wrapped in one that only says "other".
fn kind_of(error: &ClientError) -> io::ErrorKind {
    let mut kind = io::ErrorKind::Other;
    let mut next: Option<&(dyn Error + 'static)> = error.source();
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

//! The one HTTP client under every SDK client: HTTP/1.1, rustls over ring, one pool, trust roots read only for TLS.
//!
//! The SDK's own client speaks HTTP/2 too, builds a TLS connector once more for every service client, and reads
//! the system's trust roots for it, even when all endpoints are plain HTTP. This one has two connectors, chosen by
//! the scheme of each request and built at the first request that needs them. It may not decide about retries
//! or the time of a call: that is the SDK client's part.

use std::error::Error;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient,
    SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector as Tcp;
use hyper_util::client::legacy::{self, Client};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, TrustAnchor};
use rustls::{ClientConfig, RootCertStore};

/// The time for TCP. A TLS handshake takes long on a small function; the timeout of the attempt bounds both.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// Shorter than the idle time after which the other side, or a freeze, has closed the connection.
const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(15);

/// Whose certificates are believed.
#[derive(Debug, Clone)]
pub(crate) enum Trust {
    /// The system's authorities.
    System,
    /// Only those of a PEM file, already checked.
    Bundle(Vec<u8>),
}

impl Trust {
    /// Reads a PEM file, and refuses one without a usable certificate: the connector would panic on it at
    /// the first request.
    pub(crate) fn from_file(path: &Path) -> Result<Self, String> {
        let pem = std::fs::read(path)
            .map_err(|problem| format!("the file cannot be read ({problem})"))?;
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(&pem) {
            let certificate =
                certificate.map_err(|problem| format!("the file is not PEM ({problem})"))?;
            roots
                .add(certificate)
                .map_err(|problem| format!("a certificate in it is broken ({problem})"))?;
        }
        if roots.is_empty() {
            return Err("the file holds no certificate".to_owned());
        }
        Ok(Self::Bundle(pem))
    }
}

/// Makes ring the TLS provider of this process, for whoever builds a TLS client without naming one.
/// May be called any number of times; the first provider installed stays.
pub(crate) fn install_crypto() {
    if CryptoProvider::get_default().is_some() {
        return;
    }
    match ring::default_provider().install_default() {
        Ok(()) => {}
        // Another thread was faster. There is a provider, which is all that is asked for.
        Err(_already_installed) => {}
    }
}

impl Trust {
    /// Those whose certificates are believed. What cannot be read among them is left out: fewer are believed.
    pub(crate) fn anchors(&self) -> Vec<TrustAnchor<'static>> {
        self.roots().roots
    }

    fn roots(&self) -> RootCertStore {
        let certificates: Vec<CertificateDer<'static>> = match self {
            Self::System => rustls_native_certs::load_native_certs().certs,
            Self::Bundle(pem) => CertificateDer::pem_slice_iter(pem)
                .filter_map(Result::ok)
                .collect(),
        };
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(certificates);
        roots
    }
}

/// A connector with its own pool.
pub(crate) fn connector_of(trust: Trust) -> SharedHttpConnector {
    install_crypto();
    SharedHttpConnector::new(ByScheme {
        trust,
        plain: OnceLock::new(),
        tls: OnceLock::new(),
    })
}

/// An HTTP client with its own pool. Opens and reads nothing before the first request.
pub(crate) fn http_client(trust: Trust) -> SharedHttpClient {
    SharedHttpClient::new(Transport {
        connector: connector_of(trust),
    })
}

/// Gives every SDK client the same connector, so that all of them share one pool whatever their timeouts.
#[derive(Debug)]
struct Transport {
    connector: SharedHttpConnector,
}

impl HttpClient for Transport {
    fn http_connector(
        &self,
        _: &HttpConnectorSettings,
        _: &RuntimeComponents,
    ) -> SharedHttpConnector {
        self.connector.clone()
    }
}

#[derive(Debug)]
struct ByScheme {
    trust: Trust,
    plain: OnceLock<Result<Http1, rustls::Error>>,
    tls: OnceLock<Result<Http1, rustls::Error>>,
}

impl HttpConnector for ByScheme {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let chosen = if request.uri().starts_with("https:") {
            self.tls.get_or_init(|| http1(self.trust.roots()))
        } else {
            // Believes nobody, so that a scheme spelled in an unforeseen way fails instead of passing.
            self.plain.get_or_init(|| http1(RootCertStore::empty()))
        };
        match chosen {
            Ok(client) => HttpConnectorFuture::new(send(client.clone(), request)),
            Err(problem) => {
                HttpConnectorFuture::ready(Err(ConnectorError::user(problem.to_string().into())))
            }
        }
    }
}

/// HTTP/1.1 and nothing else: what the services speak, in a third less of binary than with HTTP/2 beside it.
type Http1 = Client<HttpsConnector<Tcp>, SdkBody>;

fn http1(roots: RootCertStore) -> Result<Http1, rustls::Error> {
    let mut tcp = Tcp::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connector = HttpsConnectorBuilder::new()
        .with_tls_config(config)
        .https_or_http()
        .enable_http1()
        .wrap_connector(tcp);
    Ok(Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(POOL_IDLE_TIMEOUT)
        .build(connector))
}

async fn send(client: Http1, request: HttpRequest) -> Result<HttpResponse, ConnectorError> {
    let request = request
        .try_into_http1x()
        .map_err(|error| ConnectorError::user(error.into()))?;
    let response = client.request(request).await.map_err(failed)?;
    HttpResponse::try_from(response.map(SdkBody::from_body_1_x))
        .map_err(|error| ConnectorError::other(error.into(), None))
}

/// What a failure is to the SDK: it sends again what was not sent, or not answered.
fn failed(error: legacy::Error) -> ConnectorError {
    let timed_out = source::<std::io::Error>(&error)
        .is_some_and(|error| error.kind() == std::io::ErrorKind::TimedOut);
    if timed_out {
        return ConnectorError::timeout(error.into());
    }
    if error.is_connect() {
        return ConnectorError::io(error.into());
    }
    let Some(inner) = source::<hyper::Error>(&error) else {
        return ConnectorError::io(error.into());
    };
    if inner.is_timeout() {
        ConnectorError::timeout(error.into())
    } else if inner.is_user() {
        ConnectorError::user(error.into())
    } else if inner.is_parse() {
        ConnectorError::other(error.into(), None)
    } else {
        // The connection ended before the whole answer came.
        ConnectorError::io(error.into())
    }
}

fn source<'e, E: Error + 'static>(error: &'e (dyn Error + 'static)) -> Option<&'e E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<E>() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

#[cfg(test)]
mod tests;

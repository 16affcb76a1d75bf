//! The one HTTP client under every SDK client: rustls over ring, one pool, trust roots read only for TLS.
//!
//! The SDK's own client builds a TLS connector once more for every service client, and reads the system's
//! trust roots for it, even when all endpoints are plain HTTP. This one has two connectors, chosen by the
//! scheme of each request and built at the first request that needs them. It may not decide about retries
//! or the time of a call: that is the SDK client's part.

use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use aws_smithy_async::rt::sleep::TokioSleep;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_smithy_http_client::tls::{Provider, TlsContext, TrustStore};
use aws_smithy_http_client::{Connector, HttpClientError};
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient,
    SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use rustls::RootCertStore;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, TrustAnchor};

/// The time for TCP and TLS together. A handshake takes long on a small function; the timeout of the
/// attempt, where it is shorter, ends it sooner.
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

    fn store(&self) -> TrustStore {
        match self {
            Self::System => TrustStore::empty().with_native_roots(true),
            Self::Bundle(pem) => TrustStore::empty().with_pem_certificate(pem.clone()),
        }
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
        let certificates: Vec<CertificateDer<'static>> = match self {
            Self::System => rustls_native_certs::load_native_certs().certs,
            Self::Bundle(pem) => CertificateDer::pem_slice_iter(pem)
                .filter_map(Result::ok)
                .collect(),
        };
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(certificates);
        roots.roots
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
    plain: OnceLock<Result<Connector, HttpClientError>>,
    tls: OnceLock<Result<Connector, HttpClientError>>,
}

impl HttpConnector for ByScheme {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let chosen = if request.uri().starts_with("https:") {
            self.tls.get_or_init(|| connector(self.trust.store()))
        } else {
            // Believes nobody, so that a scheme spelled in an unforeseen way fails instead of passing.
            self.plain.get_or_init(|| connector(TrustStore::empty()))
        };
        match chosen {
            Ok(connector) => connector.call(request),
            Err(problem) => {
                HttpConnectorFuture::ready(Err(ConnectorError::user(problem.to_string().into())))
            }
        }
    }
}

fn connector(store: TrustStore) -> Result<Connector, HttpClientError> {
    let context = TlsContext::builder().with_trust_store(store).build()?;
    let settings = HttpConnectorSettings::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .build();
    Ok(Connector::builder()
        .connector_settings(settings)
        .sleep_impl(TokioSleep::new())
        .pool_idle_timeout(POOL_IDLE_TIMEOUT)
        .tls_provider(Provider::Rustls(CryptoMode::Ring))
        .tls_context(context)
        .build())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crypto_provider_can_be_installed_twice() {
        install_crypto();
        install_crypto();
        assert!(CryptoProvider::get_default().is_some());
    }

    #[test]
    fn a_bundle_without_a_certificate_is_refused_before_the_first_request() {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        let nothing = Trust::from_file(&manifest.join("Cargo.toml")).unwrap_err();
        assert!(nothing.contains("no certificate"), "{nothing}");
        let absent = Trust::from_file(&manifest.join("no-such-file.pem")).unwrap_err();
        assert!(absent.contains("cannot be read"), "{absent}");
    }
}

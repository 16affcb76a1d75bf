//! The HTTP client under the SDK: ring, one pool, a TLS connector made only when a request needs it.

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

pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

pub(crate) fn http_client() -> SharedHttpClient {
    // One provider for the process; a second one beside it would be an error of the build.
    drop(rustls::crypto::ring::default_provider().install_default());
    SharedHttpClient::new(Transport(SharedHttpConnector::new(ByScheme::default())))
}

#[derive(Debug)]
struct Transport(SharedHttpConnector);

impl HttpClient for Transport {
    fn http_connector(
        &self,
        _: &HttpConnectorSettings,
        _: &RuntimeComponents,
    ) -> SharedHttpConnector {
        self.0.clone()
    }
}

#[derive(Debug, Default)]
struct ByScheme {
    plain: OnceLock<Result<Connector, HttpClientError>>,
    tls: OnceLock<Result<Connector, HttpClientError>>,
}

impl HttpConnector for ByScheme {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let tls = request.uri().starts_with("https:");
        let held = if tls { &self.tls } else { &self.plain };
        match held.get_or_init(|| connector(tls)) {
            Ok(connector) => connector.call(request),
            Err(problem) => {
                HttpConnectorFuture::ready(Err(ConnectorError::user(problem.to_string().into())))
            }
        }
    }
}

fn connector(native_roots: bool) -> Result<Connector, HttpClientError> {
    let roots = TrustStore::empty().with_native_roots(native_roots);
    let context = TlsContext::builder().with_trust_store(roots).build()?;
    let settings = HttpConnectorSettings::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .build();
    Ok(Connector::builder()
        .connector_settings(settings)
        .sleep_impl(TokioSleep::new())
        .pool_idle_timeout(Duration::from_secs(15))
        .tls_provider(Provider::Rustls(CryptoMode::Ring))
        .tls_context(context)
        .build())
}

//! An HTTP client that sends nothing: it answers 200 `{}` at once, and remembers the last body it was given.

use std::sync::{Arc, Mutex, PoisonError};

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient,
    SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_runtime_api::http::StatusCode;
use aws_smithy_types::body::SdkBody;
use lastword_runtime::{ClientSettings, Clients, Endpoints, Patience};

/// The connector. Clones remember together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Noop {
    /// `None`: nothing is remembered, so that remembering costs nothing.
    seen: Option<Arc<Mutex<Vec<u8>>>>,
}

impl Noop {
    /// One that remembers.
    pub(crate) fn remembering() -> Self {
        Self {
            seen: Some(Arc::default()),
        }
    }

    /// The last request's body, when it remembers.
    pub(crate) fn last_body(&self) -> Vec<u8> {
        self.seen
            .as_ref()
            .map(|seen| seen.lock().unwrap_or_else(PoisonError::into_inner).clone())
            .unwrap_or_default()
    }

    /// SDK clients over it, made as a function makes them.
    pub(crate) fn clients(&self) -> Clients {
        let endpoints = Endpoints {
            dynamodb: Some("http://127.0.0.1:1".to_owned()),
            ..Endpoints::default()
        };
        Clients::new(ClientSettings {
            http: SharedHttpClient::new(self.clone()),
            ..ClientSettings::local(endpoints, Patience::ingest())
        })
    }
}

impl HttpClient for Noop {
    fn http_connector(
        &self,
        _: &HttpConnectorSettings,
        _: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for Noop {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        if let (Some(seen), Some(body)) = (&self.seen, request.body().bytes()) {
            body.clone_into(&mut seen.lock().unwrap_or_else(PoisonError::into_inner));
        }
        let status = StatusCode::try_from(200).expect("a status");
        HttpConnectorFuture::ready(Ok(HttpResponse::new(status, SdkBody::from("{}"))))
    }
}

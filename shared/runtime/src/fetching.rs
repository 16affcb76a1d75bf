//! One small public document over https: a certificate, a key. No redirect is followed, and only so much is
//! read.

use aws_smithy_runtime_api::client::http::{HttpConnector as _, SharedHttpConnector};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::byte_stream::ByteStream;
use rustls_pki_types::TrustAnchor;

use crate::environment::{StartError, process};
use crate::transport::{Trust, connector_of};

/// The most bytes of a document; a chain of certificates is below 20 KB.
const MOST_BYTES: usize = 64 * 1024;

/// Asks for documents.
#[derive(Debug, Clone)]
pub struct Fetcher {
    connector: SharedHttpConnector,
    trust: Trust,
}

impl Fetcher {
    /// Over a pool of its own, believing whom this process's environment says.
    ///
    /// # Errors
    /// When the environment names a bundle that cannot be used.
    pub fn from_env() -> Result<Self, StartError> {
        let trust = crate::clients::trust(&process)?;
        Ok(Self {
            connector: connector_of(trust.clone()),
            trust,
        })
    }

    /// The authorities that certificates must come from.
    #[must_use]
    pub fn anchors(&self) -> Vec<TrustAnchor<'static>> {
        self.trust.anchors()
    }

    /// A document; with `json` that is posted. The caller bounds the time.
    ///
    /// # Errors
    /// Says why there is none.
    pub async fn fetch(&self, url: &str, json: Option<&str>) -> Result<Vec<u8>, String> {
        let mut request = HttpRequest::new(match json {
            None => SdkBody::empty(),
            Some(json) => SdkBody::from(json),
        });
        request.set_uri(url).map_err(|error| error.to_string())?;
        if json.is_some() {
            request
                .set_method("POST")
                .map_err(|error| error.to_string())?;
            request
                .headers_mut()
                .insert("content-type", "application/json");
        }
        request.headers_mut().insert("accept-encoding", "identity");
        let response = self.connector.call(request).await;
        let response = response.map_err(|error| error.to_string())?;
        if !response.status().is_success() {
            return Err(format!("it was answered {}", response.status().as_u16()));
        }
        let mut body = ByteStream::new(response.into_body());
        let mut all = Vec::new();
        while let Some(chunk) = body.next().await {
            all.extend_from_slice(&chunk.map_err(|error| error.to_string())?);
            if all.len() > MOST_BYTES {
                return Err(format!("the answer has more than {MOST_BYTES} bytes"));
            }
        }
        Ok(all)
    }
}

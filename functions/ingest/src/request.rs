//! An API Gateway or function-URL event as the request it was: method, endpoint, query, headers, exact bytes.
//!
//! The event types are lambda_http's; its conversion into a request is not used, because it keeps only
//! the last of several headers of one name, and panics over malformed base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lambda_http::http::HeaderMap;
use lambda_http::request::LambdaRequest;
use lastword_contracts::Headers;

/// One delivery.
pub struct Delivery {
    /// `POST`, `GET` …
    pub method: String,
    /// What stands after `/webhooks/` in the path.
    pub endpoint: Option<String>,
    /// The query as it was sent, as far as the event keeps it so.
    pub query: String,
    /// All headers, all values.
    pub headers: Headers,
    /// The exact bytes.
    pub body: Vec<u8>,
}

/// Law 14: neither its body nor what its query or headers hold.
impl std::fmt::Debug for Delivery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} to {:?} of {} bytes",
            self.method,
            self.endpoint,
            self.body.len()
        )
    }
}

/// Why an event is no request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadEvent {
    /// Not an event of API Gateway or a function URL.
    #[error("the event is not an HTTP request of API Gateway or a function URL")]
    NotHttp,
    /// Flagged as base64, and it is not.
    #[error("the body is flagged as base64 and cannot be decoded")]
    Base64,
}

impl Delivery {
    /// Reads an event.
    ///
    /// # Errors
    /// When it is no request, or its body cannot be decoded.
    pub fn parse(event: &str) -> Result<Self, BadEvent> {
        let event: LambdaRequest = serde_json::from_str(event).map_err(|_| BadEvent::NotHttp)?;
        let (method, path, query, headers, body, encoded) = match event {
            LambdaRequest::ApiGatewayV2(event) => (
                event.request_context.http.method,
                event.raw_path.unwrap_or_default(),
                event.raw_query_string.unwrap_or_default(),
                all(&event.headers, None),
                event.body,
                event.is_base64_encoded,
            ),
            LambdaRequest::ApiGatewayV1(event) => {
                let several = event.multi_value_query_string_parameters;
                let query = if several.is_empty() {
                    written(event.query_string_parameters.iter())
                } else {
                    written(several.iter())
                };
                (
                    event.http_method,
                    event.path.unwrap_or_default(),
                    query,
                    all(&event.multi_value_headers, Some(&event.headers)),
                    event.body,
                    event.is_base64_encoded,
                )
            }
            _ => return Err(BadEvent::NotHttp),
        };
        let body = body.unwrap_or_default();
        let body = if encoded {
            STANDARD.decode(body).map_err(|_| BadEvent::Base64)?
        } else {
            body.into_bytes()
        };
        Ok(Self {
            method: method.to_string(),
            endpoint: endpoint(&path),
            query,
            headers,
            body,
        })
    }
}

/// A REST API hands a query over in decoded pairs.
fn written<'q>(pairs: impl Iterator<Item = (&'q str, &'q str)>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(pairs).finish()
}

/// A stage may stand before `/webhooks/`; nothing may stand after the name but one slash.
fn endpoint(path: &str) -> Option<String> {
    let (_, name) = path.split_once("/webhooks/")?;
    let name = name.strip_suffix('/').unwrap_or(name);
    (!name.is_empty() && !name.contains('/')).then(|| name.to_owned())
}

/// Every value of every header; of the single-value map only what the other does not have.
fn all(headers: &HeaderMap, single: Option<&HeaderMap>) -> Headers {
    let mut every = Headers::default();
    let more = single
        .into_iter()
        .flatten()
        .filter(|(name, _)| !headers.contains_key(*name));
    for (name, value) in headers.iter().chain(more) {
        // A value that is no text is as good as none: what needs it fails closed.
        if let Ok(value) = std::str::from_utf8(value.as_bytes()) {
            every.add(name.as_str(), value);
        }
    }
    every
}

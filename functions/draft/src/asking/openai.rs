//! `POST <base>/chat/completions`, as OpenAI documents it
//! (<https://platform.openai.com/docs/api-reference/chat/create>) and others speak it.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Request, Uri};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use lastword_config::SecretRef;
use lastword_runtime::Vault;
use lastword_store::NotTaken;
use rustls::crypto::ring;
use serde::Deserialize;
use serde_json::json;

use super::{Asked, MOST_BYTES, Question};

/// There is no TLS to be had from the library that was built in.
#[derive(Debug, thiserror::Error)]
#[error("no TLS client can be made")]
pub struct NoTls(#[from] rustls::Error);

/// Where a model is, and which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    to: Uri,
    model: String,
}

impl Endpoint {
    /// `https://api.example.com/v1#model`; http only to this machine.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let (base, model) = text
            .split_once('#')
            .ok_or("it has no # with a model after it")?;
        if model.is_empty()
            || !model
                .bytes()
                .all(|byte| byte.is_ascii_graphic() && byte != b'#')
        {
            return Err("it has no name of a model after its #");
        }
        let to = format!("{}/chat/completions", base.trim_end_matches('/'));
        let to: Uri = to.parse().map_err(|_| "its address is no URL")?;
        let authority = to.authority().ok_or("its address has no host")?;
        if authority.as_str().contains('@') || to.query().is_some() {
            return Err(
                "its address has a user or a query; a key is named by LASTWORD_MODEL_SECRET",
            );
        }
        match to.scheme_str() {
            Some("https") => {}
            Some("http") if is_here(authority.host()) => {}
            Some("http") => {
                return Err("http is for this machine only (127.0.0.0/8, [::1], localhost)");
            }
            Some(_) | None => {
                return Err("its address begins neither with https:// nor with http://");
            }
        }
        Ok(Self {
            to,
            model: model.to_owned(),
        })
    }
}

fn is_here(host: &str) -> bool {
    let ip = host.parse::<std::net::Ipv4Addr>();
    host == "[::1]" || host.eq_ignore_ascii_case("localhost") || ip.is_ok_and(|ip| ip.is_loopback())
}

/// A model behind an endpoint.
pub struct OpenAi {
    endpoint: Endpoint,
    /// Its key, where it takes one.
    key: Option<(SecretRef, Arc<Vault>)>,
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
}

impl OpenAi {
    /// Opens nothing before it is asked.
    ///
    /// # Errors
    /// When the TLS library that was built in supports none of its own versions.
    pub fn new(endpoint: Endpoint, key: Option<(SecretRef, Arc<Vault>)>) -> Result<Self, NoTls> {
        let connector = HttpsConnectorBuilder::new()
            .with_provider_and_webpki_roots(ring::default_provider())?
            .https_or_http()
            .enable_http1()
            .build();
        // No connection is kept and nothing is sent twice: a message is rare, and an answer costs money.
        let client = Client::builder(TokioExecutor::new())
            .pool_max_idle_per_host(0)
            .retry_canceled_requests(false)
            .build(connector);
        Ok(Self {
            endpoint,
            key,
            client,
        })
    }

    pub(super) async fn ask(&self, question: &Question) -> Asked {
        let Some(request) = self.request(question) else {
            return Asked::Not(NotTaken::Down);
        };
        let Ok(answer) = self.client.request(request).await else {
            return Asked::Not(NotTaken::Down);
        };
        let status = answer.status();
        if !status.is_success() {
            if matches!(status.as_u16(), 401 | 403) {
                self.renew().await;
            }
            return Asked::Not(NotTaken::Refused);
        }
        match Limited::new(answer.into_body(), MOST_BYTES).collect().await {
            Ok(body) => said(&body.to_bytes()),
            Err(error) if error.is::<LengthLimitError>() => Asked::Not(NotTaken::TooLong),
            Err(_lost) => Asked::Not(NotTaken::Down),
        }
    }

    fn request(&self, question: &Question) -> Option<Request<Full<Bytes>>> {
        let body = json!({
            "model": self.endpoint.model,
            "messages": [
                {"role": "system", "content": question.system},
                {"role": "user", "content": question.user},
            ],
            "temperature": 0,
            "max_tokens": question.most_tokens,
            "n": 1,
            "stream": false,
        });
        let mut request = Request::post(self.endpoint.to.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json")
            .header(ACCEPT_ENCODING, "identity")
            .body(Full::from(body.to_string()))
            .ok()?;
        if let Some((reference, vault)) = &self.key {
            let secrets = vault.secrets();
            let bearer = format!("Bearer {}", secrets.get(reference)?.expose());
            let mut bearer = HeaderValue::try_from(bearer).ok()?;
            bearer.set_sensitive(true);
            request.headers_mut().insert(AUTHORIZATION, bearer);
        }
        Some(request)
    }

    /// A key that is refused may have been rolled: the next question has the newest.
    async fn renew(&self) {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        if let Some((_, vault)) = &self.key {
            drop(
                vault
                    .renewed(since.map_or(0, |since| since.as_secs()))
                    .await,
            );
        }
    }
}

#[derive(Deserialize)]
struct Answer {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    content: Option<String>,
    refusal: Option<String>,
}

fn said(body: &[u8]) -> Asked {
    let Ok(answer) = serde_json::from_slice::<Answer>(body) else {
        return Asked::Not(NotTaken::Down);
    };
    let Some(choice) = answer.choices.into_iter().next() else {
        return Asked::Not(NotTaken::Down);
    };
    match choice.finish_reason.as_deref() {
        Some("stop") if choice.message.refusal.is_none() => {
            Asked::Text(choice.message.content.unwrap_or_default())
        }
        Some("length") => Asked::Not(NotTaken::TooLong),
        // It declined, was filtered, wants a tool, or has not come to an end.
        Some(_) | None => Asked::Not(NotTaken::Refused),
    }
}

/// Without its key.
impl std::fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenAi")
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}

//! The requests to an HTTP destination, made of its configuration, its secret and the message.

use bytes::Bytes;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST, USER_AGENT,
};
use http::uri::{Authority, Scheme};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use http_body_util::Full;
use lastword_config::destination::Credential;
use lastword_config::{HttpDestination, SecretValue};
use zeroize::Zeroizing;

const AGENT: HeaderValue =
    HeaderValue::from_static(concat!("lastword/", env!("CARGO_PKG_VERSION")));
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// A request, and where its connection goes.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) to: Uri,
    pub(crate) request: Request<Full<Bytes>>,
}

/// Where and as whom.
#[derive(Clone, Copy)]
pub(crate) struct Way<'d> {
    pub(crate) http: &'d HttpDestination,
    pub(crate) secret: Option<&'d SecretValue>,
    /// This machine instead.
    pub(crate) instead: Option<&'d Authority>,
}

impl Way<'_> {
    /// The request that sends. `key` is one that a header carries.
    pub(crate) fn post(&self, key: &str, body: String) -> Result<Ready, &'static str> {
        let mut ready = self.request(Method::POST, &self.http.url, body)?;
        let headers = ready.request.headers_mut();
        headers.insert(CONTENT_TYPE, JSON);
        let key = HeaderValue::from_str(key).map_err(|_| "its key fits into no header")?;
        headers.insert(KEY, key);
        Ok(ready)
    }

    /// The request that asks.
    pub(crate) fn get(&self, url: &str) -> Result<Ready, &'static str> {
        self.request(Method::GET, url, String::new())
    }

    fn request(&self, method: Method, url: &str, body: String) -> Result<Ready, &'static str> {
        const NO_URL: &str = "its destination's URL is none";
        let own: Uri = url.parse().map_err(|_| NO_URL)?;
        let mut parts = own.into_parts();
        if let Some(authority) = self.instead {
            parts.scheme = Some(Scheme::HTTP);
            parts.authority = Some(authority.clone());
        }
        let path = parts.path_and_query.clone().ok_or(NO_URL)?;
        let authority = parts.authority.as_ref().ok_or(NO_URL)?;
        let host = HeaderValue::from_str(authority.as_str()).map_err(|_| NO_URL)?;
        let mut request = Request::new(Full::from(body));
        *request.method_mut() = method;
        // A request to its own server names path and query only, and the host in a header (RFC 9112, 3.2.1).
        *request.uri_mut() = Uri::from(path);
        *request.headers_mut() = self.headers()?;
        request.headers_mut().insert(HOST, host);
        let to = Uri::from_parts(parts).map_err(|_| NO_URL)?;
        Ok(Ready { to, request })
    }

    fn headers(&self) -> Result<HeaderMap, &'static str> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, JSON);
        for (name, value) in &self.http.headers {
            let name: HeaderName = name.parse().map_err(|_| "a fixed header has no name")?;
            let value = HeaderValue::from_str(value).map_err(|_| "a fixed header has no value")?;
            headers.insert(name, value);
        }
        headers.insert(USER_AGENT, AGENT);
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        // An encoded answer could grow far beyond what is read.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if let Some(credential) = &self.http.credential {
            let secret = self.secret.ok_or("its secret is not at hand")?;
            let (name, value) = carried(credential, secret)?;
            headers.insert(name, value);
        }
        Ok(headers)
    }
}

fn carried(
    credential: &Credential,
    secret: &SecretValue,
) -> Result<(HeaderName, HeaderValue), &'static str> {
    match &credential.header {
        Some(name) => {
            let name = name
                .parse()
                .map_err(|_| "its secret's header has no name")?;
            Ok((name, exact(secret.expose())?))
        }
        None => {
            let text = Zeroizing::new(format!("Bearer {}", secret.expose()));
            Ok((AUTHORIZATION, exact(&text)?))
        }
    }
}

fn exact(text: &str) -> Result<HeaderValue, &'static str> {
    // What a server folds or reads otherwise would be another secret.
    let plain = |byte: u8| byte == b' ' || byte.is_ascii_graphic();
    let value = HeaderValue::from_str(text).ok();
    let mut value = value
        .filter(|_| text.bytes().all(plain))
        .ok_or("its secret fits into no header")?;
    // Keeps it out of every `Debug`.
    value.set_sensitive(true);
    Ok(value)
}

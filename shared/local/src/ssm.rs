//! Answers SSM `GetParameters` from a map, so that real binaries find their secrets; knows no other call.

use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::post,
};
use serde_json::{Value, json};

use crate::{
    clients::{ACCOUNT, REGION},
    loopback::{self, Served},
};

/// The most names one call may ask for.
const MOST_NAMES: usize = 10;
/// What a caller gets that forgot to ask for decryption.
const STILL_ENCRYPTED: &str = "AQICAHiStillEncryptedAskWithDecryption";

type Values = Arc<Mutex<BTreeMap<String, String>>>;

/// A parameter store on loopback. Dropping it stops it.
pub struct Ssm {
    values: Values,
    served: Served,
}

impl Ssm {
    /// Serves `values` (name to secret) on a free port.
    ///
    /// # Errors
    /// When no port can be opened.
    pub async fn start(values: BTreeMap<String, String>) -> io::Result<Self> {
        let values: Values = Arc::new(Mutex::new(values));
        let router = Router::new()
            .route("/", post(answer))
            .with_state(Arc::clone(&values));
        Ok(Self {
            values,
            served: loopback::serve(0, router).await?,
        })
    }

    /// The endpoint (`AWS_ENDPOINT_URL_SSM`).
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.served.address())
    }

    /// Sets or rotates one value.
    pub fn set(&self, name: impl Into<String>, value: impl Into<String>) {
        lock(&self.values).insert(name.into(), value.into());
    }

    /// Forgets one value.
    pub fn remove(&self, name: &str) {
        lock(&self.values).remove(name);
    }

    /// Stops it.
    pub async fn shutdown(self) {
        self.served.shutdown().await;
    }
}

fn lock(values: &Values) -> MutexGuard<'_, BTreeMap<String, String>> {
    values.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn answer(State(values): State<Values>, headers: HeaderMap, body: Bytes) -> Response {
    let target = headers
        .get("x-amz-target")
        .and_then(|value| value.to_str().ok());
    if target != Some("AmazonSSM.GetParameters") {
        return refuse(
            "UnknownOperationException",
            "only GetParameters is known here",
        );
    }
    let Ok(request) = serde_json::from_slice::<Value>(&body) else {
        return refuse("SerializationException", "not JSON");
    };
    let names: Option<Vec<&str>> = request
        .get("Names")
        .and_then(Value::as_array)
        .and_then(|names| names.iter().map(Value::as_str).collect());
    let Some(names) = names.filter(|names| (1..=MOST_NAMES).contains(&names.len())) else {
        return refuse(
            "ValidationException",
            "Names must hold between 1 and 10 names",
        );
    };
    let decrypt = request
        .get("WithDecryption")
        .and_then(Value::as_bool)
        .unwrap_or(false);
    reply(StatusCode::OK, &look_up(&lock(&values), &names, decrypt))
}

fn look_up(values: &BTreeMap<String, String>, names: &[&str], decrypt: bool) -> Value {
    let mut found = Vec::new();
    let mut unknown = Vec::new();
    for name in names {
        let Some(value) = values.get(*name) else {
            unknown.push(*name);
            continue;
        };
        let slash = if name.starts_with('/') { "" } else { "/" };
        found.push(json!({
            "Name": name,
            "Type": "SecureString",
            "Value": if decrypt { value.as_str() } else { STILL_ENCRYPTED },
            "Version": 1,
            "LastModifiedDate": 1_700_000_000.0,
            "ARN": format!("arn:aws:ssm:{REGION}:{ACCOUNT}:parameter{slash}{name}"),
            "DataType": "text",
        }));
    }
    json!({ "Parameters": found, "InvalidParameters": unknown })
}

fn refuse(kind: &str, message: &str) -> Response {
    reply(
        StatusCode::BAD_REQUEST,
        &json!({ "__type": kind, "message": message }),
    )
}

fn reply(status: StatusCode, body: &Value) -> Response {
    (
        status,
        [("content-type", "application/x-amz-json-1.1")],
        body.to_string(),
    )
        .into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> BTreeMap<String, String> {
        BTreeMap::from([("/a/b".to_owned(), "secret".to_owned())])
    }

    #[test]
    fn an_unknown_name_is_reported_beside_the_known_ones() {
        let reply = look_up(&values(), &["/a/b", "/a/c"], true);
        assert_eq!(reply["Parameters"][0]["Value"], "secret");
        assert_eq!(reply["InvalidParameters"], json!(["/a/c"]));
    }

    #[test]
    fn a_caller_that_forgets_decryption_does_not_get_the_secret() {
        let reply = look_up(&values(), &["/a/b"], false);
        assert_eq!(reply["Parameters"][0]["Value"], STILL_ENCRYPTED);
    }

    #[tokio::test]
    async fn eleven_names_are_refused() {
        let values: Values = Arc::default();
        let mut headers = HeaderMap::new();
        headers.insert("x-amz-target", "AmazonSSM.GetParameters".parse().unwrap());
        let body = Bytes::from(json!({ "Names": vec!["n"; 11] }).to_string());
        let reply = answer(State(values), headers, body).await;
        assert_eq!(reply.status(), StatusCode::BAD_REQUEST);
    }
}

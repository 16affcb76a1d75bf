//! Secrets against a parameter store that is a connector: no network, every request counted.

use std::sync::{Arc, Mutex};

use aws_smithy_runtime_api::client::http::{
    HttpConnector, HttpConnectorFuture, SharedHttpClient, SharedHttpConnector, http_client_fn,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_types::body::SdkBody;
use serde_json::{Value, json};

use super::*;
use crate::clients::{ClientSettings, Endpoints, Patience};

/// A parameter store. `stored` is by name without selector; every request's names are kept.
#[derive(Debug, Clone, Default)]
struct Store {
    stored: Arc<BTreeMap<&'static str, &'static str>>,
    asked: Arc<Mutex<Vec<Vec<String>>>>,
    status: Option<(u16, &'static str)>,
}

impl HttpConnector for Store {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let body: Value = serde_json::from_slice(request.body().bytes().unwrap()).unwrap();
        assert_eq!(body["WithDecryption"], true);
        let names: Vec<String> = serde_json::from_value(body["Names"].clone()).unwrap();
        self.asked.lock().unwrap().push(names.clone());
        let (status, answer) = match self.status {
            Some((status, answer)) => (status, answer.to_owned()),
            None => (200, self.answer(&names).to_string()),
        };
        let response = HttpResponse::new(status.try_into().unwrap(), SdkBody::from(answer));
        HttpConnectorFuture::ready(Ok(response))
    }
}

impl Store {
    fn holding(stored: &[(&'static str, &'static str)]) -> Self {
        Self {
            stored: Arc::new(stored.iter().copied().collect()),
            ..Self::default()
        }
    }

    fn answer(&self, names: &[String]) -> Value {
        let split = |name: &String| match name.split_once(':') {
            Some((name, selector)) => (name.to_owned(), Some(format!(":{selector}"))),
            None => (name.clone(), None),
        };
        let (mut parameters, mut invalid) = (Vec::new(), Vec::new());
        for asked in names {
            let (name, selector) = split(asked);
            match self.stored.get(name.as_str()) {
                Some(value) => {
                    parameters.push(json!({"Name": name, "Selector": selector, "Value": value}))
                }
                None => invalid.push(asked),
            }
        }
        json!({"Parameters": parameters, "InvalidParameters": invalid})
    }

    fn source(&self) -> SecretSource {
        let store = self.clone();
        let http: SharedHttpClient =
            http_client_fn(move |_, _| SharedHttpConnector::new(store.clone()));
        let settings = ClientSettings {
            http,
            ..ClientSettings::local(Endpoints::default(), Patience::ingest())
        };
        let lookup = |name: &str| match name {
            "SIGNING" => Ok("from the environment".to_owned()),
            "NEWLINE" => Ok("hush\n".to_owned()),
            _ => Err(VarError::NotPresent),
        };
        SecretSource::new(lookup, Clients::new(settings))
    }

    fn calls(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

fn refs(texts: &[&str]) -> Vec<SecretRef> {
    texts
        .iter()
        .map(|text| SecretRef::parse(text).unwrap())
        .collect()
}

#[tokio::test]
async fn variables_alone_never_reach_for_the_parameter_store() {
    let store = Store::default();
    let values = store
        .source()
        .resolve_all(&refs(&["env:SIGNING"]))
        .await
        .unwrap();
    assert_eq!(
        values.values().next().unwrap().expose(),
        "from the environment"
    );
    assert_eq!(store.calls(), 0);
}

#[tokio::test]
async fn parameters_and_managed_secrets_come_in_one_call_and_duplicates_are_asked_once() {
    let store = Store::holding(&[("/a", "one"), ("/aws/reference/secretsmanager/b", "two")]);
    let asked = refs(&["ssm:/a", "secretsmanager:b", "ssm:/a", "env:SIGNING"]);
    let values = store.source().resolve_all(&asked).await.unwrap();
    assert_eq!(values[&asked[0]].expose(), "one");
    assert_eq!(values[&asked[1]].expose(), "two");
    assert_eq!(values.len(), 3);
    let mut names = store.asked.lock().unwrap().concat();
    names.sort();
    assert_eq!(names, ["/a", "/aws/reference/secretsmanager/b"]);
}

#[tokio::test]
async fn a_parameter_is_found_by_its_version() {
    let store = Store::holding(&[("/a", "one")]);
    let asked = refs(&["ssm:/a:3"]);
    let values = store.source().resolve_all(&asked).await.unwrap();
    assert_eq!(values[&asked[0]].expose(), "one");
}

#[tokio::test]
async fn more_than_ten_names_are_asked_for_in_tens() {
    let store = Store::holding(&[]);
    let names: Vec<String> = (0..23).map(|number| format!("ssm:/{number}")).collect();
    let asked = refs(&names.iter().map(String::as_str).collect::<Vec<_>>());
    store.source().resolve_all(&asked).await.unwrap_err();
    let sizes: Vec<usize> = store.asked.lock().unwrap().iter().map(Vec::len).collect();
    assert_eq!(sizes, [10, 10, 3]);
}

#[tokio::test]
async fn all_missing_names_are_told_at_once() {
    let store = Store::holding(&[("/here", "one")]);
    let asked = refs(&["ssm:/gone", "env:GONE", "ssm:/here", "secretsmanager:gone"]);
    let message = store
        .source()
        .resolve_all(&asked)
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(
        message,
        "these secrets do not exist: env:GONE, ssm:/gone, secretsmanager:gone"
    );
}

#[tokio::test]
async fn an_unfit_value_is_reported_by_its_reference() {
    let store = Store::holding(&[("/padded", "hush ")]);
    for reference in ["ssm:/padded", "env:NEWLINE"] {
        let error = store
            .source()
            .resolve_all(&refs(&[reference]))
            .await
            .unwrap_err();
        assert!(matches!(error, SecretError::Unfit { .. }));
        let shown = format!("{error} {error:?}");
        assert!(
            error.to_string().contains(reference) && !shown.contains("hush"),
            "{shown}"
        );
    }
}

#[tokio::test]
async fn a_refusal_says_what_the_store_said() {
    let refusal = r#"{"__type":"AccessDeniedException","message":"not authorized to perform ssm:GetParameters"}"#;
    let store = Store {
        status: Some((400, refusal)),
        ..Store::default()
    };
    let error = store
        .source()
        .resolve_all(&refs(&["ssm:/a"]))
        .await
        .unwrap_err();
    assert!(matches!(error, SecretError::Unavailable { .. }));
    assert!(
        error
            .to_string()
            .contains("AccessDeniedException: not authorized"),
        "{error}"
    );
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_does_not_leak_into_the_error() {
    let store = Store {
        status: Some((200, r#"{"Parameters":[{"Name":"/a","Value":"hush"#)),
        ..Store::default()
    };
    let error = store
        .source()
        .resolve_all(&refs(&["ssm:/a"]))
        .await
        .unwrap_err();
    assert!(!format!("{error} {error:?}").contains("hush"), "{error:?}");
}

#[tokio::test]
async fn secrets_can_be_resolved_again_and_nothing_is_kept_in_between() {
    let store = Store::holding(&[("/a", "one")]);
    let source = store.source();
    source.resolve_all(&refs(&["ssm:/a"])).await.unwrap();
    source.resolve_all(&refs(&["ssm:/a"])).await.unwrap();
    assert_eq!(store.calls(), 2);
}

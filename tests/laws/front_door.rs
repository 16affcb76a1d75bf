//! Laws 1 and 2 at the door: what bad input gets, in every shape that a gateway hands it over.

mod refusals;
mod shapes;

use base64::Engine as _;
use lastword_ingest::answer::Reply;
use lastword_local::machine::{Machine, Worker};
use lastword_local::stores::Place;
use serde_json::{Value, json};

use crate::faults::{Fault, Faults};
use crate::world::*;

async fn handle(worker: &Worker, event: &Value) -> Reply {
    worker.ingest.handle_text(&event.to_string()).await
}

/// A signed delivery as the HTTP API (payload 2.0) hands it over.
fn v2(machine: &Machine, body: &str) -> Value {
    serde_json::from_str(&machine.signed("billing", &[], body).unwrap()).unwrap()
}

/// The same as the REST API (payload 1.0) does.
fn v1(event: &Value, multi: bool) -> Value {
    let mut headers = serde_json::Map::new();
    let mut values = serde_json::Map::new();
    for (name, value) in event["headers"].as_object().unwrap() {
        // REST keeps the sender's casing.
        let name: String = name
            .split('-')
            .map(|word| word[..1].to_uppercase() + &word[1..])
            .collect::<Vec<_>>()
            .join("-");
        headers.insert(name.clone(), value.clone());
        values.insert(name, json!([value]));
    }
    json!({
        "resource": "/webhooks/{integration}",
        "path": event["rawPath"],
        "httpMethod": "POST",
        "headers": headers,
        "multiValueHeaders": if multi { Value::Object(values) } else { Value::Null },
        "queryStringParameters": null,
        "multiValueQueryStringParameters": null,
        "pathParameters": {"integration": "billing"},
        "stageVariables": null,
        "requestContext": {
            "accountId": "000000000000", "apiId": "x", "httpMethod": "POST", "identity": {"sourceIp": "127.0.0.1"},
            "path": "/prod/webhooks/billing", "protocol": "HTTP/1.1", "requestId": "r", "requestTimeEpoch": 1,
            "resourceId": "x", "resourcePath": "/webhooks/{integration}", "stage": "prod",
        },
        "body": event["body"],
        "isBase64Encoded": event["isBase64Encoded"],
    })
}

fn in_base64(mut event: Value) -> Value {
    let body = event["body"].as_str().unwrap().to_owned();
    event["body"] = json!(base64::engine::general_purpose::STANDARD.encode(body));
    event["isBase64Encoded"] = json!(true);
    event
}

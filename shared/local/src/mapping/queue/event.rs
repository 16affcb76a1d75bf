//! Writes queue messages as Lambda delivers them; may not leave out or add meaning.

use std::collections::HashMap;

use aws_sdk_sqs::types::{Message, MessageAttributeValue, MessageSystemAttributeName};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};

use crate::clients::REGION;

/// The event of one batch from the queue `arn`.
pub(super) fn event(messages: &[Message], arn: &str) -> String {
    let records: Vec<Value> = messages
        .iter()
        .map(|message| record(message, arn))
        .collect();
    json!({ "Records": records }).to_string()
}

/// The group of a message; a queue without groups has none.
pub(super) fn group(message: &Message) -> Option<&str> {
    message
        .attributes()?
        .get(&MessageSystemAttributeName::MessageGroupId)
        .map(String::as_str)
}

fn record(message: &Message, arn: &str) -> Value {
    let attributes: Map<String, Value> = message
        .attributes()
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.as_str().to_owned(), json!(value)))
        .collect();
    json!({
        "messageId": message.message_id(),
        "receiptHandle": message.receipt_handle(),
        "body": message.body().unwrap_or_default(),
        "attributes": attributes,
        "messageAttributes": custom(message.message_attributes()),
        "md5OfBody": message.md5_of_body(),
        "eventSource": "aws:sqs",
        "eventSourceARN": arn,
        "awsRegion": REGION,
    })
}

fn custom(attributes: Option<&HashMap<String, MessageAttributeValue>>) -> Value {
    let mut written = Map::new();
    for (name, value) in attributes.into_iter().flatten() {
        let mut fields = Map::new();
        if let Some(text) = value.string_value() {
            fields.insert("stringValue".to_owned(), json!(text));
        }
        if let Some(blob) = value.binary_value() {
            fields.insert("binaryValue".to_owned(), json!(STANDARD.encode(blob)));
        }
        fields.insert("stringListValues".to_owned(), json!([]));
        fields.insert("binaryListValues".to_owned(), json!([]));
        fields.insert("dataType".to_owned(), json!(value.data_type()));
        written.insert(name.clone(), Value::Object(fields));
    }
    Value::Object(written)
}

//! Writes stream records as Lambda delivers them; may not leave out or add meaning.

use std::collections::HashMap;

use aws_sdk_dynamodbstreams::types::{AttributeValue, Record};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};

/// One record, ready to be put into a batch.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) sequence: String,
    /// INSERT, MODIFY or REMOVE.
    pub(super) kind: String,
    /// Seconds; for the pointer of a batch that is given up.
    pub(super) created: f64,
    pub(super) json: String,
}

/// The event of one batch.
pub(super) fn event(entries: &[Entry]) -> String {
    let records: Vec<&str> = entries.iter().map(|entry| entry.json.as_str()).collect();
    format!(r#"{{"Records":[{}]}}"#, records.join(","))
}

/// Writes one record of the stream `arn`.
pub(super) fn entry(record: &Record, arn: &str) -> Option<Entry> {
    let data = record.dynamodb()?;
    let sequence = data.sequence_number()?.to_owned();
    let kind = record.event_name()?.as_str().to_owned();
    let created = data
        .approximate_creation_date_time()
        .map_or(0.0, |at| at.as_secs_f64());
    let mut body = Map::new();
    body.insert("ApproximateCreationDateTime".to_owned(), json!(created));
    for (name, image) in [
        ("Keys", data.keys()),
        ("NewImage", data.new_image()),
        ("OldImage", data.old_image()),
    ] {
        if let Some(image) = image {
            body.insert(name.to_owned(), item(image));
        }
    }
    body.insert("SequenceNumber".to_owned(), json!(sequence));
    body.insert(
        "SizeBytes".to_owned(),
        json!(data.size_bytes().unwrap_or_default()),
    );
    let view = data
        .stream_view_type()
        .map_or("NEW_AND_OLD_IMAGES", |view| view.as_str());
    body.insert("StreamViewType".to_owned(), json!(view));
    let mut whole = json!({
        "eventID": record.event_id(),
        "eventName": kind,
        "eventVersion": record.event_version(),
        "eventSource": "aws:dynamodb",
        "awsRegion": record.aws_region(),
        "dynamodb": body,
        "eventSourceARN": arn,
    });
    if let (Some(identity), Some(object)) = (record.user_identity(), whole.as_object_mut()) {
        let who = json!({ "type": identity.r#type(), "principalId": identity.principal_id() });
        object.insert("userIdentity".to_owned(), who);
    }
    Some(Entry {
        sequence,
        kind,
        created,
        json: whole.to_string(),
    })
}

fn item(item: &HashMap<String, AttributeValue>) -> Value {
    item.iter()
        .map(|(name, value)| (name.clone(), attribute(value)))
        .collect()
}

fn attribute(value: &AttributeValue) -> Value {
    let encode = |blob: &aws_smithy_types::Blob| STANDARD.encode(blob);
    if let Ok(text) = value.as_s() {
        json!({ "S": text })
    } else if let Ok(number) = value.as_n() {
        json!({ "N": number })
    } else if let Ok(blob) = value.as_b() {
        json!({ "B": encode(blob) })
    } else if let Ok(flag) = value.as_bool() {
        json!({ "BOOL": flag })
    } else if let Ok(null) = value.as_null() {
        json!({ "NULL": Value::from(*null) })
    } else if let Ok(map) = value.as_m() {
        json!({ "M": item(map) })
    } else if let Ok(list) = value.as_l() {
        json!({ "L": list.iter().map(attribute).collect::<Vec<_>>() })
    } else if let Ok(texts) = value.as_ss() {
        json!({ "SS": texts })
    } else if let Ok(numbers) = value.as_ns() {
        json!({ "NS": numbers })
    } else if let Ok(blobs) = value.as_bs() {
        json!({ "BS": blobs.iter().map(encode).collect::<Vec<_>>() })
    } else {
        // A type this SDK does not know: delivered as empty, as an unknown type would break the batch.
        json!({})
    }
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodbstreams::types::{OperationType, StreamRecord};
    use aws_smithy_types::Blob;

    use super::*;

    #[test]
    fn a_record_is_written_as_lambda_delivers_it() {
        let data = StreamRecord::builder()
            .sequence_number("100000000000000000001")
            .keys("pk", AttributeValue::S("k".into()))
            .new_image("body", AttributeValue::B(Blob::new([0, 255])))
            .new_image(
                "deep",
                AttributeValue::M(HashMap::from([(
                    "list".into(),
                    AttributeValue::L(vec![
                        AttributeValue::N("1".into()),
                        AttributeValue::Null(true),
                    ]),
                )])),
            )
            .size_bytes(7)
            .build();
        let record = Record::builder()
            .event_id("e")
            .event_name(OperationType::Insert)
            .event_version("1.1")
            .aws_region("here")
            .dynamodb(data)
            .build();
        let entry = entry(&record, "arn:s").unwrap();
        let event: Value = serde_json::from_str(&event(&[entry])).unwrap();
        let record = &event["Records"][0];
        assert_eq!(record["eventName"], "INSERT");
        assert_eq!(record["eventSource"], "aws:dynamodb");
        assert_eq!(record["eventSourceARN"], "arn:s");
        let data = &record["dynamodb"];
        assert_eq!(data["Keys"], json!({ "pk": { "S": "k" } }));
        assert_eq!(data["NewImage"]["body"], json!({ "B": "AP8=" }));
        assert_eq!(
            data["NewImage"]["deep"],
            json!({ "M": { "list": { "L": [{ "N": "1" }, { "NULL": true }] } } })
        );
        assert_eq!(data["SizeBytes"], 7);
        assert!(data.get("OldImage").is_none());
    }
}

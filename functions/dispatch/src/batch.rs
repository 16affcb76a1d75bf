//! A batch of the effects' queue, message by message. Plain functions.

use lastword_queue::{EffectSignal, parse_effect};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Records<'a> {
    #[serde(rename = "Records", borrow)]
    records: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    message_id: String,
    #[serde(default)]
    receipt_handle: String,
    body: String,
    #[serde(default)]
    attributes: Attributes,
}

#[derive(Deserialize, Default)]
struct Attributes {
    #[serde(rename = "ApproximateReceiveCount", default)]
    receives: String,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// By which its failure is reported; never empty.
    pub id: String,
    /// By which it is hidden for a while.
    pub receipt: String,
    /// How often it was received, this time included.
    pub receives: u32,
    /// What it says; `None` when it cannot be read.
    pub signal: Option<EffectSignal>,
}

/// The batch cannot be answered message by message.
#[derive(Debug, thiserror::Error)]
pub enum UnreadableBatch {
    /// It is no batch of queue messages.
    #[error("not a batch of queue messages: {0}")]
    Json(#[from] serde_json::Error),
    /// A message without an id cannot be reported; an empty id would fail the batch anyway.
    #[error("a message has no id")]
    NoId,
}

/// The messages of a batch.
///
/// # Errors
/// When the batch cannot be answered message by message.
pub fn messages(event: &str) -> Result<Vec<Message>, UnreadableBatch> {
    let batch: Records<'_> = serde_json::from_str(event)?;
    let read = |record: &RawValue| {
        let record: Record = serde_json::from_str(record.get())?;
        if record.message_id.is_empty() {
            return Err(UnreadableBatch::NoId);
        }
        Ok(Message {
            id: record.message_id,
            receipt: record.receipt_handle,
            receives: record.attributes.receives.parse().unwrap_or(1),
            signal: parse_effect(&record.body).ok(),
        })
    };
    batch.records.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_cannot_be_read_fails_alone_and_one_without_an_id_fails_the_batch() {
        let good = r#"{"messageId":"1","receiptHandle":"r","body":"{\"owner\":{\"subject\":{\"kind\":\"order\",\"id\":\"7\"}},\"effect\":\"receipt#1\",\"turn\":1}","attributes":{"ApproximateReceiveCount":"3"}}"#;
        let bad = r#"{"messageId":"2","body":"what?"}"#;
        let read = messages(&format!(r#"{{"Records":[{good},{bad}]}}"#)).unwrap();
        assert_eq!(read[0].receives, 3);
        assert!(read[0].signal.is_some());
        assert_eq!((read[1].signal.as_ref(), read[1].receives), (None, 1));
        for batch in [
            "",
            "{}",
            r#"{"Records":[{"messageId":"","body":""}]}"#,
            r#"{"Records":[{"body":""}]}"#,
        ] {
            assert!(messages(batch).is_err(), "{batch}");
        }
    }
}

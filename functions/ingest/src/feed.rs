//! Events that do not come by HTTP: a queue or an event bus that only the provider may write to.
//!
//! What law 2 asks of a signature, the queue's own permissions give: the integration is the one that names
//! the queue, and nothing in a message chooses it. Everything after that is the same walk.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// An event that carries deliveries.
pub(crate) enum Feed<'e> {
    /// Messages of SQS, each settled by itself.
    Messages {
        messages: Vec<Message<'e>>,
        /// The ids of those that are not what SQS hands over.
        unread: Vec<String>,
    },
    /// One event of EventBridge; its failure is the whole invocation's.
    Event {
        source: Cow<'e, str>,
        detail: &'e str,
    },
}

/// One message of a queue.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Message<'e> {
    #[serde(borrow)]
    pub(crate) message_id: Cow<'e, str>,
    #[serde(borrow)]
    pub(crate) body: Cow<'e, str>,
    #[serde(borrow, rename = "eventSourceARN")]
    pub(crate) queue: Cow<'e, str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Batch<'e> {
    #[serde(borrow)]
    records: Vec<&'e RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Named {
    message_id: String,
}

#[derive(Deserialize)]
struct BusEvent<'e> {
    #[serde(borrow)]
    source: Cow<'e, str>,
    #[serde(borrow)]
    detail: &'e RawValue,
}

impl<'e> Feed<'e> {
    /// A record that is no message fails alone, under its id. Without an id nothing can be said of it but that
    /// the whole batch failed: an empty id, or none, would be taken for success.
    fn messages(records: &[&'e RawValue]) -> Option<Self> {
        let (mut messages, mut unread) = (Vec::new(), Vec::new());
        for record in records {
            match serde_json::from_str::<Message<'e>>(record.get()) {
                Ok(message) => messages.push(message),
                Err(_) => {
                    let named: Named = serde_json::from_str(record.get()).ok()?;
                    unread.push(named.message_id);
                }
            }
        }
        let named = unread.iter().all(|id| !id.is_empty());
        (named && !records.is_empty()).then_some(Self::Messages { messages, unread })
    }

    /// Reads an event; none when it is of another kind.
    pub(crate) fn parse(event: &'e str) -> Option<Self> {
        if let Ok(batch) = serde_json::from_str::<Batch<'e>>(event) {
            return Self::messages(&batch.records);
        }
        let event: BusEvent<'e> = serde_json::from_str(event).ok()?;
        Some(Self::Event {
            source: event.source,
            detail: event.detail.get(),
        })
    }
}

/// What SQS is told: exactly these keys, or it takes the whole batch as failed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BatchReply {
    /// The messages that come again.
    pub batch_item_failures: Vec<BatchItemFailure>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BatchItemFailure {
    /// Its message id.
    pub item_identifier: String,
}

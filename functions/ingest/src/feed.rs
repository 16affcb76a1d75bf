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
    Messages(Vec<Message<'e>>),
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
    records: Vec<Message<'e>>,
}

#[derive(Deserialize)]
struct BusEvent<'e> {
    #[serde(borrow)]
    source: Cow<'e, str>,
    #[serde(borrow)]
    detail: &'e RawValue,
}

impl<'e> Feed<'e> {
    /// Reads an event; none when it is of another kind.
    pub(crate) fn parse(event: &'e str) -> Option<Self> {
        if let Ok(batch) = serde_json::from_str::<Batch<'e>>(event) {
            return Some(Self::Messages(batch.records));
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

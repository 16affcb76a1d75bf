//! Sends messages, up to ten at once, and says for each whether the queue took it.

use aws_sdk_sqs::Client;
use aws_sdk_sqs::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_sqs::operation::send_message_batch::SendMessageBatchOutput;
use aws_sdk_sqs::types::SendMessageBatchRequestEntry;

use crate::message::OutgoingMessage;

/// The most entries of one request.
pub(crate) const MOST_ENTRIES: usize = 10;

/// The signals' queue.
#[derive(Debug, Clone)]
pub struct Queue {
    pub(crate) client: Client,
    pub(crate) url: String,
}

/// The queue could not be used: the same request may succeed later.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the queue could not be used: {0}")]
pub struct QueueError(pub(crate) String);

/// What became of each message, in the order given.
pub type SendOutcome = Result<(), QueueError>;

impl Queue {
    /// Works on this queue.
    #[must_use]
    pub fn new(client: Client, url: impl Into<String>) -> Self {
        Self {
            client,
            url: url.into(),
        }
    }

    /// Sends all; a failure of one does not keep the others back.
    pub async fn send(&self, messages: &[OutgoingMessage]) -> Vec<SendOutcome> {
        let mut outcomes = Vec::with_capacity(messages.len());
        for chunk in messages.chunks(MOST_ENTRIES) {
            outcomes.extend(self.send_chunk(chunk).await);
        }
        outcomes
    }

    async fn send_chunk(&self, chunk: &[OutgoingMessage]) -> Vec<SendOutcome> {
        let entry = |(at, message): (usize, &OutgoingMessage)| {
            SendMessageBatchRequestEntry::builder()
                .id(at.to_string())
                .message_body(&message.body)
                .message_group_id(&message.group)
                .message_deduplication_id(&message.deduplication)
                .build()
        };
        let entries: Result<Vec<_>, _> = chunk.iter().enumerate().map(entry).collect();
        let sent = match entries {
            Err(error) => Err(QueueError(error.to_string())),
            Ok(entries) => {
                let request = self
                    .client
                    .send_message_batch()
                    .queue_url(&self.url)
                    .set_entries(Some(entries));
                request.send().await.map_err(|error| read(&error))
            }
        };
        outcomes(sent, chunk.len())
    }
}

/// What became of each entry of a batch of so many.
pub(crate) fn outcomes(
    sent: Result<SendMessageBatchOutput, QueueError>,
    count: usize,
) -> Vec<SendOutcome> {
    match sent {
        Err(error) => vec![Err(error); count],
        // The answer is 200 also when entries failed. Only an entry named as taken is taken.
        Ok(answer) => (0..count)
            .map(|at| {
                let id = at.to_string();
                let taken = answer.successful().iter().any(|entry| entry.id() == id);
                let failed = answer.failed().iter().find(|entry| entry.id() == id);
                match failed {
                    Some(failed) => Err(QueueError(failed.code().to_owned())),
                    None if taken => Ok(()),
                    None => Err(QueueError("the answer does not name this message".into())),
                }
            })
            .collect(),
    }
}

pub(crate) fn read<E: ProvideErrorMetadata, R>(error: &SdkError<E, R>) -> QueueError {
    let code = error
        .as_service_error()
        .and_then(ProvideErrorMetadata::code);
    QueueError(code.unwrap_or("no answer, or one that was lost").to_owned())
}

//! Events of a queue or of the bus, from the invocation to what is told to whoever invokes.

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use lastword_contracts::Headers;

use crate::answer::Answer;
use crate::feed::{BatchItemFailure, BatchReply, Feed, Message};
use crate::handler::{Ingest, NotTaken, Served, tell};

impl Ingest {
    pub(crate) async fn feed(&self, feed: Feed<'_>) -> Result<Served, NotTaken> {
        match feed {
            Feed::Event { source, detail } => {
                let answer = self.carried(&source, detail).await;
                if is_taken(&answer) {
                    return Ok(Served::Taken {});
                }
                Err(NotTaken {
                    source_name: source.into_owned(),
                    word: answer.word(),
                })
            }
            Feed::Messages { messages, unread } => {
                let mut failed = self.settle_all(messages).await;
                failed.extend(
                    unread
                        .into_iter()
                        .map(|item_identifier| BatchItemFailure { item_identifier }),
                );
                Ok(Served::Batch(BatchReply {
                    batch_item_failures: failed,
                }))
            }
        }
    }

    /// Side by side: a slow store must not let the last of ten wait for the others.
    async fn settle_all(&self, messages: Vec<Message<'_>>) -> Vec<BatchItemFailure> {
        let mut waiting = FuturesUnordered::new();
        for message in messages {
            waiting.push(self.settle(message));
        }
        let mut failed = Vec::new();
        while let Some(settled) = waiting.next().await {
            failed.extend(settled);
        }
        failed.sort();
        failed
    }

    async fn settle(&self, message: Message<'_>) -> Option<BatchItemFailure> {
        let answer = self.carried(&message.queue, &message.body).await;
        (!is_taken(&answer)).then(|| BatchItemFailure {
            item_identifier: message.message_id.into_owned(),
        })
    }

    /// One event that a queue or the bus brought.
    async fn carried(&self, feed: &str, body: &str) -> Answer {
        let Some(integration) = self.config.fed_by(feed) else {
            drop(tell("", &Answer::UnknownEndpoint, None));
            return Answer::UnknownEndpoint;
        };
        let headers = Headers::default();
        let request = integration.request("POST", "", &headers, body.as_bytes());
        let schemes = &integration.contract.signature;
        let answer = match schemes.carried(body.as_bytes()) {
            Some(verified) => {
                self.take(integration, &request, verified, (self.clock)())
                    .await
            }
            None => Answer::UnknownEndpoint,
        };
        drop(tell(integration.name.as_str(), &answer, None));
        answer
    }
}

/// What a queue may forget. What is refused stays in it, and ends in its dead-letter queue, where it is seen.
fn is_taken(answer: &Answer) -> bool {
    match answer {
        Answer::Stored(_) | Answer::Ignored(_) | Answer::Handshake(_) => true,
        Answer::WrongToken
        | Answer::UnknownEndpoint
        | Answer::Method(_)
        | Answer::MediaType(_)
        | Answer::Empty
        | Answer::BadEvent(_)
        | Answer::Unauthentic(_)
        | Answer::ForeignAccount
        | Answer::Unkeepable(_)
        | Answer::Unavailable => false,
    }
}

//! One delivery, from the gateway's event to the answer.
//!
//! Law 1, acknowledged means durable: [`Answer::Stored`] is made in one place, from what [`Inbox::put`]
//! returned for every event of the delivery, so a 2xx for an event that concerns something is not written
//! before the commit. Nothing runs after it.

use std::sync::Arc;

use futures_util::stream::{FuturesUnordered, StreamExt as _, TryStreamExt as _};
use lastword_config::{Config, Integration};
use lastword_contracts::source::Source;
use lastword_contracts::{AnswerBody, Event, Headers, Reading, Request, SignatureError, Verified};
use lastword_runtime::{Level, Line, Measured, Unit};
use lastword_store::{Accepted, Inbox, Moment, NewEvent, StoreError};
use serde::Serialize;

use crate::answer::{Answer, Reply};
use crate::door::Door;
use crate::feed::{BatchItemFailure, BatchReply, Feed, Message};
use crate::hint::Hints;
use crate::keys::KeyRing;
use crate::published::PublishedKeys;
use crate::request::{BadEvent, Delivery};

/// Where time comes from: the signature's window and the time of receipt, and nothing else.
pub type Clock = Arc<dyn Fn() -> Moment + Send + Sync>;

/// How many events of one delivery are put at a time.
const AT_A_TIME: usize = 16;

/// Everything that lives as long as the process.
pub struct Ingest {
    config: Config,
    door: Door,
    hints: Hints,
    inbox: Inbox,
    clock: Clock,
}

/// What an invocation ends with.
#[derive(Debug, Serialize)]
#[serde(untagged)]
#[must_use]
pub enum Served {
    /// The answer to a request.
    Reply(Reply),
    /// The messages of a queue that come again.
    Batch(BatchReply),
    /// An event of the bus was taken.
    Taken {},
}

/// An event was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the event from {source_name} was not taken: {word}")]
pub struct NotTaken {
    source_name: String,
    word: &'static str,
}

impl NotTaken {
    fn unknown() -> Self {
        drop(bad(BadEvent::NotHttp));
        Self {
            source_name: "somewhere".to_owned(),
            word: "it is neither a request, nor messages of a queue, nor an event of the bus",
        }
    }
}

impl Ingest {
    /// Puts the parts together.
    #[must_use]
    pub fn new(config: Config, keys: KeyRing, inbox: Inbox, clock: Clock) -> Self {
        Self {
            config,
            door: Door {
                ring: keys,
                published: PublishedKeys::none(),
            },
            hints: Hints::default(),
            inbox,
            clock,
        }
    }

    /// With keys that providers publish.
    #[must_use]
    pub fn with_published(mut self, published: PublishedKeys) -> Self {
        self.door.published = published;
        self
    }

    /// Serves whatever an invocation brings: a request, messages of a queue, an event of the bus.
    ///
    /// # Errors
    /// When it is none of these, or has to come again. Whoever invoked this must not take it for done.
    pub async fn serve(&self, event: &str) -> Result<Served, NotTaken> {
        match Delivery::parse(event) {
            Ok(delivery) => Ok(Served::Reply(self.handle(&delivery).await)),
            Err(BadEvent::NotHttp) => match Feed::parse(event) {
                Some(feed) => self.feed(feed).await,
                None => Err(NotTaken::unknown()),
            },
            Err(error @ BadEvent::Base64) => Ok(Served::Reply(bad(error))),
        }
    }

    /// Answers a request, given and answered as the gateway writes them.
    pub async fn handle_text(&self, event: &str) -> Reply {
        match Delivery::parse(event) {
            Ok(delivery) => self.handle(&delivery).await,
            Err(error) => bad(error),
        }
    }

    /// Answers a delivery.
    pub async fn handle(&self, delivery: &Delivery) -> Reply {
        let integration = delivery
            .endpoint
            .as_deref()
            .and_then(|name| self.config.integration(name))
            // What comes through a queue has no endpoint.
            .filter(|integration| !integration.contract.by_queue());
        let Some(integration) = integration else {
            return tell("", &Answer::UnknownEndpoint, None).with_body(AnswerBody::Any);
        };
        let request = integration.request(
            &delivery.method,
            &delivery.query,
            &delivery.headers,
            &delivery.body,
        );
        let now = (self.clock)();
        let answer = self.answer(integration, &request, now).await;
        let hint = if let Answer::Unauthentic(error) = &answer {
            Some(self.hint(error, integration, &request, now.unix_seconds()))
        } else {
            None
        };
        let body = integration.contract.acknowledge.body;
        tell(integration.name.as_str(), &answer, hint).with_body(body)
    }

    fn hint(
        &self,
        error: &SignatureError,
        integration: &Integration,
        request: &Request<'_>,
        now: u64,
    ) -> &'static str {
        let ring = &self.door.ring;
        self.hints
            .of(error, &self.config, integration, request, ring, now)
    }

    async fn answer(
        &self,
        integration: &Integration,
        request: &Request<'_>,
        now: Moment,
    ) -> Answer {
        if let Some(answer) = self.door.unsigned_handshake(integration, request) {
            return answer;
        }
        if request.method != "POST" {
            return Answer::Method;
        }
        if !takes(integration, request.headers) {
            return Answer::MediaType(integration.contract.media_types.join(" or "));
        }
        if request.body.is_empty() {
            return Answer::Empty;
        }
        let verified = self
            .door
            .verify(&self.config, integration, request, now.unix_seconds())
            .await;
        let verified = match verified {
            Ok(verified) => verified,
            Err(error) => return Answer::Unauthentic(error),
        };
        let now_seconds = now.unix_seconds();
        if let Some(answer) =
            self.door
                .signed_handshake(integration, request, verified, now_seconds)
        {
            return answer;
        }
        self.take(integration, request, verified, now).await
    }

    /// What was verified is read and stored.
    async fn take(
        &self,
        integration: &Integration,
        request: &Request<'_>,
        verified: Verified<'_>,
        now: Moment,
    ) -> Answer {
        match integration.reader.read(request, verified) {
            Reading::Concerns(events) => {
                self.store_all(integration, &events, request.headers, now)
                    .await
            }
            Reading::Partly(events) => {
                let stored = self.store_all(integration, &events, request.headers, now);
                if let Answer::Unavailable = stored.await {
                    Answer::Unavailable
                } else {
                    Answer::ForeignAccount
                }
            }
            Reading::Unrouted(_) => Answer::Ignored("unrouted"),
            Reading::OtherEnvironment => Answer::Ignored("other-environment"),
            Reading::ForeignAccount => Answer::ForeignAccount,
            Reading::Refused(error) => Answer::Unkeepable(error.to_string()),
        }
    }

    /// Every event of the delivery, or none is acknowledged: what was stored of it is a duplicate when it
    /// comes again.
    async fn store_all(
        &self,
        integration: &Integration,
        events: &[Event<'_>],
        headers: &Headers,
        now: Moment,
    ) -> Answer {
        let headers = read_headers(integration, headers);
        let stored = self.put_all(integration, events, &headers, now).await;
        match stored {
            Ok(Some(accepted)) => Answer::Stored(accepted),
            Ok(None) => Answer::Ignored("unrouted"),
            Err(error) => {
                let level = match &error {
                    StoreError::Busy(_) => Level::Warn,
                    StoreError::Refused(_) | StoreError::Corrupt { .. } => Level::Error,
                };
                Line::new(level, "an event was not stored")
                    .error(&error)
                    .emit();
                Answer::Unavailable
            }
        }
    }

    /// A few at a time. What the most telling of them was; none when there are none.
    async fn put_all(
        &self,
        integration: &Integration,
        events: &[Event<'_>],
        headers: &[(&str, &str)],
        now: Moment,
    ) -> Result<Option<Accepted>, StoreError> {
        let mut waiting = FuturesUnordered::new();
        let mut most = None;
        for event in events {
            if waiting.len() == AT_A_TIME
                && let Some(accepted) = waiting.try_next().await?
            {
                most = Some(more_telling(most, accepted));
            }
            waiting.push(self.put(integration, event, headers, now));
        }
        while let Some(accepted) = waiting.try_next().await? {
            most = Some(more_telling(most, accepted));
        }
        Ok(most)
    }

    async fn put(
        &self,
        integration: &Integration,
        event: &Event<'_>,
        headers: &[(&str, &str)],
        now: Moment,
    ) -> Result<Accepted, StoreError> {
        let new = NewEvent {
            integration: &integration.name,
            identity: &event.identity,
            kind: &event.kind,
            resources: &event.resources,
            body: &event.body,
            headers: headers.to_vec(),
            received_at: now,
            retention: integration.retention,
        };
        self.inbox.put(&new).await
    }

    async fn feed(&self, feed: Feed<'_>) -> Result<Served, NotTaken> {
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
        | Answer::Method
        | Answer::MediaType(_)
        | Answer::Empty
        | Answer::BadEvent(_)
        | Answer::Unauthentic(_)
        | Answer::ForeignAccount
        | Answer::Unkeepable(_)
        | Answer::Unavailable => false,
    }
}

/// A variant says more than a new event, and that more than a duplicate.
fn more_telling(held: Option<Accepted>, next: Accepted) -> Accepted {
    let rank = |accepted: &Accepted| match accepted {
        Accepted::Variant(_) => 2,
        Accepted::New(_) => 1,
        Accepted::Duplicate(_) => 0,
    };
    match held {
        Some(held) if rank(&held) >= rank(&next) => held,
        Some(_) | None => next,
    }
}

fn bad(error: BadEvent) -> Reply {
    tell("", &Answer::BadEvent(error.to_string()), None)
}

/// A missing media type is taken as the provider's own; a wrong one is not.
fn takes(integration: &Integration, headers: &Headers) -> bool {
    headers.all("content-type").all(|value| {
        let media = value.split(';').next().unwrap_or_default().trim();
        integration
            .contract
            .media_types
            .iter()
            .any(|known| known.eq_ignore_ascii_case(media))
    })
}

/// The headers that the contract reads, kept beside the body because the body does not hold them.
fn read_headers<'a>(integration: &'a Integration, headers: &'a Headers) -> Vec<(&'a str, &'a str)> {
    let rules = &integration.contract.event;
    let sources = rules.id.as_slice().iter().chain(rules.kind.as_slice());
    let name = |source: &'a Source| match source {
        Source::Header(name) => headers.one(name).map(|value| (name.as_str(), value)),
        Source::Body(_)
        | Source::Item(_)
        | Source::Query(_)
        | Source::Form(_)
        | Source::Digest
        | Source::Const(_) => None,
    };
    sources.filter_map(name).collect()
}

/// One line for each delivery, counted by integration and outcome. A stranger's endpoint name is not
/// repeated.
fn tell(integration: &str, answer: &Answer, hint: Option<&'static str>) -> Reply {
    let reply = answer.reply();
    let integration = if integration.is_empty() {
        "none"
    } else {
        integration
    };
    let mut line = Measured::new(Level::Info, "delivery")
        .dimension("integration", integration)
        .dimension("outcome", answer.word())
        .field("status", u64::from(reply.status_code));
    if let Some(hint) = hint {
        line = line.field("hint", hint);
    }
    line.metric("Deliveries", 1, Unit::Count).emit();
    reply
}

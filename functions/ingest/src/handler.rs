//! One delivery, from the gateway's event to the answer.
//!
//! Nothing runs after the answer. What is stored, and that it is before anything is acknowledged, is
//! [`storing`](crate::storing)'s.

use std::sync::Arc;

use lastword_config::{Config, Integration};
use lastword_contracts::{AnswerBody, Headers, Request, SignatureError};
use lastword_runtime::{Level, Measured, Unit};
use lastword_store::{Inbox, Moment};
use serde::Serialize;

use crate::answer::{Answer, Reply};
use crate::door::Door;
use crate::feed::{BatchReply, Feed};
use crate::hint::Hints;
use crate::keys::KeyRing;
use crate::published::PublishedKeys;
use crate::request::{BadEvent, Delivery};

/// Where time comes from: the signature's window and the time of receipt, and nothing else.
pub type Clock = Arc<dyn Fn() -> Moment + Send + Sync>;

/// Everything that lives as long as the process.
pub struct Ingest {
    pub(crate) config: Config,
    door: Door,
    hints: Hints,
    pub(crate) inbox: Inbox,
    pub(crate) clock: Clock,
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
    pub(crate) source_name: String,
    pub(crate) word: &'static str,
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
        let methods = &integration.contract.methods;
        if !methods.iter().any(|method| method == request.method) {
            return Answer::Method(methods.join(", "));
        }
        if !takes(integration, request.headers) {
            return Answer::MediaType(integration.contract.media_types.join(" or "));
        }
        let is_empty = request.body.is_empty();
        if is_empty && request.method == "POST" {
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
        if is_empty {
            return Answer::Ignored("no-event");
        }
        self.take(integration, request, verified, now).await
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

/// One line for each delivery, counted by integration and outcome. A stranger's endpoint name is not
/// repeated.
pub(crate) fn tell(integration: &str, answer: &Answer, hint: Option<&'static str>) -> Reply {
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

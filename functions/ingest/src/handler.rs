//! One delivery, from the gateway's event to the answer.
//!
//! Law 1, acknowledged means durable: [`Answer::Stored`] is made in one place, from what [`Inbox::put`]
//! returned, so a 2xx for an event that concerns something is not written before the commit. Nothing
//! runs after it.

use std::sync::Arc;

use lastword_config::{Config, Integration};
use lastword_contracts::source::Source;
use lastword_contracts::{Event, Headers, Reading, SignatureError, Verified};
use lastword_runtime::{Level, Line, Measured, Unit};
use lastword_store::{Inbox, Moment, NewEvent, StoreError};

use crate::answer::{Answer, Reply};
use crate::keys::KeyRing;
use crate::request::Delivery;

/// Where time comes from: the signature's window and the time of receipt, and nothing else.
pub type Clock = Arc<dyn Fn() -> Moment + Send + Sync>;

/// Everything that lives as long as the process.
pub struct Ingest {
    config: Config,
    keys: KeyRing,
    inbox: Inbox,
    clock: Clock,
}

impl Ingest {
    /// Puts the parts together.
    #[must_use]
    pub fn new(config: Config, keys: KeyRing, inbox: Inbox, clock: Clock) -> Self {
        Self {
            config,
            keys,
            inbox,
            clock,
        }
    }

    /// Answers an event, given and answered as the gateway writes them.
    pub async fn handle_text(&self, event: &str) -> Reply {
        match Delivery::parse(event) {
            Ok(delivery) => self.handle(&delivery).await,
            Err(error) => tell("", &Answer::BadEvent(error.to_string())),
        }
    }

    /// Answers a delivery.
    pub async fn handle(&self, delivery: &Delivery) -> Reply {
        let integration = delivery
            .endpoint
            .as_deref()
            .and_then(|name| self.config.integration(name));
        let Some(integration) = integration else {
            return tell("", &Answer::UnknownEndpoint);
        };
        let answer = self.answer(integration, delivery).await;
        tell(integration.name.as_str(), &answer)
    }

    async fn answer(&self, integration: &Integration, delivery: &Delivery) -> Answer {
        if delivery.method != "POST" {
            return Answer::Method;
        }
        if !takes(integration, &delivery.headers) {
            return Answer::MediaType;
        }
        if delivery.body.is_empty() {
            return Answer::Empty;
        }
        let now = (self.clock)();
        let verified = match self.verify(integration, delivery, now).await {
            Ok(verified) => verified,
            Err(error) => return Answer::Unauthentic(error),
        };
        match integration.reader.read(&delivery.headers, verified) {
            Reading::Concerns(event) => {
                self.store(integration, &event, delivery, verified, now)
                    .await
            }
            Reading::Unrouted(_) => Answer::Ignored("unrouted"),
            Reading::OtherEnvironment => Answer::Ignored("other-environment"),
            Reading::ForeignAccount => Answer::ForeignAccount,
            Reading::Refused(error) => Answer::Unkeepable(error.to_string()),
        }
    }

    async fn verify<'d>(
        &self,
        integration: &Integration,
        delivery: &'d Delivery,
        now: Moment,
    ) -> Result<Verified<'d>, SignatureError> {
        let rules = &integration.contract.signature;
        let now = now.unix_seconds();
        let check = |keys: &std::collections::BTreeMap<_, Vec<_>>| {
            let keys = keys
                .get(&integration.name)
                .map(Vec::as_slice)
                .unwrap_or_default();
            rules.verify(&delivery.headers, &delivery.body, keys, now)
        };
        match check(&self.keys.now()) {
            Err(SignatureError::NoMatch) => match self.keys.renewed(&self.config, now).await {
                Some(keys) => check(&keys),
                None => Err(SignatureError::NoMatch),
            },
            checked => checked,
        }
    }

    async fn store(
        &self,
        integration: &Integration,
        event: &Event,
        delivery: &Delivery,
        body: Verified<'_>,
        now: Moment,
    ) -> Answer {
        let new = NewEvent {
            integration: &integration.name,
            identity: &event.identity,
            kind: &event.kind,
            resources: &event.resources,
            body: body.bytes(),
            headers: read_headers(integration, &delivery.headers),
            received_at: now,
            retention: integration.retention,
        };
        match self.inbox.put(&new).await {
            Ok(accepted) => Answer::Stored(accepted),
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
    let sources = std::iter::once(&rules.id).chain(rules.kind.as_slice());
    let name = |source: &'a Source| match source {
        Source::Header(name) => headers.one(name).map(|value| (name.as_str(), value)),
        Source::Body(_) => None,
    };
    sources.filter_map(name).collect()
}

/// One line for each delivery, counted by integration and outcome. A stranger's endpoint name is not
/// repeated.
fn tell(integration: &str, answer: &Answer) -> Reply {
    let reply = answer.reply();
    Measured::new(Level::Info, "delivery")
        .dimension(
            "integration",
            if integration.is_empty() {
                "none"
            } else {
                integration
            },
        )
        .dimension("outcome", answer.word())
        .field("status", u64::from(reply.status_code))
        .metric("Deliveries", 1, Unit::Count)
        .emit();
    reply
}

//! What was verified is read and stored.
//!
//! Law 1, acknowledged means durable: [`Answer::Stored`] is made here and nowhere else, from what
//! [`Inbox::put`](lastword_store::Inbox::put) returned for every event of the delivery, so a 2xx for an event
//! that concerns something is not written before the commit.

use futures_util::stream::{FuturesUnordered, TryStreamExt as _};
use lastword_config::Integration;
use lastword_contracts::source::Source;
use lastword_contracts::{Event, Headers, Reading, Request, Verified};
use lastword_runtime::{Level, Line};
use lastword_store::{Accepted, Moment, NewEvent, StoreError};

use crate::answer::Answer;
use crate::handler::Ingest;

/// How many events of one delivery are put at a time.
const AT_A_TIME: usize = 16;

impl Ingest {
    /// What was verified is read and stored.
    pub(crate) async fn take(
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

/// The headers that the contract reads, kept beside the body because the body does not hold them.
fn read_headers<'a>(integration: &'a Integration, headers: &'a Headers) -> Vec<(&'a str, &'a str)> {
    let rules = &integration.contract.event;
    let sources = rules.id.as_slice().iter().chain(rules.kind.as_slice());
    let names = sources.filter_map(Source::header);
    let pair = |name: &'a str| Some((name, headers.one(name)?));
    names.filter_map(pair).collect()
}

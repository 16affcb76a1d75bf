//! The Inbox: accepted events with the exact bytes received. Rows are put once and never updated.
//!
//! Law 1, acknowledged means durable, and the storing half of law 3, identity is whole, are enforced by
//! [`Inbox::put`]: the one way in, for webhooks and for the sweep alike.

pub mod event;
pub mod part;
pub mod streamed;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::types::{ReturnConsumedCapacity, ReturnValuesOnConditionCheckFailure};
use lastword_domain::{Digest, EventRef, KeyHash};

use crate::body;
use crate::error::{self, StoreError};
use crate::item::Item;
use crate::meter::Meter;
use event::Slot;
pub use event::{NewEvent, StoredEvent};
pub use streamed::Streamed;

/// What became of an event that was put.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Accepted {
    /// Stored now.
    New(EventRef),
    /// Stored before, the same bytes: nothing is redone, and nothing was lost if the first attempt never
    /// finished, because what follows a row follows from the row.
    Duplicate(EventRef),
    /// The same identity with other bytes: kept beside the first, and processed.
    Variant(EventRef),
}

/// The Inbox table.
#[derive(Debug, Clone)]
pub struct Inbox {
    client: Client,
    table: String,
    /// Counts write units.
    pub meter: Meter,
}

/// Whether a body fits its event's row, with everything else that stands there.
fn fits(event: &NewEvent<'_>, body: &event::Body) -> bool {
    body.packed.len() <= part::MOST_BYTES && body.packed.len() + event.beside_body() <= MOST_ROW
}

/// Below the 400 KB of an item.
const MOST_ROW: usize = 396 * 1024;

/// A put's condition either held or the stored row came back.
enum Put {
    Stored,
    Taken(Item),
}

impl Inbox {
    /// Works on this table.
    #[must_use]
    pub fn new(client: Client, table: impl Into<String>) -> Self {
        Self {
            client,
            table: table.into(),
            meter: Meter::default(),
        }
    }

    /// Stores an event, once. `Ok` means that its exact bytes are durable.
    ///
    /// A response lost after the write, with the SDK's own retry or the provider's, ends as
    /// [`Accepted::Duplicate`], which is true and answered the same.
    ///
    /// # Errors
    /// When it may not be stored; the caller must not acknowledge.
    pub async fn put(&self, event: &NewEvent<'_>) -> Result<Accepted, StoreError> {
        let identity = event.identity.hash();
        let digest = Digest::of(event.body);
        let (encoding, packed) = body::pack(event.body);
        let body = event::Body {
            size: event.body.len(),
            encoding,
            digest,
            packed,
        };
        let first = EventRef::first(&identity);
        // A body in parts is dear to put: whether it is here already is asked first.
        if !fits(event, &body) && self.holds(&identity, &digest).await? {
            return Ok(Accepted::Duplicate(first));
        }
        // Parts first: a row is seen only when its body is whole, and parts without a row mean nothing.
        let body = self.put_parts(&identity, event, body).await?;
        match self
            .put_item(event::encode(event, &identity, Slot::First, &body))
            .await?
        {
            Put::Stored => Ok(Accepted::New(first)),
            Put::Taken(held) if event::digest(&held)? == digest => Ok(Accepted::Duplicate(first)),
            Put::Taken(_) => {
                let variant = EventRef::variant(&identity, &digest);
                match self
                    .put_item(event::encode(
                        event,
                        &identity,
                        Slot::Variant(digest),
                        &body,
                    ))
                    .await?
                {
                    Put::Stored => Ok(Accepted::Variant(variant)),
                    Put::Taken(_) => Ok(Accepted::Duplicate(variant)),
                }
            }
        }
    }

    async fn put_parts(
        &self,
        identity: &KeyHash,
        event: &NewEvent<'_>,
        body: event::Body,
    ) -> Result<event::KeptBody, StoreError> {
        if fits(event, &body) {
            return Ok(event::KeptBody::whole(body));
        }
        let chunks: Vec<_> = body.packed.chunks(part::MOST_BYTES).collect();
        for (number, chunk) in chunks.iter().enumerate() {
            let item = part::encode(identity, &body.digest, number, chunk, event.expires_at());
            let output = self
                .client
                .put_item()
                .table_name(&self.table)
                .set_item(Some(item))
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send()
                .await
                .map_err(|error| error::read(&error))?;
            self.meter.count(output.consumed_capacity());
        }
        let parts = chunks.len();
        Ok(event::KeptBody::in_parts(&body, parts))
    }

    /// Whether the first row under this identity has this body. Asked with a put whose condition cannot
    /// hold, because that shows the row, and putting is all that ingest may do.
    async fn holds(&self, identity: &KeyHash, digest: &Digest) -> Result<bool, StoreError> {
        let sent = self
            .client
            .put_item()
            .table_name(&self.table)
            .set_item(Some(event::key(&EventRef::first(identity))))
            .condition_expression("attribute_exists(pk) AND attribute_not_exists(pk)")
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .send()
            .await;
        let Err(failed) = sent else {
            return Err(StoreError::Refused(
                "a condition that cannot hold did".into(),
            ));
        };
        match refused_by(&failed) {
            Some(held) => {
                self.meter.count_refused(held.unwrap_or(&Item::new()));
                Ok(held.is_some_and(|held| event::digest(held).is_ok_and(|held| held == *digest)))
            }
            None => Err(error::read(&failed)),
        }
    }

    /// One conditional put. A conflict with somebody's transaction is tried again a few times, shortly.
    async fn put_item(&self, item: Item) -> Result<Put, StoreError> {
        let mut tries = crate::state::Pauses::default();
        loop {
            let sent = self
                .client
                .put_item()
                .table_name(&self.table)
                .set_item(Some(item.clone()))
                .condition_expression("attribute_not_exists(pk)")
                .return_values_on_condition_check_failure(
                    ReturnValuesOnConditionCheckFailure::AllOld,
                )
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send()
                .await;
            let failed = match sent {
                Ok(output) => {
                    self.meter.count(output.consumed_capacity());
                    return Ok(Put::Stored);
                }
                Err(failed) => failed,
            };
            match taken(failed) {
                Ok(item) => {
                    self.meter.count_refused(&item);
                    return Ok(Put::Taken(item));
                }
                Err(error) if error::is_conflict(&error) && tries.pause().await => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The whole body of a stored event.
    ///
    /// # Errors
    /// When the store cannot be read, or does not hold what was stored.
    pub async fn body(&self, event: &StoredEvent) -> Result<Vec<u8>, StoreError> {
        let mut packed = event.packed.clone();
        if event.parts > 0 {
            packed.clear();
            for number in 0..event.parts {
                let output = self
                    .client
                    .get_item()
                    .table_name(&self.table)
                    .set_key(Some(part::key(&event.identity_hash, &event.digest, number)))
                    .consistent_read(true)
                    .send()
                    .await
                    .map_err(|error| error::read(&error))?;
                packed.extend_from_slice(part::bytes(&output.item.unwrap_or_default())?);
            }
        }
        event.unpack(&packed)
    }
}

/// The item that stood in a put's way, when its condition failed.
fn refused_by<R>(failed: &SdkError<PutItemError, R>) -> Option<Option<&Item>> {
    match failed.as_service_error() {
        Some(PutItemError::ConditionalCheckFailedException(failed)) => Some(failed.item()),
        Some(_) | None => None,
    }
}

fn taken<R>(failed: SdkError<PutItemError, R>) -> Result<Item, StoreError> {
    match refused_by(&failed) {
        Some(Some(item)) => Ok(item.clone()),
        Some(None) => Err(StoreError::Refused(
            "a failed condition without the item".into(),
        )),
        None => Err(error::read(&failed)),
    }
}

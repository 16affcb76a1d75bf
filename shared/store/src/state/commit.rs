//! Law 9, one transaction per conclusion: the projection and the marks of all the signals it covers
//! commit together or not at all, under the revision that was loaded before the look began (law 5).
//!
//! A conclusion that changes nothing is one conditional update of the projection, marks included: an
//! update of one item is atomic, and costs half a transaction of one item. When the marks no longer
//! fit, they move to items of their own in the next conclusion's transaction.
//!
//! A transaction takes 100 items. A conclusion about more signals is committed as a chain: the first
//! link carries the change, the next ones advance the revision further and carry marks. If the chain
//! breaks, the signals without marks are still in the queue, and the next look decides them; if another
//! worker comes between two links, the rest is left to it.

use aws_sdk_dynamodb::types::{Put, ReturnConsumedCapacity, TransactWriteItem, Update};
use lastword_domain::{EventRef, Mark, Projection, ResourceKey, Revision};

use super::decision::{self, Failure};
use super::{LoadedEvent, Pauses, State, projection};
use crate::error::{self, Condition, StoreError};
use crate::item::Item;
use crate::moment::Moment;

/// The most marks one transaction carries beside the projection.
const MOST_MARKS: usize = 99;

/// Whether a commit was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Committed {
    /// It was; nobody else had committed since the load.
    Done(Revision),
    /// Somebody else was first: load and look again.
    Lost,
}

impl State {
    /// Commits a projection that changes, with the marks of the signals that it answers.
    ///
    /// # Errors
    /// When it is unknown whether it was done; repeating the whole look is safe.
    pub async fn commit_change(
        &self,
        resource: &ResourceKey,
        held: &Projection,
        next: Projection,
        marks: &[Mark],
        events: &[LoadedEvent],
        now: Moment,
    ) -> Result<Committed, StoreError> {
        let (first, rest) = marks.split_at(marks.len().min(MOST_MARKS));
        let next = Projection {
            recent: without(&next.recent, marks),
            ..next
        };
        let mut values = Item::new();
        let condition = projection::condition(held.revision, next.version.as_ref(), &mut values);
        let put = Put::builder()
            .table_name(&self.table)
            .set_item(Some(projection::encode(resource, &next, now)))
            .condition_expression(condition)
            .set_expression_attribute_values((!values.is_empty()).then_some(values))
            .build()
            .map_err(|error| StoreError::Refused(error.to_string()))?;
        let mut writes = vec![TransactWriteItem::builder().put(put).build()];
        for mark in first {
            writes.push(self.decision(resource, mark, next.revision, events, now)?);
        }
        match self.transact(writes).await? {
            Committed::Done(_) if rest.is_empty() => Ok(Committed::Done(next.revision)),
            Committed::Done(_) => self.commit_quiet(resource, &next, rest, events, now).await,
            Committed::Lost => Ok(Committed::Lost),
        }
    }

    /// Commits that nothing changes, with the marks of the signals that were answered so. The revision
    /// advances all the same: a slower reader that began before this look must lose.
    ///
    /// # Errors
    /// When it is unknown whether it was done; repeating the whole look is safe.
    pub async fn commit_quiet(
        &self,
        resource: &ResourceKey,
        held: &Projection,
        marks: &[Mark],
        events: &[LoadedEvent],
        now: Moment,
    ) -> Result<Committed, StoreError> {
        let mut held_revision = held.revision;
        let mut recent = without(&held.recent, marks);
        if recent.len() + marks.len() <= Projection::MOST_RECENT {
            recent.extend_from_slice(marks);
            return self.advance(resource, held_revision, &recent, now).await;
        }
        // Too many to keep in the projection: they all become items of their own.
        let mut moved = std::mem::take(&mut recent);
        moved.extend_from_slice(marks);
        for link in moved.chunks(MOST_MARKS) {
            let mut writes = vec![self.advance_write(resource, held_revision, now)?];
            for mark in link {
                writes.push(self.decision(resource, mark, held_revision.next(), events, now)?);
            }
            match self.transact(writes).await? {
                Committed::Done(_) => held_revision = held_revision.next(),
                Committed::Lost => return Ok(Committed::Lost),
            }
        }
        Ok(Committed::Done(held_revision))
    }

    /// Records failed attempts, each under the condition that nobody decided meanwhile.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn record_failures(
        &self,
        resource: &ResourceKey,
        failures: &[Failure],
        events: &[LoadedEvent],
        now: Moment,
    ) -> Result<(), StoreError> {
        for failure in failures {
            let stored = events
                .iter()
                .find(|event| event.reference == failure.event)
                .and_then(|e| e.stored.as_ref());
            let (update, values) = decision::failure(failure, stored, now);
            let names_open = update
                .contains("#open")
                .then(|| [("#open".to_owned(), "open".to_owned())].into());
            let sent = self
                .client
                .update_item()
                .table_name(&self.table)
                .set_key(Some(decision::key(resource, &failure.event)))
                .update_expression(update)
                .condition_expression(decision::FAILURE_CONDITION)
                .set_expression_attribute_names(names_open)
                .set_expression_attribute_values(Some(values))
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send()
                .await;
            match sent {
                Ok(output) => self.writes.count(output.consumed_capacity()),
                // Decided by another worker meanwhile: that stands.
                Err(error) if is_condition(&error) => {}
                Err(error) => return Err(error::read(&error)),
            }
        }
        Ok(())
    }

    fn decision(
        &self,
        resource: &ResourceKey,
        mark: &Mark,
        revision: Revision,
        events: &[LoadedEvent],
        now: Moment,
    ) -> Result<TransactWriteItem, StoreError> {
        let event = events.iter().find(|event| event.reference == mark.event);
        let attempts = event.map_or(0, |event| event.attempts);
        let stored = event.and_then(|event| event.stored.as_ref());
        let put = Put::builder()
            .table_name(&self.table)
            .set_item(Some(decision::encode(
                resource, mark, revision, attempts, stored, now,
            )))
            .build()
            .map_err(|error| StoreError::Refused(error.to_string()))?;
        Ok(TransactWriteItem::builder().put(put).build())
    }

    fn advance_write(
        &self,
        resource: &ResourceKey,
        held: Revision,
        now: Moment,
    ) -> Result<TransactWriteItem, StoreError> {
        if held == Revision::NONE {
            let unknown = Projection {
                revision: held.next(),
                ..Projection::unknown()
            };
            let put = Put::builder()
                .table_name(&self.table)
                .set_item(Some(projection::encode(resource, &unknown, now)))
                .condition_expression("attribute_not_exists(pk)")
                .build()
                .map_err(|error| StoreError::Refused(error.to_string()))?;
            return Ok(TransactWriteItem::builder().put(put).build());
        }
        let mut values = projection::quiet_values(held.next(), &[], now);
        let condition = projection::condition(held, None, &mut values);
        let update = Update::builder()
            .table_name(&self.table)
            .set_key(Some(projection::key(resource)))
            .update_expression(projection::QUIET_UPDATE)
            .condition_expression(condition)
            .set_expression_attribute_values(Some(values))
            .build()
            .map_err(|error| StoreError::Refused(error.to_string()))?;
        Ok(TransactWriteItem::builder().update(update).build())
    }

    /// The one-request form of a quiet conclusion.
    async fn advance(
        &self,
        resource: &ResourceKey,
        held: Revision,
        recent: &[Mark],
        now: Moment,
    ) -> Result<Committed, StoreError> {
        if held == Revision::NONE {
            let projection = Projection {
                revision: held.next(),
                recent: recent.to_vec(),
                ..Projection::unknown()
            };
            return self.put_first(resource, &projection, now).await;
        }
        let mut values = projection::quiet_values(held.next(), recent, now);
        let condition = projection::condition(held, None, &mut values);
        let mut pauses = Pauses::default();
        loop {
            let sent = self
                .client
                .update_item()
                .table_name(&self.table)
                .set_key(Some(projection::key(resource)))
                .update_expression(projection::QUIET_UPDATE)
                .condition_expression(condition.clone())
                .set_expression_attribute_values(Some(values.clone()))
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send()
                .await;
            match sent {
                Ok(output) => {
                    self.writes.count(output.consumed_capacity());
                    return Ok(Committed::Done(held.next()));
                }
                // Also when our own write's answer was lost and the SDK wrote again: the next load shows it.
                Err(error) if is_condition(&error) => return Ok(Committed::Lost),
                Err(error) => match error::read(&error) {
                    busy if error::is_conflict(&busy) && pauses.pause().await => {}
                    other => return Err(other),
                },
            }
        }
    }

    async fn put_first(
        &self,
        resource: &ResourceKey,
        first: &Projection,
        now: Moment,
    ) -> Result<Committed, StoreError> {
        let put = Put::builder()
            .table_name(&self.table)
            .set_item(Some(projection::encode(resource, first, now)))
            .condition_expression("attribute_not_exists(pk)")
            .build()
            .map_err(|error| StoreError::Refused(error.to_string()))?;
        match self
            .transact(vec![TransactWriteItem::builder().put(put).build()])
            .await?
        {
            Committed::Done(_) => Ok(Committed::Done(first.revision)),
            Committed::Lost => Ok(Committed::Lost),
        }
    }

    /// Sends a transaction. The SDK gives it a token of its own and repeats the token with its own
    /// retries, so that a lost response does not run it twice.
    async fn transact(&self, writes: Vec<TransactWriteItem>) -> Result<Committed, StoreError> {
        let mut pauses = Pauses::default();
        loop {
            let sent = self
                .client
                .transact_write_items()
                .set_transact_items(Some(writes.clone()))
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send()
                .await;
            let failed = match sent {
                Ok(output) => {
                    self.writes.count(output.consumed_capacity());
                    return Ok(Committed::Done(Revision::NONE));
                }
                Err(failed) => failed,
            };
            match error::read_cancellation(&failed)? {
                Condition::Failed => return Ok(Committed::Lost),
                Condition::Conflict if pauses.pause().await => {}
                Condition::Conflict => return Err(StoreError::Busy("TransactionConflict".into())),
            }
        }
    }
}

fn without(recent: &[Mark], marks: &[Mark]) -> Vec<Mark> {
    let marked = |event: &EventRef| marks.iter().any(|mark| mark.event == *event);
    recent
        .iter()
        .filter(|mark| !marked(&mark.event))
        .cloned()
        .collect()
}

fn is_condition<R>(
    error: &aws_sdk_dynamodb::error::SdkError<
        aws_sdk_dynamodb::operation::update_item::UpdateItemError,
        R,
    >,
) -> bool {
    use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
    matches!(
        error.as_service_error(),
        Some(UpdateItemError::ConditionalCheckFailedException(_))
    )
}

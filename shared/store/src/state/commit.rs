//! Law 9, one transaction per conclusion: the projection and the marks of all the signals it covers
//! commit together or not at all, under the revision that was loaded before the look began (law 5).
//!
//! A conclusion that changes nothing is one conditional update of the projection, marks included: an
//! update of one item is atomic, and costs half a transaction of one item. When the marks no longer fit
//! there, those that were committed before are copied to a page first, and leave the projection in that
//! update. The copy needs no transaction: it says only what is true already, its key is of its own, and
//! whoever copies the same revision's marks writes the same item. A crash, a lost race or a lost answer in
//! between leaves a mark in both places, which says the same twice.
//!
//! Every request here may be repeated. Where the answer of a commit is lost, it is unknown whether it was
//! done; the next load shows it.

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{Put, ReturnConsumedCapacity, TransactWriteItem, Update};
use lastword_domain::{EventRef, Mark, Outcome, Projection, ResourceKey, Revision};

use super::{LoadedEvent, Pauses, State, decision, page, projection};
use crate::error::{self, Condition, StoreError};
use crate::item::Item;
use crate::moment::Moment;

/// The most decisions that get an item of their own in one transaction; what is more goes to pages.
const MOST_OWN: usize = 40;
/// The most items of their own that fit a transaction beside the projection and some pages.
const MOST_ITEMS: usize = 90;

/// Whether a commit was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Committed {
    /// It was; nobody else had committed since the load.
    Done(Revision),
    /// Somebody else was first: load and look again.
    Lost,
}

/// What a conclusion commits.
#[derive(Debug, Clone, Copy)]
pub struct Commit<'c> {
    /// Whose conclusion it is.
    pub resource: &'c ResourceKey,
    /// What was loaded before the look began.
    pub held: &'c Projection,
    /// The next projection, when it changes. Otherwise only the revision advances: it always does, so
    /// that a slower reader that began before this look loses.
    pub next: Option<&'c Projection>,
    /// What became of each signal.
    pub marks: &'c [Mark],
    /// The signals as loaded.
    pub events: &'c [LoadedEvent],
    /// For people.
    pub now: Moment,
}

/// Where each mark goes.
struct Places {
    own: Vec<Mark>,
    recent: Vec<Mark>,
    paged: Vec<Mark>,
    /// How many of `recent` were held before.
    kept: usize,
}

impl Places {
    fn of(commit: &Commit<'_>) -> Self {
        // An event has one place for its decision: one that has an item already keeps it there.
        let on_record = |mark: &Mark| {
            commit
                .events
                .iter()
                .any(|event| event.reference == mark.event && event.on_record)
        };
        let is_quiet = |mark: &Mark| match mark.outcome {
            Outcome::Unchanged | Outcome::Stale | Outcome::Duplicate => !on_record(mark),
            Outcome::Applied
            | Outcome::Conflict
            | Outcome::Waiting
            | Outcome::Ignored
            | Outcome::Failed
            | Outcome::Exhausted => false,
        };
        let (quiet, mut own): (Vec<_>, Vec<_>) = commit.marks.iter().cloned().partition(is_quiet);
        // What a person has to find comes first.
        own.sort_by_key(|mark| (!on_record(mark), mark.outcome == Outcome::Applied));
        let recorded = own.iter().filter(|mark| on_record(mark)).count();
        let most = recorded.clamp(MOST_OWN, MOST_ITEMS);
        let paged = own.split_off(own.len().min(most));
        let marked = |event: &EventRef| commit.marks.iter().any(|mark| mark.event == *event);
        let kept = commit
            .held
            .recent
            .iter()
            .filter(|mark| !marked(&mark.event));
        let mut recent: Vec<_> = kept.cloned().collect();
        let kept = recent.len();
        recent.extend(quiet);
        Self {
            own,
            recent,
            paged,
            kept,
        }
    }

    /// What becomes of the marks in the projection when only its revision advances.
    fn quietly(&self, held: &[Mark]) -> Quietly {
        let new = self.recent.len() - self.kept;
        if !(self.own.is_empty() && self.paged.is_empty()) {
            Quietly::Not
        } else if self.recent.len() <= Projection::MOST_RECENT {
            Quietly::Kept
        } else if new <= Projection::MOST_RECENT && self.kept == held.len() {
            Quietly::CopiedFirst
        } else {
            Quietly::Not
        }
    }

    /// In a transaction, marks that no longer fit the projection move to a page.
    fn in_transaction(mut self) -> Self {
        if self.recent.len() > Projection::MOST_RECENT {
            self.paged.append(&mut self.recent);
        }
        self
    }
}

/// Whether a conclusion that changes nothing is one update.
enum Quietly {
    /// Every mark fits the projection.
    Kept,
    /// The new ones fit once those held are on a page.
    CopiedFirst,
    /// It needs a transaction.
    Not,
}

impl State {
    /// Commits a conclusion.
    ///
    /// # Errors
    /// When it is unknown whether it was done; repeating the whole look is safe.
    pub async fn commit(&self, commit: &Commit<'_>) -> Result<Committed, StoreError> {
        let places = Places::of(commit);
        let held = commit.held.revision;
        if commit.next.is_none() && held != Revision::NONE {
            match places.quietly(&commit.held.recent) {
                Quietly::Kept => {
                    return self
                        .advance(commit, &places.recent, commit.held.paged)
                        .await;
                }
                Quietly::CopiedFirst => {
                    self.copy_to_page(commit).await?;
                    let new = places.recent.get(places.kept..).unwrap_or_default();
                    return self.advance(commit, new, true).await;
                }
                Quietly::Not => {}
            }
        }
        let places = places.in_transaction();
        let revision = held.next();
        let paged = commit.held.paged || !places.paged.is_empty();
        let mut writes = vec![self.projection_write(commit, places.recent, paged)?];
        for mark in &places.own {
            let event = commit
                .events
                .iter()
                .find(|event| event.reference == mark.event);
            let item = decision::encode(commit.resource, mark, revision, event, commit.now);
            writes.push(self.put_write(item)?);
        }
        for (number, marks) in places.paged.chunks(page::MOST_MARKS).enumerate() {
            let item = page::encode(commit.resource, revision, number, marks, commit.now);
            writes.push(self.put_write(item)?);
        }
        Ok(if self.transact(writes).await? {
            Committed::Done(revision)
        } else {
            Committed::Lost
        })
    }

    /// The projection's part of a transaction: replaced when it changes or is the first, else advanced.
    fn projection_write(
        &self,
        commit: &Commit<'_>,
        recent: Vec<Mark>,
        paged: bool,
    ) -> Result<TransactWriteItem, StoreError> {
        let held = commit.held.revision;
        let version = commit.next.and_then(|next| next.version.as_ref());
        if commit.next.is_none() && held != Revision::NONE {
            let mut values = projection::quiet_values(held.next(), &recent, paged, commit.now);
            let update = Update::builder()
                .table_name(&self.table)
                .set_key(Some(projection::key(commit.resource)))
                .update_expression(projection::QUIET_UPDATE)
                .condition_expression(projection::condition(held, None, &mut values))
                .set_expression_attribute_values(Some(values))
                .build()
                .map_err(|error| StoreError::Refused(error.to_string()))?;
            return Ok(TransactWriteItem::builder().update(update).build());
        }
        let contents = commit
            .next
            .map_or(&commit.held.contents, |next| &next.contents);
        let next = Projection {
            revision: held.next(),
            contents: contents.clone(),
            version: version.cloned(),
            recent,
            paged,
        };
        let mut values = Item::new();
        let condition = projection::condition(held, version, &mut values);
        let put = Put::builder()
            .table_name(&self.table)
            .set_item(Some(projection::encode(commit.resource, &next, commit.now)))
            .condition_expression(condition)
            .set_expression_attribute_values((!values.is_empty()).then_some(values))
            .build()
            .map_err(|error| StoreError::Refused(error.to_string()))?;
        Ok(TransactWriteItem::builder().put(put).build())
    }

    fn put_write(&self, item: Item) -> Result<TransactWriteItem, StoreError> {
        let put = Put::builder()
            .table_name(&self.table)
            .set_item(Some(item))
            .build()
            .map_err(|error| StoreError::Refused(error.to_string()))?;
        Ok(TransactWriteItem::builder().put(put).build())
    }

    /// Copies the marks that are held to a page of their own.
    async fn copy_to_page(&self, commit: &Commit<'_>) -> Result<(), StoreError> {
        let held = commit.held;
        let item = page::encode_copy(commit.resource, held.revision, &held.recent, commit.now);
        let output = self
            .client
            .put_item()
            .table_name(&self.table)
            .set_item(Some(item))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await
            .map_err(|error| error::read(&error))?;
        self.writes.count(output.consumed_capacity());
        Ok(())
    }

    /// The one-update form of a conclusion that changes nothing.
    async fn advance(
        &self,
        commit: &Commit<'_>,
        recent: &[Mark],
        paged: bool,
    ) -> Result<Committed, StoreError> {
        let held = commit.held.revision;
        let mut values = projection::quiet_values(held.next(), recent, paged, commit.now);
        let condition = projection::condition(held, None, &mut values);
        let mut pauses = Pauses::default();
        loop {
            let sent = self
                .client
                .update_item()
                .table_name(&self.table)
                .set_key(Some(projection::key(commit.resource)))
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
                // Also when our own write's answer was lost and the SDK wrote again: the next load
                // shows it.
                Err(error) if is_condition(&error) => return Ok(Committed::Lost),
                Err(error) => match error::read(&error) {
                    busy if error::is_conflict(&busy) && pauses.pause().await => {}
                    other => return Err(other),
                },
            }
        }
    }

    /// Sends a transaction; `false` when a condition failed. The SDK gives it a token of its own and
    /// repeats the token with its own retries, so that a lost response does not run it twice.
    pub(super) async fn transact(
        &self,
        writes: Vec<TransactWriteItem>,
    ) -> Result<bool, StoreError> {
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
                    return Ok(true);
                }
                Err(failed) => failed,
            };
            match error::read_cancellation(&failed)? {
                Condition::Failed => return Ok(false),
                Condition::Conflict if pauses.pause().await => {}
                Condition::Conflict => {
                    return Err(StoreError::Busy("TransactionConflict".into()));
                }
            }
        }
    }
}

fn is_condition<R>(error: &SdkError<UpdateItemError, R>) -> bool {
    matches!(
        error.as_service_error(),
        Some(UpdateItemError::ConditionalCheckFailedException(_))
    )
}

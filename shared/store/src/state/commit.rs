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

use std::collections::BTreeSet;

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{Put, ReturnConsumedCapacity, TransactWriteItem, Update};
use lastword_domain::decide::{Fact, Logged};
use lastword_domain::effect::outbox::{Called, EffectWrite};
use lastword_domain::{Evidence, Link, Mark, Owner, Projection, Report, ResourceKey, Revision};

use super::places::{Places, Quietly};
use super::projection::Beside;
use super::{Loaded, Pauses, State, change, decision, fact, page, projection, rebuild};
use crate::error::{self, Condition, StoreError};
use crate::item::{self, Item};
use crate::moment::Moment;

/// The store takes so many items in one transaction.
const MOST_WRITES: usize = 100;
/// The store takes 4 MB in one transaction, and counts a little more than is counted here.
const MOST_BYTES: usize = 3_900_000;

/// Whether a commit was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Committed {
    /// It was; nobody else had committed since the load.
    Done(Revision),
    /// Somebody else was first: load and look again.
    Lost,
    /// The state is more than the store takes. Nothing was written, and it would be the same again.
    TooLarge,
    /// What is told beside the state is more than the store takes at once. Nothing was written; a part of it may do.
    TooMuch,
}

/// What a conclusion commits.
#[derive(Debug, Clone, Copy)]
pub struct Commit<'c> {
    /// Whose conclusion it is.
    pub resource: &'c ResourceKey,
    /// What was loaded before the look began.
    pub loaded: &'c Loaded,
    /// The next projection, when it changes. Otherwise only the revision advances: it always does, so
    /// that a slower reader that began before this look loses.
    pub next: Option<&'c Projection>,
    /// What became of each signal.
    pub marks: &'c [Mark],
    /// Facts that are not kept yet.
    pub facts: &'c [Fact],
    /// Strategy `sequence`: changes that are not known yet.
    pub changes: &'c [Logged],
    /// What a person is shown of reviews that it opens.
    pub evidence: &'c Evidence,
    /// Which actions the state calls for now.
    pub called: &'c Called,
    /// What is written of effects.
    pub effects: &'c [EffectWrite],
    /// The rebuild that concludes it, if one does.
    pub rebuild: Option<Recommit<'c>>,
    /// For people.
    pub now: Moment,
}

/// What a rebuild commits besides.
#[derive(Debug, Clone, Copy)]
pub struct Recommit<'c> {
    /// What it tells of itself.
    pub report: &'c Report,
    /// Copies in subjects' partitions that are not what they should be: they are written, whatever changed.
    pub copies: &'c BTreeSet<Link>,
}

impl Commit<'_> {
    pub(super) fn held(&self) -> &Projection {
        &self.loaded.projection
    }

    /// Whether copies in subjects' partitions change with it.
    pub(super) fn moves_members(&self) -> bool {
        let repaired = self.rebuild.is_some_and(|it| !it.copies.is_empty());
        let moved = self.next.is_some_and(|next| {
            let (held, next) = (&self.held().meaning.links, &next.meaning.links);
            !(held.is_empty() && next.is_empty())
        });
        moved || repaired
    }

    /// Whether marks stand in the projection, because beside them other items are written and an item for each mark
    /// would cost as much again.
    pub(super) fn marks_inside(&self) -> bool {
        let few = self.marks.len() <= Projection::MOST_RECENT;
        let more = !(self.changes.is_empty() && self.effects.is_empty());
        self.moves_members() || (more && few)
    }

    fn is_quiet(&self) -> bool {
        self.next.is_none()
            && self.facts.is_empty()
            && self.changes.is_empty()
            && self.effects.is_empty()
            && self.rebuild.is_none()
            && *self.called == self.loaded.beside.called
    }
}

impl State {
    /// Commits a conclusion.
    ///
    /// # Errors
    /// When it is unknown whether it was done; repeating the whole look is safe.
    pub async fn commit(&self, commit: &Commit<'_>) -> Result<Committed, StoreError> {
        let places = Places::of(commit);
        let held = commit.held().revision;
        if commit.is_quiet() && held != Revision::NONE {
            match places.quietly(&commit.held().recent) {
                Quietly::Kept => {
                    return self
                        .advance(commit, &places.recent, commit.held().paged)
                        .await;
                }
                Quietly::CopiedFirst => {
                    self.copy_to_page(commit).await?;
                    return self.advance(commit, places.added(), true).await;
                }
                Quietly::Not => {}
            }
        }
        let (places, copied) = match commit.marks_inside() {
            true => self.beside_members(commit, places).await?,
            false => (places, false),
        };
        let places = places.in_transaction();
        let revision = held.next();
        let paged = commit.held().paged || copied || !places.paged.is_empty();
        let mut writes = vec![self.projection_write(commit, places.recent, paged)?];
        let mut items = Vec::new();
        for mark in &places.own {
            let mut events = commit.loaded.events.iter();
            let event = events.find(|event| event.reference == mark.event);
            items.push(decision::encode(
                commit.resource,
                mark,
                revision,
                event,
                commit.now,
            ));
        }
        for (number, marks) in places.paged.chunks(page::MOST_MARKS).enumerate() {
            let item = page::encode(commit.resource, revision, number, marks, commit.now);
            items.push(item);
        }
        let facts = commit.facts.iter();
        items.extend(facts.map(|fact| fact::encode(commit.resource, fact, commit.now)));
        let changes = commit.changes.iter();
        items.extend(changes.map(|change| change::encode(commit.resource, change)));
        writes.extend(self.member_writes(commit)?);
        if !fits(&writes) {
            return Ok(Committed::TooLarge);
        }
        if let Some(Recommit { report, .. }) = commit.rebuild {
            items.push(rebuild::encode(&commit.resource.hash(), report, commit.now));
        }
        for item in items {
            writes.push(self.put_write(item)?);
        }
        writes.extend(self.reviews_of(commit).await?);
        let owner = Owner::Resource(commit.resource.clone());
        writes.extend(self.effect_writes(&owner, commit.effects, commit.now)?);
        if !fits(&writes) {
            return Ok(Committed::TooMuch);
        }
        Ok(if self.transact(writes).await? {
            Committed::Done(revision)
        } else {
            Committed::Lost
        })
    }

    /// Beside the copies of members and the changes of a count, marks stand in the projection. Those that no longer fit there are copied to a page first.
    async fn beside_members(
        &self,
        commit: &Commit<'_>,
        mut places: Places,
    ) -> Result<(Places, bool), StoreError> {
        let copied = matches!(places.quietly(&commit.held().recent), Quietly::CopiedFirst);
        if copied {
            self.copy_to_page(commit).await?;
            places.recent = places.added().to_vec();
        }
        Ok((places, copied))
    }

    /// The projection's part of a transaction: replaced when it changes or is the first, else advanced.
    fn projection_write(
        &self,
        commit: &Commit<'_>,
        recent: Vec<Mark>,
        paged: bool,
    ) -> Result<TransactWriteItem, StoreError> {
        let held = commit.held();
        let version = commit.next.and_then(|next| next.version.as_ref());
        let facts = commit.loaded.beside.facts || !commit.facts.is_empty();
        let held_beside = &commit.loaded.beside;
        let flagged = facts != held_beside.facts || *commit.called != held_beside.called;
        if commit.next.is_none() && held.revision != Revision::NONE && !flagged {
            let next = held.revision.next();
            let mut values = projection::quiet_values(next, &recent, paged, commit.now);
            let update = Update::builder()
                .table_name(&self.table)
                .set_key(Some(projection::key(commit.resource)))
                .update_expression(projection::QUIET_UPDATE)
                .condition_expression(projection::condition(held.revision, None, &mut values))
                .set_expression_attribute_values(Some(values))
                .build()
                .map_err(|error| StoreError::Refused(error.to_string()))?;
            return Ok(TransactWriteItem::builder().update(update).build());
        }
        let next = Projection {
            revision: held.revision.next(),
            recent,
            paged,
            ..commit.next.unwrap_or(held).clone()
        };
        let beside = Beside {
            waiting_since: commit.loaded.beside.waiting_since,
            facts,
            called: commit.called.clone(),
        };
        let mut values = Item::new();
        let condition = projection::condition(held.revision, version, &mut values);
        let item = projection::encode(commit.resource, &next, &beside, commit.now);
        let put = Put::builder()
            .table_name(&self.table)
            .set_item(Some(item))
            .condition_expression(condition)
            .set_expression_attribute_values((!values.is_empty()).then_some(values))
            .build()
            .map_err(|error| StoreError::Refused(error.to_string()))?;
        Ok(TransactWriteItem::builder().put(put).build())
    }

    pub(super) fn put_write(&self, item: Item) -> Result<TransactWriteItem, StoreError> {
        let put = Put::builder()
            .table_name(&self.table)
            .set_item(Some(item))
            .build()
            .map_err(|error| StoreError::Refused(error.to_string()))?;
        Ok(TransactWriteItem::builder().put(put).build())
    }

    /// Copies the marks that are held to a page of their own.
    async fn copy_to_page(&self, commit: &Commit<'_>) -> Result<(), StoreError> {
        let held = commit.held();
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
        let held = commit.held().revision;
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

fn fits(writes: &[TransactWriteItem]) -> bool {
    let sizes = writes.iter().map(|write| {
        let put = write.put().map(|put| item::size(put.item()));
        let values = |update: &Update| update.expression_attribute_values().map(item::size);
        put.or_else(|| write.update().and_then(values))
            .unwrap_or_default()
    });
    let (mut all, mut largest) = (0, 0);
    for size in sizes {
        all += size;
        largest = size.max(largest);
    }
    writes.len() <= MOST_WRITES && largest <= item::MOST_BYTES && all <= MOST_BYTES
}

//! | attribute | type | meaning | written by |
//! |---|---|---|---|
//! | `pk`, `sk` | S, S | hash of the resource's or subject's key, `review#<rule>#<evidence>` | reconcile |
//! | `rule` | S | the rule that could not decide | reconcile |
//! | `about` | S | the resource or subject, readable | reconcile |
//! | `identifiers` | L of S | what it concerns: the evidence that its rule names, else who was decided from | reconcile |
//! | `status` | S | `open`, `withdrawn` or `closed` | reconcile; `closed` by whoever a person uses |
//! | `opened_at`, `withdrawn_at`, `closed_at` | S | for people | the same |
//! | `who`, `choice` | S, S | who closed it, and what was chosen | whoever a person uses |
//! | `open` | S | index `open`: set while it is open | the same |
//!
//! A task for a person. It is opened and withdrawn in the transaction of the conclusion that calls for it or no longer
//! does, under the status that was read before; what a person closed is never opened again by the same evidence.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{
    AttributeValue, KeysAndAttributes, ReturnConsumedCapacity, TransactWriteItem, Update,
};
use lastword_domain::{Evidence, KeyHash, Meaning, ReviewKey, ReviewStatus};

use super::{Pauses, State};
use crate::error::{self, StoreError};
use crate::item::{self, Item, Reading};
use crate::moment::Moment;

const KIND: &str = "review";
pub(crate) const PREFIX: &str = "review#";

/// A task for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    /// Which.
    pub key: ReviewKey,
    /// The resource or subject, readable.
    pub about: String,
    /// What it concerns: the evidence that its rule names, else who was decided from. Its key is made of either, so
    /// that it is the same however the review came to be.
    pub identifiers: Vec<String>,
    /// Where it is in its life.
    pub status: ReviewStatus,
    /// When it was opened, as text.
    pub opened_at: Option<String>,
    /// Who closed it.
    pub who: Option<String>,
    /// What was chosen.
    pub choice: Option<String>,
}

/// Whose reviews are written, and what they say.
pub(crate) struct Holder<'h> {
    pub(crate) hash: KeyHash,
    pub(crate) about: String,
    pub(crate) identifiers: &'h [String],
    /// What is shown instead of them, where a rule names it.
    pub(crate) evidence: &'h Evidence,
}

/// What became of closing a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Closed {
    /// It is closed now.
    Done,
    /// It was not open: there is none, or it was withdrawn or closed before.
    NotOpen,
}

fn key(hash: &KeyHash, review: &ReviewKey) -> Item {
    Item::from([
        ("pk".into(), item::text(hash.as_str())),
        ("sk".into(), item::text(format!("{PREFIX}{review}"))),
    ])
}

pub(crate) fn is_one(item: &Item) -> bool {
    matches!(item.get("sk"), Some(AttributeValue::S(sort)) if sort.starts_with(PREFIX))
}

pub(crate) fn decode(item: &Item) -> Result<Review, StoreError> {
    let reading = Reading { kind: KIND, item };
    let optional = |attribute| {
        let text = reading.optional_text(attribute);
        text.map(|text| text.map(str::to_owned))
    };
    let texts = reading.list("identifiers")?.iter();
    Ok(Review {
        key: reading.name("sk", |sort| {
            ReviewKey::parse(sort.strip_prefix(PREFIX).unwrap_or(sort))
        })?,
        about: reading.text("about")?.to_owned(),
        identifiers: texts.filter_map(|text| text.as_s().ok().cloned()).collect(),
        status: reading.name("status", |word| {
            ReviewStatus::parse(word).ok_or("is unknown")
        })?,
        opened_at: optional("opened_at")?,
        who: optional("who")?,
        choice: optional("choice")?,
    })
}

impl State {
    /// What is to be written so that the reviews follow from what is held to what holds next.
    ///
    /// # Errors
    /// When their statuses cannot be read.
    pub(crate) async fn review_writes(
        &self,
        holder: &Holder<'_>,
        held: &Meaning,
        next: &Meaning,
        now: Moment,
    ) -> Result<Vec<TransactWriteItem>, StoreError> {
        let changed: BTreeSet<_> = held.reviews.symmetric_difference(&next.reviews).collect();
        if changed.is_empty() {
            return Ok(Vec::new());
        }
        let keys = changed.iter().map(|review| key(&holder.hash, review));
        let known = self.reviews(keys.collect()).await?;
        let mut writes = Vec::new();
        for review in changed {
            let known = known.iter().find(|known| known.key == *review);
            let status = known.map(|known| known.status);
            let holds = next.reviews.contains(review);
            if let Some(to) = ReviewStatus::follow(status, holds) {
                writes.push(self.review_write(holder, review, status, to, now)?);
            }
        }
        Ok(writes)
    }

    async fn reviews(&self, keys: Vec<Item>) -> Result<Vec<Review>, StoreError> {
        let mut reviews = Vec::new();
        for chunk in keys.chunks(100) {
            let wanted = KeysAndAttributes::builder()
                .set_keys(Some(chunk.to_vec()))
                .consistent_read(true)
                .build()
                .map_err(|error| StoreError::Refused(error.to_string()))?;
            for item in self.get_all(&self.table, wanted).await? {
                reviews.push(decode(&item)?);
            }
        }
        Ok(reviews)
    }

    fn review_write(
        &self,
        holder: &Holder<'_>,
        review: &ReviewKey,
        held: Option<ReviewStatus>,
        to: ReviewStatus,
        now: Moment,
    ) -> Result<TransactWriteItem, StoreError> {
        let mut values = Item::from([
            (":to".into(), item::text(to.as_str())),
            (":now".into(), item::text(now.to_text())),
        ]);
        let condition = match held {
            None => "attribute_not_exists(pk)",
            Some(held) => {
                values.insert(":held".into(), item::text(held.as_str()));
                "#status = :held"
            }
        };
        let update = match to {
            ReviewStatus::Open => {
                let shard = holder.hash.as_str().bytes().next().unwrap_or_default() % 4;
                let named = holder.evidence.get(review).map(Vec::as_slice);
                let identifiers = named.unwrap_or(holder.identifiers);
                let identifiers = identifiers.iter().map(item::text);
                values.extend([
                    (":rule".into(), item::text(review.rule.as_str())),
                    (":about".into(), item::text(&holder.about)),
                    (
                        ":identifiers".into(),
                        AttributeValue::L(identifiers.collect()),
                    ),
                    (":open".into(), item::text(format!("review#{shard}"))),
                ]);
                "SET #status = :to, opened_at = :now, #rule = :rule, about = :about, \
                 identifiers = :identifiers, #open = :open"
            }
            ReviewStatus::Withdrawn | ReviewStatus::Closed => {
                "SET #status = :to, withdrawn_at = :now REMOVE #open"
            }
        };
        let mut update = Update::builder()
            .table_name(&self.table)
            .set_key(Some(key(&holder.hash, review)))
            .update_expression(update)
            .condition_expression(condition)
            .expression_attribute_names("#status", "status")
            .expression_attribute_names("#open", "open")
            .set_expression_attribute_values(Some(values));
        if to == ReviewStatus::Open {
            update = update.expression_attribute_names("#rule", "rule");
        }
        let update = update
            .build()
            .map_err(|error| StoreError::Refused(error.to_string()))?;
        Ok(TransactWriteItem::builder().update(update).build())
    }

    /// Closes an open review with what a person chose. Whoever is later finds it closed.
    ///
    /// # Errors
    /// When it is unknown whether it was done; repeating is safe.
    pub async fn close_review(
        &self,
        holder: &KeyHash,
        review: &ReviewKey,
        who: &str,
        choice: &str,
        now: Moment,
    ) -> Result<Closed, StoreError> {
        let mut pauses = Pauses::default();
        loop {
            let sent = self
                .client
                .update_item()
                .table_name(&self.table)
                .set_key(Some(key(holder, review)))
                .update_expression(
                    "SET #status = :closed, who = :who, choice = :choice, closed_at = :now REMOVE #open",
                )
                .condition_expression("#status = :held")
                .expression_attribute_names("#status", "status")
                .expression_attribute_names("#open", "open")
                .expression_attribute_values(":closed", item::text(ReviewStatus::Closed.as_str()))
                .expression_attribute_values(":held", item::text(ReviewStatus::Open.as_str()))
                .expression_attribute_values(":who", item::text(who))
                .expression_attribute_values(":choice", item::text(choice))
                .expression_attribute_values(":now", item::text(now.to_text()))
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send()
                .await;
            let failed = match sent {
                Ok(output) => {
                    self.writes.count(output.consumed_capacity());
                    return Ok(Closed::Done);
                }
                Err(failed) => failed,
            };
            let refused = matches!(
                failed.as_service_error(),
                Some(UpdateItemError::ConditionalCheckFailedException(_))
            );
            if refused {
                return Ok(Closed::NotOpen);
            }
            let error = error::read(&failed);
            if !(error::is_conflict(&error) && pauses.pause().await) {
                return Err(error);
            }
        }
    }
}

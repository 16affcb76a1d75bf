//! The whole story of a resource, from its one partition: what is held and what was decided, without a
//! body. Every page is read.

use std::collections::HashSet;

use aws_sdk_dynamodb::types::ReturnConsumedCapacity;
use lastword_domain::decide::Logged;
use lastword_domain::{KeyHash, Mark, Projection, ResourceKey};

use super::decision::{self, Decision};
use super::effect::{self, KeptEffect};
use super::fact::{self, KeptFact};
use super::rebuild::{self, KeptReport};
use super::review::{self, Review};
use super::{State, change, page, projection};
use crate::error::{self, StoreError};
use crate::item::{self, Item};

/// What is known of a resource, and why.
#[derive(Debug, Clone)]
pub struct Story {
    /// What is held of it; `None` when nothing was ever concluded.
    pub projection: Option<Projection>,
    /// When that was concluded, as text.
    pub observed_at: Option<String>,
    /// The decisions that have items of their own, by event.
    pub decisions: Vec<Decision>,
    /// The decisions that were put together on pages, oldest first, and stand nowhere else.
    pub paged: Vec<Mark>,
    /// What happened and stays true.
    pub facts: Vec<KeptFact>,
    /// Strategy `sequence`: the changes that were taken in.
    pub changes: Vec<Logged>,
    /// Tasks for a person, whatever became of them.
    pub reviews: Vec<Review>,
    /// What was to be done about it, whatever became of that.
    pub effects: Vec<KeptEffect>,
    /// What the last rebuild came to, if there ever was one.
    pub rebuilt: Option<KeptReport>,
}

impl State {
    /// Reads everything about a resource, consistently.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn story(&self, resource: &ResourceKey) -> Result<Story, StoreError> {
        let mut story = Story {
            projection: None,
            observed_at: None,
            decisions: Vec::new(),
            paged: Vec::new(),
            facts: Vec::new(),
            changes: Vec::new(),
            reviews: Vec::new(),
            effects: Vec::new(),
            rebuilt: None,
        };
        for item in self.partition(&resource.hash(), "").await? {
            if decision::is_one(&item) {
                story.decisions.push(decision::decode(&item)?);
            } else if page::is_one(&item) {
                story.paged.extend(page::decode(&item)?);
            } else if projection::is_one(&item) {
                story.observed_at = projection::observed_at(&item)?;
                story.projection = Some(projection::decode(&item)?.0);
            } else if fact::is_one(&item) {
                story.facts.push(fact::decode(&item)?);
            } else if change::is_one(&item) {
                story.changes.push(change::decode(&item)?);
            } else if review::is_one(&item) {
                story.reviews.push(review::decode(&item)?);
            } else if effect::is_one(&item) {
                story.effects.push(effect::decode(&item)?);
            } else if rebuild::is_one(&item) {
                story.rebuilt = Some(rebuild::decode(&item)?);
            }
        }
        // A mark that was copied and did not leave its first place says the same twice. One that was copied and
        // then got an item of its own is what the item says: only a later conclusion puts it there.
        let held = story.projection.iter().flat_map(|held| &held.recent);
        let own = story.decisions.iter().map(|decision| &decision.event);
        let mut told: HashSet<_> = held.map(|mark| &mark.event).chain(own).cloned().collect();
        story.paged.retain(|mark| told.insert(mark.event.clone()));
        Ok(story)
    }

    /// The decisions of a resource that were put together on pages.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn paged_marks(&self, resource: &ResourceKey) -> Result<Vec<Mark>, StoreError> {
        let mut marks = Vec::new();
        for item in self.partition(&resource.hash(), page::PREFIX).await? {
            marks.extend(page::decode(&item)?);
        }
        Ok(marks)
    }

    /// The items of a partition whose sort key begins so; every page of the answer is read.
    pub(super) async fn partition(
        &self,
        hash: &KeyHash,
        prefix: &str,
    ) -> Result<Vec<Item>, StoreError> {
        self.attributes(hash, prefix, &[]).await
    }

    /// The same, and only these attributes of each; all of them when none is named.
    pub(super) async fn attributes(
        &self,
        hash: &KeyHash,
        prefix: &str,
        only: &[&str],
    ) -> Result<Vec<Item>, StoreError> {
        let mut condition = "pk = :pk".to_owned();
        let mut values = Item::from([(":pk".into(), item::text(hash.as_str()))]);
        if !prefix.is_empty() {
            condition.push_str(" AND begins_with(sk, :prefix)");
            values.insert(":prefix".into(), item::text(prefix));
        }
        self.query(&condition, values, only).await
    }

    /// The items of a partition whose sort key is within these.
    pub(super) async fn range(
        &self,
        hash: &KeyHash,
        from: &str,
        to: &str,
    ) -> Result<Vec<Item>, StoreError> {
        let values = Item::from([
            (":pk".into(), item::text(hash.as_str())),
            (":from".into(), item::text(from)),
            (":to".into(), item::text(to)),
        ]);
        self.query("pk = :pk AND sk BETWEEN :from AND :to", values, &[])
            .await
    }

    async fn query(
        &self,
        condition: &str,
        values: Item,
        only: &[&str],
    ) -> Result<Vec<Item>, StoreError> {
        let (expression, names) = item::only(only);
        let mut items = Vec::new();
        let mut start = None;
        loop {
            let page = self
                .client
                .query()
                .table_name(&self.table)
                .key_condition_expression(condition)
                .set_expression_attribute_values(Some(values.clone()))
                .set_projection_expression(expression.clone())
                .set_expression_attribute_names(names.clone())
                .consistent_read(true)
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .set_exclusive_start_key(start)
                .send()
                .await
                .map_err(|error| error::read(&error))?;
            self.reads.count(page.consumed_capacity());
            items.extend(page.items.unwrap_or_default());
            start = page.last_evaluated_key;
            if start.is_none() {
                return Ok(items);
            }
        }
    }
}

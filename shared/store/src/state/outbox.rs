//! What an owner's conclusion writes of effects, in its own transaction. The attributes are in [`super::effect`].

use std::collections::HashMap;
use std::time::Duration;

use aws_sdk_dynamodb::types::{ConditionCheck, TransactWriteItem, Update};
use lastword_domain::effect::outbox::{EffectWrite, NewEffect};
use lastword_domain::{EffectKey, EffectStatus, KeyHash, Owner};

use super::State;
use super::effect::item_key;
use crate::error::StoreError;
use crate::item::{self, Item};
use crate::moment::Moment;

impl State {
    /// What is written of effects in their owner's transaction.
    pub(crate) fn effect_writes(
        &self,
        owner: &Owner,
        writes: &[EffectWrite],
        now: Moment,
    ) -> Result<Vec<TransactWriteItem>, StoreError> {
        let hash = owner.hash();
        let all = writes.iter().map(|write| match write {
            EffectWrite::Create(effect) => self.creation(owner, &hash, effect, now),
            EffectWrite::Revive(revival) => {
                self.revival(&hash, revival.key(), revival.settle(), now)
            }
            EffectWrite::Keep(key, _) => self.kept(&hash, key),
        });
        all.collect()
    }

    /// Every attribute only if it is not there: one that exists stays as it is, and nothing is cancelled.
    fn creation(
        &self,
        owner: &Owner,
        hash: &KeyHash,
        effect: &NewEffect,
        now: Moment,
    ) -> Result<TransactWriteItem, StoreError> {
        let mut item = Item::from([
            ("status".into(), item::text(EffectStatus::Pending.as_str())),
            ("turn".into(), item::number(1)),
            ("claims".into(), item::number(0)),
            ("settle".into(), item::number(effect.settle().as_secs())),
            (
                "due_at".into(),
                item::number(now.plus(effect.settle()).unix_ms()),
            ),
            ("created_at".into(), item::text(now.to_text())),
        ]);
        match owner {
            Owner::Resource(resource) => item::resource(resource, &mut item),
            Owner::Subject(subject) => {
                item.insert("subject_kind".into(), item::text(subject.kind.as_str()));
                item.insert("subject_id".into(), item::text(subject.id.as_str()));
            }
        }
        if let Some(fact) = effect.fact() {
            item.insert("fact_kind".into(), item::text(fact.kind.as_str()));
            item.insert("fact_id".into(), item::text(fact.id.as_str()));
            item.insert("fact_content".into(), item::text(fact.content.to_text()));
        }
        if let Some(data) = effect.data() {
            item.insert("data".into(), item::text(data.as_str()));
        }
        let mut update = Update::builder()
            .table_name(&self.table)
            .set_key(Some(item_key(hash, effect.key())));
        let mut sets = Vec::with_capacity(item.len());
        for (at, (name, value)) in item.into_iter().enumerate() {
            sets.push(format!("#n{at} = if_not_exists(#n{at}, :v{at})"));
            update = update
                .expression_attribute_names(format!("#n{at}"), name)
                .expression_attribute_values(format!(":v{at}"), value);
        }
        sets.sort_unstable();
        let update = update
            .update_expression(format!("SET {}", sets.join(", ")))
            .build()
            .map_err(|error| StoreError::Refused(error.to_string()))?;
        Ok(TransactWriteItem::builder().update(update).build())
    }

    fn revival(
        &self,
        hash: &KeyHash,
        key: &EffectKey,
        settle: Duration,
        now: Moment,
    ) -> Result<TransactWriteItem, StoreError> {
        let update = Update::builder()
            .table_name(&self.table)
            .set_key(Some(item_key(hash, key)))
            .update_expression(AGAIN)
            .condition_expression("#status = :superseded")
            .set_expression_attribute_names(Some(again_names()))
            .set_expression_attribute_values(Some(again_values(settle, now)))
            .expression_attribute_values(
                ":superseded",
                item::text(EffectStatus::Superseded.as_str()),
            )
            .build()
            .map_err(|error| StoreError::Refused(error.to_string()))?;
        Ok(TransactWriteItem::builder().update(update).build())
    }

    /// Nobody has superseded it since it was read.
    fn kept(&self, hash: &KeyHash, key: &EffectKey) -> Result<TransactWriteItem, StoreError> {
        let check = ConditionCheck::builder()
            .table_name(&self.table)
            .set_key(Some(item_key(hash, key)))
            .condition_expression("#status <> :superseded")
            .expression_attribute_names("#status", "status")
            .expression_attribute_values(
                ":superseded",
                item::text(EffectStatus::Superseded.as_str()),
            )
            .build()
            .map_err(|error| StoreError::Refused(error.to_string()))?;
        Ok(TransactWriteItem::builder().condition_check(check).build())
    }
}

/// It becomes something to be sent once more, as if it had never been tried. What it tells is said anew when it is.
pub(crate) const AGAIN: &str = "SET #status = :pending, due_at = :due_at, settle = :settle \
     REMOVE #data, attempts, uncertain, first_tried_at, tried_at, lease_until, holder, #error, told, done_at, #open \
     ADD turn :one, claims :one";

pub(crate) fn again_names() -> HashMap<String, String> {
    ["status", "data", "error", "open"]
        .into_iter()
        .map(|name| (format!("#{name}"), name.to_owned()))
        .collect()
}

pub(crate) fn again_values(settle: Duration, now: Moment) -> Item {
    Item::from([
        (
            ":pending".into(),
            item::text(EffectStatus::Pending.as_str()),
        ),
        (":due_at".into(), item::number(now.plus(settle).unix_ms())),
        (":settle".into(), item::number(settle.as_secs())),
        (":one".into(), item::number(1)),
    ])
}

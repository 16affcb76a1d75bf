//! An effect that is laid aside because it is not wanted any more, and one that a person takes up again or settles.
//!
//! An effect is superseded under the revision of its owner by which that was decided. A conclusion that wants it again
//! either comes later, and finds it superseded, or was first, and then it is looked at again.

use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{ConditionCheck, ReturnConsumedCapacity, TransactWriteItem, Update};
use lastword_domain::{EffectKey, EffectStatus, KeyHash, Owner, Revision};
use std::time::Duration;

use super::outbox::{AGAIN, again_names, again_values};
use super::sending::{FENCE, LoadedEffect, Writer, Written, fence, names};
use super::{Pauses, State, effect, projection, subject};
use crate::error::{self, StoreError};
use crate::item::{self, Item};
use crate::moment::Moment;

/// What a person says of an effect that failed, or of which nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ruling {
    /// It is to be sent, as if it had never been tried.
    Again,
    /// It was acted on.
    Happened,
}

/// What became of a ruling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Ruled {
    /// It is as the person says.
    Done,
    /// It neither failed nor is it ambiguous: there is none, or it is being worked on, or it is settled.
    NotOpen,
}

impl State {
    /// Lays an effect aside that is not wanted any more, by what its owner is at the revision that was loaded.
    ///
    /// # Errors
    /// When it is unknown whether it was done; repeating is safe.
    pub async fn supersede_effect(
        &self,
        loaded: &LoadedEffect,
        why: &str,
        writer: Writer<'_>,
    ) -> Result<Written, StoreError> {
        let effect = &loaded.effect;
        let next = effect.claims.saturating_add(1);
        let mut values = fence(effect);
        values.extend([
            (":to".into(), item::text(EffectStatus::Superseded.as_str())),
            (":next".into(), item::number(next)),
            (":holder".into(), item::text(writer.holder)),
            (":error".into(), item::text(why)),
        ]);
        let update = "SET #status = :to, claims = :next, holder = :holder, #error = :error REMOVE lease_until, #open";
        let refused = |error: BuildError| StoreError::Refused(error.to_string());
        let update = Update::builder()
            .table_name(&self.table)
            .set_key(Some(effect::item_key(&effect.owner.hash(), &effect.key)))
            .set_expression_attribute_names(Some(names(update)))
            .update_expression(update)
            .condition_expression(FENCE)
            .set_expression_attribute_values(Some(values))
            .build()
            .map_err(refused)?;
        let key = match &effect.owner {
            Owner::Resource(resource) => projection::key(resource),
            Owner::Subject(subject) => subject::key(subject),
        };
        let mut values = Item::new();
        let condition = match loaded.current.revision() {
            Revision::NONE => "attribute_not_exists(pk)",
            held => {
                values.insert(":held".into(), item::number(held));
                "revision = :held"
            }
        };
        let check = ConditionCheck::builder()
            .table_name(&self.table)
            .set_key(Some(key))
            .condition_expression(condition)
            .set_expression_attribute_values((!values.is_empty()).then_some(values))
            .build()
            .map_err(refused)?;
        let writes = vec![
            TransactWriteItem::builder().update(update).build(),
            TransactWriteItem::builder().condition_check(check).build(),
        ];
        Ok(match self.transact(writes).await? {
            true => Written::Done(next),
            false => Written::Lost,
        })
    }

    /// Does as a person says with an effect that failed or is ambiguous. Sent again, it goes the whole way: the relay
    /// is told of it, and dispatch looks whether it is still wanted.
    ///
    /// # Errors
    /// When it is unknown whether it was done; repeating is safe.
    pub async fn rule_effect(
        &self,
        owner: &KeyHash,
        key: &EffectKey,
        ruling: Ruling,
        who: &str,
        now: Moment,
    ) -> Result<Ruled, StoreError> {
        let mut names = again_names();
        let (update, mut values) = match ruling {
            Ruling::Again => {
                let update = AGAIN.replacen("SET ", "SET who = :who, ", 1);
                (update, again_values(Duration::ZERO, now))
            }
            Ruling::Happened => {
                names.remove("#data");
                let update = "SET who = :who, #status = :done, done_at = :now \
                              REMOVE lease_until, #error, uncertain, #open ADD claims :one";
                let values = Item::from([
                    (":done".into(), item::text(EffectStatus::Done.as_str())),
                    (":now".into(), item::text(now.to_text())),
                    (":one".into(), item::number(1)),
                ]);
                (update.to_owned(), values)
            }
        };
        values.extend([
            (":who".into(), item::text(who)),
            (":failed".into(), item::text(EffectStatus::Failed.as_str())),
            (
                ":ambiguous".into(),
                item::text(EffectStatus::Ambiguous.as_str()),
            ),
        ]);
        let mut pauses = Pauses::default();
        loop {
            let sent = self
                .client
                .update_item()
                .table_name(&self.table)
                .set_key(Some(effect::item_key(owner, key)))
                .update_expression(&update)
                .condition_expression("#status IN (:failed, :ambiguous)")
                .set_expression_attribute_names(Some(names.clone()))
                .set_expression_attribute_values(Some(values.clone()))
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send()
                .await;
            let failed = match sent {
                Ok(output) => {
                    self.writes.count(output.consumed_capacity());
                    return Ok(Ruled::Done);
                }
                Err(failed) => failed,
            };
            let refused = matches!(
                failed.as_service_error(),
                Some(UpdateItemError::ConditionalCheckFailedException(_))
            );
            if refused {
                return Ok(Ruled::NotOpen);
            }
            let error = error::read(&failed);
            if !(error::is_conflict(&error) && pauses.pause().await) {
                return Err(error);
            }
        }
    }
}

//! What dispatch writes of an effect, and nothing else: no projection, no subject, no fact. The attributes are in
//! [`super::effect`].
//!
//! Every write is conditional on the fencing token that was read, and raises it: who lost its lease cannot write over
//! what a newer holder wrote. Every write names its writer, so that one whose answer was lost is known as one's own
//! when the SDK repeats it.

use std::collections::HashMap;

use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{
    AttributeValue, KeysAndAttributes, ReturnConsumedCapacity, ReturnValuesOnConditionCheckFailure,
};
use lastword_domain::effect::outbox::OfFact;
use lastword_domain::{EffectKey, EffectStatus, Json, KeyHash, Owner, Projection, Revision};

use super::effect::{self, KeptEffect};
use super::fact::{self, KeptFact};
use super::subject::LoadedSubject;
use super::{Pauses, State, projection};
use crate::error::{self, StoreError};
use crate::item::{self, Item, Reading};
use crate::moment::Moment;

/// What an effect is about, as it is now.
#[derive(Debug, Clone)]
pub enum Current {
    /// A resource, and the fact about it that calls for the effect.
    Resource(Box<Projection>, Option<Box<KeptFact>>),
    /// A subject with its members.
    Subject(Box<LoadedSubject>),
}

impl Current {
    pub(super) fn revision(&self) -> Revision {
        match self {
            Self::Resource(projection, _) => projection.revision,
            Self::Subject(subject) => subject.revision,
        }
    }
}

/// An effect with what it is about.
#[derive(Debug, Clone)]
pub struct LoadedEffect {
    /// The effect.
    pub effect: KeptEffect,
    /// What it is about.
    pub current: Current,
}

/// Who writes, and when.
#[derive(Debug, Clone, Copy)]
pub struct Writer<'w> {
    /// Another one for every attempt.
    pub holder: &'w str,
    /// For people, and for leases.
    pub now: Moment,
}

/// That somebody is at an effect.
#[derive(Debug, Clone, Copy)]
pub struct Claim<'c> {
    /// Until when.
    pub lease_until: Moment,
    /// What is told, if it is not fixed already.
    pub data: Option<&'c Json>,
    /// Whether an earlier attempt may have been acted on.
    pub uncertain: bool,
}

/// What became of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded<'r> {
    /// The destination acted.
    Done {
        /// How it said so.
        told: &'r str,
    },
    /// It is tried again.
    Again {
        /// Whether it may have been acted on.
        uncertain: bool,
        /// What went wrong.
        error: &'r str,
    },
    /// It was not acted on, and is not tried again by itself.
    Failed {
        /// What went wrong.
        error: &'r str,
    },
    /// It may have been acted on.
    Ambiguous {
        /// What went wrong.
        error: &'r str,
    },
}

/// Whether a write was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Written {
    /// It was; the effect has this fencing token now.
    Done(u64),
    /// Somebody else was first: load again.
    Lost,
}

impl State {
    /// An effect with what it is about, as both are now: consistent reads, the owner's own item before its members.
    /// `None` when there is no such effect.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn load_effect(
        &self,
        owner: &Owner,
        key: &EffectKey,
    ) -> Result<Option<LoadedEffect>, StoreError> {
        let hash = owner.hash();
        let mut keys = vec![effect::item_key(&hash, key)];
        keys.extend(match owner {
            Owner::Resource(resource) => Some(projection::key(resource)),
            Owner::Subject(_) => None,
        });
        let keys = KeysAndAttributes::builder()
            .set_keys(Some(keys))
            .consistent_read(true)
            .build()
            .map_err(|error| StoreError::Refused(error.to_string()))?;
        let items = self.get_all(&self.table, keys).await?;
        let Some(item) = items.iter().find(|item| effect::is_one(item)) else {
            return Ok(None);
        };
        let effect = effect::decode(item)?;
        let current = match owner {
            Owner::Subject(subject) => {
                Current::Subject(Box::new(self.load_subject(subject).await?))
            }
            Owner::Resource(resource) => {
                let item = items.iter().find(|item| projection::is_one(item));
                let projection = match item {
                    Some(item) => projection::decode(item)?.0,
                    None => Projection::unknown(),
                };
                let fact = match &effect.fact {
                    Some(of) => self.fact(&resource.hash(), of).await?.map(Box::new),
                    None => None,
                };
                Current::Resource(Box::new(projection), fact)
            }
        };
        Ok(Some(LoadedEffect { effect, current }))
    }

    async fn fact(&self, owner: &KeyHash, of: &OfFact) -> Result<Option<KeptFact>, StoreError> {
        let output = self
            .client
            .get_item()
            .table_name(&self.table)
            .set_key(Some(fact::key(owner, &of.kind, &of.id, &of.content)))
            .consistent_read(true)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await
            .map_err(|error| error::read(&error))?;
        self.reads.count(output.consumed_capacity());
        output.item.as_ref().map(fact::decode).transpose()
    }

    /// Takes an effect, to send it.
    ///
    /// # Errors
    /// When it is unknown whether it was done; then it is held until the lease is over.
    pub async fn claim_effect(
        &self,
        effect: &KeptEffect,
        claim: &Claim<'_>,
        writer: Writer<'_>,
    ) -> Result<Written, StoreError> {
        let mut values = Item::from([
            (":to".into(), item::text(EffectStatus::Sending.as_str())),
            (":lease".into(), item::number(claim.lease_until.unix_ms())),
            (":now".into(), item::number(writer.now.unix_ms())),
            (":uncertain".into(), AttributeValue::Bool(claim.uncertain)),
            (":open".into(), item::text(open(effect))),
            (
                ":attempt".into(),
                item::number(effect.attempts.saturating_add(1)),
            ),
        ]);
        let mut update = "SET #status = :to, claims = :next, holder = :holder, lease_until = :lease, tried_at = :now, \
                          first_tried_at = if_not_exists(first_tried_at, :now), uncertain = :uncertain, \
                          attempts = :attempt, #open = :open"
            .to_owned();
        if let Some(data) = claim.data {
            values.insert(":data".into(), item::text(data.as_str()));
            update.push_str(", #data = :data");
        }
        self.update_effect(effect, update, values, writer).await
    }

    /// Writes down what became of an effect.
    ///
    /// # Errors
    /// When it is unknown whether it was done; repeating is safe.
    pub async fn record_effect(
        &self,
        effect: &KeptEffect,
        recorded: Recorded<'_>,
        writer: Writer<'_>,
    ) -> Result<Written, StoreError> {
        let (to, set, mut values) = written(recorded, writer.now);
        if set.contains(":open") {
            values.insert(":open".into(), item::text(open(effect)));
        }
        values.insert(":to".into(), item::text(to.as_str()));
        let update = format!("SET #status = :to, claims = :next, holder = :holder{set}");
        self.update_effect(effect, update, values, writer).await
    }

    async fn update_effect(
        &self,
        effect: &KeptEffect,
        update: String,
        mut values: Item,
        writer: Writer<'_>,
    ) -> Result<Written, StoreError> {
        let next = effect.claims.saturating_add(1);
        values.extend(fence(effect));
        values.insert(":next".into(), item::number(next));
        values.insert(":holder".into(), item::text(writer.holder));
        let names = names(&update);
        let mut pauses = Pauses::default();
        loop {
            let sent = self
                .client
                .update_item()
                .table_name(&self.table)
                .set_key(Some(effect::item_key(&effect.owner.hash(), &effect.key)))
                .update_expression(&update)
                .condition_expression(FENCE)
                .set_expression_attribute_names(Some(names.clone()))
                .set_expression_attribute_values(Some(values.clone()))
                .return_values_on_condition_check_failure(
                    ReturnValuesOnConditionCheckFailure::AllOld,
                )
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send()
                .await;
            let failed = match sent {
                Ok(output) => {
                    self.writes.count(output.consumed_capacity());
                    return Ok(Written::Done(next));
                }
                Err(failed) => failed,
            };
            if let Some(UpdateItemError::ConditionalCheckFailedException(refused)) =
                failed.as_service_error()
            {
                let own = refused
                    .item()
                    .is_some_and(|held| is_own(held, next, writer));
                return Ok(if own {
                    Written::Done(next)
                } else {
                    Written::Lost
                });
            }
            let error = error::read(&failed);
            if !(error::is_conflict(&error) && pauses.pause().await) {
                return Err(error);
            }
        }
    }
}

/// Where it stands in the index of what is not finished.
fn open(effect: &KeptEffect) -> String {
    let hash = effect.owner.hash();
    let shard = hash.as_str().bytes().next().unwrap_or_default() % 4;
    format!("effect#{shard}")
}

/// Nobody has written since it was read, and it is not settled.
pub(super) const FENCE: &str = "claims = :held AND #status IN (:pending, :sending)";

pub(super) fn fence(effect: &KeptEffect) -> Item {
    Item::from([
        (":held".into(), item::number(effect.claims)),
        (
            ":pending".into(),
            item::text(EffectStatus::Pending.as_str()),
        ),
        (
            ":sending".into(),
            item::text(EffectStatus::Sending.as_str()),
        ),
    ])
}

/// The names that an update uses of those that are reserved.
pub(super) fn names(update: &str) -> HashMap<String, String> {
    ["status", "data", "error", "open"]
        .into_iter()
        .filter(|name| *name == "status" || update.contains(&format!("#{name}")))
        .map(|name| (format!("#{name}"), name.to_owned()))
        .collect()
}

/// Whether what stands there is what was to be written: the answer was lost, and the SDK wrote again.
fn is_own(held: &Item, next: u64, writer: Writer<'_>) -> bool {
    let reading = Reading {
        kind: "effect",
        item: held,
    };
    let token = reading.optional_number("claims").ok().flatten();
    let holder = reading.optional_text("holder").ok().flatten();
    token == Some(next) && holder == Some(writer.holder)
}

/// The status, what is set and removed beside it, and the values for that.
fn written(recorded: Recorded<'_>, now: Moment) -> (EffectStatus, &'static str, Item) {
    let error = |error: &str| Item::from([(":error".to_owned(), item::text(error))]);
    match recorded {
        Recorded::Done { told } => (
            EffectStatus::Done,
            ", told = :told, done_at = :now REMOVE lease_until, #error, uncertain, #open",
            Item::from([
                (":told".into(), item::text(told)),
                (":now".into(), item::text(now.to_text())),
            ]),
        ),
        Recorded::Again {
            uncertain,
            error: why,
        } => {
            let mut values = error(why);
            let flag = AttributeValue::Bool(uncertain);
            values.insert(":uncertain".into(), flag);
            (
                EffectStatus::Pending,
                ", #error = :error, uncertain = :uncertain REMOVE lease_until",
                values,
            )
        }
        Recorded::Failed { error: why } => (
            EffectStatus::Failed,
            ", #error = :error, #open = :open REMOVE lease_until",
            error(why),
        ),
        Recorded::Ambiguous { error: why } => (
            EffectStatus::Ambiguous,
            ", #error = :error, #open = :open REMOVE lease_until",
            error(why),
        ),
    }
}

//! | attribute | type | meaning | written by |
//! |---|---|---|---|
//! | `pk`, `sk` | S, S | hash of the owner's key, `effect#<name>#<version>` and, of a fact, `#<digest of its identity>` | reconcile |
//! | `subject_kind`, `subject_id` | S, S | the owner, when it is a subject | reconcile |
//! | `provider`, `account`, `environment`, `type`, `id` | S | the owner, when it is a resource | reconcile |
//! | `fact_kind`, `fact_id`, `fact_content` | S, S, S | the fact that calls for it, and the digest of its content | reconcile |
//! | `status` | S | `pending`, `sending`, `done`, `failed`, `ambiguous` or `superseded` | reconcile, dispatch |
//! | `turn` | N | how often it became something to be sent; each is told to the relay once | reconcile, whoever a person uses |
//! | `settle`, `due_at` | N, N | seconds that it waits, and until when, Unix milliseconds | the same |
//! | `data` | S | what it tells, as JSON: fixed from the first attempt on that may have been acted on | reconcile, dispatch |
//! | `claims` | N | the fencing token: every write of dispatch is conditional on it, and raises it | dispatch |
//! | `holder`, `lease_until` | S, N | who is at it, and until when, Unix milliseconds | dispatch |
//! | `attempts`, `uncertain` | N, BOOL | attempts of this turn; whether one of them may have been acted on | dispatch |
//! | `first_tried_at`, `tried_at` | N, N | the first and last attempt of this turn, Unix milliseconds | dispatch |
//! | `told`, `error` | S, S | how the destination said that it acted; what went wrong last. No content | dispatch |
//! | `created_at`, `done_at` | S | for people | reconcile, dispatch |
//! | `who` | S | the person who drove it again, or said what became of it | whoever a person uses |
//! | `open` | S | index `open`: set from the first claim until it is done or superseded | dispatch |
//!
//! An intended outward action under its business key. It is created in the transaction of the conclusion that calls for
//! it, by an update that leaves one that is there already as it is: so it never cancels that transaction. What dispatch
//! does with it is in [`super::sending`].

use std::time::Duration;

use aws_sdk_dynamodb::types::{AttributeValue, ConditionCheck, TransactWriteItem, Update};
use lastword_domain::effect::outbox::{Called, EffectWrite, NewEffect, OfFact};
use lastword_domain::name::{FactId, FactKind, SubjectId, SubjectKind};
use lastword_domain::{
    Digest, EffectKey, EffectRule, EffectStatus, Json, KeyHash, Owner, SubjectKey,
};

use super::State;
use crate::error::StoreError;
use crate::item::{self, Item, Reading};
use crate::moment::Moment;

const KIND: &str = "effect";
const CALLED: &str = "called";
/// How an effect's sort key begins, for whoever reads the table's stream.
pub const PREFIX: &str = "effect#";

/// An effect as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptEffect {
    /// Whose it is.
    pub owner: Owner,
    /// Which.
    pub key: EffectKey,
    /// The fact that calls for it.
    pub fact: Option<OfFact>,
    /// Where it is in its life.
    pub status: EffectStatus,
    /// How often it became something to be sent.
    pub turn: u64,
    /// Not to be sent before.
    pub due_at: Moment,
    /// What it tells.
    pub data: Option<Json>,
    /// The fencing token.
    pub claims: u64,
    /// Until when somebody is at it.
    pub lease_until: Option<Moment>,
    /// Attempts of this turn.
    pub attempts: u32,
    /// Whether one of them may have been acted on.
    pub uncertain: bool,
    /// The first attempt of this turn.
    pub first_tried_at: Option<Moment>,
    /// The last one.
    pub tried_at: Option<Moment>,
    /// How the destination said that it acted.
    pub told: Option<String>,
    /// What went wrong last.
    pub error: Option<String>,
    /// When it was created, as text.
    pub created_at: String,
    /// When it was done, as text.
    pub done_at: Option<String>,
    /// The person who drove it again, or said what became of it.
    pub who: Option<String>,
}

pub(crate) fn sort(key: &EffectKey) -> String {
    format!("{PREFIX}{key}")
}

pub(crate) fn item_key(owner: &KeyHash, key: &EffectKey) -> Item {
    Item::from([
        ("pk".into(), item::text(owner.as_str())),
        ("sk".into(), item::text(sort(key))),
    ])
}

pub(crate) fn is_one(item: &Item) -> bool {
    matches!(item.get("sk"), Some(AttributeValue::S(sort)) if sort.starts_with(PREFIX))
}

pub(crate) fn decode(item: &Item) -> Result<KeptEffect, StoreError> {
    let reading = Reading { kind: KIND, item };
    let text = |attribute| {
        let text = reading.optional_text(attribute);
        text.map(|text| text.map(str::to_owned))
    };
    let moment = |attribute| {
        let number = reading.optional_number(attribute);
        number.map(|number| number.map(Moment::from_unix_ms))
    };
    let number = |attribute| {
        let number = reading.optional_number(attribute);
        number.map(Option::unwrap_or_default)
    };
    let data = match reading.optional_text("data")? {
        None => None,
        Some(text) => Some(Json::parse(text).map_err(|error| reading.corrupt("data", error))?),
    };
    Ok(KeptEffect {
        owner: owner(reading)?,
        key: reading.name("sk", |sort| {
            EffectKey::parse(sort.strip_prefix(PREFIX).unwrap_or(sort))
        })?,
        fact: fact(reading)?,
        status: reading.name("status", |word| {
            EffectStatus::parse(word).ok_or("is unknown")
        })?,
        turn: number("turn")?,
        due_at: moment("due_at")?.ok_or_else(|| reading.corrupt("due_at", "is missing"))?,
        data,
        claims: number("claims")?,
        lease_until: moment("lease_until")?,
        attempts: u32::try_from(number("attempts")?).unwrap_or(u32::MAX),
        uncertain: reading.flag("uncertain")?,
        first_tried_at: moment("first_tried_at")?,
        tried_at: moment("tried_at")?,
        told: text("told")?,
        error: text("error")?,
        created_at: reading.text("created_at")?.to_owned(),
        done_at: text("done_at")?,
        who: text("who")?,
    })
}

fn owner(reading: Reading<'_>) -> Result<Owner, StoreError> {
    if reading.item.contains_key("subject_kind") {
        return Ok(Owner::Subject(SubjectKey {
            kind: reading.name("subject_kind", SubjectKind::parse)?,
            id: reading.name("subject_id", SubjectId::parse)?,
        }));
    }
    Ok(Owner::Resource(reading.resource()?))
}

fn fact(reading: Reading<'_>) -> Result<Option<OfFact>, StoreError> {
    if !reading.item.contains_key("fact_kind") {
        return Ok(None);
    }
    Ok(Some(OfFact {
        kind: reading.name("fact_kind", FactKind::parse)?,
        id: reading.name("fact_id", FactId::parse)?,
        content: reading.name("fact_content", |text| {
            Digest::from_text(text).ok_or("is no digest")
        })?,
    }))
}

/// What is remembered of what an owner called for, as it stands in the owner's item.
pub(crate) fn encode_called(called: &Called, item: &mut Item) {
    if called.is_empty() {
        return;
    }
    let rules = called.iter();
    let map = rules.map(|(rule, called)| (rule.to_string(), AttributeValue::Bool(*called)));
    item.insert(CALLED.into(), AttributeValue::M(map.collect()));
}

pub(crate) fn decode_called(reading: Reading<'_>) -> Result<Called, StoreError> {
    let corrupt = || {
        reading.corrupt(
            CALLED,
            "does not hold actions and whether they were called for",
        )
    };
    let map = match reading.item.get(CALLED) {
        None => return Ok(Called::new()),
        Some(value) => value.as_m().map_err(|_| corrupt())?,
    };
    let rules = map.iter().map(|(rule, called)| {
        let called = called.as_bool().map_err(|_| corrupt())?;
        Ok((EffectRule::parse(rule).ok_or_else(corrupt)?, *called))
    });
    rules.collect()
}

/// Where the effects of an owner are that its state calls for.
pub(crate) fn of_state(item: &Item) -> Result<Option<(EffectRule, EffectStatus)>, StoreError> {
    let reading = Reading { kind: KIND, item };
    let key = reading.name("sk", |sort| {
        EffectKey::parse(sort.strip_prefix(PREFIX).unwrap_or(sort))
    })?;
    let status = reading.name("status", |word| {
        EffectStatus::parse(word).ok_or("is unknown")
    })?;
    Ok(key.fact.is_none().then_some((key.rule, status)))
}

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

pub(crate) fn again_names() -> std::collections::HashMap<String, String> {
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

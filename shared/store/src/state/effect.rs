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
//! | `created_at` | S | for people | reconcile |
//! | `done_at` | S | for people | dispatch, whoever a person uses |
//! | `who` | S | the person who drove it again, or said what became of it | whoever a person uses |
//! | `open` | S | index `open`: set from the first claim until it is done or superseded | dispatch |
//!
//! An intended outward action under its business key. It is created in the transaction of the conclusion that calls for
//! it, by an update that leaves one that is there already as it is: so it never cancels that transaction. What dispatch
//! does with it is in [`super::sending`].

use aws_sdk_dynamodb::types::AttributeValue;
use lastword_domain::effect::outbox::{Called, OfFact};
use lastword_domain::name::{FactId, FactKind, SubjectId, SubjectKind};
use lastword_domain::{
    Digest, EffectKey, EffectRule, EffectStatus, Json, KeyHash, Owner, SubjectKey,
};

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

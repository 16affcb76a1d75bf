//! What the table's stream tells: which resource or subject changed, which fact is new, which effect is to be sent.
//! Read without decoding a state; whether anything changed is a comparison of what was stored before and after.

use lastword_domain::name::{
    Account, Environment, FactId, FactKind, Provider, ResourceId, ResourceType, SubjectId,
    SubjectKind,
};
use lastword_domain::{EffectKey, EffectStatus, Owner, ResourceKey, SubjectKey};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{effect, fact};
use crate::error::StoreError;

/// What a record tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// A resource is not what it was, or does not mean what it meant.
    Resource {
        /// Which.
        resource: ResourceKey,
        /// How many conclusions it has behind it.
        revision: String,
        /// `present`, `deleted` or `contested`.
        standing: &'static str,
        /// What its rules conclude, as JSON.
        verdict: Option<String>,
    },
    /// A subject is decided otherwise than it was.
    Subject {
        /// Which.
        subject: SubjectKey,
        /// How many decisions it has behind it.
        revision: String,
        /// What its rules conclude, as JSON.
        verdict: Option<String>,
    },
    /// A fact is recorded.
    Fact {
        /// About which resource.
        resource: ResourceKey,
        /// What kind.
        kind: FactKind,
        /// Which.
        id: FactId,
        /// The event that told it, as a pointer.
        event: String,
    },
    /// An effect is to be sent.
    Effect {
        /// Whose.
        owner: Owner,
        /// Which.
        key: EffectKey,
        /// For which time it became something to be sent.
        turn: u64,
        /// Seconds that it waits.
        settle: u64,
    },
    /// Nothing that anybody waits for.
    Nothing,
}

#[derive(Deserialize)]
struct Text {
    #[serde(rename = "S")]
    text: String,
}

#[derive(Deserialize)]
struct Number {
    #[serde(rename = "N")]
    digits: String,
}

/// The attributes of every item that are looked at; those that may be large are left unread.
#[derive(Deserialize)]
struct Image<'a> {
    sk: Text,
    revision: Option<Number>,
    verdict: Option<Text>,
    #[serde(borrow)]
    state: Option<&'a RawValue>,
    #[serde(borrow)]
    packed: Option<&'a RawValue>,
    #[serde(borrow)]
    contested: Option<&'a RawValue>,
    #[serde(borrow)]
    deleted: Option<&'a RawValue>,
    #[serde(borrow)]
    statuses: Option<&'a RawValue>,
    provider: Option<Text>,
    account: Option<Text>,
    environment: Option<Text>,
    #[serde(rename = "type")]
    resource_type: Option<Text>,
    id: Option<Text>,
    // A fact's, or a subject's.
    kind: Option<Text>,
    fact_id: Option<Text>,
    event: Option<Text>,
    subject_id: Option<Text>,
    subject_kind: Option<Text>,
    // An effect's.
    status: Option<Text>,
    turn: Option<Number>,
    settle: Option<Number>,
}

fn corrupt(attribute: &'static str, why: impl std::fmt::Display) -> StoreError {
    StoreError::Corrupt {
        item: "streamed item",
        attribute,
        why: why.to_string(),
    }
}

/// What a record of the table's stream tells, given its images as JSON; `old` is `None` for a new item.
///
/// # Errors
/// When it is not an item of this table.
pub fn told(new: &str, old: Option<&str>) -> Result<Told, StoreError> {
    let parse = |text| serde_json::from_str::<Image<'_>>(text).map_err(|e| corrupt("image", e));
    let new = parse(new)?;
    let old = old.map(parse).transpose()?;
    match new.sk.text.as_str() {
        "projection" => new.resource_told(old.as_ref()),
        "subject" => new.subject_told(old.as_ref()),
        sort if sort.starts_with(fact::PREFIX) && old.is_none() => new.fact_told(),
        sort if sort.starts_with(effect::PREFIX) => new.effect_told(old.as_ref()),
        _ => Ok(Told::Nothing),
    }
}

impl Image<'_> {
    /// What of it is told to others: neither the revision nor the marks.
    fn essence(&self) -> [Option<&str>; 6] {
        [
            self.verdict.as_ref().map(|verdict| verdict.text.as_str()),
            raw(self.state),
            raw(self.packed),
            raw(self.contested),
            raw(self.deleted),
            raw(self.statuses),
        ]
    }

    fn resource_told(&self, old: Option<&Self>) -> Result<Told, StoreError> {
        let standing = if self.deleted.is_some() {
            "deleted"
        } else if self.contested.is_some() {
            "contested"
        } else if self.state.is_some() || self.packed.is_some() {
            "present"
        } else {
            // Nothing is known of it yet.
            return Ok(Told::Nothing);
        };
        if old.is_some_and(|old| old.essence() == self.essence()) {
            return Ok(Told::Nothing);
        }
        Ok(Told::Resource {
            resource: self.resource()?,
            revision: self.revision()?,
            standing,
            verdict: self.verdict.as_ref().map(|verdict| verdict.text.clone()),
        })
    }

    fn subject_told(&self, old: Option<&Self>) -> Result<Told, StoreError> {
        if old.is_some_and(|old| old.essence() == self.essence()) {
            return Ok(Told::Nothing);
        }
        Ok(Told::Subject {
            subject: SubjectKey {
                kind: name("kind", self.kind.as_ref(), SubjectKind::parse)?,
                id: name("subject_id", self.subject_id.as_ref(), SubjectId::parse)?,
            },
            revision: self.revision()?,
            verdict: self.verdict.as_ref().map(|verdict| verdict.text.clone()),
        })
    }

    fn fact_told(&self) -> Result<Told, StoreError> {
        Ok(Told::Fact {
            resource: self.resource()?,
            kind: name("kind", self.kind.as_ref(), FactKind::parse)?,
            id: name("fact_id", self.fact_id.as_ref(), FactId::parse)?,
            event: self
                .event
                .as_ref()
                .map(|event| event.text.clone())
                .ok_or_else(|| corrupt("event", "is missing"))?,
        })
    }

    /// Only whoever makes it something to be sent raises its turn: what dispatch puts back is in the queue still.
    fn effect_told(&self, old: Option<&Self>) -> Result<Told, StoreError> {
        let status = self.status.as_ref().map(|status| status.text.as_str());
        let turn = digits("turn", self.turn.as_ref())?;
        let told = match old {
            Some(old) => digits("turn", old.turn.as_ref())? == turn,
            None => false,
        };
        if told || status != Some(EffectStatus::Pending.as_str()) {
            return Ok(Told::Nothing);
        }
        let key = self.sk.text.strip_prefix(effect::PREFIX);
        let owner = match &self.subject_kind {
            Some(_) => Owner::Subject(SubjectKey {
                kind: name(
                    "subject_kind",
                    self.subject_kind.as_ref(),
                    SubjectKind::parse,
                )?,
                id: name("subject_id", self.subject_id.as_ref(), SubjectId::parse)?,
            }),
            None => Owner::Resource(self.resource()?),
        };
        Ok(Told::Effect {
            owner,
            key: EffectKey::parse(key.unwrap_or_default()).map_err(|error| corrupt("sk", error))?,
            turn,
            settle: digits("settle", self.settle.as_ref())?,
        })
    }

    fn revision(&self) -> Result<String, StoreError> {
        let revision = self.revision.as_ref();
        revision
            .map(|revision| revision.digits.clone())
            .ok_or_else(|| corrupt("revision", "is missing"))
    }

    fn resource(&self) -> Result<ResourceKey, StoreError> {
        Ok(ResourceKey {
            provider: name("provider", self.provider.as_ref(), Provider::parse)?,
            account: name("account", self.account.as_ref(), Account::parse)?,
            environment: name("environment", self.environment.as_ref(), Environment::parse)?,
            kind: name("type", self.resource_type.as_ref(), ResourceType::parse)?,
            id: name("id", self.id.as_ref(), ResourceId::parse)?,
        })
    }
}

fn raw(value: Option<&RawValue>) -> Option<&str> {
    value.map(RawValue::get)
}

fn name<T, E: std::fmt::Display>(
    attribute: &'static str,
    text: Option<&Text>,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Result<T, StoreError> {
    let text = text.ok_or_else(|| corrupt(attribute, "is missing"))?;
    parse(&text.text).map_err(|error| corrupt(attribute, error))
}

fn digits(attribute: &'static str, number: Option<&Number>) -> Result<u64, StoreError> {
    let number = number.ok_or_else(|| corrupt(attribute, "is missing"))?;
    number
        .digits
        .parse()
        .map_err(|error| corrupt(attribute, error))
}

//! What a contract knows of one kind of object: which events are about it, what they prove, how it is read.

use std::collections::BTreeMap;

use lastword_domain::name::FactKind;
use lastword_domain::version::VersionKind;
use lastword_domain::{Strategy, Terms, Version};
use serde::Deserialize;

use super::Certainty;
use crate::extract::Pointer;
use crate::items::Items;
use crate::pattern::Patterns;
use crate::source::Sources;

/// What is known of one kind of object.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResourceRules {
    /// Which events are about it.
    pub events: Patterns,
    /// Where its id stands; several places are joined with a slash.
    pub id: Sources,
    /// The way to several of them in one event; `item:` places are within each.
    pub each: Option<Items>,
    /// Members that the body of an event about it never holds. Where an unsigned header names the event's
    /// type, they tell a body of its own from one that was sent again under another name.
    #[serde(default)]
    pub without: Vec<Pointer>,
    /// What the contract's evidence allows, the best first.
    pub strategies: Vec<StrategyName>,
    /// Why nothing can be kept of it, when no strategy is allowed. Its events are accepted all the same.
    pub why: Option<String>,
    /// The path that reads it; `{0}`, `{1}` stand for the parts of its id.
    pub read: Option<String>,
    /// Where the object stands in what the read API answers, when it is wrapped.
    pub read_at: Option<Pointer>,
    /// Where the last part of its id stands in the object.
    pub read_id: Option<Pointer>,
    /// Where the whole object stands in the body.
    pub snapshot: Option<Pointer>,
    /// Where its version stands in the body.
    pub version: Option<Pointer>,
    /// How versions are written and compared.
    #[serde(default)]
    pub version_kind: KindOfVersion,
    /// Where its version stands in the object.
    pub read_version: Option<Pointer>,
    /// Events that say it is deleted.
    #[serde(default)]
    pub deleted_by: Patterns,
    /// A member of the object that is `true` when it is deleted.
    pub deleted_when: Option<Pointer>,
    /// Whether something deleted can be there again under the same id. Without it a tombstone is final.
    #[serde(default)]
    pub comes_back: bool,
    /// Strategy `transition`: where its status stands in the body.
    pub status: Option<Pointer>,
    /// Strategy `transition`: where its status stands in the object.
    pub read_status: Option<Pointer>,
    /// Strategy `transition`: which statuses each leads to.
    #[serde(default)]
    pub statuses: BTreeMap<String, Vec<String>>,
    /// Strategy `sequence`: where the number of the change stands in the body.
    pub number: Option<Pointer>,
    /// Strategy `sequence`: where the change stands in the body, as a merge patch (RFC 7396). Without it a change
    /// is the whole object, at `snapshot`.
    pub change: Option<Pointer>,
    /// Strategy `sequence`: the number of an object's first change; 1 without it.
    pub first_number: Option<String>,
    /// Strategy `sequence`: how long a change waits for the one before it, before the source is read, in seconds.
    pub patience_seconds: Option<u32>,
    /// What happened and stays true, besides the object's state.
    #[serde(default)]
    pub facts: BTreeMap<FactKind, FactRules>,
    /// Where this is known from.
    #[serde(default)]
    pub source: String,
    /// How sure it is.
    pub certainty: Option<Certainty>,
}

/// How a kind of facts is told.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactRules {
    /// The events that tell one.
    pub events: Patterns,
    /// Where its business identity stands in what is kept of it; several parts are joined with a slash.
    pub id: Vec<Pointer>,
    /// Where what is kept of it stands in the body; the whole body without it.
    pub content: Option<Pointer>,
    /// The path that reads a thin event by its id (`{0}`), which holds what is kept.
    pub read: Option<String>,
    /// Where the event's id stands in what is read: an answer about another event tells nothing.
    pub read_id: Option<Pointer>,
    /// Where this is known from.
    #[serde(default)]
    pub source: String,
    /// How sure it is.
    pub certainty: Option<Certainty>,
}

/// How versions are written, checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct KindOfVersion(pub VersionKind);

impl Default for KindOfVersion {
    fn default() -> Self {
        Self(VersionKind::Whole)
    }
}

impl TryFrom<String> for KindOfVersion {
    type Error = String;
    fn try_from(word: String) -> Result<Self, String> {
        VersionKind::parse(&word).map(Self).ok_or_else(|| {
            format!("found {word:?}, expected \"whole\", \"dotted\" or \"fixed:<width>\"")
        })
    }
}

/// A strategy's word, checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct StrategyName(pub Strategy);

impl TryFrom<String> for StrategyName {
    type Error = String;
    fn try_from(word: String) -> Result<Self, String> {
        Strategy::parse(&word)
            .map(Self)
            .ok_or_else(|| {
                format!(
                    "found {word:?}, expected \"current\", \"version\", \"sequence\", \"transition\" or \"fact\""
                )
            })
    }
}

impl ResourceRules {
    /// What the contract allows a decision to rely on; `api` says whether it reads objects at all.
    #[must_use]
    pub fn terms(&self, api: bool) -> Terms {
        Terms {
            can_read: api && self.read.is_some(),
            comes_back: self.comes_back,
        }
    }

    /// The number of an object's first change.
    #[must_use]
    pub fn first(&self) -> Version {
        let told = self.first_number.as_deref();
        let told = told.and_then(|text| Version::parse(text).ok());
        told.unwrap_or_else(Version::one)
    }

    /// Whether anything is kept of it: a state, or facts.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        !(self.strategies.is_empty() && self.facts.is_empty())
    }
}

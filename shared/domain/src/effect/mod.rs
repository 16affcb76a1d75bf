//! What the business must do about it: an intended outward action, keyed by business identity and never by an event.
//!
//! Two hands write an effect, and each decides in a room of its own: whoever decides about the owner creates it and
//! takes it up again ([`outbox`]), whoever sends it does the rest ([`life`]).

pub mod life;
pub mod outbox;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::key::{KeyHash, ResourceKey};
use crate::meaning::SubjectKey;
use crate::name::{EffectName, FactId, FactKind};

/// Whose effect it is: the thing that it is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Owner {
    /// One of a provider's objects, or a fact about it.
    Resource(ResourceKey),
    /// A thing of our own business.
    Subject(SubjectKey),
}

impl Owner {
    /// The partition in which it is kept.
    #[must_use]
    pub fn hash(&self) -> KeyHash {
        match self {
            Self::Resource(resource) => resource.hash(),
            Self::Subject(subject) => subject.hash(),
        }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Resource(resource) => resource.fmt(f),
            Self::Subject(subject) => write!(f, "subject/{subject}"),
        }
    }
}

/// A declared action, in the version that is declared: another version is another action.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EffectRule {
    /// What it is called.
    pub name: EffectName,
    /// Its version, as declared.
    pub version: u32,
}

impl EffectRule {
    /// From the text that [`fmt::Display`] writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (name, version) = text.split_once('#')?;
        let whole = !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit());
        Some(Self {
            name: EffectName::parse(name).ok()?,
            version: version.parse().ok().filter(|_| whole)?,
        })
    }
}

impl fmt::Display for EffectRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.name, self.version)
    }
}

/// What makes two effects of one owner the same: the action, and the fact that calls for it, if one does.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EffectKey {
    /// Which action.
    pub rule: EffectRule,
    /// Which fact, by its identity: two contents under one identity call for one action.
    pub fact: Option<Digest>,
}

/// A text that is no effect's key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an effect's key (name#version, or name#version#fact)")]
pub struct EffectKeyError;

impl EffectKey {
    /// Of an action that a state calls for.
    #[must_use]
    pub fn of_state(rule: EffectRule) -> Self {
        Self { rule, fact: None }
    }

    /// Of an action that a fact calls for.
    #[must_use]
    pub fn of_fact(rule: EffectRule, kind: &FactKind, id: &FactId) -> Self {
        Self {
            rule,
            fact: Some(Digest::of_parts(&[kind.as_str(), id.as_str()])),
        }
    }

    /// From the text that [`fmt::Display`] writes.
    ///
    /// # Errors
    /// When the text is not of that form.
    pub fn parse(text: &str) -> Result<Self, EffectKeyError> {
        let mut parts = text.splitn(3, '#');
        let (name, version) = (parts.next(), parts.next());
        let (name, version) = name.zip(version).ok_or(EffectKeyError)?;
        let rule = EffectRule::parse(&format!("{name}#{version}")).ok_or(EffectKeyError)?;
        let fact = match parts.next() {
            None => None,
            Some(text) => Some(Digest::from_text(text).ok_or(EffectKeyError)?),
        };
        Ok(Self { rule, fact })
    }

    /// The business key, as destinations know it: the same for whoever sends it, however often; 43 characters.
    #[must_use]
    pub fn business_key(&self, owner: &KeyHash) -> KeyHash {
        KeyHash::of("effect", &[owner.as_str(), &self.to_string()])
    }
}

impl fmt::Display for EffectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rule.fmt(f)?;
        match &self.fact {
            None => Ok(()),
            Some(fact) => write!(f, "#{fact}"),
        }
    }
}

/// Where an effect is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EffectStatus {
    /// It is to be sent.
    Pending,
    /// Somebody is at it.
    Sending,
    /// It was acted on.
    Done,
    /// It was certainly not acted on, and will not be tried again by itself.
    Failed,
    /// Nobody can say whether it was acted on: a person has to find out.
    Ambiguous,
    /// It was not sent, because what called for it is not so any more.
    Superseded,
}

impl EffectStatus {
    /// Every status.
    pub const ALL: [Self; 6] = [
        Self::Pending,
        Self::Sending,
        Self::Done,
        Self::Failed,
        Self::Ambiguous,
        Self::Superseded,
    ];

    /// Its word, as stored and shown.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Sending => "sending",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Ambiguous => "ambiguous",
            Self::Superseded => "superseded",
        }
    }

    /// From its word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }
}

impl fmt::Display for EffectStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(name: &str, version: u32) -> EffectRule {
        EffectRule {
            name: EffectName::parse(name).unwrap(),
            version,
        }
    }

    #[test]
    fn a_key_survives_its_text() {
        let kind = FactKind::parse("paid").unwrap();
        let id = FactId::parse("in_1 # 😊").unwrap();
        let keys = [
            EffectKey::of_state(rule("confirmation", 1)),
            EffectKey::of_fact(rule("receipt", 12), &kind, &id),
        ];
        for key in keys {
            assert_eq!(EffectKey::parse(&key.to_string()), Ok(key));
        }
        for text in [
            "",
            "a",
            "a#",
            "a#x",
            "a#1#",
            "a#1#short",
            "a#+1",
            "#1",
            "A#1",
        ] {
            assert_eq!(EffectKey::parse(text), Err(EffectKeyError), "{text}");
        }
        for status in EffectStatus::ALL {
            assert_eq!(EffectStatus::parse(status.as_str()), Some(status));
        }
    }

    #[test]
    fn another_owner_action_version_or_fact_is_another_business_key() {
        let owner = |id: &str| KeyHash::of("resource", &[id]);
        let kind = FactKind::parse("paid").unwrap();
        let fact = |id: &str| {
            let id = FactId::parse(id).unwrap();
            EffectKey::of_fact(rule("receipt", 1), &kind, &id)
        };
        let all = [
            EffectKey::of_state(rule("receipt", 1)).business_key(&owner("1")),
            EffectKey::of_state(rule("receipt", 1)).business_key(&owner("2")),
            EffectKey::of_state(rule("receipt", 2)).business_key(&owner("1")),
            EffectKey::of_state(rule("notice", 1)).business_key(&owner("1")),
            fact("1").business_key(&owner("1")),
            fact("2").business_key(&owner("1")),
        ];
        let different: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len());
    }
}

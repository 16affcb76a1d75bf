//! What the business must do about what is told, as it is written: expressions are kept as text, with their place.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use lastword_domain::name::{
    DestinationName, EffectName, FactKind, IntegrationName, ResourceType, SubjectKind, WordingName,
};

use crate::meaning::RuleText;

/// What calls for an action.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum On {
    /// A resource's state.
    Resource(IntegrationName, ResourceType),
    /// Each fact of a kind.
    Fact(IntegrationName, ResourceType, FactKind),
    /// What a subject's members say together.
    Subject(SubjectKind),
}

/// As it is written in the file.
impl fmt::Display for On {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Resource(integration, kind) => write!(f, "{integration}/{kind}"),
            Self::Fact(integration, kind, fact) => write!(f, "{integration}/{kind}/{fact}"),
            Self::Subject(kind) => kind.fmt(f),
        }
    }
}

/// A declared action.
#[derive(Debug, Clone)]
pub struct Effect {
    /// What calls for it.
    pub on: On,
    /// Whether it does. Always, without one.
    pub when: Option<RuleText>,
    /// Whether it is still wanted when it is sent. Always, without one.
    pub holds: Option<RuleText>,
    /// What is told, by name.
    pub data: BTreeMap<String, RuleText>,
    /// Where it goes.
    pub to: DestinationName,
    /// How long it waits before it is sent.
    pub settle: Duration,
    /// Another version is another action.
    pub version: u32,
    /// How it is worded, where it is a message to a person.
    pub wording: Option<WordingName>,
}

/// Effects by name.
pub type Effects = BTreeMap<EffectName, Effect>;

//! What states mean to this deployment, as it is written: rules and subjects. Expressions are kept as text here,
//! with their place; whoever evaluates them compiles them once, at its start.

use std::collections::BTreeMap;
use std::fmt::Display;

use lastword_domain::name::{IntegrationName, ResourceType, Role, RuleName, SubjectKind};

use crate::Problem;

/// An expression as written, with its place for messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleText {
    /// The expression.
    pub text: String,
    /// The file's line on which it begins, counted from 1.
    pub line: usize,
    /// Which setting it is: `subjects.order.rules.allow.ship`.
    pub setting: String,
}

impl RuleText {
    /// What is wrong with it; `line` is counted within the expression, from 1.
    #[must_use]
    pub fn problem(&self, line: usize, message: impl Display) -> Problem {
        Problem {
            line: self.line + line.saturating_sub(1),
            setting: self.setting.clone(),
            message: message.to_string(),
        }
    }
}

/// When a person has to decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewText {
    /// True when it is so.
    pub when: RuleText,
    /// What the review is about: the same never opens a second one. The whole state without it.
    pub evidence: Option<RuleText>,
}

/// What is concluded from a state, or from a subject's members.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RuleTexts {
    /// The confirmed state, in a word.
    pub state: Option<RuleText>,
    /// What is allowed, by action.
    pub allow: BTreeMap<String, RuleText>,
    /// The minimal data that goes with it, by name.
    pub data: BTreeMap<String, RuleText>,
    /// When a person has to decide, by rule.
    pub review: BTreeMap<RuleName, ReviewText>,
}

impl RuleTexts {
    /// Whether nothing is declared.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A thing of our own business that several resources speak about.
#[derive(Debug, Clone)]
pub struct Subject {
    /// Who speaks about it, by role.
    pub members: BTreeMap<Role, Member>,
    /// What is concluded from them.
    pub rules: RuleTexts,
}

/// Who speaks about a subject in one role.
#[derive(Debug, Clone)]
pub struct Member {
    /// Through which endpoint.
    pub integration: IntegrationName,
    /// Which of its resources.
    pub resource: ResourceType,
    /// Which subjects a state speaks about: an id, several, or none.
    pub link: RuleText,
    /// Whether several resources may have this role at once.
    pub many: bool,
}

/// Subjects by name.
pub type Subjects = BTreeMap<SubjectKind, Subject>;

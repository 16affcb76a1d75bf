//! How messages to people are worded, as it is written: the approved text, and what a model's text must keep to.
//! Templates are kept as text here, with their place; whoever renders them compiles them once, at its start.

use std::collections::{BTreeMap, BTreeSet};

use lastword_domain::name::WordingName;

use crate::meaning::RuleText;

/// A declared wording.
#[derive(Debug, Clone)]
pub struct Wording {
    /// The approved text, as a template over the members of an effect's data, `effect` and `about`.
    pub template: RuleText,
    /// What a model is asked to write. Without one the model is asked for nothing but what the rest says.
    pub brief: Option<String>,
    /// The most characters of a model's text.
    pub most_characters: usize,
    /// Members of the data whose values must stand in a model's text.
    pub must_mention: BTreeSet<String>,
    /// Words that no text may hold, in lower case.
    pub never_says: BTreeSet<String>,
    /// Which members of the data a model sees. All of them, without it.
    pub fields: Option<BTreeSet<String>>,
}

impl Wording {
    /// Whether a model sees this member of the data.
    #[must_use]
    pub fn shows(&self, member: &str) -> bool {
        let named = self.fields.as_ref();
        named.is_none_or(|fields| fields.contains(member))
    }
}

/// Wordings by name.
pub type Wordings = BTreeMap<WordingName, Wording>;

//! The names that an expression may use, and the values that one evaluation gives them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::value::Value;

/// The variables that an expression may use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names(BTreeSet<String>);

impl Names {
    /// From a list of names.
    pub fn new<I: IntoIterator<Item = N>, N: Into<String>>(names: I) -> Self {
        Self(names.into_iter().map(Into::into).collect())
    }

    /// Whether it may be used.
    #[must_use]
    pub fn holds(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

/// The variables of one evaluation.
#[derive(Debug, Clone, Default)]
pub struct Scope(BTreeMap<Arc<str>, Value>);

impl Scope {
    /// Without any.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// With one more. A name that it has already gets the new value.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.insert(name.into(), value.into());
        self
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }
}

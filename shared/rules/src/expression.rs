//! An expression, compiled once and evaluated as often as wanted.

use std::fmt;
use std::sync::Arc;

use lastword_domain::Json;

use crate::error::{CompileError, EvalError};
use crate::eval::Run;
use crate::lower::Lowering;
use crate::meter::Meter;
use crate::node::Node;
use crate::scope::{Names, Scope};
use crate::syntax::Source;
use crate::value::Value;

/// A compiled expression.
#[derive(Clone)]
pub struct Expression {
    text: Arc<str>,
    node: Arc<Node>,
}

impl Expression {
    /// The most characters a text may have.
    pub const MOST_CHARACTERS: usize = 10_000;
    /// The most parts it may have: names, literals, operators, calls.
    pub const MOST_NODES: usize = 2_000;
    /// How deep its parts may lie within each other; a bracket counts as four.
    pub const MOST_DEPTH: usize = 150;
    /// The steps that one evaluation may take: one for each part each time it is met, one for each 16 bytes
    /// that are compared or searched and for each byte that is made, nine for each item of a list that is
    /// made and some forty for an object. They say nothing about time or memory, but bound both: half a
    /// second, and about a hundred megabytes, at the worst.
    pub const BUDGET: u64 = 10_000_000;

    /// Compiles a text that may use these variables.
    ///
    /// # Errors
    /// Says what is wrong with the text, and where: it is not CEL, uses a name or a function that is not
    /// there, or is too large.
    pub fn compile(text: &str, names: &Names) -> Result<Self, CompileError> {
        let source = Source::read(text)?;
        let node = Lowering::new(&source, names).node(source.parse()?)?;
        Ok(Self {
            text: text.into(),
            node: Arc::new(node),
        })
    }

    /// The text that it was compiled from.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it holds.
    ///
    /// # Errors
    /// When it has no answer, or one that is not `true` or `false`.
    pub fn truth(&self, scope: &Scope) -> Result<bool, EvalError> {
        self.truth_within(scope, &budget())
    }

    /// The string that it gives.
    ///
    /// # Errors
    /// When it has no answer, or one that is not a string.
    pub fn text(&self, scope: &Scope) -> Result<String, EvalError> {
        self.text_within(scope, &budget())
    }

    /// What it gives, as JSON: numbers as they were written, members in the order of their names.
    ///
    /// # Errors
    /// When it has no answer, or one that is nested deeper than [`Json::MOST_DEPTH`].
    pub fn json(&self, scope: &Scope) -> Result<Json, EvalError> {
        self.json_within(scope, &budget())
    }

    /// The identifiers that it gives: one for a string or a number, several for a list of them, none for
    /// `null`.
    ///
    /// # Errors
    /// When it has no answer, or another one.
    pub fn texts(&self, scope: &Scope) -> Result<Vec<String>, EvalError> {
        let value = self.value(scope, &budget())?;
        if let Value::Null = value {
            return Ok(Vec::new());
        }
        if let Value::List(items) = value {
            return items.iter().map(identifier).collect();
        }
        Ok(vec![identifier(&value)?])
    }

    pub(crate) fn truth_within(&self, scope: &Scope, meter: &Meter) -> Result<bool, EvalError> {
        let value = self.value(scope, meter)?;
        if let Value::Bool(held) = value {
            return Ok(held);
        }
        Err(not("bool", &value))
    }

    pub(crate) fn text_within(&self, scope: &Scope, meter: &Meter) -> Result<String, EvalError> {
        let value = self.value(scope, meter)?;
        if let Value::Text(text) = &value {
            return Ok(text.to_string());
        }
        Err(not("string", &value))
    }

    pub(crate) fn json_within(&self, scope: &Scope, meter: &Meter) -> Result<Json, EvalError> {
        self.value(scope, meter)?.to_json(meter)
    }

    fn value(&self, scope: &Scope, meter: &Meter) -> Result<Value, EvalError> {
        Run::new(scope, meter).value(&self.node)
    }
}

/// The text, which says all.
impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Expression").field(&self.text).finish()
    }
}

/// A full budget.
pub(crate) fn budget() -> Meter {
    Meter::new(Expression::BUDGET)
}

fn identifier(value: &Value) -> Result<String, EvalError> {
    match value {
        Value::Text(text) => Ok(text.to_string()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_) => {
            Err(not("string, number, list of them or null", value))
        }
    }
}

fn not(wanted: &'static str, value: &Value) -> EvalError {
    EvalError::WrongAnswer {
        wanted,
        found: value.kind(),
    }
}

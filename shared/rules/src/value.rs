//! What an expression works on: JSON, with numbers as they were written.
//!
//! A value is cheap to copy. Its `Debug` shows its kind and nothing of what it holds.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use lastword_domain::Json;

use crate::error::EvalError;
use crate::meter::Meter;
use crate::number::{Form, Number};

/// A value.
#[derive(Clone)]
pub enum Value {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    Text(Arc<str>),
    /// A list.
    List(Arc<[Value]>),
    /// An object. Its members are met in the order of their names.
    Map(Arc<BTreeMap<Arc<str>, Value>>),
}

/// The kinds of values, with the names that CEL gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A whole number of 64 bits.
    Int,
    /// A whole number of 64 bits above all others.
    Uint,
    /// Any other number.
    Decimal,
    /// A string.
    Text,
    /// A list.
    List,
    /// An object.
    Map,
}

impl Kind {
    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Decimal => "decimal",
            Self::Text => "string",
            Self::List => "list",
            Self::Map => "map",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Value {
    /// What a JSON text says.
    #[must_use]
    pub fn from_json(json: &Json) -> Self {
        crate::read::value(json.as_str())
    }

    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Null => Kind::Null,
            Self::Bool(_) => Kind::Bool,
            Self::Number(Number(Form::Int(_))) => Kind::Int,
            Self::Number(Number(Form::Uint(_))) => Kind::Uint,
            Self::Number(Number(Form::Decimal(_))) => Kind::Decimal,
            Self::Text(_) => Kind::Text,
            Self::List(_) => Kind::List,
            Self::Map(_) => Kind::Map,
        }
    }

    pub(crate) fn int(int: i64) -> Self {
        Self::Number(Number(Form::Int(int)))
    }

    /// As JSON, an object's members in the order of their names.
    pub(crate) fn to_json(&self, meter: &Meter) -> Result<Json, EvalError> {
        let mut text = String::new();
        self.write(&mut text, meter)?;
        Json::parse(&text).map_err(|_| EvalError::TooDeep)
    }

    fn write(&self, text: &mut String, meter: &Meter) -> Result<(), EvalError> {
        match self {
            Self::Null => literal(text, "null", meter),
            Self::Bool(true) => literal(text, "true", meter),
            Self::Bool(false) => literal(text, "false", meter),
            Self::Number(number) => literal(text, &number.to_string(), meter),
            Self::Text(held) => string(text, held, meter),
            Self::List(items) => {
                let mut before = "[";
                for item in items.iter() {
                    text.push_str(before);
                    item.write(text, meter)?;
                    before = ",";
                }
                literal(text, if items.is_empty() { "[]" } else { "]" }, meter)
            }
            Self::Map(members) => {
                let mut before = "{";
                for (name, value) in members.iter() {
                    text.push_str(before);
                    string(text, name, meter)?;
                    text.push(':');
                    value.write(text, meter)?;
                    before = ",";
                }
                literal(text, if members.is_empty() { "{}" } else { "}" }, meter)
            }
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<bool> for Value {
    fn from(held: bool) -> Self {
        Self::Bool(held)
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

impl From<&Json> for Value {
    fn from(json: &Json) -> Self {
        Self::from_json(json)
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Value({})", self.kind())
    }
}

fn literal(text: &mut String, held: &str, meter: &Meter) -> Result<(), EvalError> {
    meter.make(held.len())?;
    text.push_str(held);
    Ok(())
}

fn string(text: &mut String, held: &str, meter: &Meter) -> Result<(), EvalError> {
    // A control character takes six bytes.
    meter.make(held.len().saturating_mul(2))?;
    text.push_str(&serde_json::Value::from(held).to_string());
    Ok(())
}

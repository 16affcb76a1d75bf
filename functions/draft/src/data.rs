//! A decision's data, with its numbers as they were written. May not round, cut or leave out anything.

use std::collections::BTreeMap;

use lastword_domain::Json;
use lastword_domain::json::JsonError;
use serde_json::value::RawValue;

/// A JSON value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Nothing.
    Null,
    /// Yes or no.
    Bool(bool),
    /// A number, as it was written.
    Number(String),
    /// A text.
    Text(String),
    /// Several.
    List(Vec<Value>),
    /// Members by name.
    Object(Members),
}

/// Members by name.
pub type Members = BTreeMap<String, Value>;

/// Why a text is no data.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// It is no JSON, or ambiguous.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// It has no members.
    #[error("it is no JSON object")]
    NoObject,
}

impl Value {
    /// Reads a JSON text.
    ///
    /// # Errors
    /// When it is not JSON, nested deeper than [`Json::MOST_DEPTH`], or has a member twice.
    pub fn parse(text: &str) -> Result<Self, JsonError> {
        Ok(read(Json::parse(text)?.as_str())?)
    }

    /// Every value in it that is not made of others.
    #[must_use]
    pub fn leaves(&self) -> Vec<&Self> {
        match self {
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) => vec![self],
            Self::List(values) => values.iter().flat_map(Self::leaves).collect(),
            Self::Object(members) => members.values().flat_map(Self::leaves).collect(),
        }
    }

    /// For a template: whole numbers that a machine can hold are numbers there, and all others are text, so that
    /// each is shown as it was written.
    #[must_use]
    pub fn for_template(&self) -> minijinja::Value {
        match self {
            Self::Null => minijinja::Value::from(()),
            Self::Bool(flag) => minijinja::Value::from(*flag),
            Self::Number(text) => match text.parse::<i64>() {
                Ok(number) if number.to_string() == *text => minijinja::Value::from(number),
                Ok(_) | Err(_) => minijinja::Value::from(text.as_str()),
            },
            Self::Text(text) => minijinja::Value::from(text.as_str()),
            Self::List(values) => values.iter().map(Self::for_template).collect(),
            Self::Object(members) => members
                .iter()
                .map(|(name, value)| (name.clone(), value.for_template()))
                .collect(),
        }
    }
}

/// Reads a JSON object.
///
/// # Errors
/// When it is none.
pub fn members(text: &str) -> Result<Members, DataError> {
    match Value::parse(text)? {
        Value::Object(members) => Ok(members),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::List(_) => {
            Err(DataError::NoObject)
        }
    }
}

/// The depth was bounded before.
fn read(text: &str) -> Result<Value, serde_json::Error> {
    Ok(match text.trim_start().as_bytes().first() {
        Some(b'{') => {
            let members: BTreeMap<String, &RawValue> = serde_json::from_str(text)?;
            let each = members.into_iter();
            let each = each.map(|(name, value)| Ok((name, read(value.get())?)));
            Value::Object(each.collect::<Result<_, serde_json::Error>>()?)
        }
        Some(b'[') => {
            let values: Vec<&RawValue> = serde_json::from_str(text)?;
            let each = values.into_iter().map(|value| read(value.get()));
            Value::List(each.collect::<Result<_, _>>()?)
        }
        Some(b'"') => Value::Text(serde_json::from_str(text)?),
        Some(b't' | b'f') => Value::Bool(serde_json::from_str(text)?),
        Some(b'n') => Value::Null,
        Some(_) | None => Value::Number(text.trim().to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_what_they_are_and_are_shown_to_the_digit() {
        let text =
            r#"{"a":12345678901234567890123.10,"b":1.10,"c":7,"d":-0,"e":[true,null,"x\n"]}"#;
        let all = members(text).unwrap();
        assert_eq!(all["a"], Value::Number("12345678901234567890123.10".into()));
        for (name, shown) in [
            ("a", "12345678901234567890123.10"),
            ("b", "1.10"),
            ("c", "7"),
            ("d", "-0"),
        ] {
            assert_eq!(all[name].for_template().to_string(), shown);
        }
        assert_eq!(all["c"].for_template(), minijinja::Value::from(7));
        assert_eq!(all["e"].leaves().len(), 3);
    }

    #[test]
    fn what_is_no_object_or_has_a_member_twice_is_refused() {
        for text in ["", "7", "[]", "nul", r#"{"a":1,"a":2}"#, r#"{"a":1} x"#] {
            assert!(members(text).is_err(), "{text}");
        }
    }
}

//! The functions that an expression may call.

use crate::error::EvalError;
use crate::meter::Meter;
use crate::number::{Form, Number};
use crate::operate;
use crate::value::Value;

/// A function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Size,
    Contains,
    StartsWith,
    EndsWith,
    Int,
    Uint,
    Text,
    Number,
    Compare,
}

/// How a function is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    /// `f(x)`
    Before,
    /// `x.f()`
    Behind,
    Either,
}

/// What makes an expression out of others, and is no function.
pub(crate) const MACROS: [&str; 7] = [
    "has",
    "all",
    "exists",
    "exists_one",
    "existsOne",
    "map",
    "filter",
];

/// What CEL has elsewhere and this room has not, and why.
const ABSENT: [(&str, &str); 8] = [
    (
        "double",
        "numbers stay exact; write number(…) or the number itself",
    ),
    (
        "matches",
        "there are no regular expressions; contains, startsWith and endsWith are there",
    ),
    ("timestamp", "rules know no time"),
    ("duration", "rules know no time"),
    ("now", "rules know no time"),
    ("type", "kinds are not values here"),
    ("dyn", "everything is dynamic here"),
    ("bytes", "there are no bytes here"),
];

impl Function {
    const ALL: [Self; 9] = [
        Self::Size,
        Self::Contains,
        Self::StartsWith,
        Self::EndsWith,
        Self::Int,
        Self::Uint,
        Self::Text,
        Self::Number,
        Self::Compare,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::Contains => "contains",
            Self::StartsWith => "startsWith",
            Self::EndsWith => "endsWith",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Text => "string",
            Self::Number => "number",
            Self::Compare => "compare",
        }
    }

    fn written(self) -> (Written, usize) {
        match self {
            Self::Size => (Written::Either, 1),
            Self::Contains | Self::StartsWith | Self::EndsWith => (Written::Behind, 2),
            Self::Int | Self::Uint | Self::Text | Self::Number => (Written::Before, 1),
            Self::Compare => (Written::Before, 2),
        }
    }

    /// The function that a call means: its name, whether a value stands before it, and how many values it is
    /// given, that one included.
    pub(crate) fn find(name: &str, behind: bool, count: usize) -> Result<Self, String> {
        let Some(function) = Self::ALL.into_iter().find(|held| held.name() == name) else {
            return Err(unknown(name));
        };
        let (written, wanted) = function.written();
        let fits = match written {
            Written::Either => true,
            Written::Before => !behind,
            Written::Behind => behind,
        };
        if fits && wanted == count {
            return Ok(function);
        }
        let others = if wanted == 1 { "" } else { "y" };
        Err(match written {
            Written::Behind => format!("'{name}' is written x.{name}({others})"),
            Written::Before | Written::Either if wanted == 2 => {
                format!("'{name}' is written {name}(x, y)")
            }
            Written::Before | Written::Either => format!("'{name}' is written {name}(x)"),
        })
    }

    /// Its answer.
    pub(crate) fn apply(self, args: &[Value], meter: &Meter) -> Result<Value, EvalError> {
        let answer = match (self, args) {
            (Self::Size, [value]) => size(value, meter)?,
            (Self::Int, [value]) => whole(self, value, meter)?
                .and_then(|whole| i64::try_from(whole).ok().map(Value::int)),
            (Self::Uint, [value]) => whole(self, value, meter)?.and_then(|whole| {
                u64::try_from(whole)
                    .ok()
                    .map(|uint| Value::Number(Number(Form::Uint(uint))))
            }),
            (Self::Text, [value]) => text(value),
            (Self::Number, [value]) => Some(Value::Number(number(self, value, meter)?)),
            (Self::Compare, [one, other]) => {
                let order = operate::order(
                    self.name(),
                    &number(self, one, meter)?,
                    &number(self, other, meter)?,
                    meter,
                )?;
                Some(Value::int(order as i64))
            }
            (_, [Value::Text(held), Value::Text(sought)]) => {
                meter.look(held.len().saturating_add(sought.len()))?;
                self.search(held, sought).map(Value::Bool)
            }
            _ => None,
        };
        answer.ok_or_else(|| match (self, args) {
            (Self::Int | Self::Uint, [Value::Number(_) | Value::Text(_)]) => {
                EvalError::Overflow(self.name())
            }
            _ => operate::wrong(self.name(), args),
        })
    }

    fn search(self, held: &str, sought: &str) -> Option<bool> {
        match self {
            Self::Contains => Some(held.contains(sought)),
            Self::StartsWith => Some(held.starts_with(sought)),
            Self::EndsWith => Some(held.ends_with(sought)),
            Self::Size | Self::Int | Self::Uint | Self::Text | Self::Number | Self::Compare => None,
        }
    }
}

fn unknown(name: &str) -> String {
    if let Some((_, why)) = ABSENT.iter().find(|(absent, _)| *absent == name) {
        return format!("there is no '{name}': {why}");
    }
    match name {
        "has" => "'has' is written has(x.member)".to_owned(),
        "map" => "'map' is written x.map(name, step) or x.map(name, condition, step)".to_owned(),
        _ if MACROS.contains(&name) => format!("'{name}' is written x.{name}(name, condition)"),
        _ => {
            let known = Function::ALL.into_iter().map(Function::name).chain(MACROS);
            format!("there is no function '{name}'{}", nearest(name, known))
        }
    }
}

/// A hint at the known name that is nearest, if one is near.
pub(crate) fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> String {
    known
        .map(|held| {
            (
                strsim::osa_distance(&name.to_lowercase(), &held.to_lowercase()),
                held,
            )
        })
        .filter(|(distance, held)| *distance <= 2 && *distance < held.chars().count())
        .min()
        .map(|(_, held)| format!("; did you mean '{held}'?"))
        .unwrap_or_default()
}

fn size(value: &Value, meter: &Meter) -> Result<Option<Value>, EvalError> {
    let size = match value {
        Value::Text(text) => {
            meter.look(text.len())?;
            text.chars().count()
        }
        Value::List(items) => items.len(),
        Value::Map(members) => members.len(),
        Value::Null | Value::Bool(_) | Value::Number(_) => return Ok(None),
    };
    Ok(i64::try_from(size).ok().map(Value::int))
}

fn text(value: &Value) -> Option<Value> {
    match value {
        Value::Text(_) => Some(value.clone()),
        Value::Number(number) => Some(Value::from(number.to_string().as_str())),
        Value::Bool(held) => Some(Value::from(if *held { "true" } else { "false" })),
        Value::Null | Value::List(_) | Value::Map(_) => None,
    }
}

/// A number, or the one that a text is.
fn number(function: Function, value: &Value, meter: &Meter) -> Result<Number, EvalError> {
    match value {
        Value::Number(number) => Ok(number.clone()),
        Value::Text(text) => {
            meter.look(text.len())?;
            Number::parse(text).ok_or(EvalError::NotANumber(function.name()))
        }
        Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_) => {
            Err(operate::wrong(function.name(), std::slice::from_ref(value)))
        }
    }
}

/// A whole number; none when it is so large that nothing here holds it.
fn whole(function: Function, value: &Value, meter: &Meter) -> Result<Option<i128>, EvalError> {
    let number = number(function, value, meter)?;
    meter.look(number.length())?;
    match number.to_i128() {
        Some(whole) => Ok(Some(whole)),
        // Within 64 bits and yet no whole number: it has a fraction.
        None if within(&number) => Err(EvalError::NotANumber(function.name())),
        None => Ok(None),
    }
}

fn within(number: &Number) -> bool {
    let (least, most) = (Number(Form::Int(i64::MIN)), Number(Form::Uint(u64::MAX)));
    number.compare(&least).is_some_and(|order| order.is_gt())
        && number.compare(&most).is_some_and(|order| order.is_lt())
}

//! The operators: exact, or an error.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::error::EvalError;
use crate::meter::Meter;
use crate::node::{Arithmetic, Comparison};
use crate::number::{Form, Number};
use crate::value::Value;

/// That an operation does not take such values.
pub(crate) fn wrong(operation: &'static str, values: &[Value]) -> EvalError {
    EvalError::WrongKind {
        operation,
        kinds: values.iter().map(Value::kind).collect(),
    }
}

/// Whether the two are equal. Values of different kinds are not, but for numbers: they are equal when their
/// values are, however they are written.
pub(crate) fn equal(one: &Value, other: &Value, meter: &Meter) -> Result<bool, EvalError> {
    meter.take(1)?;
    match (one, other) {
        (Value::Null, Value::Null) => Ok(true),
        (Value::Bool(one), Value::Bool(other)) => Ok(one == other),
        (Value::Number(one), Value::Number(other)) => Ok(order("==", one, other, meter)?.is_eq()),
        (Value::Text(one), Value::Text(other)) => {
            meter.look(one.len().min(other.len()))?;
            Ok(one == other)
        }
        (Value::List(one), Value::List(other)) => {
            if one.len() != other.len() {
                return Ok(false);
            }
            for (one, other) in one.iter().zip(other.iter()) {
                if !equal(one, other, meter)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Value::Map(one), Value::Map(other)) => {
            if one.len() != other.len() {
                return Ok(false);
            }
            for ((name, one), (same, other)) in one.iter().zip(other.iter()) {
                meter.look(name.len())?;
                if name != same || !equal(one, other, meter)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// The exact order of two numbers.
pub(crate) fn order(
    operation: &'static str,
    one: &Number,
    other: &Number,
    meter: &Meter,
) -> Result<Ordering, EvalError> {
    meter.look(one.length().saturating_add(other.length()))?;
    one.compare(other).ok_or(EvalError::Overflow(operation))
}

/// Whether the first stands so to the second.
pub(crate) fn compare(
    comparison: Comparison,
    one: &Value,
    other: &Value,
    meter: &Meter,
) -> Result<bool, EvalError> {
    let sign = comparison.sign();
    let order = match (one, other) {
        (Value::Number(one), Value::Number(other)) => order(sign, one, other, meter)?,
        (Value::Bool(one), Value::Bool(other)) => one.cmp(other),
        (Value::Text(one), Value::Text(other)) => {
            meter.look(one.len().min(other.len()))?;
            one.cmp(other)
        }
        _ => return Err(wrong(sign, &[one.clone(), other.clone()])),
    };
    Ok(match comparison {
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
    })
}

/// Whether a list holds the value, or an object has a member of that name.
pub(crate) fn within(sought: &Value, held: &Value, meter: &Meter) -> Result<bool, EvalError> {
    match (sought, held) {
        (_, Value::List(items)) => {
            for item in items.iter() {
                if equal(sought, item, meter)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        (Value::Text(name), Value::Map(members)) => {
            meter.look(name.len())?;
            Ok(members.contains_key(name))
        }
        _ => Err(wrong("in", &[sought.clone(), held.clone()])),
    }
}

/// A number's, string's or list's new value.
pub(crate) fn reckon(
    arithmetic: Arithmetic,
    one: &Value,
    other: &Value,
    meter: &Meter,
) -> Result<Value, EvalError> {
    let sign = arithmetic.sign();
    let refused = || wrong(sign, &[one.clone(), other.clone()]);
    match (arithmetic, one, other) {
        (Arithmetic::Add, Value::Text(one), Value::Text(other)) => {
            meter.make(one.len().saturating_add(other.len()))?;
            Ok(Value::Text(format!("{one}{other}").into()))
        }
        (Arithmetic::Add, Value::List(one), Value::List(other)) => {
            let size = one.len().saturating_add(other.len());
            meter.make(size.saturating_mul(crate::eval::KEPT))?;
            Ok(Value::List(
                one.iter()
                    .chain(other.iter())
                    .cloned()
                    .collect::<Arc<[_]>>(),
            ))
        }
        (_, Value::Number(one), Value::Number(other)) => {
            let zero = matches!(other.0, Form::Int(0) | Form::Uint(0));
            if zero && arithmetic.divides() {
                return Err(EvalError::DivisionByZero(sign));
            }
            let answer = numbers(arithmetic, &one.0, &other.0).ok_or_else(refused)?;
            let answer = answer.ok_or(EvalError::Overflow(sign))?;
            Ok(Value::Number(Number(answer)))
        }
        _ => Err(refused()),
    }
}

/// None when the two are not of one kind that is reckoned with; then none when the answer is not kept.
fn numbers(arithmetic: Arithmetic, one: &Form, other: &Form) -> Option<Option<Form>> {
    match (one, other) {
        (Form::Int(one), Form::Int(other)) => Some(signed(arithmetic, *one, *other).map(Form::Int)),
        (Form::Uint(one), Form::Uint(other)) => {
            Some(unsigned(arithmetic, *one, *other).map(Form::Uint))
        }
        _ => None,
    }
}

fn signed(arithmetic: Arithmetic, one: i64, other: i64) -> Option<i64> {
    match arithmetic {
        Arithmetic::Add => one.checked_add(other),
        Arithmetic::Subtract => one.checked_sub(other),
        Arithmetic::Multiply => one.checked_mul(other),
        Arithmetic::Divide => one.checked_div(other),
        Arithmetic::Remainder => one.checked_rem(other),
    }
}

fn unsigned(arithmetic: Arithmetic, one: u64, other: u64) -> Option<u64> {
    match arithmetic {
        Arithmetic::Add => one.checked_add(other),
        Arithmetic::Subtract => one.checked_sub(other),
        Arithmetic::Multiply => one.checked_mul(other),
        Arithmetic::Divide => one.checked_div(other),
        Arithmetic::Remainder => one.checked_rem(other),
    }
}

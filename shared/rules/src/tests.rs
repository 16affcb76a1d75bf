//! What the room promises, through its own front door.

mod agreement;
mod answers;
mod budget;
mod errors;
mod numbers;
mod rulesets;
mod strange;

use lastword_domain::Json;

use crate::{CompileError, EvalError, Expression, Names, Scope, Value};

fn names() -> Names {
    Names::new(["state", "event", "items"])
}

fn compile(text: &str) -> Expression {
    Expression::compile(text, &names()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refused(text: &str) -> CompileError {
    Expression::compile(text, &names()).unwrap_err()
}

fn value(json: &str) -> Value {
    Value::from_json(&Json::parse(json).unwrap())
}

fn scope(state: &str) -> Scope {
    Scope::new().with("state", value(state))
}

/// The text of the answer.
fn answer(text: &str, state: &str) -> Result<String, EvalError> {
    let json = compile(text).json(&scope(state))?;
    Ok(json.as_str().to_owned())
}

#[track_caller]
fn gives(text: &str, state: &str, wanted: &str) {
    assert_eq!(answer(text, state).as_deref(), Ok(wanted), "{text}");
}

#[track_caller]
fn fails(text: &str, state: &str, error: &str) {
    let found = answer(text, state).map_err(|error| error.to_string());
    assert_eq!(found, Err(error.to_owned()), "{text}");
}

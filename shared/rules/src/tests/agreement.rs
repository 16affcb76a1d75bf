//! Where the `cel` crate's own evaluation has an answer that is exact, ours is the same.

use cel::{Context, Program};
use proptest::prelude::*;

use super::names;
use crate::{Expression, Scope, Value};

/// Without variables, objects, decimals and mixed numbers: there the two differ on purpose.
fn expression() -> impl Strategy<Value = String> {
    let leaf = proptest::sample::select(vec![
        "1",
        "0",
        "-7",
        "3",
        "9223372036854775807",
        "'a'",
        "'ab'",
        "''",
        "null",
        "true",
        "false",
        "[]",
        "[1, 2, 3]",
        "['a', 'b']",
    ]);
    leaf.prop_map(str::to_owned)
        .prop_recursive(4, 24, 3, |inner| {
            let two = (inner.clone(), inner.clone());
            let operator = proptest::sample::select(vec![
                "+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "in", "&&", "||",
            ]);
            let each =
                proptest::sample::select(vec!["map", "filter", "all", "exists", "exists_one"]);
            let step =
                proptest::sample::select(vec!["x", "x == 1", "x > 1", "x + x", "[x]", "1 / x > 0"]);
            let search = proptest::sample::select(vec!["contains", "startsWith", "endsWith"]);
            prop_oneof![
                4 => (two.clone(), operator).prop_map(|((a, b), o)| format!("({a} {o} {b})")),
                2 => (inner.clone(), each, step).prop_map(|(a, f, s)| format!("{a}.{f}(x, {s})")),
                1 => (two.clone(), search).prop_map(|((a, b), f)| format!("{a}.{f}({b})")),
                1 => inner.clone().prop_map(|a| format!("size({a})")),
                1 => two.clone().prop_map(|(a, b)| format!("{a}[{b}]")),
                1 => (two, inner).prop_map(|((a, b), c)| format!("({a} ? {b} : {c})")),
            ]
        })
}

fn theirs(text: &str) -> Option<String> {
    let program = Program::compile(text).ok()?;
    program
        .execute(&Context::default())
        .ok()
        .map(|value| told(&value))
}

fn told(value: &cel::Value) -> String {
    if let cel::Value::List(items) = value {
        let items: Vec<_> = items.iter().map(told).collect();
        return format!("[{}]", items.join(","));
    }
    if let cel::Value::Int(int) = value {
        return int.to_string();
    }
    if let cel::Value::String(text) = value {
        return serde_json::Value::from(text.as_str()).to_string();
    }
    if let cel::Value::Bool(held) = value {
        return held.to_string();
    }
    format!("{value:?}").to_lowercase()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn both_have_the_same_answer_or_none(text in expression()) {
        let ours = Expression::compile(&text, &names()).unwrap().json(&Scope::new());
        let ours = ours.ok().map(|json| json.as_str().to_owned());
        prop_assert_eq!(ours, theirs(&text), "{}", text);
    }
}

#[test]
fn what_theirs_would_not_keep_exact_is_kept_here() {
    // Read through floating point, the two would be equal.
    let state =
        lastword_domain::Json::parse(r#"{"a":9007199254740993.0,"b":9007199254740992.0}"#).unwrap();
    let scope = Scope::new().with("state", Value::from_json(&state));
    let different = Expression::compile("state.a != state.b", &names()).unwrap();
    assert_eq!(different.truth(&scope), Ok(true));
    assert_eq!(
        theirs("9007199254740993.0 == 9007199254740992.0").as_deref(),
        Some("true")
    );
}

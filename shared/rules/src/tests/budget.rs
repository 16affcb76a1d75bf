//! What runs, and what is refused.

use proptest::prelude::*;

use super::{compile, gives, value};
use crate::{EvalError, Scope};

fn items(count: usize) -> Scope {
    let item = |n: usize| format!(r#"{{"id":"it_{n}","kind":"k{}","amount":{n}.50}}"#, n % 7);
    let items: Vec<_> = (0..count).map(item).collect();
    Scope::new().with("items", value(&format!("[{}]", items.join(","))))
}

#[test]
fn one_and_two_levels_over_many_items_run() {
    for (text, count) in [
        (
            "items.filter(i, i.kind == 'k3').map(i, i.id).size() > 0",
            20_000,
        ),
        (
            "items.all(i, i.amount >= 0.5 && i.id.startsWith('it_'))",
            20_000,
        ),
        (
            "items.all(i, !items.exists(j, j.id == i.id && j.kind != i.kind))",
            500,
        ),
        (
            "items.map(i, items.filter(j, j.kind == i.kind).size()).size() > 0",
            800,
        ),
    ] {
        assert_eq!(compile(text).truth(&items(count)), Ok(true), "{text}");
    }
}

#[test]
fn what_grows_without_end_is_refused() {
    let doubled = format!("['xxxxxxxx']{}", ".map(y, y + y)".repeat(20));
    let listed = format!("[items]{}", ".map(y, y + y)".repeat(20));
    let shared = format!("[1]{}", ".map(y, [y, y])".repeat(23));
    let same = format!("{shared} == {shared}");
    for text in [
        doubled.as_str(),
        &listed,
        &shared,
        &same,
        "items.map(a, items.map(b, items.map(c, a.id + b.id + c.id)))",
        "items.all(a, items.all(b, items.all(c, true)))",
        "items.map(a, items)",
        "items.exists(a, items.exists(b, items.exists(c, false))) || true",
    ] {
        let error = compile(text).json(&items(1000)).err();
        assert_eq!(error, Some(EvalError::OverBudget), "{text}");
    }
}

#[test]
fn a_side_that_decides_does_not_hide_a_spent_budget() {
    let spent = "items.all(a, items.all(b, items.all(c, true)))";
    let hidden = compile(&format!("{spent} || true")).truth(&items(1000));
    assert_eq!(hidden, Err(EvalError::OverBudget));
    let first = compile(&format!("true || {spent}")).truth(&items(1000));
    assert_eq!(first, Ok(true));
}

#[test]
fn a_long_string_is_paid_for_when_it_is_searched() {
    let long = format!("\"{}\"", "a".repeat(100_000));
    let scope = Scope::new()
        .with("state", value(&long))
        .with("items", value(&format!("[{}]", vec!["1"; 5_000].join(","))));
    assert_eq!(compile("state.contains('b')").truth(&scope), Ok(false));
    let often = compile("items.all(i, !state.contains('b'))").truth(&scope);
    assert_eq!(often, Err(EvalError::OverBudget));
    gives("'a'.contains('b')", "{}", "false");
}

proptest! {
    #[test]
    fn what_fits_in_the_budget_is_as_large_as_was_paid_for(width in 1usize..40, times in 0usize..14) {
        let text = format!("['{}']{}", "x".repeat(width), ".map(y, y + y)".repeat(times));
        match compile(&text).json(&Scope::new()) {
            Ok(json) => prop_assert_eq!(json.as_str().len(), (width << times) + 4),
            Err(error) => {
                prop_assert_eq!(error, EvalError::OverBudget);
                prop_assert!(width << times > 1_000_000);
            }
        }
    }
}

//! What expressions give.

use super::{answer, compile, fails, gives, scope, value};
use crate::{EvalError, Scope};

#[test]
fn a_number_passes_through_with_its_digits() {
    for number in [
        "9007199254740993",
        "18446744073709551616",
        "18446744073709551615",
        "1.10",
        "123456789012345678901234567890123456789",
        "1e400",
        "-0",
        "-0.0",
        "1E+2",
    ] {
        let state = format!(r#"{{"n":{number}}}"#);
        gives("state.n", &state, number);
        gives("[state.n].map(n, {'n': n})[0]", &state, &state);
        gives("string(state.n)", &state, &format!("\"{number}\""));
        let ids = compile("state.n").texts(&scope(&state));
        assert_eq!(ids, Ok(vec![number.to_owned()]));
    }
}

#[test]
fn numbers_are_compared_by_their_exact_values() {
    let state = r#"{"a":9007199254740993,"b":9007199254740992.0,"c":1.10,"d":1.1,"e":18446744073709551616,
        "f":18446744073709551615,"g":1e400,"h":-0,"i":-1,"j":123456789012345678901234567890123456789,
        "k":"1.100","l":0.1}"#;
    for holds in [
        "state.a != state.b",
        "state.a > state.b",
        "state.b < 9007199254740993",
        "state.b == 9007199254740992",
        "state.c == state.d",
        "state.c == 1.1 && state.c == 1.10 && 1.1 == state.c",
        "state.c in [1.1]",
        "[state.c] == [state.d]",
        "{'a': state.c} == {'a': state.d}",
        "state.e > state.f",
        "state.f == 18446744073709551615u",
        "state.f > state.i && state.i < 0u",
        "1 == 1u && 1 < 2u && -1 < 0u && 1u > -1",
        "state.g > state.j && state.j > state.e",
        "state.h == 0 && 0 == -state.a + state.a",
        "compare(state.k, state.d) == 0",
        "compare('18446744073709551616', state.f) == 1",
        "compare(state.i, '0') == -1",
        "number('1.10') == state.d",
        "number(state.k) > 1",
        "state.l == .1 && state.l == 1e-1 && state.l == 00.10",
        "-1.5 < -1 && -.5 > - 1.5",
        "int('5') == 5 && int(2.0) == 2 && int(5u) == 5 && uint(5) == 5u && int(1e3) == 1000",
        "1 != '1' && null != false && [] != {}",
    ] {
        assert_eq!(compile(holds).truth(&scope(state)), Ok(true), "{holds}");
    }
}

#[test]
fn arithmetic_is_exact_or_an_error() {
    gives("9223372036854775806 + 1", "{}", "9223372036854775807");
    gives("-9223372036854775808", "{}", "-9223372036854775808");
    gives("18446744073709551614u + 1u", "{}", "18446744073709551615");
    gives("7 / 2 * 2 + 7 % 2 - 10", "{}", "-3");
    for (text, error) in [
        (
            "9223372036854775807 + 1",
            "'+' goes beyond the numbers that are kept exactly",
        ),
        (
            "-9223372036854775808 - 1",
            "'-' goes beyond the numbers that are kept exactly",
        ),
        (
            "-(-9223372036854775808)",
            "'-' goes beyond the numbers that are kept exactly",
        ),
        (
            "-9223372036854775808 / -1",
            "'/' goes beyond the numbers that are kept exactly",
        ),
        (
            "-9223372036854775808 % -1",
            "'%' goes beyond the numbers that are kept exactly",
        ),
        (
            "4611686018427387904 * 2",
            "'*' goes beyond the numbers that are kept exactly",
        ),
        (
            "0u - 1u",
            "'-' goes beyond the numbers that are kept exactly",
        ),
        ("1 / 0", "'/' by zero"),
        ("1u % 0u", "'%' by zero"),
        ("1 + 1u", "'+' does not take int and uint"),
        ("1.5 + 1", "'+' does not take decimal and int"),
        (
            "int(9223372036854775808u)",
            "'int' goes beyond the numbers that are kept exactly",
        ),
        (
            "uint(-1)",
            "'uint' goes beyond the numbers that are kept exactly",
        ),
        (
            "int(1e300)",
            "'int' goes beyond the numbers that are kept exactly",
        ),
        ("int(1.5)", "'int' was given what is not such a number"),
        ("int('five')", "'int' was given what is not such a number"),
        ("number('')", "'number' was given what is not such a number"),
    ] {
        fails(text, "{}", error);
    }
}

#[test]
fn what_is_missing_is_an_error_and_can_be_asked_for() {
    let state = r#"{"a":{"b":null},"l":[1,2],"k":"secret"}"#;
    gives(
        "has(state.a) && has(state.a.b) && !has(state.a.c)",
        state,
        "true",
    );
    gives(
        "'a' in state && !('z' in state) && 2 in state.l",
        state,
        "true",
    );
    gives("has(state.z) ? state.z : 'none'", state, "\"none\"");
    fails("state.z.b", state, "there is no member 'z'");
    fails("has(state.z.b)", state, "there is no member 'z'");
    fails("state['z']", state, "there is no member 'z'");
    fails(
        "state[state.k]",
        state,
        "there is no member of the computed name",
    );
    fails("state.l[2]", state, "there is no such place in the list");
    fails("state.l[-1]", state, "there is no such place in the list");
    fails("state.k.b", state, "'.' does not take string");
    fails("state.a + 1", state, "'+' does not take map and int");
    fails(
        "{'a': 1, 'a': 2}",
        state,
        "an object is made with a member twice",
    );
    fails("{1: 2}", state, "'{}' does not take int");
    let nothing = compile("event.x").truth(&Scope::new());
    assert_eq!(nothing, Err(EvalError::MissingVariable("event".to_owned())));
}

#[test]
fn lists_and_objects_are_gone_through_in_order() {
    let state = r#"{"l":[3,1,2],"m":{"z":1,"a":2,"é":3}}"#;
    for (text, wanted) in [
        ("state.m.map(k, k)", r#"["a","z","é"]"#),
        ("state.m.map(k, state.m[k] > 1, state.m[k])", "[2,3]"),
        ("state.l.filter(n, n > 1)", "[3,2]"),
        (
            "state.l.map(a, state.l.map(b, a * b))",
            "[[9,3,6],[3,1,2],[6,2,4]]",
        ),
        ("state.l.exists(n, n == 1)", "true"),
        ("state.l.all(n, n > 1)", "false"),
        ("state.l.exists_one(n, n > 2)", "true"),
        ("state.l.existsOne(n, n > 1)", "false"),
        ("[].all(n, false) && ![].exists(n, true)", "true"),
        ("[1].map(state, state + 1)", "[2]"),
        ("[1].map(n, [n + 1].map(n, n * 10))", "[[20]]"),
        ("state", r#"{"l":[3,1,2],"m":{"a":2,"z":1,"é":3}}"#),
    ] {
        gives(text, state, wanted);
    }
}

#[test]
fn one_side_that_decides_does_so_whatever_is_wrong_with_the_other() {
    for (text, wanted) in [
        ("true || state.x", "true"),
        ("state.x || true", "true"),
        ("state.x && false", "false"),
        ("[1, 0, 2].exists(n, 2 / n == 1)", "true"),
        ("![1, 0, 2].all(n, 2 / n == 2)", "true"),
    ] {
        gives(text, "{}", wanted);
    }
    fails("state.x || false", "{}", "there is no member 'x'");
    fails(
        "1 || true ? state.x : state.y",
        "{}",
        "there is no member 'x'",
    );
    fails("[0, 1].all(n, 2 / n == 2)", "{}", "'/' by zero");
    fails("'x' && true", "{}", "'&&' does not take string");
}

#[test]
fn strings_are_searched_joined_and_measured() {
    let state = r#"{"s":"grüße"}"#;
    for holds in [
        "state.s.contains('ü') && state.s.startsWith('gr') && state.s.endsWith('e')",
        "!state.s.contains('x')",
        "size(state.s) == 5 && state.s.size() == 5 && size([1]) == 1 && size({}) == 0",
        "state.s + '!' == 'grüße!' && 'a' < 'b' && 'Z' < 'a'",
        r#""\u00fc" == 'ü' && r"\n" == '\\n' && '''a'b''' == "a'b""#,
        "string(true) == 'true' && string('x') == 'x'",
    ] {
        assert_eq!(compile(holds).truth(&scope(state)), Ok(true), "{holds}");
    }
    fails("size(1)", state, "'size' does not take int");
    fails(
        "state.s.contains(1)",
        state,
        "'contains' does not take string and int",
    );
}

#[test]
fn an_answer_is_of_the_kind_that_is_asked_for() {
    let scope = scope(r#"{"id":"x","n":7,"l":["a",18446744073709551616],"none":null,"b":true}"#);
    let ids = |text: &str| compile(text).texts(&scope);
    assert_eq!(ids("state.id"), Ok(vec!["x".to_owned()]));
    assert_eq!(
        ids("state.l"),
        Ok(vec!["a".to_owned(), "18446744073709551616".to_owned()])
    );
    assert_eq!(ids("state.none"), Ok(vec![]));
    assert_eq!(
        ids("[state.b]").unwrap_err().to_string(),
        "the answer is of kind bool, not string, number, list of them or null"
    );
    assert_eq!(compile("state.id").text(&scope), Ok("x".to_owned()));
    assert!(compile("state.n").text(&scope).is_err());
    assert!(compile("state.id").truth(&scope).is_err());
}

#[test]
fn no_error_and_no_debug_text_shows_what_was_in_the_input() {
    let state = r#"{"secret":"hunter2","hunter2":{"hunter2":["hunter2"]}}"#;
    for text in [
        "state.secret + 1",
        "state[state.secret].x",
        "state[state.secret + 'x']",
        "-state.secret",
        "int(state.secret)",
        "state.secret.x",
        "state.secret in state.secret",
        "!state.secret",
        "{state: state}",
        "{state.secret: 1, state.secret: 2}",
        "state.secret < 1",
        "state.secret.all(x, x)",
    ] {
        let error = answer(text, state).unwrap_err();
        assert!(
            !format!("{error} {error:?}").contains("hunter2"),
            "{error:?}"
        );
    }
    assert_eq!(format!("{:?}", value(state)), "Value(map)");
}

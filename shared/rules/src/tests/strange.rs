//! No text and no input ends the process.

use lastword_domain::Json;
use proptest::prelude::*;

use super::names;
use crate::{Expression, Scope, Value};

/// On a stack that is smaller than any that this runs on.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(1 << 20);
    thread.spawn(work).unwrap().join().unwrap();
}

fn run(text: &str, json: &str) {
    if let Ok(expression) = Expression::compile(text, &names()) {
        let value = Value::from_json(&Json::parse(json).unwrap());
        let scope = Scope::new()
            .with("state", value.clone())
            .with("items", value);
        let first = expression.json(&scope);
        assert_eq!(first, expression.json(&scope));
        drop((
            expression.truth(&scope),
            expression.text(&scope),
            expression.texts(&scope),
        ));
    }
}

#[test]
fn the_deepest_that_is_taken_fits_on_a_small_stack() {
    on_a_small_stack(|| {
        for (before, middle, after) in [
            ("(", "1", ")"),
            ("[", "", "]"),
            ("!-", "1", ""),
            ("", "1", "+1"),
            ("", "state", ".a"),
            ("", "state", "['a']"),
            ("true?1:", "1", ""),
            ("true?", "1", ":1"),
            ("string(", "1", ")"),
            ("{'a':", "1", "}"),
            ("[1].map(x,", "x", ")"),
            ("[1].map(x,true,", "x", ")"),
            ("", "1", ".size()"),
            ("[1].exists(x,", "true", ")"),
            ("", "[1]", ".map(y, [y])"),
            ("true?[", "1", "]:[]"),
            ("true && (", "true", ")"),
            ("1 + 1 * 1 - (", "1", ")"),
            ("", "[1]", ".filter(y, true)"),
        ] {
            let most = (1..200).rev().find(|times| {
                let text = format!("{}{middle}{}", before.repeat(*times), after.repeat(*times));
                Expression::compile(&text, &names()).is_ok()
            });
            let times = most.unwrap();
            let text = format!("{}{middle}{}", before.repeat(times), after.repeat(times));
            let deep = format!(
                "{}{}",
                r#"{"a":"#.repeat(99),
                "1".to_owned() + &"}".repeat(99)
            );
            run(&text, &deep);
        }
        let wide = vec!["true"; 1_000].join(" && ");
        run(&wide, "1");
    });
}

fn piece() -> impl Strategy<Value = String> {
    let fixed = [
        "state",
        "items",
        "x",
        "y",
        ".",
        ".a",
        "[0]",
        "['a']",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        "?",
        "+",
        "-",
        "*",
        "/",
        "%",
        "!",
        "==",
        "<",
        ">=",
        "in",
        "&&",
        "||",
        "1",
        "0",
        "2u",
        "1.5",
        "-0",
        "'a'",
        "\"",
        "'",
        "null",
        "true",
        ".map(x, ",
        ".filter(x, ",
        ".all(x, ",
        ".exists_one(x, ",
        "has(",
        "size(",
        "int(",
        "compare(",
        "number(",
        "string(",
        "\n",
        "//",
        "r'",
        "b'",
        "'''",
        "\\",
        "`",
        "ü",
        "0x",
        "1e",
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551615u",
        "map",
        ".?",
        "[?",
    ];
    prop_oneof![8 => proptest::sample::select(fixed.to_vec()).prop_map(str::to_owned), 1 => "\\PC{0,4}"]
}

/// A text that more often than not is an expression.
fn expression() -> impl Strategy<Value = String> {
    let leaf = proptest::sample::select(vec![
        "state",
        "state.a",
        "items",
        "x",
        "1",
        "0",
        "-1",
        "2u",
        "1.50",
        "'a'",
        "''",
        "null",
        "true",
        "[]",
        "{}",
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551615u",
        "1e300",
        "number('1e400')",
    ]);
    leaf.prop_map(str::to_owned)
        .prop_recursive(5, 40, 3, |inner| {
            let two = (inner.clone(), inner.clone());
            let operator = proptest::sample::select(vec![
                "+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "in", "&&", "||",
            ]);
            let behind =
                proptest::sample::select(vec!["map", "filter", "all", "exists", "exists_one"]);
            let call =
                proptest::sample::select(vec!["size", "int", "uint", "string", "number", "-", "!"]);
            prop_oneof![
                (two.clone(), operator).prop_map(|((a, b), o)| format!("({a} {o} {b})")),
                (two.clone(), behind).prop_map(|((a, b), f)| format!("{a}.{f}(x, {b})")),
                (inner.clone(), call).prop_map(|(a, f)| format!("{f}({a})")),
                two.clone().prop_map(|(a, b)| format!("compare({a}, {b})")),
                two.clone().prop_map(|(a, b)| format!("{a}[{b}]")),
                two.clone().prop_map(|(a, b)| format!("[{a}, {b}]")),
                two.clone().prop_map(|(a, b)| format!("{{{a}: {b}}}")),
                (two, inner).prop_map(|((a, b), c)| format!("({a} ? {b} : {c})")),
            ]
        })
}

fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        proptest::sample::select(vec![
            "null",
            "true",
            "0",
            "-0",
            "1.10",
            "9007199254740993",
            "18446744073709551615",
            "18446744073709551616",
            "-9223372036854775808",
            "1e400",
            "\"a\"",
            "\"\"",
            "\"1.5\"",
        ])
        .prop_map(str::to_owned),
        any::<i64>().prop_map(|n| n.to_string()),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[{}]", items.join(","))),
            proptest::collection::btree_map("[ab]", inner, 0..3).prop_map(|members| {
                let members: Vec<_> = members
                    .iter()
                    .map(|(k, v)| format!("\"{k}\":{v}"))
                    .collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_text_is_taken_or_refused(text in "(?s).{0,60}") {
        run(&text, "1");
    }

    #[test]
    fn any_pieces_of_expressions_are_taken_or_refused(
        pieces in proptest::collection::vec(piece(), 0..40), json in json(),
    ) {
        run(&pieces.concat(), &json);
    }

    #[test]
    fn any_expression_over_any_input_has_an_answer_or_an_error(text in expression(), json in json()) {
        run(&text, &json);
    }
}

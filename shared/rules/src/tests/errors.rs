//! What is no expression, and where.

use super::{compile, refused};
use crate::{Expression, Names};

#[test]
fn a_mistake_is_told_with_its_line_and_column() {
    for (text, told) in [
        ("", "1:1: mismatched input the end expecting expression"),
        ("state.", "1:7: expected identifier after '.'"),
        (
            "state.a ==\n  stat.b",
            "2:3: there is no 'stat' here; did you mean 'state'?",
        ),
        ("'ü' == foo", "1:8: there is no 'foo' here"),
        (
            "// why\n\nstate.a &&\n\tsizee(state.b) > 1",
            "4:2: there is no function 'sizee'; did you mean 'size'?",
        ),
        (
            "'üü' + state.a.startswith('x')",
            "1:16: there is no function 'startswith'; did you mean 'startsWith'?",
        ),
        ("state.l.map(x, x + y)", "1:20: there is no 'y' here"),
        (
            "state.l.map(item, itme.a)",
            "1:19: there is no 'itme' here; did you mean 'item'?",
        ),
        ("state.l.map(x, x) == x", "1:22: there is no 'x' here"),
        ("size()", "1:1: 'size' is written size(x)"),
        ("compare(1)", "1:1: 'compare' is written compare(x, y)"),
        ("state.number()", "1:7: 'number' is written number(x)"),
        (
            "contains('a', 'b')",
            "1:1: 'contains' is written x.contains(y)",
        ),
        (
            "state.map(x)",
            "1:7: 'map' is written x.map(name, step) or x.map(name, condition, step)",
        ),
        (
            "state.all(x, true, 1)",
            "1:7: 'all' is written x.all(name, condition)",
        ),
        ("has(state)", "1:5: invalid argument to has() macro"),
        (
            "double(1)",
            "1:1: there is no 'double': numbers stay exact; write number(…) or the number itself",
        ),
        (
            "state.t < timestamp('x')",
            "1:11: there is no 'timestamp': rules know no time",
        ),
        ("b'x'", "1:1: there are no bytes here"),
        ("Thing{a: 1}", "1:1: there is no type 'Thing'"),
        (
            ".state",
            "1:1: there is no '.state' here; did you mean 'state'?",
        ),
        (
            "1 +\n 18446744073709551616",
            "2:2: invalid int literal: too large to stand in a rule; write number(\"…\")",
        ),
        (
            "1.5e400",
            "1:1: invalid double literal: too large to stand in a rule; write number(\"…\")",
        ),
        ("state.a = 1", "1:9: mismatched input '=' expecting the end"),
        ("ü", "1:1: unexpected character"),
        ("(1 + 2", "1:7: expected ')'"),
        ("1 2", "1:3: mismatched input '2' expecting the end"),
        ("'a\nb", "1:1: unterminated string literal"),
        ("a.?b", "1:2: unsupported syntax '.?'"),
    ] {
        assert_eq!(refused(text).to_string(), told, "{text}");
    }
}

#[test]
fn a_decimal_is_found_where_it_stands() {
    for (text, wanted) in [
        ("1.50", "1.50"),
        ("-1.50", "-1.50"),
        ("- // sign\n  1.50", "-1.50"),
        ("[1, 2.50, 3][1]", "2.50"),
        (
            "[1.5].map(x, [x, 2.5, 007.50, .5, 1e3])[0]",
            "[1.5,2.5,7.50,0.5,1e3]",
        ),
        ("(1.5) == 1.50 ? 0.0 : 2.5", "0.0"),
        ("1.7976931348623157081", "1.7976931348623157081"),
    ] {
        super::gives(text, "{}", wanted);
    }
}

#[test]
fn what_is_too_large_or_too_deep_is_refused_where_it_gets_so() {
    let names = Names::default();
    let error = |text: String| Expression::compile(&text, &names).unwrap_err().to_string();
    assert_eq!(
        error(" ".repeat(10_001)),
        "1:1: it has more than 10000 characters"
    );
    let wide = vec!["1"; 2_001].join(",");
    assert!(error(format!("[{wide}]")).ends_with("it has more than 2000 parts"));
    for (before, middle, after, times) in [
        ("(", "1", ")", 4_900),
        ("[", "", "]", 4_900),
        ("!", "true", "", 9_000),
        ("-!", "1", "", 4_000),
        ("", "1", "+1", 4_000),
        ("", "'a'", ".a", 4_000),
        ("", "'a'", "[0]", 3_000),
        ("true?1:", "1", "", 1_000),
        ("", "1", "?1:1", 2_000),
        ("true?", "1", ":1", 1_000),
        ("f(", "1", ")", 3_000),
        ("", "1", ".f()", 2_000),
        ("{'a':", "1", "}", 1_500),
        ("[1].map(x,", "x", ")", 900),
        (")", "a", ".a", 2_500),
        ("]?(", "1", "", 3_000),
        ("1?1:(", "1", "", 1_900),
        ("a{b:", "1", "}", 1_900),
        ("true&&(", "true", ")", 1_200),
    ] {
        let text = format!("{}{middle}{}", before.repeat(times), after.repeat(times));
        assert!(error(text).ends_with("nested too deep"), "{before} {after}");
    }
}

#[test]
fn what_people_write_is_neither_too_large_nor_too_deep() {
    let many = vec!["state.items.exists(i, i.kind == 'x' && i.amount > 3)"; 60].join(" || ");
    compile(&many);
    compile(&vec!["(state.a.b.c == 'x' ? 1 : 2)"; 20].join(" + "));
    compile(&format!("{}1{}", "(".repeat(20), ")".repeat(20)));
    compile(&format!("{}0", "state.a == 'x' ? 1 : ".repeat(30)));
    compile(&format!("state{}", ".a".repeat(40)));
}

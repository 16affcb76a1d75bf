use super::*;
use proptest::prelude::*;

fn json(text: &str) -> Json {
    Json::parse(text).unwrap()
}

#[test]
fn rendering_does_not_change_what_a_text_says() {
    assert_eq!(
        json(r#"{"a":1,"b":[true,null]}"#),
        json(" { \"b\" : [ true , null ],\n\"a\":1}")
    );
    assert_eq!(json("\"caf\u{e9}\""), json("\"caf\\u00e9\""));
}

#[test]
fn numbers_are_their_digits() {
    for (one, other) in [
        ("9007199254740993", "9007199254740992"),
        ("18446744073709551616", "18446744073709551617"),
        ("1.10", "1.1"),
        ("1e400", "1e401"),
    ] {
        assert_ne!(json(one), json(other), "{one} {other}");
        assert_eq!(json(one).as_str(), one);
    }
}

#[test]
fn a_string_is_not_the_number_it_spells_and_an_item_is_not_its_list() {
    assert_ne!(json("\"1\""), json("1"));
    assert_ne!(json("[1]"), json("1"));
    assert_ne!(json("[[1],2]"), json("[[1,2]]"));
    assert_ne!(json(r#"{"a":"b"}"#), json(r#"["a","b"]"#));
}

#[test]
fn a_text_nested_too_deep_is_refused_and_not_a_crash() {
    let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
    assert!(Json::parse(&deep).is_err());
    let fine = format!("{}1{}", "[".repeat(90), "]".repeat(90));
    assert!(Json::parse(&fine).is_ok());
}

#[test]
fn half_a_surrogate_pair_and_trailing_text_are_refused() {
    assert!(Json::parse("\"\\ud800\"").is_err());
    assert!(Json::parse("{} x").is_err());
    assert!(Json::parse("").is_err());
}

#[test]
fn a_member_that_stands_twice_is_refused_at_any_depth_and_however_it_is_escaped() {
    for text in [
        r#"{"a":1,"a":1}"#,
        r#"{"a":1,"b":2,"\u0061":3}"#,
        r#"[{"x":{"a":{},"a":[]}}]"#,
        r#"{"":1,"":2}"#,
    ] {
        assert!(
            matches!(Json::parse(text), Err(JsonError::Doubled)),
            "{text}"
        );
    }
    assert_ne!(
        json(r#"{"a":{"b":1},"b":2}"#),
        json(r#"{"a":{"b":2},"b":1}"#)
    );
    assert_ne!(json(r#"{"A":1,"a":1}"#), json(r#"{"a":1}"#));
}

#[test]
fn what_a_string_holds_is_never_taken_for_structure() {
    for (one, other) in [
        (r#"["a,b"]"#, r#"["a","b"]"#),
        (r#"["]"]"#, r#"[]"#),
        (r#"["\\\"",1]"#, r#"["\\\",1"]"#),
        (r#"{"}":{"{":":"}}"#, r#"{"}":{"{":","}}"#),
        (r#"["",""]"#, r#"[""]"#),
        ("[[],[]]", "[[[]]]"),
        ("[1,2]", "[12]"),
        ("[{}]", "[[]]"),
    ] {
        assert_ne!(json(one), json(other), "{one} {other}");
    }
}

#[test]
fn every_byte_is_read_once_however_deep_it_stands() {
    let long = format!("\"{}\"", "x".repeat(10_000));
    for depth in [1, 95] {
        for (open, close) in [("[", "]"), ("{\"a\"", "}")] {
            let text = format!("{}{long}{}", open.repeat(depth), close.repeat(depth));
            let mut read = 0;
            meaning(Tokens(&text).inspect(|token| read += token.len())).unwrap();
            assert_eq!(read, text.len(), "{depth} {open}");
        }
    }
}

pub(super) fn tree() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(serde_json::Value::from),
        "\\PC{0,6}".prop_map(serde_json::Value::from),
        any::<bool>().prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            proptest::collection::btree_map("\\PC{0,4}", inner, 0..4)
                .prop_map(|m| serde_json::Value::Object(m.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn meanings_are_equal_exactly_when_values_are(a in tree(), b in tree()) {
        let pretty = json(&serde_json::to_string_pretty(&a).unwrap());
        prop_assert_eq!(&pretty, &json(&a.to_string()));
        prop_assert_eq!(a == b, pretty == json(&b.to_string()));
    }
}

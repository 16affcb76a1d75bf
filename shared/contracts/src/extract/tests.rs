use super::*;
use proptest::prelude::*;

fn text(pointer: &str, body: &str) -> Option<String> {
    let mut extractor = Extractor::default();
    let slot = extractor.add(&Pointer::parse(pointer).unwrap());
    extractor
        .extract(body)
        .unwrap()
        .text(slot)
        .unwrap()
        .map(Cow::into_owned)
}

#[test]
fn numbers_keep_their_digits() {
    for digits in [
        "9007199254740993",
        "18446744073709551616",
        "1.10",
        "1e400",
        &"9".repeat(39),
    ] {
        assert_eq!(
            text("/a/id", &format!("{{\"a\":{{\"id\":{digits}}}}}")).as_deref(),
            Some(digits)
        );
    }
}

#[test]
fn an_escaped_text_is_unescaped_and_null_is_not_there() {
    assert_eq!(
        text("/id", r#"{"id":"caf\u00e9 \ud83d\ude0a"}"#).as_deref(),
        Some("café 😊")
    );
    assert_eq!(text("/id", r#"{"id":null}"#), None);
    assert_eq!(text("/id", "[1,2]"), None);
    assert_eq!(text("/id/deeper", r#"{"id":7}"#), None);
}

#[test]
fn a_member_that_stands_twice_on_the_way_is_refused_and_elsewhere_is_not() {
    let mut extractor = Extractor::default();
    extractor.add(&Pointer::parse("/a/id").unwrap());
    assert!(extractor.extract(r#"{"a":{"id":1,"id":2}}"#).is_err());
    assert!(extractor.extract(r#"{"a":{"id":1},"a":{}}"#).is_err());
    assert!(extractor.extract(r#"{"a":{"id":1,"x":1,"x":2}}"#).is_ok());
}

#[test]
fn a_value_and_one_inside_it_are_both_found() {
    let mut extractor = Extractor::default();
    let outer = extractor.add(&Pointer::parse("/data/object").unwrap());
    let inner = extractor.add(&Pointer::parse("/data/object/id").unwrap());
    let found = extractor
        .extract(r#"{"data":{"object":{"id":"x","n":1}}}"#)
        .unwrap();
    assert_eq!(found.raw(outer), Some(r#"{"id":"x","n":1}"#));
    assert_eq!(found.text(inner).unwrap().as_deref(), Some("x"));
    assert_eq!(found.text(outer), Err(NotPlain));
}

#[test]
fn what_is_not_whole_json_is_refused() {
    let extractor = Extractor::default();
    for body in ["", "{", "{} {}", "{\"a\":}", "nul"] {
        assert!(extractor.extract(body).is_err(), "{body}");
    }
}

proptest! {
    #[test]
    fn it_finds_what_a_full_parse_finds(names in proptest::collection::vec("[a-c~/]{1,3}", 1..4), id in "\\PC{0,12}") {
        let mut value = serde_json::Value::from(id.as_str());
        for name in names.iter().rev() {
            value = serde_json::json!({ name.as_str(): value, "other": [1, {"id": 2}] });
        }
        let pointer: String = names.iter().map(|n| format!("/{}", n.replace('~', "~0").replace('/', "~1"))).collect();
        prop_assert_eq!(text(&pointer, &value.to_string()), value.pointer(&pointer).unwrap().as_str().map(str::to_owned));
    }
}

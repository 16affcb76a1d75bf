use proptest::prelude::*;

use super::*;
use crate::data::Value;

const WORDS: [&str; 14] = [
    "Hello",
    "your",
    "order",
    "is",
    "on",
    "its",
    "way",
    "and",
    "thank",
    "you",
    "Ihre",
    "Bestellung",
    "kommt",
    "bald",
];

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        "(0|[1-9][0-9]{0,12})".prop_map(Value::Number),
        "-?(0|[1-9][0-9]{0,20})\\.[0-9]{1,4}".prop_map(Value::Number),
        "[a-z]{2,4}_[A-Za-z0-9]{3,12}".prop_map(Value::Text),
        "[A-Z]{2,5}-[0-9]{1,6}".prop_map(Value::Text),
    ]
}

fn written(value: &Value) -> String {
    match value {
        Value::Number(text) | Value::Text(text) => text.clone(),
        other @ (Value::Null | Value::Bool(_) | Value::List(_) | Value::Object(_)) => {
            panic!("{other:?}")
        }
    }
}

/// Words, each followed by a given value or none.
fn message() -> impl Strategy<Value = (Vec<Value>, String)> {
    let part = (
        prop::sample::select(&WORDS[..]),
        prop::option::of(value()),
        "[.,!]?",
    );
    prop::collection::vec(part, 1..12).prop_map(|parts| {
        let mut values = Vec::new();
        let mut text = String::new();
        for (word, value, end) in parts {
            text.push_str(word);
            if let Some(value) = value {
                text.push(' ');
                text.push_str(&written(&value));
                values.push(value);
            }
            text.push_str(&end);
            text.push(' ');
        }
        (values, text)
    })
}

fn fit(values: &[Value], text: &str) -> Fit {
    judge(
        text,
        &Terms {
            given: &Given::of(values),
            most_characters: 4000,
            must_mention: &[],
            never_says: &BTreeSet::new(),
        },
    )
}

proptest! {
    #[test]
    fn a_text_of_given_values_and_plain_words_fits((values, text) in message()) {
        prop_assert_eq!(fit(&values, &text), Fit::Fits, "{}", text);
    }

    #[test]
    fn a_number_more_never_fits((values, text) in message(), more in "[a-z]{0,3}[0-9]{1,9}[a-z]{0,3}|[1-9][0-9]{0,2}([.,' ][0-9]{3}){1,3}", at in any::<prop::sample::Index>()) {
        let given = values.iter().any(|value| match value {
            Value::Number(number) => {
                let one = super::decimal::Decimal::of_json(number);
                number == &more || one == super::decimal::Decimal::written(&more)
            }
            other @ (Value::Null | Value::Bool(_) | Value::Text(_) | Value::List(_) | Value::Object(_)) => written(other) == more,
        });
        // Parts of a grouped number may be given by themselves.
        let parts = more.split(' ').all(|part| values.iter().any(|value| written(value) == part));
        prop_assume!(!given && !parts);
        let words: Vec<&str> = text.split(' ').collect();
        let at = at.index(words.len());
        let (before, after) = words.split_at(at);
        let longer = [before, &[more.as_str()], after].concat().join(" ");
        prop_assert_ne!(fit(&values, &longer), Fit::Fits, "{}", longer);
    }

    #[test]
    fn digits_beside_a_given_number_never_fit(number in 1_u64..1_000_000, digit in "[0-9]{1,3}", sign in "[-.,/:'’ x*^+–—~]?") {
        let values = [Value::Number(number.to_string())];
        let zeros = digit.bytes().all(|byte| byte == b'0');
        for text in [format!("It is {number}{sign}{digit} now"), format!("It is {digit}{sign}{number} now")] {
            // The same value with decimals is the same value.
            let same = zeros && text.contains(&format!("{number}{sign}{digit} ")) && [".", ","].contains(&sign.as_str());
            let ends = [".", ","].contains(&sign.as_str()) && digit.is_empty();
            prop_assume!(!same && !ends);
            // A number before a space is a second one; the same one twice is read as another.
            prop_assert_eq!(fit(&values, &text), Fit::Unfit(Why::NotGiven), "{}", text);
        }
    }

    #[test]
    fn no_text_is_too_strange(text in "\\PC{0,200}|[\\x00-\\x7f]{0,80}|.{0,80}", told in "\\PC{0,40}") {
        let values = [Value::Text(told.clone()), Value::Number("7".into())];
        let first = fit(&values, &text);
        prop_assert_eq!(first, fit(&values, &text));
        // What is given does not make its own markup or its invisible characters fit.
        if told.contains(['<', '\u{200b}', '`']) {
            prop_assert_ne!(fit(&values, &told), Fit::Fits);
        }
    }

    #[test]
    fn what_fits_is_ascii_digits_and_printed(text in any::<String>()) {
        if fit(&[], &text) == Fit::Fits {
            prop_assert!(!text.chars().any(|c| c.is_numeric() || (c.is_control() && c != '\n')));
        }
    }
}

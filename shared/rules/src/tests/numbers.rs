//! Numbers stay as they were written and are ordered exactly.

use std::cmp::Ordering;

use crate::Number;
use proptest::prelude::*;

fn number(text: &str) -> Number {
    Number::parse(text).unwrap()
}

#[test]
fn the_digits_of_every_number_stay_as_they_were_written() {
    for text in [
        "0",
        "-0",
        "-0.0",
        "9007199254740993",
        "18446744073709551615",
        "18446744073709551616",
        "1.10",
        "1.1",
        "1E400",
        "1e-400",
        "123456789012345678901234567890123456789",
        "-9223372036854775808",
        "-9223372036854775809",
    ] {
        assert_eq!(number(text).to_string(), text);
    }
}

#[test]
fn values_are_ordered_exactly() {
    let rising = [
        "-1e400",
        "-18446744073709551616",
        "-9223372036854775808",
        "-1.10",
        "-1e-400",
        "0",
        "1e-400",
        "0.09",
        "0.1",
        "1",
        "1.09",
        "1.1",
        "9",
        "9007199254740992",
        "9007199254740992.5",
        "9007199254740993",
        "18446744073709551615",
        "18446744073709551616",
        "123456789012345678901234567890123456788",
        "123456789012345678901234567890123456789",
        "1e400",
        "1e4000000000000000000000000",
    ];
    for (at, one) in rising.iter().enumerate() {
        for (place, other) in rising.iter().enumerate() {
            let order = number(one).compare(&number(other));
            assert_eq!(order, Some(at.cmp(&place)), "{one} {other}");
        }
    }
}

#[test]
fn one_value_may_be_written_in_several_ways() {
    for (one, other) in [
        ("1.10", "1.1"),
        ("-0", "0"),
        ("1e2", "100"),
        ("0.5E1", "5"),
        ("0e999", "0.000"),
        ("1000e-3", "1"),
        ("0e99999999999999999999999999999999999999999", "0"),
    ] {
        assert_eq!(
            number(one).compare(&number(other)),
            Some(Ordering::Equal),
            "{one}"
        );
    }
}

#[test]
fn an_exponent_that_cannot_be_counted_with_has_no_order() {
    let far = format!("1e{}", "9".repeat(60));
    assert_eq!(number(&far).compare(&number("1")), None);
}

#[test]
fn what_json_does_not_call_a_number_is_none() {
    for text in [
        "", "-", "01", "1.", ".5", "1e", "+1", "0x1", "1 ", "Infinity", "NaN", "1e+", "١",
    ] {
        assert!(Number::parse(text).is_none(), "{text}");
    }
}

#[test]
fn whole_numbers_are_known_as_such_however_written() {
    for (text, whole) in [
        ("1.0", Some(1)),
        ("-12e1", Some(-120)),
        ("1.5", None),
        ("0.0", Some(0)),
        ("1e400", None),
        ("1e-1", None),
        ("18446744073709551616", Some(1 << 64)),
    ] {
        assert_eq!(number(text).to_i128(), whole, "{text}");
    }
}

proptest! {
    #[test]
    fn the_order_is_that_of_the_whole_numbers_behind_it(
        one in any::<i64>(), other in any::<i64>(), zeros in 0usize..5, shift in 0usize..5,
    ) {
        let written = |value: i64| {
            Number::parse(&format!("{value}{}.{}e-{shift}", "0".repeat(shift), "0".repeat(zeros + 1)))
        };
        prop_assume!(one != 0 && other != 0);
        let (a, b) = (written(one).unwrap(), written(other).unwrap());
        prop_assert_eq!(a.compare(&b), Some(one.cmp(&other)));
        prop_assert_eq!(a.compare(&number(&other.to_string())), Some(one.cmp(&other)));
    }
}

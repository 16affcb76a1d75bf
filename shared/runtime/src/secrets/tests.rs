//! References as they are read, and values as they are refused.

use super::*;

#[test]
fn the_three_kinds_are_read_and_shown_as_written() {
    for text in [
        "env:STRIPE_SECRET",
        "ssm:/lastword/stripe",
        "ssm:/lastword/stripe:3",
        "secretsmanager:prod/stripe@eu",
    ] {
        assert_eq!(SecretRef::parse(text).unwrap().to_string(), text);
    }
}

#[test]
fn what_is_no_reference_is_refused_with_what_was_expected() {
    for text in [
        "",
        "env:",
        "env:A B",
        "ssm:no-slash",
        "ssm:/a b",
        "secretsmanager:",
        "vault:x",
        "secretsmanager:a:b",
    ] {
        let message = SecretRef::parse(text).unwrap_err().to_string();
        assert!(
            message.contains("expected env:NAME, ssm:/path or secretsmanager:name"),
            "{message}"
        );
    }
}

#[test]
fn a_secret_written_in_place_of_its_reference_is_not_repeated() {
    for text in [
        "whsec_very_private",
        "Basic very_private:x",
        "sk_very_private:abc",
    ] {
        let message = SecretRef::parse(text).unwrap_err().to_string();
        assert!(!message.contains("very_private"), "{message}");
    }
}

#[test]
fn a_value_never_shows_itself() {
    let value = SecretValue::accept("hush".to_owned().into()).unwrap();
    assert_eq!(format!("{value} {value:?}"), "[redacted] [redacted]");
    assert_eq!(value.expose(), "hush");
}

#[test]
fn a_value_with_surrounding_white_space_is_refused_and_not_trimmed() {
    for value in ["", " hush", "hush\n", "hush\r\n", "\thush", "\u{a0}hush"] {
        assert!(
            SecretValue::accept(value.to_owned().into()).is_err(),
            "{value:?}"
        );
    }
    assert_eq!(
        SecretValue::accept("two words".to_owned().into())
            .unwrap()
            .expose(),
        "two words"
    );
}

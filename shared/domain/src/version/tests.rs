use super::*;
use proptest::prelude::*;

fn dotted(text: &str) -> Version {
    Version::parse_as(VersionKind::Dotted, text).unwrap()
}

fn fixed(text: &str) -> Version {
    let width = Width::new(u8::try_from(text.len()).unwrap()).unwrap();
    Version::parse_as(VersionKind::Fixed(width), text).unwrap()
}

#[test]
fn a_version_of_39_digits_is_refused_and_one_of_38_is_exact() {
    let most = "9".repeat(38);
    assert_eq!(Version::parse(&most).unwrap().as_str(), most);
    assert_eq!(
        Version::parse(&"9".repeat(39)),
        Err(VersionError::TooLong { found: 39 })
    );
}

#[test]
fn what_is_not_a_whole_number_is_no_version() {
    for text in ["", "-1", "1.0", "1e3", "0x1", " 1", "١"] {
        assert_eq!(
            Version::parse(text),
            Err(VersionError::NotWhole),
            "{text:?}"
        );
    }
}

#[test]
fn a_kind_is_known_by_its_word() {
    for word in ["whole", "dotted", "fixed:1", "fixed:64"] {
        assert_eq!(VersionKind::parse(word).unwrap().as_str(), word);
    }
    for word in [
        "", "fixed", "fixed:", "fixed:0", "fixed:65", "fixed:01", "fixed:+1", "Whole",
    ] {
        assert_eq!(VersionKind::parse(word), None, "{word}");
    }
}

#[test]
fn dotted_versions_compare_number_by_number() {
    let rising = [
        "0", "1", "1.0", "1.0.1", "1.2", "1.10", "1.10.0", "2", "10.0",
    ];
    for pair in rising.windows(2) {
        assert!(dotted(pair[0]) < dotted(pair[1]), "{pair:?}");
    }
    assert_eq!(dotted("01.000"), dotted("1.0"));
    assert_eq!(dotted("01.000").as_str(), "1.0");
}

#[test]
fn what_is_not_dotted_numbers_of_known_size_is_refused() {
    let long = format!("1.{}", "9".repeat(19));
    let many = ["1"; 17].join(".");
    for text in ["", ".", "1.", ".1", "1..2", "1.a", "1.-1", &long, &many] {
        assert_eq!(
            Version::parse_as(VersionKind::Dotted, text),
            Err(VersionError::NotDotted),
            "{text:?}"
        );
    }
    assert_eq!(dotted(&["1"; 16].join(".")).as_str().len(), 31);
    assert_eq!(dotted(&"9".repeat(18)).as_str().len(), 18);
}

#[test]
fn a_text_of_another_width_or_with_other_characters_is_refused() {
    let kind = VersionKind::parse("fixed:3").unwrap();
    for text in ["", "ab", "abcd", "a\tb", "a\u{7f}b", "é1"] {
        assert_eq!(
            Version::parse_as(kind, text),
            Err(VersionError::NotFixed { width: 3 }),
            "{text:?}"
        );
    }
    assert!(fixed("a 1") < fixed("a01"));
}

#[test]
fn the_number_after_one_is_exact_up_to_38_digits() {
    for (number, next) in [("0", "1"), ("9", "10"), ("1099", "1100"), ("41", "42")] {
        assert_eq!(
            Version::parse(number).unwrap().next(),
            Version::parse(next).ok()
        );
    }
    assert_eq!(Version::parse(&"9".repeat(38)).unwrap().next(), None);
    assert_eq!(dotted("1").next(), None);
    assert_eq!(fixed("1").next(), None);
}

#[test]
fn a_text_that_no_version_is_stored_as_is_refused() {
    for text in ["", "d", "f", "da01", "db1", "d1", "da1.", "x1", "f\n", "fé"] {
        assert!(Version::from_stored_text(text).is_err(), "{text:?}");
    }
}

fn version() -> impl Strategy<Value = Version> {
    let small = proptest::collection::vec(0u64..12, 1..5);
    let large = proptest::collection::vec(0u64..1_000_000_000_000_000_000, 1..=16);
    let join = |parts: Vec<u64>| {
        let texts: Vec<_> = parts.iter().map(u64::to_string).collect();
        dotted(&texts.join("."))
    };
    prop_oneof![
        (any::<u128>(), 0u32..38)
            .prop_map(|(n, digits)| Version::parse(&(n % 10u128.pow(digits)).to_string()).unwrap()),
        small.prop_map(join),
        large.prop_map(join),
        "[ -~]{1,64}".prop_map(|text| fixed(&text)),
    ]
}

proptest! {
    #[test]
    fn versions_compare_as_the_numbers_they_are(a in any::<u128>(), b in any::<u128>()) {
        let (a, b) = (a % 10u128.pow(38), b % 10u128.pow(38));
        let (x, y) = (Version::parse(&a.to_string()).unwrap(), Version::parse(&format!("00{b}")).unwrap());
        prop_assert_eq!(x.cmp(&y), a.cmp(&b));
    }

    #[test]
    fn dotted_versions_compare_as_the_lists_they_are(
        a in proptest::collection::vec(0u64..12, 1..5), b in proptest::collection::vec(0u64..12, 1..5),
    ) {
        let text = |parts: &[u64]| parts.iter().map(u64::to_string).collect::<Vec<_>>().join(".");
        prop_assert_eq!(dotted(&text(&a)).cmp(&dotted(&text(&b))), a.cmp(&b));
    }

    #[test]
    fn the_store_s_order_is_the_order_of_versions_and_what_is_stored_comes_back(a in version(), b in version()) {
        match (a.stored(), b.stored()) {
            (StoredVersion::Number(one), StoredVersion::Number(other)) => {
                let number = |text: &str| text.parse::<u128>().unwrap();
                prop_assert_eq!(number(one).cmp(&number(other)), a.cmp(&b));
                prop_assert_eq!(Version::from_stored_number(one), Ok(a.clone()));
            }
            (StoredVersion::Text(one), StoredVersion::Text(other)) => {
                prop_assert_eq!(one.as_bytes().cmp(other.as_bytes()), a.cmp(&b));
                prop_assert_eq!(Version::from_stored_text(&one), Ok(a.clone()));
            }
            (StoredVersion::Number(_), StoredVersion::Text(_)) => prop_assert!(a < b),
            (StoredVersion::Text(_), StoredVersion::Number(_)) => prop_assert!(a > b),
        }
    }

    #[test]
    fn the_next_number_is_one_more(n in 0u128..10u128.pow(38) - 1) {
        let next = Version::parse(&n.to_string()).unwrap().next().unwrap();
        prop_assert_eq!(next.as_str(), (n + 1).to_string());
    }
}

//! Number words of English and German. In doubt a word is a number.
//!
//! Left out, because plain messages are full of them: `a`, `ein`, `eine`, `once`, `both`, `first`, `second` and what is
//! made of them. A word that is put together of number words (`einundzwanzig`, `dreimal`, `sevenfold`) is a number
//! whose value is not worked out: it does not fit, and digits would.

use std::collections::BTreeSet;

use super::decimal::Decimal;

/// Words with their values, in tenths.
const VALUES: &[(&str, u64)] = &[
    ("zero", 0),
    ("one", 10),
    ("two", 20),
    ("three", 30),
    ("four", 40),
    ("five", 50),
    ("six", 60),
    ("seven", 70),
    ("eight", 80),
    ("nine", 90),
    ("ten", 100),
    ("eleven", 110),
    ("twelve", 120),
    ("thirteen", 130),
    ("fourteen", 140),
    ("fifteen", 150),
    ("sixteen", 160),
    ("seventeen", 170),
    ("eighteen", 180),
    ("nineteen", 190),
    ("twenty", 200),
    ("thirty", 300),
    ("forty", 400),
    ("fifty", 500),
    ("sixty", 600),
    ("seventy", 700),
    ("eighty", 800),
    ("ninety", 900),
    ("hundred", 1_000),
    ("thousand", 10_000),
    ("million", 10_000_000),
    ("billion", 10_000_000_000),
    ("trillion", 10_000_000_000_000),
    ("dozen", 120),
    ("half", 5),
    ("double", 20),
    ("twice", 20),
    ("triple", 30),
    ("thrice", 30),
    ("null", 0),
    ("eins", 10),
    ("zwei", 20),
    ("zwo", 20),
    ("drei", 30),
    ("vier", 40),
    ("fünf", 50),
    ("fuenf", 50),
    ("sechs", 60),
    ("sieben", 70),
    ("acht", 80),
    ("neun", 90),
    ("zehn", 100),
    ("elf", 110),
    ("zwölf", 120),
    ("zwoelf", 120),
    ("dreizehn", 130),
    ("vierzehn", 140),
    ("fünfzehn", 150),
    ("fuenfzehn", 150),
    ("sechzehn", 160),
    ("siebzehn", 170),
    ("achtzehn", 180),
    ("neunzehn", 190),
    ("zwanzig", 200),
    ("dreißig", 300),
    ("dreissig", 300),
    ("vierzig", 400),
    ("fünfzig", 500),
    ("fuenfzig", 500),
    ("sechzig", 600),
    ("siebzig", 700),
    ("achtzig", 800),
    ("neunzig", 900),
    ("hundert", 1_000),
    ("tausend", 10_000),
    ("millionen", 10_000_000),
    ("milliarde", 10_000_000_000),
    ("milliarden", 10_000_000_000),
    ("dutzend", 120),
    ("halb", 5),
    ("halbe", 5),
    ("halber", 5),
    ("halbes", 5),
    ("halben", 5),
    ("halbem", 5),
    ("hälfte", 5),
    ("haelfte", 5),
    ("doppelt", 20),
    ("anderthalb", 15),
];

/// Words whose value depends on what they stand with.
const OPEN: &[&str] = &[
    "halves",
    "quarter",
    "quarters",
    "third",
    "thirds",
    "fifth",
    "eighth",
    "ninth",
    "twelfth",
    "twentieth",
    "thirtieth",
    "fortieth",
    "fiftieth",
    "sixtieth",
    "seventieth",
    "eightieth",
    "ninetieth",
    "minus",
    "k",
    "bn",
    "mn",
    "mio",
    "mrd",
    "tsd",
    "dritte",
    "dritten",
    "dritter",
    "drittes",
    "drittel",
    "siebte",
    "siebten",
    "siebter",
    "doppelte",
    "doppelten",
    "doppelter",
    "doppeltes",
    "verdoppelt",
    "doubled",
];

/// What number words are joined by, and what may follow them in the same word.
const JOINTS: &[&str] = &["und", "and", "ein", "eine"];
const ENDINGS: &[&str] = &[
    "mal", "malig", "fach", "fache", "fachen", "facher", "faches", "fold", "th", "ths", "ste",
    "sten", "ster", "stes", "te", "ten", "ter", "tes", "tel", "e", "en", "er", "s",
];

/// The values that the number words of a token have; `None` is one that is not known.
pub(super) fn values(core: &str) -> Vec<Option<Decimal>> {
    let lower = core.to_lowercase();
    let found: Vec<Option<u64>> = super::words(&lower).filter_map(of_word).collect();
    let tenths = match found.as_slice() {
        // twenty-one
        [Some(tens @ 200..=900), Some(unit @ 10..=90)] if tens % 100 == 0 => {
            vec![Some(tens + unit)]
        }
        [] | [_] => found,
        _ => vec![None],
    };
    tenths
        .into_iter()
        .map(|tenths| tenths.map(Decimal::counted))
        .collect()
}

/// Whether a token has a number word.
pub(super) fn counts(core: &str) -> bool {
    super::words(&core.to_lowercase()).any(|word| of_word(word).is_some())
}

/// The value of a number word in tenths, if that is known.
fn of_word(word: &str) -> Option<Option<u64>> {
    if let Some(tenths) = known(word) {
        return Some(Some(tenths));
    }
    (OPEN.contains(&word) || is_compound(word)).then_some(None)
}

fn known(word: &str) -> Option<u64> {
    VALUES
        .iter()
        .find(|(known, _)| *known == word)
        .map(|(_, tenths)| *tenths)
}

/// Made of number words, joints and endings only, with a number word in it before any ending. Each place of the word is
/// looked at once, however many ways lead to it.
fn is_compound(word: &str) -> bool {
    let numbers = || VALUES.iter().map(|(number, _)| *number);
    let mut places = BTreeSet::from([0]);
    while let Some(at) = places.pop_first() {
        let Some(rest) = word.get(at..) else {
            continue;
        };
        for number in numbers() {
            let Some(after) = rest.strip_prefix(number) else {
                continue;
            };
            if after.is_empty() || ENDINGS.contains(&after) {
                return true;
            }
            places.insert(at + number.len());
        }
        let joints = JOINTS.iter().filter(|joint| rest.starts_with(**joint));
        places.extend(joints.map(|joint| at + joint.len()));
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_words_have_their_values_and_ordinary_words_have_none() {
        for (word, tenths) in [
            ("seven", 70),
            ("Zwölf", 120),
            ("twenty-one", 210),
            ("half", 5),
            ("DOZEN", 120),
        ] {
            assert_eq!(values(word), [Some(Decimal::counted(tenths))], "{word}");
        }
        for word in [
            "einundzwanzig",
            "zweihundert",
            "dreimal",
            "sevenfold",
            "hundreds",
            "third",
            "two-and-a-half",
            "hundert-zwei",
        ] {
            assert_eq!(values(word), [None], "{word}");
        }
        for word in [
            "order", "eine", "einen", "often", "someone", "keine", "unser", "und", "anderer",
            "seine", "weight", "tenor",
        ] {
            assert!(values(word).is_empty() && !counts(word), "{word}");
        }
    }

    #[test]
    fn a_long_word_is_looked_at_in_no_time() {
        assert!(!counts(&format!("{}x", "ein".repeat(1300))));
        assert!(!counts(&format!("{}x", "acht".repeat(1000))));
        assert!(!counts(&format!("{}x", "achtzehn".repeat(500))));
        assert!(counts(&"acht".repeat(1000)));
    }
}

//! A JSON text kept exactly as it came, and a digest of what it says.
//!
//! Numbers are never read into a machine number: `2868860079149422351`, `1.10` and `1e400` stay what
//! they are. Two texts say the same when they differ only in white space, in the order of an object's
//! members or in how a string is escaped; a webhook and the read API may render one object both ways.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use crate::digest::Digest;

/// A well-formed JSON text.
#[derive(Debug, Clone)]
pub struct Json {
    text: Box<str>,
    meaning: Digest,
}

/// Why a text is not taken.
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    /// Not JSON.
    #[error("not JSON: {0}")]
    Malformed(#[from] serde_json::Error),
    /// Nested deeper than is read.
    #[error("JSON nested more than {} deep", Json::MOST_DEPTH)]
    TooDeep,
}

impl Json {
    /// The deepest nesting that is read.
    pub const MOST_DEPTH: usize = 100;

    /// Takes a JSON text, whole.
    ///
    /// # Errors
    /// When it is not JSON, or nested too deep.
    pub fn parse(text: &str) -> Result<Self, JsonError> {
        let raw: &RawValue = serde_json::from_str(text)?;
        let mut hasher = Sha256::new();
        feed(raw, &mut hasher, 0)?;
        let meaning: [u8; 32] = hasher.finalize().into();
        let meaning = Digest::from_bytes(&meaning).ok_or(JsonError::TooDeep)?;
        Ok(Self {
            text: raw.get().into(),
            meaning,
        })
    }

    /// The text, exactly as it came.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What it says: equal for two texts that differ only in rendering.
    #[must_use]
    pub fn meaning(&self) -> Digest {
        self.meaning
    }
}

/// Equality is of meaning, not of rendering.
impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.meaning == other.meaning
    }
}

impl Eq for Json {}

/// Writes a value's meaning into the hash: a tag for its kind, then its content with its length.
fn feed(raw: &RawValue, hasher: &mut Sha256, depth: usize) -> Result<(), JsonError> {
    if depth > Json::MOST_DEPTH {
        return Err(JsonError::TooDeep);
    }
    let text = raw.get();
    match text.as_bytes().first() {
        Some(b'{') => {
            let members: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(text)?;
            count(hasher, b'{', members.len());
            for (name, value) in members {
                string(hasher, &name);
                feed(value, hasher, depth + 1)?;
            }
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(text)?;
            count(hasher, b'[', items.len());
            for item in items {
                feed(item, hasher, depth + 1)?;
            }
        }
        Some(b'"') => string(hasher, &serde_json::from_str::<Cow<'_, str>>(text)?),
        // A number, true, false or null: its own text.
        Some(_) | None => {
            count(hasher, b'=', text.len());
            hasher.update(text.as_bytes());
        }
    }
    Ok(())
}

fn string(hasher: &mut Sha256, text: &str) {
    count(hasher, b'"', text.len());
    hasher.update(text.as_bytes());
}

fn count(hasher: &mut Sha256, tag: u8, length: usize) {
    hasher.update([tag]);
    hasher.update((length as u64).to_be_bytes());
}

#[cfg(test)]
mod tests {
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

    fn tree() -> impl Strategy<Value = serde_json::Value> {
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
}

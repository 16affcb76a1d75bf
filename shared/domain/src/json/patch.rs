//! Merge patches (RFC 7396) on texts: whatever a patch does not name keeps its digits and its place.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{Json, JsonError, unescaped};

impl Json {
    /// This text after a merge patch: a member that the patch names is replaced, or taken out where the patch says
    /// `null`, or patched itself where both are objects. Members keep their place; new ones stand at the end, in the
    /// patch's order. A patch that is no object replaces everything.
    ///
    /// # Errors
    /// When the result would not be taken as a text of its own.
    pub fn patched(&self, patch: &Self) -> Result<Self, JsonError> {
        let mut out = String::with_capacity(self.text.len().saturating_add(patch.text.len()));
        merge(Some(&self.text), &patch.text, &mut out)?;
        Self::parse(&out)
    }
}

/// An object's members as they stand in its text.
struct Members<'t>(Vec<(&'t RawValue, &'t RawValue)>);

impl<'de: 't, 't> Deserialize<'de> for Members<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

impl<'t> Members<'t> {
    /// Those of an object; of anything else there are none.
    fn of(text: Option<&'t str>) -> Result<Self, JsonError> {
        match text.filter(|text| text.starts_with('{')) {
            None => Ok(Self(Vec::new())),
            Some(object) => Ok(serde_json::from_str(object)?),
        }
    }
}

/// Writes what becomes of a target. Both are well-formed and at most as deep as is read.
fn merge(target: Option<&str>, patch: &str, out: &mut String) -> Result<(), JsonError> {
    if !patch.starts_with('{') {
        out.push_str(patch);
        return Ok(());
    }
    let patch = Members::of(Some(patch))?;
    let mut named: BTreeMap<Cow<'_, str>, &str> = BTreeMap::new();
    for (name, value) in &patch.0 {
        named.insert(unescaped(name.get())?, value.get());
    }
    let mut object = Object::begin(out);
    for (name, value) in Members::of(target)?.0 {
        match named.remove(&unescaped(name.get())?) {
            None => object.member(name).push_str(value.get()),
            Some("null") => {}
            Some(change) => merge(Some(value.get()), change, object.member(name))?,
        }
    }
    for (name, _) in &patch.0 {
        match named.remove(&unescaped(name.get())?) {
            None | Some("null") => {}
            Some(change) => merge(None, change, object.member(name))?,
        }
    }
    object.end();
    Ok(())
}

/// An object that is being written.
struct Object<'o> {
    out: &'o mut String,
    empty: bool,
}

impl<'o> Object<'o> {
    fn begin(out: &'o mut String) -> Self {
        out.push('{');
        Self { out, empty: true }
    }

    /// Writes a member's name; its value is written to what is returned.
    fn member(&mut self, name: &RawValue) -> &mut String {
        if !std::mem::take(&mut self.empty) {
            self.out.push(',');
        }
        self.out.push_str(name.get());
        self.out.push(':');
        self.out
    }

    fn end(self) {
        self.out.push('}');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::tests::tree;
    use proptest::prelude::*;
    use serde_json::Value;

    fn patched(target: &str, patch: &str) -> String {
        let json = |text| Json::parse(text).unwrap();
        json(target)
            .patched(&json(patch))
            .unwrap()
            .as_str()
            .to_owned()
    }

    #[test]
    fn the_examples_of_the_rfc_come_out() {
        for (target, patch, result) in [
            (r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"b":"c"}"#, r#"{"a":"b","b":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"a":null}"#, "{}"),
            (r#"{"a":"b","b":"c"}"#, r#"{"a":null}"#, r#"{"b":"c"}"#),
            (r#"{"a":["b"]}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"c"}"#, r#"{"a":["b"]}"#, r#"{"a":["b"]}"#),
            (
                r#"{"a":{"b":"c"}}"#,
                r#"{"a":{"b":"d","c":null}}"#,
                r#"{"a":{"b":"d"}}"#,
            ),
            (r#"{"a":[{"b":"c"}]}"#, r#"{"a":[1]}"#, r#"{"a":[1]}"#),
            (r#"["a","b"]"#, r#"["c","d"]"#, r#"["c","d"]"#),
            (r#"{"a":"b"}"#, r#"["c"]"#, r#"["c"]"#),
            (r#"{"a":"foo"}"#, "null", "null"),
            (r#"{"a":"foo"}"#, "\"bar\"", "\"bar\""),
            (r#"{"e":null}"#, r#"{"a":1}"#, r#"{"e":null,"a":1}"#),
            ("[1,2]", r#"{"a":"b","c":null}"#, r#"{"a":"b"}"#),
            ("{}", r#"{"a":{"bb":{"ccc":null}}}"#, r#"{"a":{"bb":{}}}"#),
        ] {
            assert_eq!(patched(target, patch), result, "{target} {patch}");
        }
    }

    #[test]
    fn numbers_keep_their_digits_and_members_their_place() {
        let long = "123456789012345678901234567890123456789";
        assert_eq!(
            patched(
                &format!(r#"{{"z": {long}, "m": 1.10, "a": 1e400}}"#),
                &format!(r#"{{"y":-{long}.0,"m":{{"b":{long},"a":null}},"x":0}}"#),
            ),
            format!(r#"{{"z":{long},"m":{{"b":{long}}},"a":1e400,"y":-{long}.0,"x":0}}"#)
        );
    }

    #[test]
    fn a_member_is_known_however_its_name_is_escaped() {
        assert_eq!(patched(r#"{"a":1}"#, r#"{"\u0061":2}"#), r#"{"a":2}"#);
    }

    #[test]
    fn the_deepest_texts_can_be_patched() {
        let deep = |leaf| {
            let depth = Json::MOST_DEPTH;
            format!("{}{leaf}{}", "{\"a\":".repeat(depth), "}".repeat(depth))
        };
        assert_eq!(patched(&deep("1"), &deep("2")), deep("2"));
    }

    /// RFC 7396, word by word.
    fn by_the_book(target: Value, patch: &Value) -> Value {
        let Value::Object(patch) = patch else {
            return patch.clone();
        };
        let mut target = target.as_object().cloned().unwrap_or_default();
        for (name, value) in patch {
            let old = target.remove(name);
            if !value.is_null() {
                let new = by_the_book(old.unwrap_or(Value::Null), value);
                target.insert(name.clone(), new);
            }
        }
        Value::Object(target)
    }

    /// Few names, so that targets and patches meet, and nulls among the values.
    fn shallow() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::from),
            tree()
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            proptest::collection::btree_map("[abc]", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect()))
        })
    }

    proptest! {
        #[test]
        fn a_patched_text_says_what_the_rfc_says(target in shallow(), patch in shallow()) {
            let expected = by_the_book(target.clone(), &patch);
            let found = patched(&target.to_string(), &patch.to_string());
            prop_assert_eq!(serde_json::from_str::<Value>(&found).unwrap(), expected);
        }
    }
}

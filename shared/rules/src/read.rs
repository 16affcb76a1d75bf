//! Reads a well-formed JSON text into a value, in one pass.
//!
//! Only for the text of a [`lastword_domain::Json`], which is known to be well-formed, without doubled
//! members and not too deep to be read by recursion. Numbers are taken as texts; serde's own values would
//! round them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::number::Number;
use crate::value::Value;

/// What the text says.
pub(crate) fn value(text: &str) -> Value {
    Reader { rest: text }.value()
}

struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    fn value(&mut self) -> Value {
        let token = self.token();
        match token.as_bytes().first() {
            Some(b'{') => Value::Map(Arc::new(self.members())),
            Some(b'[') => {
                let mut items = Vec::new();
                while !self.ends() {
                    items.push(self.value());
                }
                Value::List(items.into())
            }
            Some(b'"') => Value::Text(unescaped(token)),
            Some(b't') => Value::Bool(true),
            Some(b'f') => Value::Bool(false),
            Some(b'n') | None => Value::Null,
            Some(_) => Value::Number(Number::of_json(token)),
        }
    }

    fn members(&mut self) -> BTreeMap<Arc<str>, Value> {
        let mut members = BTreeMap::new();
        while !self.ends() {
            let name = unescaped(self.token());
            members.insert(name, self.value());
        }
        members
    }

    /// Whether the list or object ends here; its last sign is then passed over.
    fn ends(&mut self) -> bool {
        self.skip();
        if self.rest.is_empty() {
            return true;
        }
        match self.rest.strip_prefix([']', '}']) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// White space, commas and colons say nothing between the others.
    fn skip(&mut self) {
        self.rest = self
            .rest
            .trim_start_matches([' ', '\t', '\n', '\r', ',', ':']);
    }

    fn token(&mut self) -> &'t str {
        self.skip();
        let length = match self.rest.bytes().next() {
            Some(b'{' | b'[') => 1,
            Some(b'"') => string_length(self.rest),
            Some(_) | None => self
                .rest
                .find([' ', '\t', '\n', '\r', ',', ']', '}'])
                .unwrap_or(self.rest.len()),
        };
        let (token, rest) = self
            .rest
            .split_at_checked(length)
            .unwrap_or((self.rest, ""));
        self.rest = rest;
        token
    }
}

/// The bytes of the string that a text begins with, both quotes among them.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// A string's content. Without an escape it stands between the quotes as it is.
fn unescaped(token: &str) -> Arc<str> {
    let plain = token.trim_start_matches('"').trim_end_matches('"');
    if token.contains('\\') {
        serde_json::from_str(token).map_or_else(|_| plain.into(), String::into)
    } else {
        plain.into()
    }
}

#[cfg(test)]
mod tests {
    use lastword_domain::Json;

    use crate::meter::Meter;
    use crate::value::Value;

    fn again(text: &str) -> String {
        let value = Value::from_json(&Json::parse(text).unwrap());
        let json = value.to_json(&Meter::new(u64::MAX)).unwrap();
        json.as_str().to_owned()
    }

    #[test]
    fn every_shape_is_read_and_written_back_with_its_members_in_order() {
        assert_eq!(
            again(
                r#" { "b" : [ ] , "a" : { } , "c" : [ true , false , null , "x,]}\"" , 1.10 , -0 ] } "#
            ),
            r#"{"a":{},"b":[],"c":[true,false,null,"x,]}\"",1.10,-0]}"#
        );
        for text in [
            r#""""#,
            "0",
            "[[[]],{}]",
            r#"{"":{"":""}}"#,
            "\"\\\\\"",
            "\"\\u0000é\"",
        ] {
            assert_eq!(again(text), text);
        }
        assert_eq!(again(r#""\u00e9\/""#), "\"é/\"");
    }
}

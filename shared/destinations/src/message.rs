//! What is sent: the same body to every destination.

use serde::Serialize;
use serde_json::value::RawValue;

/// The version of the body's form.
const VERSION: u32 = 1;
/// The characters of a key, and of a group: 32 bytes in base64url.
const KEY_LENGTH: usize = 43;

/// An effect on its way out.
#[derive(Clone, Copy)]
pub struct Message<'m> {
    /// The business key: 43 characters of base64url. The same key is the same effect, however often it is sent.
    pub key: &'m str,
    /// The effect's name.
    pub effect: &'m str,
    /// Whose effect it is: the hash of its resource or subject, 43 characters of base64url. A FIFO queue keeps what is
    /// of one owner in order.
    pub group: &'m str,
    /// What it is about, as JSON.
    pub about: &'m str,
    /// Its data, as JSON.
    pub data: &'m str,
    /// How it is to be worded, where it is a message to a person.
    pub wording: Option<&'m str>,
    /// What an event on the bus is called; 128 characters at most.
    pub detail_type: &'m str,
}

/// Without what it is about and its data.
impl std::fmt::Debug for Message<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Message")
            .field("key", &self.key)
            .field("effect", &self.effect)
            .field("group", &self.group)
            .field("detail_type", &self.detail_type)
            .finish_non_exhaustive()
    }
}

#[derive(Serialize)]
struct Body<'m> {
    version: u32,
    key: &'m str,
    effect: &'m str,
    #[serde(skip_serializing_if = "Option::is_none")]
    wording: Option<&'m str>,
    about: &'m RawValue,
    data: &'m RawValue,
}

impl Message<'_> {
    /// `{"version":1,"key":…,"effect":…,"about":…,"data":…}`, and `wording` where there is one: what is JSON already stays as it is to the digit.
    pub(crate) fn body(&self) -> Result<String, &'static str> {
        serde_json::to_string(&self.content()?).map_err(|_| "it cannot be written as JSON")
    }

    /// The same in ASCII: a queue refuses some characters, and counts bytes.
    pub(crate) fn ascii_body(&self) -> Result<String, &'static str> {
        lastword_queue::to_ascii(&self.content()?).map_err(|_| "it cannot be written as JSON")
    }

    fn content(&self) -> Result<Body<'_>, &'static str> {
        if !is_hash(self.key) {
            return Err("its key is not 43 characters of base64url");
        }
        if !is_hash(self.group) {
            return Err("its group is not 43 characters of base64url");
        }
        Ok(Body {
            version: VERSION,
            key: self.key,
            effect: self.effect,
            wording: self.wording,
            about: serde_json::from_str(self.about).map_err(|_| "what it is about is no JSON")?,
            data: serde_json::from_str(self.data).map_err(|_| "its data is no JSON")?,
        })
    }
}

/// Whether a text can stand in a header, a URL and a queue's ids as it is.
pub(crate) fn is_hash(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    text.len() == KEY_LENGTH && text.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    const KEY: &str = "0123456789012345678901234567890123456789-_a";

    fn message<'m>(effect: &'m str, data: &'m str) -> Message<'m> {
        Message {
            key: KEY,
            effect,
            group: KEY,
            about: r#"{"id":"in_1"}"#,
            data,
            wording: None,
            detail_type: "receipt",
        }
    }

    #[test]
    fn a_body_says_what_it_is_about_and_keeps_every_digit() {
        let data = r#"{"amount":12345678901234567890123.10}"#;
        let body = message("receipt", data).body().unwrap();
        let expected = format!(
            r#"{{"version":1,"key":"{KEY}","effect":"receipt","about":{{"id":"in_1"}},"data":{data}}}"#
        );
        assert_eq!(body, expected);
    }

    #[test]
    fn what_would_break_a_header_or_a_body_is_refused() {
        let good = message("e", "{}");
        for key in [
            "",
            "short",
            &"a".repeat(44),
            &format!("{}\n", &KEY[..42]),
            &"ä".repeat(22),
        ] {
            assert!(Message { key, ..good }.body().is_err(), "{key}");
            assert!(
                Message { group: key, ..good }.ascii_body().is_err(),
                "{key}"
            );
        }
        for json in ["", "{", "{},\"key\":1", "nul"] {
            assert!(Message { data: json, ..good }.body().is_err(), "{json}");
            assert!(
                Message {
                    about: json,
                    ..good
                }
                .body()
                .is_err(),
                "{json}"
            );
        }
    }

    #[test]
    fn nothing_of_a_customer_is_printed() {
        let shown = format!("{:?}", message("receipt", r#"{"mail":"private"}"#));
        assert!(
            !shown.contains("private") && !shown.contains("in_1"),
            "{shown}"
        );
    }

    proptest! {
        #[test]
        fn both_bodies_mean_the_same_whatever_is_in_them(effect in "\\PC{0,20}", text in "\\PC{0,30}|[\\x00-\\x1f\u{ffff}😊]{0,9}") {
            let data = json!({ "text": text }).to_string();
            let message = message(&effect, &data);
            let ascii = message.ascii_body().unwrap();
            prop_assert!(ascii.bytes().all(|byte| (0x20..0x7f).contains(&byte)));
            let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
            prop_assert_eq!(read(&ascii), read(&message.body().unwrap()));
            prop_assert_eq!(&read(&ascii)["data"]["text"], &json!(text));
        }
    }
}

//! JSON in ASCII: everything else is escaped, so that no id can make a message that the queue refuses.

use std::io;

use serde_json::ser::{CharEscape, Formatter};

/// Escapes every character outside printable ASCII.
struct Ascii;

impl Formatter for Ascii {
    /// JSON that is written already. Outside its strings it has no such characters.
    fn write_raw_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        self.write_string_fragment(writer, fragment)
    }

    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        for c in fragment.chars() {
            if c.is_ascii() && c != '\u{7f}' {
                writer.write_all(&[c as u8])?;
                continue;
            }
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
        }
        Ok(())
    }

    fn write_char_escape<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        match escape {
            CharEscape::Quote => writer.write_all(b"\\\""),
            CharEscape::ReverseSolidus => writer.write_all(b"\\\\"),
            CharEscape::Solidus => writer.write_all(b"\\/"),
            CharEscape::Backspace => writer.write_all(b"\\b"),
            CharEscape::FormFeed => writer.write_all(b"\\f"),
            CharEscape::LineFeed => writer.write_all(b"\\n"),
            CharEscape::CarriageReturn => writer.write_all(b"\\r"),
            CharEscape::Tab => writer.write_all(b"\\t"),
            CharEscape::AsciiControl(byte) => write!(writer, "\\u{byte:04x}"),
        }
    }
}

/// Serialises into JSON in ASCII.
///
/// # Errors
/// When the value cannot be written as JSON.
pub fn to_string<T: serde::Serialize + ?Sized>(value: &T) -> Result<String, serde_json::Error> {
    let mut bytes = Vec::with_capacity(256);
    value.serialize(&mut serde_json::Serializer::with_formatter(
        &mut bytes, Ascii,
    ))?;
    String::from_utf8(bytes).map_err(serde::ser::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, value::RawValue};

    proptest! {
        #[test]
        fn json_that_is_written_already_comes_in_ascii_and_means_the_same(text in "\\PC{0,40}|[\\x00-\\x1f\u{7f}\u{ffff}😊\"\\\\]{0,20}") {
            let written = serde_json::to_string(&serde_json::json!({ &text: [text, 1.5] })).unwrap();
            let raw: &RawValue = serde_json::from_str(&written).unwrap();
            let ascii = to_string(raw).unwrap();
            prop_assert!(ascii.bytes().all(|byte| (0x20..0x7f).contains(&byte)), "{}", ascii);
            let back: Value = serde_json::from_str(&ascii).unwrap();
            prop_assert_eq!(back, serde_json::from_str::<Value>(&written).unwrap());
        }
    }
}

//! A delivery's body as the JSON text that a contract's pointers lead through: as it came, or out of a form,
//! out of a field of a form, out of XML. What is kept is always the body as it came.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::events::Event;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::request::Request;
use crate::source::Source;

/// How a body is read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PayloadRules {
    /// What it is.
    #[serde(default)]
    pub format: Format,
    /// The text that holds it, when it is not the whole body.
    pub from: Option<Source>,
    /// How that text is written.
    #[serde(default)]
    pub encoding: TextEncoding,
}

/// What a body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// JSON.
    #[default]
    Json,
    /// A form, read as one object.
    Form,
    /// XML, read as objects of objects and texts.
    Xml,
}

/// How a text within a body is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TextEncoding {
    /// As it is.
    #[default]
    Plain,
    /// In base64.
    Base64,
}

/// The body is not what the contract says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the body cannot be read as the contract says")]
pub struct NoPayload;

/// How deep XML may nest.
const DEEPEST: usize = 64;

/// The JSON text of a request's body.
///
/// # Errors
/// When the body is not what the contract says.
pub fn json<'b>(
    rules: Option<&PayloadRules>,
    request: &Request<'b>,
) -> Result<Cow<'b, str>, NoPayload> {
    let Some(rules) = rules else {
        return text_of(request.body).map(Cow::Borrowed);
    };
    let text: Cow<'b, [u8]> = match &rules.from {
        None => Cow::Borrowed(request.body),
        Some(place) => match request.text(place).ok_or(NoPayload)? {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        },
    };
    let text = match rules.encoding {
        TextEncoding::Plain => text,
        TextEncoding::Base64 => Cow::Owned(decode(&text)?),
    };
    match rules.format {
        Format::Json => match text {
            Cow::Borrowed(bytes) => text_of(bytes).map(Cow::Borrowed),
            Cow::Owned(bytes) => String::from_utf8(bytes)
                .map(Cow::Owned)
                .map_err(|_| NoPayload),
        },
        Format::Form => Ok(Cow::Owned(form(&text))),
        Format::Xml => xml(text_of(&text)?).map(|value| Cow::Owned(value.to_string())),
    }
}

/// A byte order mark is no part of JSON; some senders write one.
fn text_of(body: &[u8]) -> Result<&str, NoPayload> {
    let text = std::str::from_utf8(body).map_err(|_| NoPayload)?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Some senders break the lines of their base64.
fn decode(text: &[u8]) -> Result<Vec<u8>, NoPayload> {
    use base64::Engine as _;
    let text: Vec<u8> = text
        .iter()
        .copied()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    base64::engine::general_purpose::STANDARD
        .decode(text)
        .map_err(|_| NoPayload)
}

/// Fields of one name become a list.
fn form(text: &[u8]) -> String {
    let mut object = Map::new();
    for (name, value) in form_urlencoded::parse(text) {
        add(
            &mut object,
            name.into_owned(),
            Value::String(value.into_owned()),
        );
    }
    Value::Object(object).to_string()
}

/// Adds a member; a second of one name makes a list of them.
fn add(object: &mut Map<String, Value>, name: String, value: Value) {
    match object.get_mut(&name) {
        None => {
            object.insert(name, value);
        }
        Some(Value::Array(list)) => list.push(value),
        Some(
            held @ (Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Object(_)),
        ) => {
            let first = held.take();
            *held = Value::Array(vec![first, value]);
        }
    }
}

/// An element that is open.
struct Open {
    name: String,
    members: Map<String, Value>,
    text: String,
}

impl Open {
    /// An element with elements in it is an object; one without is its text.
    fn close(self) -> (String, Value) {
        let value = if self.members.is_empty() {
            Value::String(self.text.trim().to_owned())
        } else {
            Value::Object(self.members)
        };
        (self.name, value)
    }
}

/// Elements only; attributes, comments and declared entities say nothing here.
fn xml(text: &str) -> Result<Value, NoPayload> {
    let mut reader = Reader::from_str(text);
    let mut open: Vec<Open> = Vec::new();
    let mut root = Map::new();
    loop {
        match reader.read_event().map_err(|_| NoPayload)? {
            Event::Start(tag) => {
                if open.len() >= DEEPEST {
                    return Err(NoPayload);
                }
                let name = String::from_utf8_lossy(tag.local_name().as_ref()).into_owned();
                open.push(Open {
                    name,
                    members: Map::new(),
                    text: String::new(),
                });
            }
            Event::Empty(tag) => {
                let name = String::from_utf8_lossy(tag.local_name().as_ref()).into_owned();
                let members = open
                    .last_mut()
                    .map_or(&mut root, |parent| &mut parent.members);
                add(members, name, Value::Null);
            }
            Event::End(_) => {
                let (name, value) = open.pop().ok_or(NoPayload)?.close();
                let members = open
                    .last_mut()
                    .map_or(&mut root, |parent| &mut parent.members);
                add(members, name, value);
            }
            Event::Text(piece) => {
                if let Some(parent) = open.last_mut() {
                    parent
                        .text
                        .push_str(&piece.decode().map_err(|_| NoPayload)?);
                }
            }
            Event::CData(piece) => {
                if let Some(parent) = open.last_mut() {
                    parent
                        .text
                        .push_str(&piece.decode().map_err(|_| NoPayload)?);
                }
            }
            Event::GeneralRef(reference) => {
                let text = character(&reference).ok_or(NoPayload)?;
                if let Some(parent) = open.last_mut() {
                    parent.text.push(text);
                }
            }
            Event::Eof => break,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
    if !open.is_empty() || root.is_empty() {
        return Err(NoPayload);
    }
    Ok(Value::Object(root))
}

/// The five names that need no declaration, and numbers. What a document declares itself is not read: it
/// could be made to grow without end.
fn character(reference: &quick_xml::events::BytesRef<'_>) -> Option<char> {
    if let Ok(Some(found)) = reference.resolve_char_ref() {
        return Some(found);
    }
    let name: &[u8] = reference;
    match name {
        b"amp" => Some('&'),
        b"lt" => Some('<'),
        b"gt" => Some('>'),
        b"quot" => Some('"'),
        b"apos" => Some('\''),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::Headers;
    use crate::request::Endpoint;

    fn read(
        format: Format,
        from: Option<&str>,
        encoding: TextEncoding,
        body: &str,
    ) -> Option<String> {
        let headers = Headers::default();
        let endpoint = Endpoint::default();
        let request = Request {
            method: "POST",
            query: "",
            headers: &headers,
            body: body.as_bytes(),
            endpoint: &endpoint,
        };
        let rules = PayloadRules {
            format,
            from: from.map(|place| Source::parse(place).unwrap()),
            encoding,
        };
        json(Some(&rules), &request).ok().map(Cow::into_owned)
    }

    #[test]
    fn a_form_is_an_object_and_a_repeated_field_a_list() {
        let told = read(Format::Form, None, TextEncoding::Plain, "a=1%2B&b=x&b=y");
        assert_eq!(told.unwrap(), r#"{"a":"1+","b":["x","y"]}"#);
    }

    #[test]
    fn json_in_a_field_and_xml_in_base64_in_a_field_are_read() {
        let told = read(
            Format::Json,
            Some("form:payload"),
            TextEncoding::Plain,
            "payload=%7B%22a%22%3A1%7D",
        );
        assert_eq!(told.unwrap(), r#"{"a":1}"#);
        let xml = "<n><kind>k</kind><subject><sub><id>7</id></sub></subject><tag>a</tag><tag>&lt;&#98;</tag><none/></n>";
        use base64::Engine as _;
        let body = format!(
            "p={}",
            form_urlencoded::byte_serialize(
                base64::engine::general_purpose::STANDARD
                    .encode(xml)
                    .as_bytes()
            )
            .collect::<String>()
        );
        let told = read(Format::Xml, Some("form:p"), TextEncoding::Base64, &body);
        assert_eq!(
            told.unwrap(),
            r#"{"n":{"kind":"k","none":null,"subject":{"sub":{"id":"7"}},"tag":["a","<b"]}}"#
        );
    }

    #[test]
    fn xml_that_is_broken_nested_without_end_or_declares_entities_is_refused() {
        for bad in ["<a>", "", "no", "</a>", "<a>&own;</a>", &"<a>".repeat(5000)] {
            assert_eq!(
                read(Format::Xml, None, TextEncoding::Plain, bad),
                None,
                "{bad:.20}"
            );
        }
    }
}

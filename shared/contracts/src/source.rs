//! Where a value stands in a request: `header:X-GitHub-Delivery` or `body:/data/object/id`.

use serde::Deserialize;

use crate::extract::Pointer;

/// Where one value stands.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Source {
    /// In a header.
    Header(String),
    /// In the body, at this JSON pointer.
    Body(Pointer),
}

impl TryFrom<String> for Source {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if let Some(name) = text.strip_prefix("header:").filter(|name| !name.is_empty()) {
            return Ok(Self::Header(name.to_owned()));
        }
        if let Some(pointer) = text.strip_prefix("body:") {
            return Ok(Self::Body(Pointer::parse(pointer)?));
        }
        Err(format!(
            "found {text:?}, expected \"header:<name>\" or \"body:/<pointer>\""
        ))
    }
}

/// One value's place, or several whose values are joined.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "OneOrMany")]
pub struct Sources(Vec<Source>);

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl TryFrom<OneOrMany> for Sources {
    type Error = String;

    fn try_from(texts: OneOrMany) -> Result<Self, String> {
        let texts = match texts {
            OneOrMany::One(text) => vec![text],
            OneOrMany::Many(texts) => texts,
        };
        if texts.is_empty() {
            return Err("an empty list; expected at least one place".to_owned());
        }
        texts
            .into_iter()
            .map(Source::try_from)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl Sources {
    /// The places, in order.
    #[must_use]
    pub fn as_slice(&self) -> &[Source] {
        &self.0
    }

    /// The pointers among them.
    pub fn pointers(&self) -> impl Iterator<Item = &Pointer> {
        self.0.iter().filter_map(|source| match source {
            Source::Body(pointer) => Some(pointer),
            Source::Header(_) => None,
        })
    }
}

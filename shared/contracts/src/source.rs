//! Where a value stands in a request: `header:X-GitHub-Delivery` or `body:/data/object/id`.

use serde::Deserialize;

use crate::extract::Pointer;

/// Where one value stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "String")]
pub enum Source {
    /// In a header.
    Header(String),
    /// In the query of the URL that was called.
    Query(String),
    /// In a body that is a form.
    Form(String),
    /// In the body, at this JSON pointer.
    Body(Pointer),
    /// In the item of the body that is looked at, at this JSON pointer.
    Item(Pointer),
    /// The SHA-256 of the event's own bytes.
    Digest,
    /// Always this.
    Const(String),
}

impl Source {
    /// From its text.
    ///
    /// # Errors
    /// Says what was found and what is expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let known = match text.split_once(':') {
            Some((_, "")) => None,
            Some(("header", name)) => Some(Self::Header(name.to_owned())),
            Some(("query", name)) => Some(Self::Query(name.to_owned())),
            Some(("form", name)) => Some(Self::Form(name.to_owned())),
            Some(("body", pointer)) => Some(Self::Body(Pointer::parse(pointer)?)),
            Some(("item", pointer)) => Some(Self::Item(Pointer::parse(pointer)?)),
            Some(("const", text)) => Some(Self::Const(text.to_owned())),
            None if text == "digest" => Some(Self::Digest),
            Some(_) | None => None,
        };
        known.ok_or_else(|| {
            format!(
                "found {text:?}, expected \"header:<name>\" or \"body:/<pointer>\" (or query:, form:, item:, const:, digest)"
            )
        })
    }

    /// The header's name, where it is one.
    #[must_use]
    pub fn header(&self) -> Option<&str> {
        if let Self::Header(name) = self {
            Some(name)
        } else {
            None
        }
    }

    /// Whether it stands outside the body, where most signatures do not reach.
    #[must_use]
    pub fn is_outside(&self) -> bool {
        match self {
            Self::Header(_) | Self::Query(_) => true,
            Self::Body(_) | Self::Item(_) | Self::Form(_) | Self::Digest | Self::Const(_) => false,
        }
    }
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Header(name) => write!(f, "the header {name}"),
            Self::Query(name) => write!(f, "{name} in the query"),
            Self::Form(name) => write!(f, "{name} in the form"),
            Self::Body(pointer) => write!(f, "{pointer} in the body"),
            Self::Item(pointer) => write!(f, "{pointer} in each item"),
            Self::Digest => f.write_str("the digest of the bytes"),
            Self::Const(text) => write!(f, "always {text:?}"),
        }
    }
}

impl TryFrom<String> for Source {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

/// One value's place, or several whose values are joined or tried in turn.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "OneOrMany")]
pub struct Sources(Vec<Source>);

/// A text or a list of texts.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    pub(crate) fn all(self) -> Vec<String> {
        match self {
            Self::One(text) => vec![text],
            Self::Many(texts) => texts,
        }
    }
}

impl TryFrom<OneOrMany> for Sources {
    type Error = String;

    fn try_from(texts: OneOrMany) -> Result<Self, String> {
        let texts = texts.all();
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
}

impl std::fmt::Display for Sources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, source) in self.0.iter().enumerate() {
            let joint = if at == 0 { "" } else { ", " };
            write!(f, "{joint}{source}")?;
        }
        Ok(())
    }
}

//! The kinds of versions, and their words.

use std::borrow::Cow;
use std::fmt;

/// How a contract counts its versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VersionKind {
    /// A whole number of up to 38 digits.
    Whole,
    /// 1 to 16 whole numbers of up to 18 digits each, with points between them: `1 < 1.0 < 1.0.1 < 1.10`.
    Dotted,
    /// An ASCII text of exactly this many bytes, without control characters, compared byte by byte.
    Fixed(Width),
}

/// How many bytes a version that is compared as a text has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Width(u8);

impl Width {
    /// The most bytes.
    pub const MOST: u8 = 64;

    /// A width of 1 to 64 bytes.
    #[must_use]
    pub fn new(bytes: u8) -> Option<Self> {
        (1..=Self::MOST).contains(&bytes).then_some(Self(bytes))
    }

    /// In bytes.
    #[must_use]
    pub fn bytes(self) -> u8 {
        self.0
    }
}

impl VersionKind {
    /// Its word in contracts: `whole`, `dotted`, `fixed:24`.
    #[must_use]
    pub fn as_str(self) -> Cow<'static, str> {
        match self {
            Self::Whole => "whole".into(),
            Self::Dotted => "dotted".into(),
            Self::Fixed(width) => format!("fixed:{}", width.bytes()).into(),
        }
    }

    /// From its word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        let kind = match word {
            "whole" => Self::Whole,
            "dotted" => Self::Dotted,
            other => Self::Fixed(Width::new(other.strip_prefix("fixed:")?.parse().ok()?)?),
        };
        (kind.as_str() == word).then_some(kind)
    }
}

impl fmt::Display for VersionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.as_str())
    }
}

//! A documented monotonic version, in one of the kinds that are known to compare without loss.
//!
//! Two versions of one kind are always comparable and never by accident: whole and dotted numbers by their digits,
//! texts byte by byte, and these only at one declared width, because `9` and `10` as texts compare the wrong way
//! round. So "the greatest version" means the same in whatever order versions came.
//!
//! Each has a form for the store that the store compares the same way: a whole number as a number, of which 38 digits
//! is what the store compares exactly; any other as a text.

mod kind;

pub use kind::{VersionKind, Width};

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

/// A version as the provider counts it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Version(Value);

/// Each text is the one way to write its value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Value {
    Whole(Box<str>),
    Dotted(Box<str>),
    Fixed(Box<str>),
}

/// A version as it is stored: the store's own order of either form is the order of versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredVersion<'v> {
    /// Decimal digits, for the store's number type.
    Number(&'v str),
    /// A text that is compared byte by byte.
    Text(Cow<'v, str>),
}

/// Why a text is no version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VersionError {
    /// Not only digits.
    #[error("a version is a whole number without sign, point or exponent")]
    NotWhole,
    /// More digits than the store compares exactly.
    #[error("a version of {found} digits; {most} are the most that compare exactly", most = Version::MOST_DIGITS)]
    TooLong {
        /// Digits found.
        found: usize,
    },
    /// Not whole numbers with points between them.
    #[error("a version is 1 to {parts} whole numbers of up to {digits} digits with points between them",
        parts = Version::MOST_PARTS, digits = Version::MOST_PART_DIGITS)]
    NotDotted,
    /// A text of another width, or with other characters, than can be compared.
    #[error("a version is an ASCII text of exactly {width} bytes without control characters")]
    NotFixed {
        /// The declared width.
        width: u8,
    },
    /// A stored text that no version is stored as.
    #[error("not a stored version")]
    NotStored,
}

impl Version {
    /// The most digits of a whole number.
    pub const MOST_DIGITS: usize = 38;
    /// The most numbers of a dotted version.
    pub const MOST_PARTS: usize = 16;
    /// The most digits of each of them.
    pub const MOST_PART_DIGITS: usize = 18;

    /// A whole number from decimal digits; leading zeros say nothing and are dropped.
    ///
    /// # Errors
    /// When the text is not a whole number or has more than 38 digits.
    pub fn parse(text: &str) -> Result<Self, VersionError> {
        let digits = significant(text).ok_or(VersionError::NotWhole)?;
        if digits.len() > Self::MOST_DIGITS {
            return Err(VersionError::TooLong {
                found: digits.len(),
            });
        }
        Ok(Self(Value::Whole(digits.into())))
    }

    /// A version of the kind that the contract declares.
    ///
    /// # Errors
    /// When the text is not of that kind.
    pub fn parse_as(kind: VersionKind, text: &str) -> Result<Self, VersionError> {
        match kind {
            VersionKind::Whole => Self::parse(text),
            VersionKind::Dotted => Self::dotted(text.split('.').map(significant)),
            VersionKind::Fixed(width) => {
                let width = width.bytes();
                let sound = text.len() == usize::from(width) && printable(text);
                sound
                    .then(|| Self(Value::Fixed(text.into())))
                    .ok_or(VersionError::NotFixed { width })
            }
        }
    }

    fn dotted<'t>(parts: impl Iterator<Item = Option<&'t str>>) -> Result<Self, VersionError> {
        let parts: Vec<&str> = parts
            .map(|part| part.filter(|digits| digits.len() <= Self::MOST_PART_DIGITS))
            .collect::<Option<_>>()
            .ok_or(VersionError::NotDotted)?;
        if parts.len() > Self::MOST_PARTS {
            return Err(VersionError::NotDotted);
        }
        Ok(Self(Value::Dotted(parts.join(".").into())))
    }

    /// Its one text: numbers without leading zeros, other texts as they came.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Value::Whole(text) | Value::Dotted(text) | Value::Fixed(text) => text,
        }
    }

    /// Where most counts begin.
    #[must_use]
    pub fn one() -> Self {
        Self(Value::Whole("1".into()))
    }

    /// The whole number after this one; `None` after 38 nines, and for what is not counted one by one.
    #[must_use]
    pub fn next(&self) -> Option<Self> {
        let Value::Whole(digits) = &self.0 else {
            return None;
        };
        let head = digits.trim_end_matches('9');
        let nines = digits.len().saturating_sub(head.len());
        let (before, last) = match head.char_indices().next_back() {
            None => ("", '0'),
            Some((at, last)) => (head.get(..at)?, last),
        };
        let grown = char::from_digit(last.to_digit(10)?.checked_add(1)?, 10)?;
        Self::parse(&format!("{before}{grown}{}", "0".repeat(nines))).ok()
    }

    /// As it is stored. A dotted version has before each of its numbers a letter for how many digits it has, so that
    /// a longer number is the greater text too.
    #[must_use]
    pub fn stored(&self) -> StoredVersion<'_> {
        match &self.0 {
            Value::Whole(digits) => StoredVersion::Number(digits),
            Value::Dotted(text) => {
                let parts: Vec<_> = text.split('.').map(measured).collect();
                StoredVersion::Text(format!("d{}", parts.join(".")).into())
            }
            Value::Fixed(text) => StoredVersion::Text(format!("f{text}").into()),
        }
    }

    /// From [`StoredVersion::Number`].
    ///
    /// # Errors
    /// When it is not a whole number of up to 38 digits.
    pub fn from_stored_number(digits: &str) -> Result<Self, VersionError> {
        Self::parse(digits)
    }

    /// From [`StoredVersion::Text`].
    ///
    /// # Errors
    /// When no version is stored as this text.
    pub fn from_stored_text(text: &str) -> Result<Self, VersionError> {
        let version = match text.split_at_checked(1) {
            Some(("d", parts)) => Self::dotted(parts.split('.').map(|part| part.get(1..)))?,
            Some(("f", own))
                if printable(own) && (1..=usize::from(Width::MOST)).contains(&own.len()) =>
            {
                Self(Value::Fixed(own.into()))
            }
            Some(_) | None => return Err(VersionError::NotStored),
        };
        (version.stored() == StoredVersion::Text(text.into()))
            .then_some(version)
            .ok_or(VersionError::NotStored)
    }
}

/// A whole number's digits without leading zeros.
fn significant(text: &str) -> Option<&str> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    match text.trim_start_matches('0') {
        "" => Some("0"),
        digits => Some(digits),
    }
}

fn printable(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// `a1`, `b10`, `c100`.
fn measured(digits: &str) -> String {
    let letter = (b'a'..=b'z')
        .nth(digits.len().saturating_sub(1))
        .unwrap_or(b'z');
    format!("{}{digits}", char::from(letter))
}

/// Digits without leading zeros, in the order of the numbers they write.
#[derive(PartialEq, Eq)]
struct ByDigits<'t>(&'t str);

impl Ord for ByDigits<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let lengths = self.0.len().cmp(&other.0.len());
        lengths.then_with(|| self.0.cmp(other.0))
    }
}

impl PartialOrd for ByDigits<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Value::Whole(one), Value::Whole(other)) => ByDigits(one).cmp(&ByDigits(other)),
            (Value::Dotted(one), Value::Dotted(other)) => one
                .split('.')
                .map(ByDigits)
                .cmp(other.split('.').map(ByDigits)),
            (Value::Fixed(one), Value::Fixed(other)) => one.cmp(other),
            (Value::Whole(_), Value::Dotted(_) | Value::Fixed(_))
            | (Value::Dotted(_), Value::Fixed(_)) => Ordering::Less,
            (Value::Dotted(_) | Value::Fixed(_), Value::Whole(_))
            | (Value::Fixed(_), Value::Dotted(_)) => Ordering::Greater,
        }
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests;

//! What may stand in a log line. The list is closed on purpose.

use std::borrow::Cow;
use std::error::Error;
use std::time::Duration;

/// Longer text is cut: an identifier fits, a body does not.
pub(super) const LONGEST_TEXT: usize = 1024;

/// A loggable value. A type of ours becomes loggable by a deliberate `From<&Type> for Value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value<'a> {
    /// Text, cut where it is longer than 1024 bytes.
    Text(Cow<'a, str>),
    /// A number without a sign.
    Unsigned(u64),
    /// A number with one.
    Signed(i64),
    /// Yes or no.
    Flag(bool),
    /// Nothing; the field is left out.
    Absent,
}

impl<'a> Value<'a> {
    /// An error and everything it was caused by, in one text.
    ///
    /// Only for errors whose words are ours or the SDK's: a parser's error may quote what it parsed.
    pub fn error(error: &dyn Error) -> Self {
        let mut text = error.to_string();
        let mut next = error.source();
        while let Some(cause) = next {
            text.push_str(": ");
            text.push_str(&cause.to_string());
            next = cause.source();
        }
        Self::Text(text.into())
    }

    /// Text that something prints as, for identifiers of ours.
    pub fn display(shown: &dyn std::fmt::Display) -> Self {
        Self::Text(shown.to_string().into())
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text.into())
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text.as_str().into())
    }
}

impl From<bool> for Value<'_> {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<u64> for Value<'_> {
    fn from(number: u64) -> Self {
        Self::Unsigned(number)
    }
}

impl From<u32> for Value<'_> {
    fn from(number: u32) -> Self {
        Self::Unsigned(number.into())
    }
}

impl From<u16> for Value<'_> {
    fn from(number: u16) -> Self {
        Self::Unsigned(number.into())
    }
}

impl From<usize> for Value<'_> {
    fn from(number: usize) -> Self {
        Self::Unsigned(u64::try_from(number).unwrap_or(u64::MAX))
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Self::Signed(number)
    }
}

impl From<i32> for Value<'_> {
    fn from(number: i32) -> Self {
        Self::Signed(number.into())
    }
}

impl From<Duration> for Value<'_> {
    /// In whole milliseconds.
    fn from(time: Duration) -> Self {
        Self::Unsigned(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(perhaps: Option<T>) -> Self {
        perhaps.map_or(Self::Absent, Into::into)
    }
}

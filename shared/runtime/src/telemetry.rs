//! One JSON line to standard output for each thing that happened; metrics travel in the same line.
//!
//! A [`Line`] tells something to people and may be filtered out by its level, before anything is
//! allocated. A [`Measured`] line also counts (CloudWatch's embedded metric format) and is never filtered:
//! an alarm must not fall silent because somebody wanted quieter logs.
//!
//! What can be logged is what can become a [`Value`]: short text, numbers, flags. Bytes, parsed JSON and
//! secrets cannot, and long text is cut, so that a body does not get in by accident.

mod line;
mod value;
mod writer;

pub use line::{Line, Measured};
pub use value::Value;
pub use writer::{Captured, capture, redirect, silence};

use std::sync::OnceLock;

use crate::environment::{Lookup, optional_in, process};

/// How much a line matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Every step, for finding a fault.
    Trace,
    /// What a developer wants to see.
    Debug,
    /// What happened.
    Info,
    /// What went wrong and was dealt with.
    Warn,
    /// What went wrong and wants a person.
    Error,
}

impl Level {
    /// As Lambda spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Trace => "TRACE",
            Self::Debug => "DEBUG",
            Self::Info => "INFO",
            Self::Warn => "WARN",
            Self::Error => "ERROR",
        }
    }

    /// The lowest level that is written: `LASTWORD_LOG`, else what Lambda was configured with, else info.
    fn from_lookup(lookup: Lookup<'_>) -> Self {
        ["LASTWORD_LOG", "AWS_LAMBDA_LOG_LEVEL"]
            .into_iter()
            .find_map(|name| {
                optional_in(lookup, name)
                    .ok()
                    .flatten()
                    .and_then(|text| Self::parse(&text))
            })
            .unwrap_or(Self::Info)
    }

    fn parse(text: &str) -> Option<Self> {
        match text.to_ascii_uppercase().as_str() {
            "TRACE" => Some(Self::Trace),
            "DEBUG" => Some(Self::Debug),
            "INFO" => Some(Self::Info),
            "WARN" => Some(Self::Warn),
            "ERROR" | "FATAL" => Some(Self::Error),
            _ => None,
        }
    }

    fn passes(self) -> bool {
        static LOWEST: OnceLock<Level> = OnceLock::new();
        self >= writer::captured_level()
            .unwrap_or_else(|| *LOWEST.get_or_init(|| Self::from_lookup(&process)))
    }
}

/// What a metric counts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Things.
    Count,
    /// Thousandths of a second.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
}

impl Unit {
    /// As CloudWatch spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Count => "Count",
            Self::Milliseconds => "Milliseconds",
            Self::Seconds => "Seconds",
            Self::Bytes => "Bytes",
        }
    }
}

#[cfg(test)]
mod tests;

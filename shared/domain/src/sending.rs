//! What became of an attempt to send an effect, and what a destination says when it is asked.

use std::time::Duration;

/// What became of one attempt to send.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Sent {
    /// The destination took it.
    Done {
        /// How it said so, for people.
        told: String,
    },
    /// It was certainly not acted on.
    NotSent {
        /// For people.
        why: String,
        /// When the destination wants to be tried again.
        retry_after: Option<Duration>,
    },
    /// It may have been acted on.
    Unknown {
        /// For people.
        why: String,
        /// When the destination wants to be tried again.
        retry_after: Option<Duration>,
    },
    /// The destination refused it, and will refuse it again.
    Refused {
        /// For people.
        why: String,
    },
}

/// What a destination says when it is asked about a key.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Found {
    /// It acted on it.
    There {
        /// How it said so, for people.
        told: String,
    },
    /// It did not.
    NotThere,
    /// It does not say.
    Unknown {
        /// For people.
        why: String,
        /// When the destination wants to be asked again.
        retry_after: Option<Duration>,
    },
}

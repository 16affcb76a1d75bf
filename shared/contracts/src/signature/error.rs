//! Which check of a signature failed, for people and for metrics.

use super::fetch::KeyRequest;

/// Which check failed. Names the check, never the secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// Nothing where the signature should stand.
    #[error("{place} is missing")]
    Missing {
        /// Where it should.
        place: String,
    },
    /// Something is there, but not of its form.
    #[error("{place} is malformed: {what}")]
    Malformed {
        /// Where it stands.
        place: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// None of the signatures is by any active secret over what was received.
    #[error("no signature matches an active secret over the bytes received")]
    NoMatch,
    /// Signed right, too long ago.
    #[error("the signed time is {seconds} s ago, more than {tolerance} s")]
    TooOld {
        /// How long ago.
        seconds: u64,
        /// How long is allowed.
        tolerance: u64,
    },
    /// Signed right, too far in the future.
    #[error("the signed time is {seconds} s ahead, more than {tolerance} s")]
    InFuture {
        /// How far ahead.
        seconds: u64,
        /// How far is allowed.
        tolerance: u64,
    },
    /// The key it names is not one that may be believed.
    #[error("the key that it names is not believed: {0}")]
    ForeignKey(&'static str),
    /// The key it names has to be asked for first. Not a verdict.
    #[error("the key that it names has to be asked for first")]
    KeyNeeded(Box<KeyRequest>),
    /// This integration's events do not come by HTTP.
    #[error("this endpoint's events come through a queue, not by HTTP")]
    NotByHttp,
}

impl SignatureError {
    /// A short word for metrics and problem types.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "signature-missing",
            Self::Malformed { .. } => "signature-malformed",
            Self::NoMatch => "signature-mismatch",
            Self::TooOld { .. } => "signature-too-old",
            Self::InFuture { .. } => "signature-in-future",
            Self::ForeignKey(_) => "signature-foreign-key",
            Self::KeyNeeded(_) => "signature-key-unavailable",
            Self::NotByHttp => "signature-not-by-http",
        }
    }

    /// Of several schemes' failures the one that came furthest tells most.
    pub(super) fn or_further(self, other: Self) -> Self {
        if other.depth() > self.depth() {
            other
        } else {
            self
        }
    }

    fn depth(&self) -> u8 {
        match self {
            Self::NotByHttp => 0,
            Self::Missing { .. } => 1,
            Self::Malformed { .. } => 2,
            Self::NoMatch => 3,
            Self::ForeignKey(_) => 4,
            Self::TooOld { .. } | Self::InFuture { .. } => 5,
            Self::KeyNeeded(_) => 6,
        }
    }
}

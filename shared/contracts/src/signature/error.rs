//! Which check of a signature failed, for people and for metrics.

/// Which check failed. Names the check, never the secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// No such header, or no value in it.
    #[error("the header {header} is missing")]
    MissingHeader {
        /// Its name.
        header: String,
    },
    /// The header is there, but not of its form.
    #[error("the header {header} is malformed: {what}")]
    Malformed {
        /// Its name.
        header: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// None of the signatures is by any active secret over these bytes.
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
}

impl SignatureError {
    /// A short word for metrics and problem types.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::MissingHeader { .. } => "signature-missing",
            Self::Malformed { .. } => "signature-malformed",
            Self::NoMatch => "signature-mismatch",
            Self::TooOld { .. } => "signature-too-old",
            Self::InFuture { .. } => "signature-in-future",
        }
    }
}

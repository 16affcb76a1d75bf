//! What one read came to. Only [`Answer::Seen`] shows an object; everything else says how it was not seen.
//!
//! Nothing here shows content or a secret when it is printed: not as `Display`, and not as `Debug`.

use std::fmt;
use std::io;
use std::time::Duration;

use lastword_contracts::{Absence, NoEvidence};
use lastword_domain::{Content, Status, Version};

use crate::path::PathError;

/// What one read came to.
#[derive(Clone, PartialEq, Eq)]
#[must_use]
pub enum Answer {
    /// The object, or what the contract names as evidence inside an answer that it is deleted.
    Seen {
        /// What the resource is.
        content: Content,
        /// The version that the answer carries, where the contract says where it is.
        version: Option<Version>,
        /// The status that it carries, where the contract says where it is.
        status: Option<Status>,
    },
    /// The provider says that it has no such object; what that proves, the contract says.
    Absent(Absence),
    /// Not for these credentials. It says nothing about the object.
    Refused {
        /// 401 or 403.
        status: u16,
    },
    /// Not now: too many requests, or the provider is in trouble.
    Busy {
        /// 429, 5xx, or 403 when it names a time.
        status: u16,
        /// How long the provider asks to be left alone; not limited here. A date is not read, because
        /// that takes a clock that agrees with the provider's.
        retry_after: Option<Duration>,
    },
    /// Nothing was learned.
    Unreadable(Unreadable),
}

/// Why nothing was learned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// The resource is not one that this integration keeps.
    #[error("the integration keeps no resource of this provider, environment and type")]
    NotConfigured,
    /// The contract does not say how it is read.
    #[error("the contract names no API, or no path to read this type by")]
    NoPath,
    /// The id does not fit the contract's path.
    #[error("no path leads to it: {0}")]
    Path(#[from] PathError),
    /// The contract holds what cannot be sent.
    #[error("the contract cannot be followed: {0}")]
    BadContract(&'static str),
    /// No key is known for the account.
    #[error("no key is known that reads this account")]
    NoSecret,
    /// The key cannot stand in a header.
    #[error("the key that reads this account holds characters that no header can carry")]
    UnfitSecret,
    /// The account cannot stand in a header exactly as it is.
    #[error("the account's name holds characters that no header can carry exactly")]
    UnfitAccount,
    /// The time that was given is over.
    #[error("the whole answer did not come in time")]
    Timeout,
    /// There was no connection to ask over.
    #[error("no connection could be made: {0}")]
    Connect(io::ErrorKind),
    /// The connection ended before the answer did.
    #[error("the connection was lost before the whole answer came")]
    Lost,
    /// It was no HTTP, or had more headers than are read.
    #[error("the answer was not HTTP as it is understood here")]
    NotHttp,
    /// The provider points elsewhere. The key does not travel there.
    #[error("the provider redirects elsewhere (status {0}), and redirects are not followed")]
    Redirected(u16),
    /// It is encoded although that was not asked for.
    #[error("the answer is encoded although a plain one was asked for")]
    Encoded,
    /// A success without a body.
    #[error("the answer is a success without a body")]
    Empty,
    /// More bytes than are read.
    #[error("the answer is longer than is read")]
    TooLarge,
    /// A success that does not hold an object.
    #[error("the answer is not what the contract says: {0}")]
    NotUnderstood(NoEvidence),
    /// A status that says nothing about the object.
    #[error("the provider answered with status {0}")]
    Status(u16),
}

impl From<Unreadable> for Answer {
    fn from(cause: Unreadable) -> Self {
        Self::Unreadable(cause)
    }
}

/// A sentence for a log line: what became of the read, without what was read.
impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seen { content, .. } => match content {
                Content::Present(_) => f.write_str("the object was seen"),
                Content::Deleted => f.write_str("the provider shows it as deleted"),
            },
            Self::Absent(Absence::Deleted) => {
                f.write_str("the provider does not have it, which proves that it is deleted")
            }
            Self::Absent(Absence::DeletedIfTold) => f.write_str(
                "the provider does not show it, which is a deletion only if an event says so too",
            ),
            Self::Absent(Absence::ProvesNothing) => {
                f.write_str("the provider does not show it, which proves nothing")
            }
            Self::Refused { status } => {
                write!(f, "the provider refused the key (status {status})")
            }
            Self::Busy {
                status,
                retry_after: None,
            } => write!(f, "the provider is busy (status {status})"),
            Self::Busy {
                status,
                retry_after: Some(pause),
            } => write!(
                f,
                "the provider is busy (status {status}) for {} seconds",
                pause.as_secs()
            ),
            Self::Unreadable(cause) => cause.fmt(f),
        }
    }
}

/// Law 14: a `Debug` in a log line must not show an object either.
impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seen { version, .. } => write!(f, "Seen({self}, version {version:?})"),
            Self::Absent(absence) => write!(f, "Absent({absence:?})"),
            Self::Refused { status } => write!(f, "Refused({status})"),
            Self::Busy {
                status,
                retry_after,
            } => write!(f, "Busy({status}, {retry_after:?})"),
            Self::Unreadable(cause) => write!(f, "Unreadable({cause:?})"),
        }
    }
}

//! "Event E says resource R may have changed": all that travels through the queue.

use serde::{Deserialize, Serialize};

use crate::key::{EventRef, KeyHash, ResourceKey};
use crate::meaning::SubjectKey;
use crate::name::IntegrationName;

/// Pointers, no content (law 14).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signal {
    /// Whose configuration and credentials are used to look.
    pub integration: IntegrationName,
    /// What may have changed.
    pub resource: ResourceKey,
    /// Which events say so.
    pub events: Vec<EventRef>,
    /// What made us look.
    pub cause: Cause,
}

/// "A member of subject S may have changed": the same path, for what is decided from several resources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubjectSignal {
    /// Which.
    pub subject: SubjectKey,
    /// Which changes say so, each known by the id that the store's stream gives it: repeated, it is the same signal.
    pub changes: Vec<String>,
    /// What made us look.
    pub cause: Cause,
}

/// Either of the two.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AnySignal {
    /// About a resource.
    Resource(Signal),
    /// About a subject.
    Subject(SubjectSignal),
}

impl AnySignal {
    /// What it is about: signals about the same are worked on one after the other.
    #[must_use]
    pub fn group(&self) -> KeyHash {
        match self {
            Self::Resource(signal) => signal.resource.hash(),
            Self::Subject(signal) => signal.subject.hash(),
        }
    }

    /// What made us look.
    #[must_use]
    pub fn cause(&self) -> &Cause {
        match self {
            Self::Resource(signal) => &signal.cause,
            Self::Subject(signal) => &signal.cause,
        }
    }
}

impl From<Signal> for AnySignal {
    fn from(signal: Signal) -> Self {
        Self::Resource(signal)
    }
}

impl From<SubjectSignal> for AnySignal {
    fn from(signal: SubjectSignal) -> Self {
        Self::Subject(signal)
    }
}

/// What made us look.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// A webhook was accepted.
    Webhook,
    /// A sweep, known by its run: two runs are two causes, and neither swallows the other.
    Sweep(String),
    /// A person, known by the request: the same.
    Redrive(String),
    /// Everything is recomputed, and nothing is sent; known by its run.
    Rebuild(String),
}

impl Cause {
    /// The rebuild's run, if it is one.
    #[must_use]
    pub fn rebuild(&self) -> Option<&str> {
        match self {
            Self::Rebuild(run) => Some(run),
            Self::Webhook | Self::Sweep(_) | Self::Redrive(_) => None,
        }
    }
}

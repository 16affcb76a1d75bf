//! "Event E says resource R may have changed": all that travels through the queue.

use serde::{Deserialize, Serialize};

use crate::key::{EventRef, ResourceKey};
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
}

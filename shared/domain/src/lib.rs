//! What Lastword decides, as data and plain functions.
//!
//! This room knows no async, no AWS, no clock, no environment and no time of arrival: its `Cargo.toml`
//! is the proof, and `clippy.toml` refuses the standard library's ways around it. Whatever is decided
//! here is decided the same way in the cloud, on a laptop, in a property test and in a simulation.
//!
//! Suggested reading order: [`name`], [`key`], [`json`], [`version`], [`projection`], [`decision`],
//! [`status`], [`meaning`], [`decide`], [`retry`], [`effect`], [`sending`], [`rebuild`].

pub mod decide;
pub mod decision;
pub mod digest;
pub mod effect;
pub mod json;
pub mod key;
pub mod meaning;
pub mod name;
pub mod projection;
pub mod rebuild;
pub mod retry;
pub mod sending;
pub mod signal;
pub mod status;
pub mod version;

pub use decide::{Conclusion, Observation, Strategy, Terms};
pub use decision::{Mark, Outcome, Reason};
pub use digest::Digest;
pub use effect::{EffectKey, EffectRule, EffectStatus, Owner};
pub use json::Json;
pub use key::{EventIdentity, EventRef, KeyHash, ResourceKey};
pub use meaning::{Evidence, Link, Meaning, ReviewKey, ReviewStatus, SubjectKey};
pub use projection::{Content, Contents, Grave, Projection, Proof, Revision, Standing};
pub use rebuild::{Part, Rebuilt, Report};
pub use sending::{Found, Sent};
pub use signal::{AnySignal, Cause, Signal, SubjectSignal};
pub use status::{Status, StatusOrder};
pub use version::{StoredVersion, Version, VersionKind};

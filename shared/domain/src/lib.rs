//! What Lastword decides, as data and plain functions.
//!
//! This room knows no async, no AWS, no clock, no environment and no time of arrival: its `Cargo.toml`
//! is the proof, and `clippy.toml` refuses the standard library's ways around it. Whatever is decided
//! here is decided the same way in the cloud, on a laptop, in a property test and in a simulation.
//!
//! Suggested reading order: [`name`], [`key`], [`json`], [`version`], [`projection`], [`decision`],
//! [`decide`], [`status`], [`retry`].

pub mod decide;
pub mod decision;
pub mod digest;
pub mod json;
pub mod key;
pub mod name;
pub mod projection;
pub mod retry;
pub mod signal;
pub mod status;
pub mod version;

pub use decide::{Conclusion, Observation, Strategy};
pub use decision::{Mark, Outcome, Reason};
pub use digest::Digest;
pub use json::Json;
pub use key::{EventIdentity, EventRef, KeyHash, ResourceKey};
pub use projection::{Content, Contents, Projection, Revision, Standing};
pub use signal::{Cause, Signal};
pub use version::Version;

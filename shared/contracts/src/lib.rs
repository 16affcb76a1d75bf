//! What each provider guarantees, as data, and the few general mechanisms that read it: signature
//! schemes, event identity, resource ids.
//!
//! A contract is one TOML file beside this source, embedded when the crate is built. This room may not
//! do input or output, read a clock, or know a single provider by name.
//!
//! Suggested reading order: [`contract`], [`signature`], [`extract`], [`source`].

pub mod contract;
pub mod evidence;
pub mod extract;
pub mod headers;
pub mod pattern;
pub mod reader;
pub mod signature;
pub mod source;

pub use contract::{Absence, Api, Contract, ContractError, EventRules, ResourceRules};
pub use evidence::{Evidence, NoEvidence};
pub use extract::{Extractor, Pointer};
pub use headers::Headers;
pub use reader::{Event, Reader, Reading, Tenant};
pub use signature::{SignatureError, SignatureRules, SigningKey, Verified};
pub use source::Source;

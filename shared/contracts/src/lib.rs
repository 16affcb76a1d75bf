//! What each provider guarantees, as data, and the few general mechanisms that read it: signature
//! schemes, event identity, resource ids.
//!
//! A contract is one TOML file beside this source, embedded when the crate is built. This room may not
//! do input or output, read a clock, or know a single provider by name.
//!
//! Suggested reading order: [`contract`], [`signature`], [`source`], [`template`], [`reader`],
//! [`handshake`]. The file format is described in `FORMAT.md`.

pub mod contract;
pub mod evidence;
pub mod extract;
pub mod handshake;
pub mod headers;
pub mod items;
pub mod pattern;
pub mod payload;
pub mod reader;
pub mod request;
pub mod signature;
pub mod source;
pub mod template;

pub use contract::{
    Absence, AnswerBody, Api, Certainty, Contract, ContractError, EventRules, FactRules,
    ResourceRules,
};
pub use evidence::{Evidence, NoEvidence};
pub use extract::{Extractor, Pointer};
pub use handshake::{Handshake, HandshakeAnswer, HandshakeError};
pub use headers::Headers;
pub use reader::{Event, Reader, Reading, Tenant};
pub use request::{Endpoint, Request};
pub use signature::{
    FetchedKeys, KeyError, KeyRequest, Keys, Schemes, SignatureError, SigningKey, Verified,
};
pub use source::Source;

//! Reads of a provider's objects, and nothing but reads: one GET, one answer, no meaning beyond it.
//!
//! This room may not write to a provider, follow a redirect, choose a host that the contract does not
//! name, log a body or a header, or conclude anything: law 7 lives here only as far as every way of not
//! seeing an object has a name of its own that is not "deleted".
//!
//! Suggested reading order: [`answer`], [`mod@path`], [`mod@interpret`], [`hosts`], `request`, [`client`].

pub mod answer;
pub mod client;
pub mod hosts;
pub mod interpret;
pub mod path;
mod request;

pub use answer::{Answer, Unreadable};
pub use client::{DEFAULT_PATIENCE, MOST_BYTES, NoTls, ProviderClient};
pub use hosts::{HostOverrides, InvalidOverride};
pub use interpret::interpret;
pub use path::{PathError, path};

//! Ingest: verify, identify, find what the event concerns, one conditional put, 2xx.
//!
//! May put into the Inbox and read signing secrets. Must never read or write State, or call a provider:
//! there is nothing in it that could.
//!
//! Suggested reading order: [`handler`], [`request`], [`answer`], [`keys`].

pub mod answer;
pub mod handler;
pub mod keys;
pub mod request;
pub mod start;

pub use answer::Answer;
pub use handler::{Clock, Ingest};

//! Ingest: verify, identify, find what the event concerns, one conditional put, 2xx.
//!
//! May put into the Inbox and read signing secrets. Must never read or write State, or read a
//! provider's objects; of a provider it only asks for the keys that it publishes ([`published`]).
//!
//! Suggested reading order: [`handler`], [`door`], [`storing`], [`request`], [`feed`], [`feeding`], [`answer`], [`keys`],
//! [`published`].

pub mod answer;
mod door;
pub mod feed;
mod feeding;
pub mod handler;
mod hint;
pub mod keys;
pub mod published;
pub mod request;
pub mod start;
mod storing;

pub use answer::Answer;
pub use handler::{Clock, Ingest, NotTaken, Served};

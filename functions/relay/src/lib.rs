//! Relay: the Inbox stream's records become signals in the FIFO queue.
//!
//! May send to the queue. Must never decide anything or read a table.

pub mod batch;
pub mod handler;
pub mod start;

pub use handler::{Relay, StreamReply};

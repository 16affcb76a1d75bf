//! Relay: the records of both tables' streams become signals, events on the bus, and effects to be sent.
//!
//! May send to the queues and the bus. Must never decide anything or read a table.

pub mod batch;
pub mod handler;
pub mod start;
pub mod telling;

pub use handler::{Relay, StreamReply};

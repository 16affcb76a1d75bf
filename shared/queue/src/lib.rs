//! The signals' way through SQS FIFO: what a message says, which group it is in, and what makes it this
//! message.
//!
//! A message carries pointers and no content (law 14), in ASCII, because the queue refuses some
//! characters that ids may hold. This room decides nothing and reads no table.

mod ascii;
mod effect;
mod message;
mod send;
mod visibility;

pub use ascii::to_string as to_ascii;
pub use effect::{EffectSignal, LONGEST_DELAY, OutgoingEffect, parse_effect};
pub use message::{MessageError, OutgoingMessage, parse};
pub use send::{Queue, QueueError, SendOutcome};

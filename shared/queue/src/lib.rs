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

<<<<<<< HEAD
pub use effect::{EffectSignal, LONGEST_DELAY, OutgoingEffect, parse_effect};
=======
pub use ascii::to_string as to_ascii;
>>>>>>> 1bc8568 (The sending room: one attempt over HTTP, to a queue or onto the bus, and exactly what became of it)
pub use message::{MessageError, OutgoingMessage, parse};
pub use send::{Queue, QueueError, SendOutcome};

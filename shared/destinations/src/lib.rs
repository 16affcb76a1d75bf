//! How an effect leaves the house: one attempt, and exactly what became of it.
//!
//! Law 10 rests on this room: what is called *not sent* here is sent again without a question, so it is said only
//! where nothing can have arrived. This room may not send twice, follow a redirect, decide what happens next, or
//! repeat a word of what a destination wrote (law 14).
//!
//! Suggested reading order: [`message`], [`sender`], `exchange`, `lookup`, `queue`, [`bus`], `failure`, [`overrides`].

pub mod bus;
mod exchange;
mod failure;
mod lookup;
pub mod message;
pub mod overrides;
mod pause;
mod queue;
mod request;
pub mod sender;

pub use bus::{Bus, BusError, Event};
pub use exchange::NoTls;
pub use message::Message;
pub use overrides::{DestinationOverrides, InvalidOverride};
pub use sender::Sender;

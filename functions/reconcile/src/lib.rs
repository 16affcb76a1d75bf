//! Reconcile: a resource's signals become one conclusion, committed in one transaction.
//!
//! May read the Inbox, read providers and transact on State. Must never write the Inbox or send an
//! effect.
//!
//! Suggested reading order: [`reconciler`], `strategies`, [`observe`], [`failing`], [`batch`], [`handler`].
//!
//! # Races, as decisions
//!
//! * **Two workers look at one resource.** Both may read the provider; the one that commits second finds
//!   the revision moved, throws its read away and looks again. FIFO groups make this rare, the revision
//!   makes it safe.
//! * **A read stalls, the source moves away and back, another worker concludes "unchanged".** That
//!   conclusion advanced the revision all the same, so the stalled read loses.
//! * **A crash after the commit, before the message is deleted.** The message comes again, the load finds
//!   its events decided, and nothing is read or written.
//! * **An event is stored while a read is under way.** Its own signal comes later and is answered by a
//!   read that begins then. A read never answers a signal that was not loaded before it began.
//! * **The answer of a commit is lost.** Whoever looks next sees the decisions, made or not made.

pub mod batch;
pub mod failing;
pub mod handler;
pub mod observe;
pub mod reconciler;
pub mod start;
mod strategies;

pub use handler::{Handler, QueueReply};
pub use reconciler::Reconciler;

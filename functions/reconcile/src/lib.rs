//! Reconcile: a resource's signals become one conclusion, committed in one transaction.
//!
//! May read the Inbox, read providers and transact on State. Must never write the Inbox or send an
//! effect.
//!
//! Suggested reading order: [`reconciler`], `strategies`, `looking`, [`observe`], [`bodies`], `facts`, `concluding`, `sequence`, `subject`,
//! `rebuilding`, [`failing`], [`batch`], [`handler`].
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
//! * **Two members of a subject change at once.** Each writes its copy in its own transaction, and each change is a
//!   signal. A decision reads the subject's revision before its members; whoever decides from fewer members commits on
//!   an older revision and loses, or commits first and is followed by the other's signal.
//! * **A crash after a member's commit, before its subject is decided.** The copy stands in the table's stream, and the
//!   signal follows from there.
//! * **A person closes a review while it is withdrawn.** Each writes under the status that it read; the later one reads
//!   again.
//! * **A signal is settled while its resource is rebuilt.** Whoever commits second finds the revision moved. A rebuild
//!   that began first does not know of the event, and computes again with it.
//! * **The answer of a commit is lost.** Whoever looks next sees the decisions, made or not made.

pub mod batch;
pub mod bodies;
mod concluding;
mod facts;
pub mod failing;
pub mod handler;
mod looking;
pub mod observe;
mod rebuilding;
pub mod reconciler;
mod sequence;
pub mod start;
mod strategies;
mod subject;

pub use handler::{Handler, QueueReply};
pub use reconciler::Reconciler;

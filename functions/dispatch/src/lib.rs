//! Dispatch: an effect is sent, once per business key, or it is said that nobody knows.
//!
//! May read State, write down what became of effects, and send them. Must never write a projection, a subject or a
//! fact.
//!
//! Suggested reading order: [`dispatcher`], `attempt`, `looking`, [`batch`], [`handler`].
//!
//! # Races, as decisions
//!
//! * **Two dispatchers get one effect**, because its message came twice. One of them writes its claim; the other's is
//!   refused, it looks again, sees the lease and leaves the message for later.
//! * **A dispatcher dies after its claim.** It may have sent. When its lease is over the effect is uncertain, and what
//!   follows depends on what its destination can do.
//! * **A dispatcher stalls beyond its lease.** It does not begin to send when its lease is nearly over, and a send takes
//!   less time than a lease. What it writes down afterwards is refused, because the token has moved on.
//! * **The answer of a claim is lost**, and the SDK claims again. The refusal shows who holds it: ourselves.
//! * **The state changes while it is sent.** What counts is what was known when it was looked at, after everything that
//!   was committed before. What changes later is news for the next effect.
//! * **It is superseded while its owner wants it again.** Laying it aside is conditional on the owner's revision, and
//!   the owner's conclusion on its not being laid aside: one of the two looks again.
//! * **The configuration changes while it waits.** The rule of its name says whether it is still wanted, in whatever
//!   version; its key keeps the version under which it was created.

mod attempt;
pub mod batch;
pub mod dispatcher;
pub mod handler;
mod looking;
pub mod start;

pub use dispatcher::{Dispatcher, Settled};
pub use handler::{Handler, QueueReply};

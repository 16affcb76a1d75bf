//! What a deployment decides for itself about its resources, as expressions in the Common Expression
//! Language (CEL).
//!
//! This room knows no clock, no chance, no input or output and no AWS: an expression and a scope always give
//! the same answer, whatever the order of an object's members. The `cel` crate gives the grammar. What an
//! expression means is decided here, for four reasons: numbers must stay as they were written and never
//! become floating point, an object's members must always be met in the same order, what an evaluation may
//! cost must be bounded, and an error must not repeat what a webhook said.
//!
//! Where it differs from CEL as others have it:
//!
//! - a number with a fraction, an exponent or many digits is a *decimal* and compared exactly; `1.10` in a
//!   rule is one. There is no `double`, and no arithmetic with decimals: both would have to round.
//! - a map's keys are strings, as in JSON; a `for all` over a map sees them in order.
//! - there are no bytes, messages, times, durations and regular expressions.
//!
//! Suggested reading order: [`number`], [`value`], [`expression`], [`ruleset`], [`declared`], [`meaning`], [`together`], [`effects`], then the
//! private rooms `syntax`, `lower` and `eval`.

pub mod declared;
pub mod effects;
pub mod error;
mod eval;
pub mod expression;
mod function;
mod lower;
pub mod meaning;
mod meter;
mod node;
pub mod number;
mod operate;
mod read;
pub mod ruleset;
pub mod scope;
mod syntax;
#[cfg(test)]
mod tests;
pub mod together;
pub mod value;

pub use declared::Declared;
pub use effects::{CalledFor, Recorded, Unwanted, Wanted};
pub use error::{CompileError, EvalError};
pub use expression::Expression;
pub use meaning::{Found, Gap, Meant};
pub use number::Number;
pub use ruleset::{Judged, ReviewRule, RuleSet};
pub use scope::{Names, Scope};
pub use together::Member;
pub use value::{Kind, Value};

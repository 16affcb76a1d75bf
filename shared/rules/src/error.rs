//! What can be wrong with an expression, and what with one evaluation of it.
//!
//! Neither shows a value of the input: bodies of webhooks never reach logs. Names are shown when they stand
//! in the rule.

use crate::value::Kind;

/// Why a text is not an expression, and where in the text. Both positions count from 1; a column counts
/// characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct CompileError {
    /// The line of the expression's own text.
    pub line: usize,
    /// The character in that line.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

/// Why an evaluation has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// The scope has no such variable.
    #[error("there is no '{0}' here")]
    MissingVariable(String),
    /// An object has no member of this name, which stands in the rule.
    #[error("there is no member '{0}'")]
    MissingMember(String),
    /// An object has no member of a name that the rule computed.
    #[error("there is no member of the computed name")]
    MissingKey,
    /// A list has no such place.
    #[error("there is no such place in the list")]
    OutOfRange,
    /// An operator or a function does not take values of these kinds.
    #[error("'{operation}' does not take {}", listed(.kinds))]
    WrongKind {
        /// The operator or function, as it stands in the rule.
        operation: &'static str,
        /// What it was given.
        kinds: Vec<Kind>,
    },
    /// The answer is of another kind than what is asked for.
    #[error("the answer is of kind {found}, not {wanted}")]
    WrongAnswer {
        /// What is asked for.
        wanted: &'static str,
        /// What came out.
        found: Kind,
    },
    /// A whole number became larger than it may be, or an exponent cannot be compared.
    #[error("'{0}' goes beyond the numbers that are kept exactly")]
    Overflow(&'static str),
    /// Division, or a remainder, by zero.
    #[error("'{0}' by zero")]
    DivisionByZero(&'static str),
    /// A string that should hold a number does not, or a number that should be whole is not.
    #[error("'{0}' was given what is not such a number")]
    NotANumber(&'static str),
    /// An object is written with a member twice.
    #[error("an object is made with a member twice")]
    DoubledMember,
    /// The answer cannot be kept as JSON.
    #[error("the answer is nested too deep to be JSON")]
    TooDeep,
    /// It would take more steps than an evaluation may.
    #[error("it takes more than {} steps", crate::expression::Expression::BUDGET)]
    OverBudget,
}

fn listed(kinds: &[Kind]) -> String {
    let names: Vec<_> = kinds.iter().map(|kind| kind.as_str()).collect();
    names.join(" and ")
}

//! An expression in the form that is evaluated: names are resolved, and every node says what it does.

use std::sync::Arc;

use crate::function::Function;
use crate::value::Value;

/// A part of an expression.
#[derive(Debug)]
pub(crate) enum Node {
    Literal(Value),
    /// A variable of the scope.
    Variable(Arc<str>),
    /// A name that a comprehension binds: its place among those bound around it, the outermost first.
    Local(usize),
    /// `of.name`
    Member {
        of: Box<Node>,
        name: Arc<str>,
    },
    /// `has(of.name)`
    Has {
        of: Box<Node>,
        name: Arc<str>,
    },
    List(Vec<Node>),
    Map(Vec<[Node; 2]>),
    Not(Box<Node>),
    Negate(Box<Node>),
    /// `&&`, `||`: whether one true side decides, or one false side.
    Either {
        decides: bool,
        sides: Box<[Node; 2]>,
    },
    /// `condition ? one : other`
    Choose(Box<[Node; 3]>),
    Pair(Pair, Box<[Node; 2]>),
    Call(Function, Vec<Node>),
    /// A step for each item of a list, or each member's name of an object.
    Each {
        what: Each,
        over: Box<Node>,
        step: Box<Node>,
    },
}

/// What is made of the steps.
#[derive(Debug)]
pub(crate) enum Each {
    /// `all` and `exists`: whether one true step decides, or one false step.
    Decide(bool),
    /// `exists_one`
    One,
    /// `map`, `filter`: what the steps give, of those items for which the condition holds.
    Gather(Option<Box<Node>>),
}

/// What is made of two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pair {
    /// `==`
    Equal,
    /// `!=`
    Differ,
    /// `in`
    In,
    /// `of[at]`
    Index,
    Compare(Comparison),
    Reckon(Arithmetic),
}

/// `<` and its kin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }
}

/// `+` and its kin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Arithmetic {
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
        }
    }

    pub(crate) fn divides(self) -> bool {
        matches!(self, Self::Divide | Self::Remainder)
    }
}

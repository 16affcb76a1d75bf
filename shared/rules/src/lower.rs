//! From the parser's tree to the form that is evaluated: names are looked up, calls resolved, and what has no
//! exact meaning is refused, each with its place.

use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedEntryExpr, IdedExpr, ListExpr, LiteralValue,
    SelectExpr, operators,
};

use crate::error::CompileError;
use crate::expression::Expression;
use crate::function::{Function, nearest};
use crate::node::{Arithmetic, Comparison, Each, Node, Pair};
use crate::number::{Form, Number};
use crate::scope::Names;
use crate::syntax::Source;
use crate::value::Value;

/// One text on its way.
pub(crate) struct Lowering<'s> {
    source: &'s Source<'s>,
    names: &'s Names,
    /// Names that the comprehensions around bind, the outermost first.
    bound: Vec<String>,
    nodes: usize,
}

type Lowered = Result<Node, CompileError>;

impl<'s> Lowering<'s> {
    pub(crate) fn new(source: &'s Source<'s>, names: &'s Names) -> Self {
        Self {
            source,
            names,
            bound: Vec::new(),
            nodes: 0,
        }
    }

    pub(crate) fn node(&mut self, IdedExpr { id, expr }: IdedExpr) -> Lowered {
        self.nodes += 1;
        if self.nodes > Expression::MOST_NODES {
            let message = format!("it has more than {} parts", Expression::MOST_NODES);
            return self.refuse(id, message);
        }
        match expr {
            Expr::Ident(name) => self.name(id, name),
            Expr::Literal(literal) => self.literal(id, literal),
            Expr::Select(select) => self.select(select),
            Expr::Call(call) => self.call(id, call),
            Expr::List(list) => Ok(Node::List(self.all(list.elements)?)),
            Expr::Map(map) => self.map(map.entries),
            Expr::Comprehension(each) => self.each(id, *each),
            Expr::Struct(made) => self.refuse(id, format!("there is no type '{}'", made.type_name)),
            Expr::Unspecified => self.refuse(id, "not understood"),
        }
    }

    fn refuse<T>(&self, id: u64, message: impl Into<String>) -> Result<T, CompileError> {
        Err(self.source.error(self.source.place(id), message.into()))
    }

    fn boxed(&mut self, expr: IdedExpr) -> Result<Box<Node>, CompileError> {
        self.node(expr).map(Box::new)
    }

    fn all(&mut self, exprs: Vec<IdedExpr>) -> Result<Vec<Node>, CompileError> {
        exprs.into_iter().map(|expr| self.node(expr)).collect()
    }

    fn name(&self, id: u64, name: String) -> Lowered {
        if let Some(place) = self.bound.iter().rposition(|bound| *bound == name) {
            return Ok(Node::Local(place));
        }
        if self.names.holds(&name) {
            return Ok(Node::Variable(name.into()));
        }
        let known = self
            .bound
            .iter()
            .map(String::as_str)
            .chain(self.names.iter());
        let hint = nearest(&name, known);
        self.refuse(id, format!("there is no '{name}' here{hint}"))
    }

    fn literal(&self, id: u64, literal: LiteralValue) -> Lowered {
        Ok(Node::Literal(match literal {
            LiteralValue::Null => Value::Null,
            LiteralValue::Boolean(held) => Value::Bool(held.into_inner()),
            LiteralValue::Int(int) => Value::int(int.into_inner()),
            LiteralValue::UInt(uint) => Value::Number(Number(Form::Uint(uint.into_inner()))),
            LiteralValue::String(text) => Value::from(text.inner()),
            LiteralValue::Double(_) => match Number::parse(&self.source.decimal(id)) {
                Some(number) => Value::Number(number),
                None => return self.refuse(id, "not a number; write number(\"…\")"),
            },
            LiteralValue::Bytes(_) => return self.refuse(id, "there are no bytes here"),
        }))
    }

    fn select(&mut self, select: SelectExpr) -> Lowered {
        let of = self.boxed(*select.operand)?;
        let name = select.field.into();
        Ok(if select.test {
            Node::Has { of, name }
        } else {
            Node::Member { of, name }
        })
    }

    fn map(&mut self, entries: Vec<IdedEntryExpr>) -> Lowered {
        let mut members = Vec::new();
        for IdedEntryExpr { id, expr } in entries {
            match expr {
                EntryExpr::MapEntry(entry) => {
                    members.push([self.node(entry.key)?, self.node(entry.value)?]);
                }
                EntryExpr::StructField(_) => return self.refuse(id, "not understood"),
            }
        }
        Ok(Node::Map(members))
    }

    fn call(&mut self, id: u64, call: CallExpr) -> Lowered {
        let behind = call.target.is_some();
        let name = call.func_name;
        let exprs: Vec<_> = call
            .target
            .map(|target| *target)
            .into_iter()
            .chain(call.args)
            .collect();
        if !OPERATORS.contains(&name.as_str()) {
            let function = Function::find(&name, behind, exprs.len());
            return match function {
                Ok(function) => Ok(Node::Call(function, self.all(exprs)?)),
                Err(message) => {
                    let at = self.source.place_of_name(id, &name);
                    Err(self.source.error(at, message))
                }
            };
        }
        match operator(&name, self.all(exprs)?) {
            Ok(node) => Ok(node),
            Err(_) => self.refuse(id, "not understood"),
        }
    }

    /// The parser writes a macro out as a loop; what it was is seen from what the loop begins with.
    fn each(&mut self, id: u64, each: ComprehensionExpr) -> Lowered {
        let over = self.boxed(each.iter_range)?;
        let Some((what, step)) = parts(each.accu_init.expr, each.loop_step) else {
            return self.refuse(id, "not understood");
        };
        self.bound.push(each.iter_var);
        let made = self.steps(what, step);
        self.bound.pop();
        let (what, step) = made?;
        Ok(Node::Each { what, over, step })
    }

    fn steps(&mut self, what: Made, step: IdedExpr) -> Result<(Each, Box<Node>), CompileError> {
        let what = match what {
            Made::Decide(decides) => Each::Decide(decides),
            Made::One => Each::One,
            Made::Gather(None) => Each::Gather(None),
            Made::Gather(Some(condition)) => Each::Gather(Some(self.boxed(*condition)?)),
        };
        Ok((what, self.boxed(step)?))
    }
}

/// What a macro was, with its condition as the parser has it.
enum Made {
    Decide(bool),
    One,
    Gather(Option<Box<IdedExpr>>),
}

/// What a loop that begins so makes, and the step as it was written.
fn parts(begins: Expr, step: IdedExpr) -> Option<(Made, IdedExpr)> {
    let Expr::Call(CallExpr { args, .. }) = step.expr else {
        return None;
    };
    let mut args = args.into_iter();
    let (first, second) = (args.next()?, args.next()?);
    match begins {
        // @result && step, @result || step
        Expr::Literal(LiteralValue::Boolean(all)) => {
            Some((Made::Decide(!all.into_inner()), second))
        }
        // step ? @result + 1 : @result
        Expr::Literal(LiteralValue::Int(_)) => Some((Made::One, first)),
        // condition ? @result + [step] : @result
        Expr::List(_) if args.next().is_some() => {
            let Expr::Call(CallExpr { args, .. }) = second.expr else {
                return None;
            };
            let step = only(args.into_iter().nth(1)?)?;
            Some((Made::Gather(Some(Box::new(first))), step))
        }
        // @result + [step]
        Expr::List(_) => Some((Made::Gather(None), only(second)?)),
        Expr::Literal(_)
        | Expr::Unspecified
        | Expr::Call(_)
        | Expr::Comprehension(_)
        | Expr::Ident(_)
        | Expr::Map(_)
        | Expr::Select(_)
        | Expr::Struct(_) => None,
    }
}

/// The only item of a list.
fn only(list: IdedExpr) -> Option<IdedExpr> {
    let Expr::List(ListExpr { elements, .. }) = list.expr else {
        return None;
    };
    elements.into_iter().next()
}

/// The names that the parser gives to operators.
const OPERATORS: [&str; 18] = [
    operators::CONDITIONAL,
    operators::LOGICAL_AND,
    operators::LOGICAL_OR,
    operators::LOGICAL_NOT,
    operators::NEGATE,
    operators::EQUALS,
    operators::NOT_EQUALS,
    operators::LESS,
    operators::LESS_EQUALS,
    operators::GREATER,
    operators::GREATER_EQUALS,
    operators::ADD,
    operators::SUBSTRACT,
    operators::MULTIPLY,
    operators::DIVIDE,
    operators::MODULO,
    operators::IN,
    operators::INDEX,
];

/// What an operator makes; the operands back if it is none.
fn operator(name: &str, args: Vec<Node>) -> Result<Node, Vec<Node>> {
    match <[Node; 1]>::try_from(args) {
        Ok([of]) => match name {
            operators::LOGICAL_NOT => Ok(Node::Not(Box::new(of))),
            operators::NEGATE => Ok(Node::Negate(Box::new(of))),
            _ => Err(vec![of]),
        },
        Err(args) => match <[Node; 3]>::try_from(args) {
            Ok(args) if name == operators::CONDITIONAL => Ok(Node::Choose(Box::new(args))),
            Ok(args) => Err(args.into()),
            Err(args) => binary(name, args),
        },
    }
}

fn binary(name: &str, args: Vec<Node>) -> Result<Node, Vec<Node>> {
    let sides = Box::new(<[Node; 2]>::try_from(args)?);
    let pair = match name {
        operators::LOGICAL_AND | operators::LOGICAL_OR => {
            let decides = name == operators::LOGICAL_OR;
            return Ok(Node::Either { decides, sides });
        }
        operators::EQUALS => Pair::Equal,
        operators::NOT_EQUALS => Pair::Differ,
        operators::IN => Pair::In,
        operators::INDEX => Pair::Index,
        operators::LESS => Pair::Compare(Comparison::Less),
        operators::LESS_EQUALS => Pair::Compare(Comparison::LessOrEqual),
        operators::GREATER => Pair::Compare(Comparison::Greater),
        operators::GREATER_EQUALS => Pair::Compare(Comparison::GreaterOrEqual),
        operators::ADD => Pair::Reckon(Arithmetic::Add),
        operators::SUBSTRACT => Pair::Reckon(Arithmetic::Subtract),
        operators::MULTIPLY => Pair::Reckon(Arithmetic::Multiply),
        operators::DIVIDE => Pair::Reckon(Arithmetic::Divide),
        operators::MODULO => Pair::Reckon(Arithmetic::Remainder),
        _ => return Err(Vec::from(*sides)),
    };
    Ok(Node::Pair(pair, sides))
}

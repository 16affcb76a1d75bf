//! Evaluates: each part of an expression once for each time it is met, and paid for before it is done.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::EvalError;
use crate::meter::Meter;
use crate::node::{Each, Node, Pair};
use crate::number::{Form, Number};
use crate::operate::{self, wrong};
use crate::scope::Scope;
use crate::value::Value;

/// What an item of a list that is made costs besides its making: the memory that it takes.
pub(crate) const KEPT: usize = 8;
/// What an object that is made costs besides its members.
const OBJECT: usize = 40;

/// One evaluation.
pub(crate) struct Run<'r> {
    scope: &'r Scope,
    meter: &'r Meter,
    locals: Vec<Value>,
}

impl<'r> Run<'r> {
    pub(crate) fn new(scope: &'r Scope, meter: &'r Meter) -> Self {
        Self {
            scope,
            meter,
            locals: Vec::new(),
        }
    }

    pub(crate) fn value(&mut self, node: &Node) -> Result<Value, EvalError> {
        self.meter.take(1)?;
        match node {
            Node::Literal(value) => Ok(value.clone()),
            Node::Variable(name) => {
                let held = self.scope.get(name).cloned();
                held.ok_or_else(|| EvalError::MissingVariable(name.to_string()))
            }
            Node::Local(place) => {
                let held = self.locals.get(*place).cloned();
                held.ok_or_else(|| EvalError::MissingVariable(String::new()))
            }
            Node::Member { of, name } => member(&self.value(of)?, name),
            Node::Has { of, name } => {
                let of = self.value(of)?;
                Ok(Value::Bool(members("has", &of)?.contains_key(name)))
            }
            Node::List(items) => self.list(items),
            Node::Map(members) => self.map(members),
            Node::Not(of) => Ok(Value::Bool(!self.truth("!", of)?)),
            Node::Negate(of) => negate(&self.value(of)?),
            Node::Either { decides, sides } => self.either(*decides, sides).map(Value::Bool),
            Node::Choose(parts) => self.choose(parts),
            Node::Pair(pair, sides) => self.pair(*pair, sides),
            Node::Call(function, args) => {
                let args = args
                    .iter()
                    .map(|arg| self.value(arg))
                    .collect::<Result<Vec<_>, _>>()?;
                function.apply(&args, self.meter)
            }
            Node::Each { what, over, step } => self.each(what, over, step),
        }
    }

    fn pair(&mut self, pair: Pair, sides: &[Node; 2]) -> Result<Value, EvalError> {
        let [one, other] = self.both(sides)?;
        match pair {
            Pair::Equal => operate::equal(&one, &other, self.meter).map(Value::Bool),
            Pair::Differ => operate::equal(&one, &other, self.meter).map(|same| Value::Bool(!same)),
            Pair::In => operate::within(&one, &other, self.meter).map(Value::Bool),
            Pair::Index => self.index(one, other, sides),
            Pair::Compare(how) => operate::compare(how, &one, &other, self.meter).map(Value::Bool),
            Pair::Reckon(how) => operate::reckon(how, &one, &other, self.meter),
        }
    }

    fn both(&mut self, sides: &[Node; 2]) -> Result<[Value; 2], EvalError> {
        let [one, other] = sides;
        Ok([self.value(one)?, self.value(other)?])
    }

    fn truth(&mut self, operation: &'static str, node: &Node) -> Result<bool, EvalError> {
        let value = self.value(node)?;
        if let Value::Bool(held) = value {
            return Ok(held);
        }
        Err(wrong(operation, &[value]))
    }

    fn index(&self, of: Value, at: Value, sides: &[Node; 2]) -> Result<Value, EvalError> {
        match (&of, &at) {
            (Value::Map(members), Value::Text(name)) => {
                self.meter.look(name.len())?;
                members.get(name).cloned().ok_or_else(|| match sides {
                    [_, Node::Literal(_)] => EvalError::MissingMember(name.to_string()),
                    _ => EvalError::MissingKey,
                })
            }
            (Value::List(items), Value::Number(number)) if number.is_word() => {
                let place = number.to_i128().and_then(|at| usize::try_from(at).ok());
                let held = place.and_then(|place| items.get(place)).cloned();
                held.ok_or(EvalError::OutOfRange)
            }
            _ => Err(wrong("[]", &[of, at])),
        }
    }

    fn list(&mut self, nodes: &[Node]) -> Result<Value, EvalError> {
        self.meter.make(nodes.len().saturating_mul(KEPT))?;
        let items = nodes.iter().map(|node| self.value(node));
        Ok(Value::List(items.collect::<Result<Vec<_>, _>>()?.into()))
    }

    fn map(&mut self, nodes: &[[Node; 2]]) -> Result<Value, EvalError> {
        let members = nodes.len().saturating_mul(KEPT);
        self.meter.make(members.saturating_add(OBJECT))?;
        let mut members = BTreeMap::new();
        for sides in nodes {
            let [name, value] = self.both(sides)?;
            let Value::Text(name) = name else {
                return Err(wrong("{}", &[name]));
            };
            self.meter.look(name.len())?;
            if members.insert(name, value).is_some() {
                return Err(EvalError::DoubledMember);
            }
        }
        Ok(Value::Map(Arc::new(members)))
    }

    fn choose(&mut self, parts: &[Node; 3]) -> Result<Value, EvalError> {
        let [condition, one, other] = parts;
        let chosen = if self.truth("?:", condition)? {
            one
        } else {
            other
        };
        self.value(chosen)
    }

    /// A side that decides does so whatever is wrong with the other one, on whichever hand it is.
    fn either(&mut self, decides: bool, sides: &[Node; 2]) -> Result<bool, EvalError> {
        let sign = if decides { "||" } else { "&&" };
        let [one, other] = sides;
        let mut decision = Decision::new(decides);
        for side in [one, other] {
            let found = self.truth(sign, side);
            if decision.hears(found)? {
                break;
            }
        }
        decision.told()
    }

    fn each(&mut self, what: &Each, over: &Node, step: &Node) -> Result<Value, EvalError> {
        let over = self.value(over)?;
        let items: Box<dyn Iterator<Item = Value> + '_> = if let Value::List(items) = &over {
            Box::new(items.iter().cloned())
        } else {
            Box::new(
                members(named(what), &over)?
                    .keys()
                    .cloned()
                    .map(Value::Text),
            )
        };
        match what {
            Each::Decide(decides) => self.decide(*decides, named(what), items, step),
            Each::One => {
                let mut count = 0_usize;
                for item in items {
                    let found = self.with(item, |run| run.truth(named(what), step))?;
                    count = count.saturating_add(usize::from(found));
                }
                Ok(Value::Bool(count == 1))
            }
            Each::Gather(condition) => {
                let mut made = Vec::new();
                for item in items {
                    made.extend(self.with(item, |run| run.gathered(condition.as_deref(), step))?);
                }
                Ok(Value::List(made.into()))
            }
        }
    }

    fn decide(
        &mut self,
        decides: bool,
        name: &'static str,
        items: impl Iterator<Item = Value>,
        step: &Node,
    ) -> Result<Value, EvalError> {
        let mut decision = Decision::new(decides);
        for item in items {
            let found = self.with(item, |run| run.truth(name, step));
            if decision.hears(found)? {
                break;
            }
        }
        decision.told().map(Value::Bool)
    }

    fn gathered(
        &mut self,
        condition: Option<&Node>,
        step: &Node,
    ) -> Result<Option<Value>, EvalError> {
        if let Some(condition) = condition
            && !self.truth("filter", condition)?
        {
            return Ok(None);
        }
        self.meter.make(KEPT)?;
        self.value(step).map(Some)
    }

    /// Does something with one more local.
    fn with<T>(
        &mut self,
        item: Value,
        work: impl FnOnce(&mut Self) -> Result<T, EvalError>,
    ) -> Result<T, EvalError> {
        self.meter.take(1)?;
        self.locals.push(item);
        let done = work(self);
        self.locals.pop();
        done
    }
}

/// What several sides come to, of which one may decide.
struct Decision {
    decides: bool,
    found: Result<bool, EvalError>,
}

impl Decision {
    fn new(decides: bool) -> Self {
        Self {
            decides,
            found: Ok(!decides),
        }
    }

    /// Whether it is decided. The first thing that is wrong is kept; a spent budget ends all.
    fn hears(&mut self, side: Result<bool, EvalError>) -> Result<bool, EvalError> {
        match side {
            Ok(found) if found == self.decides => {
                self.found = Ok(found);
                return Ok(true);
            }
            Err(EvalError::OverBudget) => return Err(EvalError::OverBudget),
            Err(error) if self.found.is_ok() => self.found = Err(error),
            Ok(_) | Err(_) => {}
        }
        Ok(false)
    }

    fn told(self) -> Result<bool, EvalError> {
        self.found
    }
}

fn members<'v>(
    operation: &'static str,
    of: &'v Value,
) -> Result<&'v BTreeMap<Arc<str>, Value>, EvalError> {
    if let Value::Map(members) = of {
        return Ok(members);
    }
    Err(wrong(operation, std::slice::from_ref(of)))
}

fn member(of: &Value, name: &str) -> Result<Value, EvalError> {
    let held = members(".", of)?.get(name).cloned();
    held.ok_or_else(|| EvalError::MissingMember(name.to_owned()))
}

fn negate(of: &Value) -> Result<Value, EvalError> {
    if let Value::Number(Number(Form::Int(int))) = of {
        let negated = int.checked_neg().map(Value::int);
        return negated.ok_or(EvalError::Overflow("-"));
    }
    Err(wrong("-", std::slice::from_ref(of)))
}

fn named(what: &Each) -> &'static str {
    match what {
        Each::Decide(true) => "exists",
        Each::Decide(false) => "all",
        Each::One => "exists_one",
        Each::Gather(_) => "map",
    }
}

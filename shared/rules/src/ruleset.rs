//! What is declared for one kind of resource, or for a subject, and what it comes to.
//!
//! Nothing is allowed while anything is undecided: one rule that cannot be evaluated takes back what all
//! others allow.

use std::collections::{BTreeMap, BTreeSet};

use lastword_domain::Json;
use lastword_domain::json::JsonError;

use crate::error::EvalError;
use crate::expression::{Expression, budget};
use crate::meter::Meter;
use crate::scope::Scope;

/// The declared expressions.
#[derive(Debug, Clone, Default)]
pub struct RuleSet {
    /// The word for the state it is in; [`Judged::DECIDED`] without one.
    pub state: Option<Expression>,
    /// What is allowed, and when.
    pub allow: BTreeMap<String, Expression>,
    /// What is told besides.
    pub data: BTreeMap<String, Expression>,
    /// What people have to look at, and when.
    pub review: BTreeMap<String, ReviewRule>,
}

/// When people have to look at something.
#[derive(Debug, Clone)]
pub struct ReviewRule {
    /// Whether they have to.
    pub when: Expression,
    /// What they are shown.
    pub evidence: Option<Expression>,
}

/// What the rules come to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Judged {
    /// The state's word.
    pub state: String,
    /// What is allowed.
    pub allowed: BTreeSet<String>,
    /// What is told besides.
    pub data: BTreeMap<String, Json>,
    /// The rules by which people have to look at it, each with what they are shown.
    pub reviews: BTreeMap<String, Option<Json>>,
    /// What could not be decided: `state`, `allow.x`, `data.y`, `review.z`, and why.
    pub failed: BTreeMap<String, EvalError>,
}

impl RuleSet {
    /// What the rules come to here. One budget is spent on all of them, in the order of state, allow, data
    /// and review, each in the order of their names.
    pub fn decide(&self, scope: &Scope) -> Judged {
        let meter = budget();
        let mut failed = BTreeMap::new();
        let state = match &self.state {
            Some(state) => state.text_within(scope, &meter),
            None => Ok(Judged::DECIDED.to_owned()),
        };
        let state = state.map_err(|error| failed.insert("state".to_owned(), error));
        let allowed = answers("allow", &self.allow, &mut failed, |rule| {
            let holds = rule.truth_within(scope, &meter)?;
            Ok(holds.then_some(()))
        });
        let data = answers("data", &self.data, &mut failed, |rule| {
            rule.json_within(scope, &meter).map(Some)
        });
        let reviews = answers("review", &self.review, &mut failed, |rule| {
            rule.judge(scope, &meter)
        });
        match state {
            Ok(state) if failed.is_empty() => Judged {
                state,
                allowed: allowed.into_keys().collect(),
                data,
                reviews,
                failed,
            },
            Ok(_) | Err(_) => Judged {
                state: Judged::UNDECIDED.to_owned(),
                allowed: BTreeSet::new(),
                data: BTreeMap::new(),
                reviews,
                failed,
            },
        }
    }
}

impl ReviewRule {
    fn judge(&self, scope: &Scope, meter: &Meter) -> Result<Option<Option<Json>>, EvalError> {
        if !self.when.truth_within(scope, meter)? {
            return Ok(None);
        }
        let evidence = self.evidence.as_ref();
        let evidence = evidence.map(|evidence| evidence.json_within(scope, meter));
        evidence.transpose().map(Some)
    }
}

/// What those of the rules that can be decided say, and have something to say.
fn answers<R, T>(
    section: &str,
    rules: &BTreeMap<String, R>,
    failed: &mut BTreeMap<String, EvalError>,
    judge: impl Fn(&R) -> Result<Option<T>, EvalError>,
) -> BTreeMap<String, T> {
    let mut answers = BTreeMap::new();
    for (name, rule) in rules {
        match judge(rule) {
            Ok(Some(answer)) => {
                answers.insert(name.clone(), answer);
            }
            Ok(None) => {}
            Err(error) => {
                failed.insert(format!("{section}.{name}"), error);
            }
        }
    }
    answers
}

impl Judged {
    /// The state where no expression gives one.
    pub const DECIDED: &'static str = "decided";
    /// The state where something could not be decided.
    pub const UNDECIDED: &'static str = "undecided";

    /// What is stored of it: `{"allowed":[…],"data":{…},"state":"…"}`, and `failed` between them when something is.
    /// The same judgement is the same text.
    ///
    /// # Errors
    /// When data are nested so deep that they cannot be nested two deeper.
    pub fn to_json(&self) -> Result<Json, JsonError> {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let allowed: Vec<_> = self.allowed.iter().map(|name| quoted(name)).collect();
        let data = self.data.iter();
        let data: Vec<_> = data
            .map(|(name, value)| format!("{}:{}", quoted(name), value.as_str()))
            .collect();
        let failed: Vec<_> = self
            .failed
            .iter()
            .map(|(name, error)| format!("{}:{}", quoted(name), quoted(&error.to_string())))
            .collect();
        let failed = match failed.is_empty() {
            true => String::new(),
            false => format!(r#""failed":{{{}}},"#, failed.join(",")),
        };
        Json::parse(&format!(
            r#"{{"allowed":[{}],"data":{{{}}},{failed}"state":{}}}"#,
            allowed.join(","),
            data.join(","),
            quoted(&self.state)
        ))
    }

    /// Without any rule, something could not be decided all the same.
    pub fn undecided(failed: BTreeMap<String, EvalError>) -> Self {
        Self {
            state: Self::UNDECIDED.to_owned(),
            allowed: BTreeSet::new(),
            data: BTreeMap::new(),
            reviews: BTreeMap::new(),
            failed,
        }
    }
}

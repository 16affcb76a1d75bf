//! Which actions are called for, and whether one is still wanted when it is about to be sent. Functions of what is held
//! and of what is declared; who creates an effect and who sends it ask the same expressions.
//!
//! What calls for an action (`when`) should be something that stays so: that an order was paid. What may change again
//! (`while`) is asked when it is sent, of what is known then. So it does not matter in which order things became
//! known.

use std::collections::BTreeMap;
use std::time::Duration;

use lastword_config::On;
use lastword_domain::decide::Fact;
use lastword_domain::effect::outbox::{Asked, OfFact};
use lastword_domain::name::{EffectName, FactId, FactKind, IntegrationName};
use lastword_domain::{Contents, EffectRule, Json, Projection, ResourceKey, Standing, SubjectKey};

use crate::declared::{Declared, FACT, RESOURCE, STANDING, STATE, VERDICT};
use crate::error::EvalError;
use crate::expression::{Expression, budget};
use crate::meaning::{Found, Meant, of_resource, resource_json, text};
use crate::meter::Meter;
use crate::scope::Scope;
use crate::together::Member;
use crate::value::Value;

/// The most bytes of what an effect tells: it has to fit every channel, and stay minimal.
pub const MOST_DATA_BYTES: usize = 64 * 1024;

/// A declared action, compiled.
#[derive(Debug)]
pub(crate) struct OfEffect {
    pub(crate) on: On,
    pub(crate) version: u32,
    pub(crate) settle: Duration,
    pub(crate) when: Option<Expression>,
    pub(crate) holds: Option<Expression>,
    pub(crate) data: BTreeMap<String, Expression>,
}

/// Whether an effect is wanted now.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Wanted {
    /// It is, and tells this.
    Yes(Json),
    /// It is not.
    No(Unwanted),
    /// The rules cannot say; why, without a word of what is held.
    Undecided(String),
}

/// Why an effect is not wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unwanted {
    /// The configuration has no such action any more, or one of something else.
    Undeclared,
    /// What calls for it is not known, deleted, or in doubt.
    NoState,
    /// It is not so, or not so any more.
    NotSo,
}

impl Unwanted {
    /// For people.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Undeclared => "the configuration does not declare it any more",
            Self::NoState => "what it is about is deleted, contested or unknown",
            Self::NotSo => "what calls for it is not so any more",
        }
    }
}

/// A fact that calls for an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalledFor {
    /// Which action.
    pub rule: EffectRule,
    /// By which fact.
    pub fact: OfFact,
    /// What would be told, as far as that can be said already.
    pub data: Option<Json>,
    /// How long it waits before it is sent.
    pub settle: Duration,
}

/// A fact as a rule sees it.
#[derive(Debug, Clone, Copy)]
pub struct Recorded<'f> {
    /// What kind.
    pub kind: &'f FactKind,
    /// Which.
    pub id: &'f FactId,
    /// What it says.
    pub content: &'f Json,
}

impl OfEffect {
    fn rule(&self, name: &EffectName) -> EffectRule {
        EffectRule {
            name: name.clone(),
            version: self.version,
        }
    }

    fn called(&self, scope: &Scope, meter: &Meter) -> Result<bool, EvalError> {
        truth(self.when.as_ref(), scope, meter)
    }

    fn wanted(&self, scope: &Scope) -> Wanted {
        self.wanted_if(self.called(scope, &budget()), scope)
    }

    fn wanted_if(&self, called: Result<bool, EvalError>, scope: &Scope) -> Wanted {
        let meter = budget();
        let so = called.and_then(|called| Ok(called && truth(self.holds.as_ref(), scope, &meter)?));
        match so {
            Ok(true) => {}
            Ok(false) => return Wanted::No(Unwanted::NotSo),
            Err(error) => return Wanted::Undecided(error.to_string()),
        }
        match self.told(scope, &meter) {
            Ok(data) if data.as_str().len() > MOST_DATA_BYTES => Wanted::Undecided(format!(
                "its data are {} bytes, the most is {MOST_DATA_BYTES}",
                data.as_str().len()
            )),
            Ok(data) => Wanted::Yes(data),
            Err((name, error)) => Wanted::Undecided(format!("data.{name}: {error}")),
        }
    }

    /// What it tells: a member for each name, in their order.
    fn told(&self, scope: &Scope, meter: &Meter) -> Result<Json, (String, EvalError)> {
        let mut members = Vec::with_capacity(self.data.len());
        for (name, expression) in &self.data {
            let value = expression
                .json_within(scope, meter)
                .map_err(|error| (name.clone(), error))?;
            let name = serde_json::Value::from(name.as_str()).to_string();
            members.push(format!("{name}:{}", value.as_str()));
        }
        Json::parse(&format!("{{{}}}", members.join(",")))
            .map_err(|_| (String::new(), EvalError::TooDeep))
    }

    fn unasked(&self, called: Option<bool>) -> Asked {
        Asked {
            called,
            wanted: false,
            data: None,
            settle: self.settle,
        }
    }

    fn asked(&self, scope: &Scope) -> (Asked, Option<EvalError>) {
        let called = self.called(scope, &budget());
        let wanted = self.wanted_if(called.clone(), scope);
        let asked = Asked {
            called: called.as_ref().ok().copied(),
            wanted: matches!(wanted, Wanted::Yes(_)),
            data: match wanted {
                Wanted::Yes(data) => Some(data),
                Wanted::No(_) | Wanted::Undecided(_) => None,
            },
            settle: self.settle,
        };
        (asked, called.err())
    }
}

/// What actions are asked about.
pub(crate) enum About {
    /// One state, or members together.
    State(Scope),
    /// A tombstone calls for nothing.
    Deleted,
    /// Several states, of which none was chosen: nobody can say what they call for.
    InDoubt,
}

fn truth(rule: Option<&Expression>, scope: &Scope, meter: &Meter) -> Result<bool, EvalError> {
    rule.map_or(Ok(true), |rule| rule.truth_within(scope, meter))
}

/// What a scope says of everything that was concluded.
pub(crate) fn with_verdict(scope: Scope, verdict: Option<&Json>) -> Scope {
    let verdict = verdict.map_or(Value::Null, Value::from_json);
    scope.with(VERDICT, verdict)
}

impl Declared {
    /// What the declared actions of one thing say. What fails is told beside.
    pub(crate) fn ask(
        &self,
        on: &On,
        about: About,
        failed: &mut BTreeMap<String, EvalError>,
    ) -> BTreeMap<EffectRule, Asked> {
        let mut all = BTreeMap::new();
        for (name, effect) in self.effects_of(on) {
            let asked = match &about {
                About::State(scope) => {
                    let (asked, error) = effect.asked(scope);
                    failed.extend(error.map(|error| (format!("effect.{name}"), error)));
                    asked
                }
                About::Deleted => effect.unasked(Some(false)),
                About::InDoubt => effect.unasked(None),
            };
            all.insert(effect.rule(name), asked);
        }
        all
    }

    pub(crate) fn effects_of<'d>(
        &'d self,
        on: &'d On,
    ) -> impl Iterator<Item = (&'d EffectName, &'d OfEffect)> {
        let all = self.effects.iter();
        all.filter(move |(_, effect)| effect.on == *on)
    }

    /// The actions that a state of this kind of resource may call for.
    pub fn rules_of_resource(
        &self,
        integration: &IntegrationName,
        resource: &ResourceKey,
    ) -> Vec<EffectRule> {
        let on = On::Resource(integration.clone(), resource.kind.clone());
        let rules = self.effects_of(&on);
        rules.map(|(name, effect)| effect.rule(name)).collect()
    }

    /// The actions that new facts call for. A fact whose rule cannot be evaluated calls for it all the same: whoever
    /// sends it asks again, and a person sees why it failed.
    pub fn called_for(
        &self,
        integration: &IntegrationName,
        resource: &ResourceKey,
        projection: &Projection,
        facts: &[Fact],
    ) -> Vec<CalledFor> {
        let mut called = Vec::new();
        for fact in facts {
            let recorded = Recorded {
                kind: &fact.kind,
                id: &fact.id,
                content: &fact.content,
            };
            let on = on_fact(integration, resource, &fact.kind);
            let verdict = projection.meaning.verdict.as_ref();
            let contents = projection.contents.as_ref();
            let mut scope = None;
            for (name, effect) in self.effects_of(&on) {
                let scope =
                    scope.get_or_insert_with(|| of_fact(resource, contents, verdict, recorded));
                let is_called = effect.called(scope, &budget());
                if is_called == Ok(false) {
                    continue;
                }
                called.push(CalledFor {
                    rule: effect.rule(name),
                    fact: OfFact {
                        kind: fact.kind.clone(),
                        id: fact.id.clone(),
                        content: fact.content.meaning(),
                    },
                    data: match effect.wanted_if(is_called, scope) {
                        Wanted::Yes(data) => Some(data),
                        Wanted::No(_) | Wanted::Undecided(_) => None,
                    },
                    settle: effect.settle,
                });
            }
        }
        called
    }

    /// Whether an action of a resource, or of a fact about it, is wanted now.
    pub fn wanted_of_resource(
        &self,
        name: &EffectName,
        resource: &ResourceKey,
        projection: &Projection,
        fact: Option<Recorded<'_>>,
    ) -> Wanted {
        let Some(effect) = self.effects.get(name) else {
            return Wanted::No(Unwanted::Undeclared);
        };
        let (On::Resource(integration, kind) | On::Fact(integration, kind, _)) = &effect.on else {
            return Wanted::No(Unwanted::Undeclared);
        };
        let declared = match (&effect.on, fact) {
            (On::Fact(_, _, kind), Some(fact)) => kind == fact.kind,
            (On::Resource(..), None) => true,
            (On::Fact(..) | On::Resource(..) | On::Subject(_), _) => false,
        };
        if !declared || *kind != resource.kind {
            return Wanted::No(Unwanted::Undeclared);
        }
        let Meant { meaning, .. } =
            self.meaning(integration, resource, projection, Found::default());
        let verdict = meaning.verdict.as_ref();
        let contents = projection.contents.as_ref();
        if let Some(fact) = fact {
            return effect.wanted(&of_fact(resource, contents, verdict, fact));
        }
        match contents.map(Contents::standing) {
            Some(Standing::Present(state)) => {
                effect.wanted(&with_verdict(of_resource(resource, state), verdict))
            }
            Some(Standing::Deleted | Standing::Contested(_)) | None => {
                Wanted::No(Unwanted::NoState)
            }
        }
    }

    /// Whether an action of a subject is wanted now, by what its members say now.
    pub fn wanted_of_subject(
        &self,
        name: &EffectName,
        subject: &SubjectKey,
        members: &[Member<'_>],
    ) -> Wanted {
        let Some(effect) = self.effects.get(name) else {
            return Wanted::No(Unwanted::Undeclared);
        };
        let declared = self.subjects.get(&subject.kind);
        let Some(declared) = declared.filter(|_| effect.on == On::Subject(subject.kind.clone()))
        else {
            return Wanted::No(Unwanted::Undeclared);
        };
        if members.is_empty() {
            return Wanted::No(Unwanted::NoState);
        }
        let Meant { meaning, .. } = self.subject(subject, members);
        let scope = declared.scope(subject, members);
        effect.wanted(&with_verdict(scope, meaning.verdict.as_ref()))
    }
}

fn on_fact(integration: &IntegrationName, resource: &ResourceKey, fact: &FactKind) -> On {
    On::Fact(integration.clone(), resource.kind.clone(), fact.clone())
}

fn of_fact(
    resource: &ResourceKey,
    contents: Option<&Contents>,
    verdict: Option<&Json>,
    fact: Recorded<'_>,
) -> Scope {
    let (standing, state) = match contents.map(Contents::standing) {
        None => ("missing", Value::Null),
        Some(Standing::Present(state)) => ("present", Value::from_json(state)),
        Some(Standing::Deleted) => ("deleted", Value::Null),
        Some(Standing::Contested(_)) => ("contested", Value::Null),
    };
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let told = format!(
        r#"{{"kind":{},"id":{},"content":{}}}"#,
        quoted(fact.kind.as_str()),
        quoted(fact.id.as_str()),
        fact.content.as_str()
    );
    let scope = Scope::new()
        .with(FACT, text(&told))
        .with(RESOURCE, text(&resource_json(resource)))
        .with(STANDING, text(&quoted(standing)))
        .with(STATE, state);
    with_verdict(scope, verdict)
}

//! Which effects a conclusion about their owner creates, or takes up again.
//!
//! Law 10, a rebuild never creates an effect: creating one takes a [`Live`], and only what tells something new has
//! one. A rebuild has none to give, so that code which creates effects while rebuilding does not compile:
//!
//! ```
//! use lastword_domain::Cause;
//! use lastword_domain::effect::outbox::{Live, Mode, NewEffect, OfFact};
//! # use lastword_domain::{Digest, EffectRule};
//! # use lastword_domain::name::{EffectName, FactId, FactKind};
//! # use std::time::Duration;
//! # let rule = EffectRule { name: EffectName::parse("receipt").unwrap(), version: 1 };
//! # let kind = FactKind::parse("paid").unwrap();
//! # let fact = OfFact { kind, id: FactId::parse("b1").unwrap(), content: Digest::of(b"") };
//! # let told = Cause::Webhook;
//! match Mode::of(&told) {
//!     Mode::Live(live) => drop(NewEffect::of_fact(live, rule, fact, None, Duration::ZERO)),
//!     Mode::Rebuild => {}
//! }
//! ```
//!
//! The same in a rebuild: there is no `live` to be had from its mode,
//!
//! ```compile_fail,E0532
//! use lastword_domain::Cause;
//! use lastword_domain::effect::outbox::{Live, Mode, NewEffect, OfFact};
//! # use lastword_domain::{Digest, EffectRule};
//! # use lastword_domain::name::{EffectName, FactId, FactKind};
//! # use std::time::Duration;
//! # let rule = EffectRule { name: EffectName::parse("receipt").unwrap(), version: 1 };
//! # let kind = FactKind::parse("paid").unwrap();
//! # let fact = OfFact { kind, id: FactId::parse("b1").unwrap(), content: Digest::of(b"") };
//! # let told = Cause::Rebuild("run".to_owned());
//! match Mode::of(&told) {
//!     Mode::Rebuild(live) => drop(NewEffect::of_fact(live, rule, fact, None, Duration::ZERO)),
//!     Mode::Live(_) => {}
//! }
//! ```
//!
//! an effect is not made without one,
//!
//! ```compile_fail,E0061
//! use lastword_domain::effect::outbox::{NewEffect, OfFact};
//! # use lastword_domain::{Digest, EffectRule};
//! # use lastword_domain::name::{EffectName, FactId, FactKind};
//! # use std::time::Duration;
//! # let rule = EffectRule { name: EffectName::parse("receipt").unwrap(), version: 1 };
//! # let kind = FactKind::parse("paid").unwrap();
//! # let fact = OfFact { kind, id: FactId::parse("b1").unwrap(), content: Digest::of(b"") };
//! NewEffect::of_fact(rule, fact, None, Duration::ZERO);
//! ```
//!
//! and nobody else can make one:
//!
//! ```compile_fail,E0423
//! let live = lastword_domain::effect::outbox::Live(());
//! ```
//!
//! An action that a *state* calls for is created when the state begins to call for it: it did not when the owner was
//! last decided, and does now. So a look that finds nothing new calls for nothing, and a rule that is new calls for
//! nothing by what was so before it. What was superseded is taken up again whenever it is wanted again, so that it
//! does not matter at which moments somebody looked.
//!
//! An action that a *fact* calls for is created with the fact, once; whether it is still wanted is asked when it is
//! sent.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{EffectKey, EffectRule, EffectStatus};
use crate::digest::Digest;
use crate::json::Json;
use crate::name::{FactId, FactKind};
use crate::signal::Cause;

/// Leave to create effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Live(());

/// What a conclusion may lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Something is told: effects follow.
    Live(Live),
    /// Everything is recomputed: none do.
    Rebuild,
}

impl Mode {
    /// The mode of what was caused by this.
    #[must_use]
    pub fn of(cause: &Cause) -> Self {
        match cause {
            Cause::Webhook | Cause::Sweep(_) | Cause::Redrive(_) => Self::Live(Live(())),
            Cause::Rebuild(_) => Self::Rebuild,
        }
    }
}

/// Whether each declared action was called for when the owner was last decided.
pub type Called = BTreeMap<EffectRule, bool>;

/// What a rule says of an action now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Whether the state calls for it; `None` where that could not be decided.
    pub called: Option<bool>,
    /// Whether it would be sent if it were sent now.
    pub wanted: bool,
    /// What would be sent, as far as it can be said.
    pub data: Option<Json>,
    /// How long it waits before it is sent.
    pub settle: Duration,
}

/// A fact that calls for an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfFact {
    /// What kind of fact.
    pub kind: FactKind,
    /// Its identity.
    pub id: FactId,
    /// Its content's digest.
    pub content: Digest,
}

/// An effect that is not there yet. Made only here, and only with a [`Live`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEffect {
    key: EffectKey,
    fact: Option<OfFact>,
    data: Option<Json>,
    settle: Duration,
}

impl NewEffect {
    /// Of a fact that is recorded in the same transaction.
    #[must_use]
    pub fn of_fact(
        _: Live,
        rule: EffectRule,
        fact: OfFact,
        data: Option<Json>,
        settle: Duration,
    ) -> Self {
        Self {
            key: EffectKey::of_fact(rule, &fact.kind, &fact.id),
            fact: Some(fact),
            data,
            settle,
        }
    }

    /// Which.
    #[must_use]
    pub fn key(&self) -> &EffectKey {
        &self.key
    }

    /// The fact that calls for it.
    #[must_use]
    pub fn fact(&self) -> Option<&OfFact> {
        self.fact.as_ref()
    }

    /// What is to be told, as far as it can be said now.
    #[must_use]
    pub fn data(&self) -> Option<&Json> {
        self.data.as_ref()
    }

    /// How long it waits before it is sent.
    #[must_use]
    pub fn settle(&self) -> Duration {
        self.settle
    }
}

/// What is written of an effect together with its owner's conclusion.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum EffectWrite {
    /// It is created; one that is there already stays as it is.
    Create(NewEffect),
    /// It was superseded, and is wanted again. Made only with a [`Live`].
    Revive(Revival),
    /// It is under way and stays wanted: nobody may have superseded it meanwhile, for that was decided from less than
    /// is concluded now.
    Keep(EffectKey, EffectStatus),
}

/// A superseded effect that is wanted again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revival {
    key: EffectKey,
    settle: Duration,
}

impl Revival {
    /// Which.
    #[must_use]
    pub fn key(&self) -> &EffectKey {
        &self.key
    }

    /// How long it waits before it is sent.
    #[must_use]
    pub fn settle(&self) -> Duration {
        self.settle
    }
}

/// What follows for the effects of an owner.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[must_use]
pub struct Followed {
    /// What is remembered of what was called for.
    pub called: Called,
    /// What is written.
    pub writes: Vec<EffectWrite>,
}

/// What is known of the owner before the conclusion.
#[derive(Debug, Clone, Copy)]
pub struct Before<'b> {
    /// Whether this is the first that is known of it.
    pub first: bool,
    /// What it called for.
    pub called: &'b Called,
    /// Where the effects are that it has.
    pub kept: &'b BTreeMap<EffectRule, EffectStatus>,
}

/// What follows for the effects that states call for.
pub fn follow(mode: Mode, before: Before<'_>, asked: &BTreeMap<EffectRule, Asked>) -> Followed {
    let mut followed = Followed::default();
    for (rule, asked) in asked {
        let held = before.called.get(rule).copied();
        // A rule that is new and cannot be decided is asked again as new, unless everything about its owner is.
        let undecided = || held.or(before.first.then_some(false));
        let called = match mode {
            Mode::Live(_) => asked.called.or_else(undecided),
            // What it newly calls for is left to whoever may create it.
            Mode::Rebuild => held.or(asked.called).or_else(undecided),
        };
        followed
            .called
            .extend(called.map(|called| (rule.clone(), called)));
        let Mode::Live(live) = mode else { continue };
        let began =
            asked.called == Some(true) && (held == Some(false) || (held.is_none() && before.first));
        let status = before.kept.get(rule).copied();
        followed
            .writes
            .extend(write(live, rule, asked, began, status));
    }
    followed
}

fn write(
    _: Live,
    rule: &EffectRule,
    asked: &Asked,
    began: bool,
    status: Option<EffectStatus>,
) -> Option<EffectWrite> {
    let key = EffectKey::of_state(rule.clone());
    match status {
        None => began.then(|| {
            EffectWrite::Create(NewEffect {
                key,
                fact: None,
                data: asked.data.clone(),
                settle: asked.settle,
            })
        }),
        Some(EffectStatus::Superseded) => {
            let settle = asked.settle;
            let revival = EffectWrite::Revive(Revival { key, settle });
            asked.wanted.then_some(revival)
        }
        Some(status @ (EffectStatus::Pending | EffectStatus::Sending)) => {
            asked.wanted.then_some(EffectWrite::Keep(key, status))
        }
        Some(EffectStatus::Done | EffectStatus::Failed | EffectStatus::Ambiguous) => None,
    }
}

#[cfg(test)]
mod tests;

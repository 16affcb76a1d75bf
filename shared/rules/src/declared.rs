//! Everything that a configuration declares, compiled: once, at a start. One invalid expression stops it, with the file,
//! the line and the reason of all of them.

use std::collections::BTreeMap;

use lastword_config::meaning::{ReviewText, RuleText, RuleTexts};
use lastword_config::{Config, ConfigError, Effect, On, Problem, Subject};
use lastword_domain::name::{
    EffectName, IntegrationName, ResourceType, Role, RuleName, SubjectKind,
};

use crate::effects::OfEffect;
use crate::expression::Expression;
use crate::ruleset::{ReviewRule, RuleSet};
use crate::scope::Names;

/// What a state may be called in an expression, and whose it is.
pub(crate) const STATE: &str = "state";
/// See [`STATE`].
pub(crate) const RESOURCE: &str = "resource";
/// The subject's kind and id.
pub(crate) const SUBJECT: &str = "subject";
/// What was concluded, for actions.
pub(crate) const VERDICT: &str = "verdict";
/// The fact that calls for an action.
pub(crate) const FACT: &str = "fact";
/// What a fact's resource is now.
pub(crate) const STANDING: &str = "standing";

/// What is declared, compiled.
#[derive(Debug, Default)]
pub struct Declared {
    pub(crate) resources: BTreeMap<(IntegrationName, ResourceType), OfResource>,
    pub(crate) subjects: BTreeMap<SubjectKind, OfSubject>,
    pub(crate) effects: BTreeMap<EffectName, OfEffect>,
}

/// What the states of one kind of resource mean.
#[derive(Debug, Default)]
pub(crate) struct OfResource {
    /// `None` where nothing is concluded.
    pub(crate) rules: Option<RuleSet>,
    pub(crate) links: Vec<LinkRule>,
}

/// Which subjects a state speaks about, in one role.
#[derive(Debug)]
pub(crate) struct LinkRule {
    pub(crate) subject: SubjectKind,
    pub(crate) role: Role,
    pub(crate) link: Expression,
}

/// What a subject's members mean together.
#[derive(Debug)]
pub(crate) struct OfSubject {
    pub(crate) rules: RuleSet,
    /// Each role, and whether several may have it.
    pub(crate) roles: BTreeMap<Role, bool>,
}

impl Declared {
    /// Compiles everything that a configuration declares.
    ///
    /// # Errors
    /// Lists every expression that is wrong, with its line.
    pub fn compile(config: &Config) -> Result<Self, ConfigError> {
        let mut compiler = Compiler::default();
        let mut declared = Self::default();
        let names = Names::new([STATE, RESOURCE]);
        for (integration, configured) in &config.integrations {
            for (kind, resource) in &configured.resources {
                if !resource.meaning.is_empty() {
                    let rules = compiler.rules(&resource.meaning, &names);
                    let own = declared.of(integration, kind);
                    own.rules = Some(rules);
                }
            }
        }
        for (kind, subject) in &config.subjects {
            for (role, member) in &subject.members {
                if let Some(link) = compiler.expression(&member.link, &names) {
                    let own = declared.of(&member.integration, &member.resource);
                    own.links.push(LinkRule {
                        subject: kind.clone(),
                        role: role.clone(),
                        link,
                    });
                }
            }
            let subject = compiler.subject(subject);
            declared.subjects.insert(kind.clone(), subject);
        }
        for (name, effect) in &config.effects {
            let effect = compiler.effect(effect, config);
            declared.effects.insert(name.clone(), effect);
        }
        if compiler.problems.is_empty() {
            return Ok(declared);
        }
        compiler.problems.sort_by_key(|problem| problem.line);
        Err(ConfigError {
            file: config.file.clone(),
            problems: compiler.problems,
        })
    }

    fn of(&mut self, integration: &IntegrationName, kind: &ResourceType) -> &mut OfResource {
        let key = (integration.clone(), kind.clone());
        self.resources.entry(key).or_default()
    }
}

#[derive(Default)]
struct Compiler {
    problems: Vec<Problem>,
}

impl Compiler {
    fn subject(&mut self, subject: &Subject) -> OfSubject {
        let roles = subject.members.iter();
        let roles: BTreeMap<_, _> = roles
            .map(|(role, member)| (role.clone(), member.many))
            .collect();
        let names = roles.keys().map(Role::as_str).chain([SUBJECT]);
        let names = Names::new(names);
        OfSubject {
            rules: self.rules(&subject.rules, &names),
            roles,
        }
    }

    /// What calls for an action of a fact is the fact alone: what its resource was when it came is an accident.
    fn effect(&mut self, effect: &Effect, config: &Config) -> OfEffect {
        let (when, then) = match &effect.on {
            On::Resource(..) => {
                let names = Names::new([STATE, RESOURCE, VERDICT]);
                (names.clone(), names)
            }
            On::Fact(..) => (
                Names::new([FACT, RESOURCE]),
                Names::new([FACT, RESOURCE, STATE, STANDING, VERDICT]),
            ),
            On::Subject(kind) => {
                let subject = config.subjects.get(kind);
                let roles = subject.iter().flat_map(|subject| subject.members.keys());
                let names = Names::new(roles.map(Role::as_str).chain([SUBJECT, VERDICT]));
                (names.clone(), names)
            }
        };
        let mut optional = |text: &Option<RuleText>, names: &Names| {
            let text = text.as_ref();
            text.and_then(|text| self.expression(text, names))
        };
        let (when, holds) = (
            optional(&effect.when, &when),
            optional(&effect.holds, &then),
        );
        OfEffect {
            on: effect.on.clone(),
            version: effect.version,
            settle: effect.settle,
            when,
            holds,
            data: self.expressions(&effect.data, &then),
        }
    }

    fn rules(&mut self, texts: &RuleTexts, names: &Names) -> RuleSet {
        let state = texts.state.as_ref();
        let state = state.and_then(|text| self.expression(text, names));
        let allow = self.expressions(&texts.allow, names);
        let data = self.expressions(&texts.data, names);
        let review = texts.review.iter().filter_map(|(name, review)| {
            let review = self.review(name, review, names)?;
            Some((name.as_str().to_owned(), review))
        });
        let review = review.collect();
        RuleSet {
            state,
            allow,
            data,
            review,
        }
    }

    fn expressions(
        &mut self,
        texts: &BTreeMap<String, RuleText>,
        names: &Names,
    ) -> BTreeMap<String, Expression> {
        let mut compiled = BTreeMap::new();
        for (name, text) in texts {
            if let Some(expression) = self.expression(text, names) {
                compiled.insert(name.clone(), expression);
            }
        }
        compiled
    }

    fn review(&mut self, _: &RuleName, text: &ReviewText, names: &Names) -> Option<ReviewRule> {
        let when = self.expression(&text.when, names);
        let evidence = match &text.evidence {
            None => None,
            Some(text) => Some(self.expression(text, names)?),
        };
        Some(ReviewRule {
            when: when?,
            evidence,
        })
    }

    fn expression(&mut self, text: &RuleText, names: &Names) -> Option<Expression> {
        match Expression::compile(&text.text, names) {
            Ok(expression) => Some(expression),
            Err(error) => {
                let message = format!("column {}: {}", error.column, error.message);
                self.problems.push(text.problem(error.line, message));
                None
            }
        }
    }
}

//! Effects: their names, what calls for them, and where they go. The expressions themselves are compiled elsewhere.

use std::collections::BTreeMap;
use std::time::Duration;

use lastword_domain::name::{
    DestinationName, EffectName, FactKind, IntegrationName, ResourceType, SubjectKind, WordingName,
};
use toml::Spanned;

use super::Checker;
use crate::destination::{BUS, Destination};
use crate::effect::{Effect, Effects, On};
use crate::integration::Integration;
use crate::meaning::{RuleText, Subjects};
use crate::raw::{RawEffect, RawWording};

/// A message cannot wait longer in a queue at once; what waits longer would have to be looked for.
const LONGEST_SETTLE: u64 = 12 * 3600;
/// The effects that one thing may call for: all are looked up with it.
const MOST_OF_ONE: usize = 20;

/// What effects may refer to.
pub(super) struct Known<'k> {
    pub(super) integrations: &'k BTreeMap<IntegrationName, Integration>,
    pub(super) subjects: &'k Subjects,
    pub(super) destinations: &'k BTreeMap<DestinationName, Destination>,
    pub(super) wordings: &'k BTreeMap<Spanned<String>, Spanned<RawWording>>,
}

impl Checker<'_> {
    pub(super) fn effects(
        &mut self,
        raw: &BTreeMap<Spanned<String>, Spanned<RawEffect>>,
        known: &Known<'_>,
    ) -> Effects {
        let mut effects = Effects::new();
        for (name, effect) in raw {
            let setting = format!("effects.{}", name.get_ref());
            let parsed = self.name(name, &setting, EffectName::parse);
            let effect = self.effect(&setting, effect.get_ref(), known);
            let on = effect.as_ref().map(|effect| effect.on.clone());
            effects.extend(parsed.zip(effect));
            let same = effects
                .values()
                .filter(|held| Some(&held.on) == on.as_ref());
            if same.count() > MOST_OF_ONE {
                let message = format!("more than {MOST_OF_ONE} effects on the same thing");
                self.report(name.span().start, &setting, message);
            }
        }
        effects
    }

    fn effect(&mut self, setting: &str, raw: &RawEffect, known: &Known<'_>) -> Option<Effect> {
        let on = self.on(setting, &raw.on, known);
        let text = |checker: &mut Self, name: &str, text: &Option<Spanned<String>>| {
            let text = text.as_ref()?;
            Some(checker.rule_text(&format!("{setting}.{name}"), text))
        };
        let when = text(self, "when", &raw.when);
        let holds = text(self, "while", &raw.holds);
        let data: BTreeMap<String, RuleText> = raw
            .data
            .iter()
            .map(|(name, text)| {
                let setting = format!("{setting}.data.{}", name.get_ref());
                (name.get_ref().clone(), self.rule_text(&setting, text))
            })
            .collect();
        let to = self.target(setting, raw.to.as_ref(), known);
        let settle = self.settle(setting, raw.settle_seconds.as_ref());
        let version = self.effect_version(setting, raw.version.as_ref());
        let wording = match &raw.wording {
            None => None,
            Some(name) => Some(self.wording_of(setting, name, known)?),
        };
        let elsewhere = to.as_ref().is_some_and(|to| to.as_str() != BUS);
        if let Some(name) = raw.wording.as_ref().filter(|_| elsewhere) {
            let message = "what is to be worded goes to the bus, where a draft of it is made: \
                           leave out `to`, or `wording`";
            self.report(name.span().start, &format!("{setting}.wording"), message);
        }
        Some(Effect {
            on: on?,
            when,
            holds,
            data,
            to: to?,
            settle: settle?,
            version: version?,
            wording,
        })
    }

    fn on(&mut self, setting: &str, on: &Spanned<String>, known: &Known<'_>) -> Option<On> {
        let text = on.get_ref().as_str();
        let found = parsed(text).filter(|on| known.holds(on));
        if found.is_none() {
            let all = known.all().join(", ");
            self.report(
                on.span().start,
                &format!("{setting}.on"),
                format_args!("found {text:?}; expected a subject, integration/resource or integration/resource/fact: {all}"),
            );
        }
        found
    }

    fn target(
        &mut self,
        setting: &str,
        to: Option<&Spanned<String>>,
        known: &Known<'_>,
    ) -> Option<DestinationName> {
        let text = to.map_or(BUS, |to| to.get_ref().as_str());
        let all = known.destinations.keys();
        if let Some(name) = all.clone().find(|name| name.as_str() == text) {
            return Some(name.clone());
        }
        let at = to.map_or(0, |to| to.span().start);
        let all: Vec<_> = all.map(DestinationName::as_str).collect();
        let message = format!("found {text:?}; destinations are {}", all.join(", "));
        self.report(at, &format!("{setting}.to"), message);
        None
    }

    fn wording_of(
        &mut self,
        setting: &str,
        name: &Spanned<String>,
        known: &Known<'_>,
    ) -> Option<WordingName> {
        let setting = format!("{setting}.wording");
        let parsed = self.name(name, &setting, WordingName::parse)?;
        let all = known.wordings.keys().map(|known| known.get_ref().as_str());
        if !all.clone().any(|known| known == parsed.as_str()) {
            let all: Vec<_> = all.collect();
            let message = match all.as_slice() {
                [] => format!(
                    "found {:?}; there is no [wordings.{parsed}]",
                    parsed.as_str()
                ),
                all => format!(
                    "found {:?}; wordings are {}",
                    parsed.as_str(),
                    all.join(", ")
                ),
            };
            self.report(name.span().start, &setting, message);
        }
        Some(parsed)
    }

    fn settle(&mut self, setting: &str, seconds: Option<&Spanned<u64>>) -> Option<Duration> {
        let Some(seconds) = seconds else {
            return Some(Duration::ZERO);
        };
        if *seconds.get_ref() > LONGEST_SETTLE {
            self.report(
                seconds.span().start,
                &format!("{setting}.settle_seconds"),
                format_args!(
                    "found {}; expected 0 to {LONGEST_SETTLE} (12 hours)",
                    seconds.get_ref()
                ),
            );
            return None;
        }
        Some(Duration::from_secs(*seconds.get_ref()))
    }

    fn effect_version(&mut self, setting: &str, version: Option<&Spanned<u32>>) -> Option<u32> {
        let Some(version) = version else {
            return Some(1);
        };
        if *version.get_ref() == 0 {
            let message = "found 0; versions are counted from 1";
            self.report(version.span().start, &format!("{setting}.version"), message);
            return None;
        }
        Some(*version.get_ref())
    }
}

fn parsed(text: &str) -> Option<On> {
    let parts: Vec<&str> = text.split('/').collect();
    let of = |integration: &str, kind: &str| {
        let integration = IntegrationName::parse(integration).ok()?;
        Some((integration, ResourceType::parse(kind).ok()?))
    };
    match parts.as_slice() {
        [subject] => SubjectKind::parse(subject).ok().map(On::Subject),
        [integration, kind] => {
            let (integration, kind) = of(integration, kind)?;
            Some(On::Resource(integration, kind))
        }
        [integration, kind, fact] => {
            let (integration, kind) = of(integration, kind)?;
            Some(On::Fact(integration, kind, FactKind::parse(fact).ok()?))
        }
        _ => None,
    }
}

impl Known<'_> {
    fn holds(&self, on: &On) -> bool {
        let resource = |integration: &IntegrationName, kind: &ResourceType| {
            self.integrations.get(integration)?.resources.get(kind)
        };
        match on {
            On::Subject(kind) => self.subjects.contains_key(kind),
            On::Resource(integration, kind) => resource(integration, kind).is_some(),
            On::Fact(integration, kind, fact) => resource(integration, kind)
                .is_some_and(|resource| resource.rules.facts.contains_key(fact)),
        }
    }

    fn all(&self) -> Vec<String> {
        let mut all: Vec<String> = self.subjects.keys().map(ToString::to_string).collect();
        for (name, integration) in self.integrations {
            for (kind, resource) in &integration.resources {
                all.push(format!("{name}/{kind}"));
                let facts = resource.rules.facts.keys();
                all.extend(facts.map(|fact| format!("{name}/{kind}/{fact}")));
            }
        }
        all
    }
}

#[cfg(test)]
mod tests;

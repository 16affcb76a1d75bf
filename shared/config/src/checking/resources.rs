//! Which resource types an integration keeps, and how the state of each is found.

use std::collections::{BTreeMap, BTreeSet};

use lastword_contracts::contract::StrategyName;
use lastword_contracts::{Contract, ResourceRules};
use lastword_domain::name::{FactKind, ResourceType};
use lastword_domain::{StatusOrder, Strategy};

use super::Checker;
use crate::integration::Resource;
use crate::meaning::RuleTexts;
use crate::raw::RawIntegration;

/// The resource types of an integration.
pub(super) struct Told {
    /// All whose events are taken in.
    pub(super) rules: BTreeMap<ResourceType, ResourceRules>,
    /// Those whose state is kept.
    pub(super) kept: BTreeMap<ResourceType, Resource>,
}

impl Told {
    /// Those of which only the events are.
    pub(super) fn recorded(&self) -> BTreeSet<ResourceType> {
        let all = self.rules.keys();
        all.filter(|kind| !self.kept.contains_key(*kind))
            .cloned()
            .collect()
    }
}

impl Checker<'_> {
    /// Everything whose events are taken in, kept or only recorded.
    pub(super) fn resources(
        &mut self,
        setting: &str,
        raw: &RawIntegration,
        contract: &Contract,
    ) -> Told {
        let mut rules = self.presets(setting, raw, contract);
        for (name, defined) in &raw.define {
            let setting = format!("{setting}.define.{}", name.get_ref());
            if !contract.open_resources {
                let message = format!(
                    "the contract {:?} does not let resource types be defined",
                    contract.name.as_str()
                );
                self.report(name.span().start, &setting, message);
                continue;
            }
            let Some(kind) = self.name(name, &setting, ResourceType::parse) else {
                continue;
            };
            match contract.check(&kind, defined.get_ref()) {
                Ok(()) => {
                    rules.insert(kind, defined.get_ref().clone());
                }
                Err(why) => self.report(defined.span().start, &setting, why),
            }
        }
        if rules.is_empty() && self.problems.is_empty() {
            let message = "no resource types: expected some in `resources` or under `define`";
            self.report(raw.contract.span().start, setting, message);
        }
        self.facts(setting, raw, contract, &mut rules);
        let strategies = self.strategies(setting, raw, &rules);
        let kept = rules
            .iter()
            .filter_map(|(kind, rules)| {
                let first = rules.strategies.first().map(|name| name.0);
                let only_facts = (!rules.facts.is_empty()).then_some(Strategy::Fact);
                let chosen = strategies.get(kind).copied();
                let strategy = chosen.or(first).or(only_facts)?;
                let resource = Resource {
                    strategy,
                    rules: rules.clone(),
                    order: StatusOrder::parse(&rules.statuses).ok(),
                    meaning: RuleTexts::default(),
                };
                Some((kind.clone(), resource))
            })
            .collect();
        Told { rules, kept }
    }

    /// Facts that this deployment keeps besides the contract's own.
    fn facts(
        &mut self,
        setting: &str,
        raw: &RawIntegration,
        contract: &Contract,
        rules: &mut BTreeMap<ResourceType, ResourceRules>,
    ) {
        for (name, facts) in &raw.facts {
            let setting = format!("{setting}.facts.{}", name.get_ref());
            let Some(kind) = self.name(name, &setting, ResourceType::parse) else {
                continue;
            };
            let Some(rules) = rules.get_mut(&kind) else {
                let message = "no events of such a resource type are taken in by this integration";
                self.report(name.span().start, &setting, message);
                continue;
            };
            for (name, fact) in facts {
                let setting = format!("{setting}.{}", name.get_ref());
                let at = name.span().start;
                let Some(fact_kind) = self.name(name, &setting, FactKind::parse) else {
                    continue;
                };
                if rules.facts.contains_key(&fact_kind) {
                    self.report(at, &setting, "the contract has a fact of this name already");
                    continue;
                }
                rules.facts.insert(fact_kind, fact.get_ref().clone());
                if let Err(why) = contract.check(&kind, rules) {
                    self.report(fact.span().start, &setting, why);
                }
            }
        }
    }

    /// The contract's own resource types: the ones asked for, or all.
    fn presets(
        &mut self,
        setting: &str,
        raw: &RawIntegration,
        contract: &Contract,
    ) -> BTreeMap<ResourceType, ResourceRules> {
        let Some(wanted) = &raw.resources else {
            return contract.resources.clone();
        };
        let mut rules = BTreeMap::new();
        for name in wanted {
            let setting = format!("{setting}.resources");
            let Some(kind) = self.name(name, &setting, ResourceType::parse) else {
                continue;
            };
            match contract.resources.get(&kind) {
                Some(preset) => {
                    if let Some(why) = preset.why.as_ref().filter(|_| !preset.is_kept()) {
                        let message = format!("nothing can be kept of {kind}: {why}");
                        self.report(name.span().start, &setting, message);
                    }
                    rules.insert(kind, preset.clone());
                }
                None => {
                    let known = contract
                        .resources
                        .keys()
                        .map(ToString::to_string)
                        .collect::<Vec<_>>()
                        .join(", ");
                    let message =
                        format!("found {:?}; {} has {known}", kind.as_str(), contract.title);
                    self.report(name.span().start, &setting, message);
                }
            }
        }
        rules
    }

    fn strategies(
        &mut self,
        setting: &str,
        raw: &RawIntegration,
        rules: &BTreeMap<ResourceType, ResourceRules>,
    ) -> BTreeMap<ResourceType, Strategy> {
        let mut chosen = BTreeMap::new();
        for (name, word) in &raw.strategies {
            let setting = format!("{setting}.strategies.{}", name.get_ref());
            let Some(kind) = self.name(name, &setting, ResourceType::parse) else {
                continue;
            };
            let Some(rules) = rules.get(&kind) else {
                self.report(
                    name.span().start,
                    &setting,
                    "no such resource type is kept by this integration",
                );
                continue;
            };
            let allowed = |strategy| rules.strategies.contains(&StrategyName(strategy));
            match Strategy::parse(word.get_ref()).filter(|strategy| allowed(*strategy)) {
                Some(strategy) => {
                    chosen.insert(kind, strategy);
                }
                None => {
                    let known = rules
                        .strategies
                        .iter()
                        .map(|name| name.0.as_str())
                        .collect::<Vec<_>>()
                        .join(", ");
                    let message = format!(
                        "found {:?}; the contract's evidence allows {known}",
                        word.get_ref()
                    );
                    self.report(word.span().start, &setting, message);
                }
            }
        }
        chosen
    }
}

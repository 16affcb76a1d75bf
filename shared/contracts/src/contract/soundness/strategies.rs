//! What each strategy, and each kind of facts, needs to know of a kind of object.

use lastword_domain::{StatusOrder, Strategy, Version};

use crate::contract::{FactRules, ResourceRules, StrategyName};

impl ResourceRules {
    /// Whether anything but a read is believed. A version that only an event's body tells is: with one that is
    /// too great, no read would ever do.
    pub(super) fn believes_the_body(&self) -> bool {
        let mut strategies = self.strategies.iter();
        strategies.any(|StrategyName(strategy)| *strategy != Strategy::Current)
            || self.version.is_some()
            || self.facts.values().any(|fact| fact.read.is_none())
    }

    pub(super) fn check_current(&self, has_api: bool) -> Result<(), String> {
        if !has_api || self.read.is_none() {
            return Err("the strategy \"current\" needs a read API and a path to read".to_owned());
        }
        let alone = self.strategies.len() == 1;
        if alone && self.version.is_some() && self.read_version.is_none() {
            return Err(
                "`version` needs `read_version`: what an event proves is compared with what is read"
                    .to_owned(),
            );
        }
        Ok(())
    }

    pub(super) fn check_version(&self) -> Result<(), String> {
        if self.version.is_none() || self.snapshot.is_none() {
            return Err(
                "the strategy \"version\" needs to know where version and snapshot stand"
                    .to_owned(),
            );
        }
        if self.read.is_some() && self.read_version.is_none() {
            return Err(
                "the strategy \"version\" with a path to read needs `read_version`, where the version \
                 stands in the answer; without it a late answer could not be told from a new one"
                    .to_owned(),
            );
        }
        Ok(())
    }

    pub(super) fn check_sequence(&self) -> Result<(), String> {
        if self.number.is_none() || (self.change.is_none() && self.snapshot.is_none()) {
            return Err(
                "the strategy \"sequence\" needs to know where a change's number stands (`number`), and the change \
                 (`change`, a merge patch, or `snapshot`, the whole object)"
                    .to_owned(),
            );
        }
        if self.read.is_some() && self.read_version.is_none() {
            return Err(
                "the strategy \"sequence\" with a path to read needs `read_version`, the number of the last change \
                 that the answer holds"
                    .to_owned(),
            );
        }
        if let Some(first) = &self.first_number {
            Version::parse(first).map_err(|error| format!("first_number: {error}"))?;
        }
        Ok(())
    }

    pub(super) fn check_transition(&self) -> Result<(), String> {
        if self.status.is_none() || self.snapshot.is_none() {
            return Err(
                "the strategy \"transition\" needs to know where status and snapshot stand"
                    .to_owned(),
            );
        }
        StatusOrder::parse(&self.statuses).map_err(|error| {
            format!("statuses: {error}; expected which statuses each leads to, without a way back")
        })?;
        if self.read.is_some() && self.read_status.is_none() {
            return Err(
                "the strategy \"transition\" with a path to read needs `read_status`, where the status stands in \
                 the answer"
                    .to_owned(),
            );
        }
        if self.comes_back {
            return Err(
                "with the strategy \"transition\" nothing tells a deletion that came before from one that came \
                 after, so what is deleted cannot come back"
                    .to_owned(),
            );
        }
        Ok(())
    }

    pub(super) fn check_facts(&self) -> Result<(), String> {
        for (kind, fact) in &self.facts {
            fact.check().map_err(|why| format!("fact {kind}: {why}"))?;
        }
        Ok(())
    }
}

impl FactRules {
    fn check(&self) -> Result<(), String> {
        if self.events.is_empty() {
            return Err("no events are named".to_owned());
        }
        if self.id.is_empty() {
            return Err(
                "it has no business identity: expected `id`, where it stands in what is kept"
                    .to_owned(),
            );
        }
        let Some(path) = &self.read else {
            return Ok(());
        };
        if !path.starts_with('/') || path.matches('{').count() != 1 || !path.contains("{0}") {
            return Err(format!(
                "the path {path:?} must begin with '/' and hold {{0}}, the event's id, once"
            ));
        }
        if self.read_id.is_none() {
            return Err(
                "a path to read needs `read_id`, where the answer says which event it is"
                    .to_owned(),
            );
        }
        Ok(())
    }
}

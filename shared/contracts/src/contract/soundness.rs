//! Whether a contract's claims hold together: what one of them needs, another must give.
//!
//! The built-in contracts and the resource types that an integration defines go through the same door.

use lastword_domain::Strategy;
use lastword_domain::name::ResourceType;

use super::{Contract, ResourceRules, StrategyName};
use crate::reader::UNREADABLE;
use crate::source::Source;

impl Contract {
    /// Whether a kind of object, built in or defined, can be kept under this contract.
    ///
    /// # Errors
    /// Says what is missing or contradictory.
    pub fn check(&self, kind: &ResourceType, rules: &ResourceRules) -> Result<(), String> {
        if kind.as_str() == UNREADABLE {
            return Err(format!(
                "the name {UNREADABLE:?} is kept for events that cannot be read; choose another"
            ));
        }
        if rules.events.is_empty() {
            return Err("no events are named".to_owned());
        }
        if rules.strategies.is_empty() {
            return Err("no strategy is named".to_owned());
        }
        if !rules.deleted_by.is_empty() && rules.without.is_empty() && self.type_is_unsigned() {
            return Err(
                "`deleted_by` needs `without`: a header that is not signed names the event's type, so \
                 another event's body could be sent again as a deletion; expected the members by which \
                 such a body is known, such as without = [\"/comment\"]"
                    .to_owned(),
            );
        }
        rules.check_read()?;
        for StrategyName(strategy) in &rules.strategies {
            match strategy {
                Strategy::Current => rules.check_current(self.api.is_some())?,
                Strategy::Version => rules.check_version()?,
            }
        }
        Ok(())
    }

    /// Law 2: what is not under the signature cannot choose whose data it is.
    pub(super) fn check_event(&self) -> Result<(), String> {
        let environment = self.event.environment.as_ref().map(|rules| &rules.from);
        for place in self.event.account.iter().chain(environment) {
            match place {
                Source::Body(_) => {}
                Source::Header(name) => {
                    return Err(format!(
                        "the header {name} is not signed and cannot name an account or an environment"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Whether a header, which no signature here covers, names the type or a part of it.
    fn type_is_unsigned(&self) -> bool {
        let mut places = self.event.kind.as_slice().iter();
        places.any(|place| match place {
            Source::Header(_) => true,
            Source::Body(_) => false,
        })
    }
}

impl ResourceRules {
    fn check_read(&self) -> Result<(), String> {
        let Some(path) = &self.read else {
            return Ok(());
        };
        let parts = self.id.as_slice().len();
        let places: Vec<_> = (0..parts).map(|part| format!("{{{part}}}")).collect();
        if !(path.starts_with('/')
            && places.iter().all(|place| path.contains(place))
            && path.matches('{').count() == parts)
        {
            return Err(format!(
                "the path {path:?} must begin with '/' and hold {} once each",
                places.join(" and ")
            ));
        }
        if self.read_id.is_none() {
            return Err(
                "a path to read needs `read_id`, where the answer says which object it is; without it \
                 any answer would be believed"
                    .to_owned(),
            );
        }
        Ok(())
    }

    fn check_current(&self, has_api: bool) -> Result<(), String> {
        if !has_api || self.read.is_none() {
            return Err("the strategy \"current\" needs a read API and a path to read".to_owned());
        }
        Ok(())
    }

    fn check_version(&self) -> Result<(), String> {
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
}

#[cfg(test)]
mod tests;

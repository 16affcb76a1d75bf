//! Whether a contract's claims hold together: what one of them needs, another must give.
//!
//! The built-in contracts and the resource types that an integration defines go through the same door.

use lastword_domain::Strategy;
use lastword_domain::name::ResourceType;

mod strategies;

use super::{Contract, ResourceRules, StrategyName};
use crate::handshake::Handshake;
use crate::reader::UNREADABLE;
use crate::signature::{Algorithm, Scheme, Uncovered};
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
        if rules.strategies.is_empty() && rules.facts.is_empty() && rules.why.is_none() {
            return Err("no strategy is named, and not why".to_owned());
        }
        self.check_deletions(rules)?;
        rules.check_read()?;
        rules.check_facts()?;
        if self.body_is_a_hint() && rules.believes_the_body() {
            return Err(
                "it believes the body (a strategy other than \"current\", a version, or facts that are not read), which the \
                 signature does not cover"
                    .to_owned(),
            );
        }
        for StrategyName(strategy) in &rules.strategies {
            match strategy {
                Strategy::Current => rules.check_current(self.api.is_some())?,
                Strategy::Version => rules.check_version()?,
                Strategy::Sequence => rules.check_sequence()?,
                Strategy::Transition => rules.check_transition()?,
                Strategy::Fact => {
                    return Err(
                        "\"fact\" is no way to find a state; expected `facts`, with any strategy or none"
                            .to_owned(),
                    );
                }
            }
        }
        Ok(())
    }

    fn check_deletions(&self, rules: &ResourceRules) -> Result<(), String> {
        if rules.deleted_by.is_empty() {
            return Ok(());
        }
        if self.body_is_a_hint() {
            return Err(
                "`deleted_by` believes the body, which the signature does not cover".to_owned(),
            );
        }
        if rules.without.is_empty() && self.type_is_unsigned() {
            return Err(
                "`deleted_by` needs `without`: a header that is not signed names the event's type, so \
                 another event's body could be sent again as a deletion; expected the members by which \
                 such a body is known, such as without = [\"/comment\"]"
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// Each scheme says what it needs and what it leaves open.
    pub(super) fn check_signature(&self) -> Result<(), String> {
        for scheme in self.signature.iter() {
            scheme
                .check_shape()
                .map_err(|why| format!("signature {}: {why}", scheme.name))?;
        }
        if self.signature.iter().next().is_none() {
            return Err("it has no signature".to_owned());
        }
        for kind in self.handshake.iter().filter_map(Handshake::gives_macs_of) {
            if !self
                .signature
                .iter()
                .all(|scheme| scheme.challenges == Some(kind))
            {
                return Err(
                    "an unsigned handshake gives MACs of challenges, so every scheme must say `challenges`, and \
                     the same kind"
                        .to_owned(),
                );
            }
        }
        let schemes = self.signature.iter().flat_map(Scheme::parameters);
        let handshakes = self.handshake.iter().flat_map(Handshake::parameters);
        for name in schemes.chain(handshakes) {
            let known = self.parameters.contains_key(name);
            if !known && !self.optional_parameters.contains_key(name) {
                return Err(format!(
                    "it uses the parameter {name:?} and does not explain it"
                ));
            }
        }
        Ok(())
    }

    /// Law 2: what is not under the signature cannot choose whose data it is.
    pub(super) fn check_event(&self) -> Result<(), String> {
        let environment = self.event.environment.as_ref().map(|rules| &rules.from);
        for place in self.event.account.iter().chain(environment) {
            match place {
                Source::Body(_) | Source::Item(_) | Source::Form(_) | Source::Const(_) => {}
                Source::Header(_) | Source::Query(_) | Source::Digest => {
                    return Err(format!(
                        "{place} is not signed and cannot name an account or an environment"
                    ));
                }
            }
        }
        let open = |what| {
            self.signature
                .iter()
                .any(|scheme| scheme.uncovered.contains(&what))
        };
        if self.event.account.is_some() && open(Uncovered::Account) {
            return Err(
                "the account is not under the signature and cannot be chosen by it; expected account_hint"
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// An event that is known by its body's digest is known by nothing outside the body. What stands there
    /// and says what the event is about must be part of its id, or two events would be one.
    pub(super) fn check_identity(&self) -> Result<(), String> {
        let ids = self.event.id.as_slice();
        if !ids.contains(&Source::Digest) {
            return Ok(());
        }
        let resources = self
            .resources
            .values()
            .flat_map(|rules| rules.id.as_slice());
        let mut told = self.event.kind.as_slice().iter().chain(resources);
        match told.find(|place| place.is_outside() && !ids.contains(place)) {
            Some(place) => Err(format!(
                "the id is a digest of the body, and {place} says what the event is about; expected it in the id too"
            )),
            None => Ok(()),
        }
    }

    /// Whether its API, where it has one, can be reached.
    ///
    /// # Errors
    /// When no host is named.
    pub fn check_api(&self) -> Result<(), String> {
        match &self.api {
            Some(api)
                if api.host.is_none() && api.hosts.is_empty() && api.account_host.is_none() =>
            {
                Err("its API has no host".to_owned())
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Whether something that no signature here covers names the type or a part of it.
    fn type_is_unsigned(&self) -> bool {
        self.event.kind.as_slice().iter().any(Source::is_outside)
    }
}

impl Scheme {
    fn check_shape(&self) -> Result<(), String> {
        let needs_at = self.algorithm != Algorithm::Queue;
        if needs_at && self.at.is_none() {
            return Err("it does not say where the signature stands".to_owned());
        }
        let needs_text = match self.algorithm {
            Algorithm::HmacSha1
            | Algorithm::HmacSha256
            | Algorithm::Sha256
            | Algorithm::Ed25519
            | Algorithm::RsaSha256 => true,
            Algorithm::JwtEs256 | Algorithm::Token | Algorithm::Basic | Algorithm::Queue => false,
        };
        if needs_text != self.signed.is_some() {
            return Err("it must say what is signed, if and only if something is".to_owned());
        }
        let says = self.uncovered.contains(&Uncovered::Body);
        if !self.covers_body() && !says {
            return Err(
                "what is signed does not hold the body, so it must say uncovered = [\"body\", …]"
                    .to_owned(),
            );
        }
        Ok(())
    }
}

impl ResourceRules {
    fn check_read(&self) -> Result<(), String> {
        let Some(path) = &self.read else {
            return Ok(());
        };
        let parts = self.id.as_slice().len();
        let places: Vec<_> = (0..parts).map(|part| format!("{{{part}}}")).collect();
        let own = path.replace("{account}", "");
        if !(path.starts_with('/')
            && places.iter().all(|place| own.contains(place))
            && own.matches('{').count() == parts)
        {
            return Err(format!(
                "the path {path:?} must begin with '/' and hold {} once each",
                places.join(" and ")
            ));
        }
        let inside = [
            &self.read_id,
            &self.read_version,
            &self.read_status,
            &self.deleted_when,
        ];
        for pointer in inside.into_iter().flatten() {
            if self
                .read_at
                .as_ref()
                .is_some_and(|at| pointer.is_within(at))
            {
                return Err(format!(
                    "{pointer} is looked for in the object at `read_at`; expected it from there on"
                ));
            }
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
}

#[cfg(test)]
mod tests;

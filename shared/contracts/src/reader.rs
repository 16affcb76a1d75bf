//! What a verified body is about, as the contract says: identity, account, type, resources.
//!
//! Law 2's second half stands here: the integration chooses account and environment. An account named
//! in a signed body must be on the integration's list, and an unsigned header can name neither.

mod place;

use std::collections::{BTreeMap, BTreeSet};

use lastword_domain::name::{
    Account, Environment, EventId, EventType, NameError, Provider, ResourceId, ResourceType,
};
use lastword_domain::{Digest, EventIdentity, ResourceKey};

use crate::contract::{EventRules, ResourceRules};
use crate::extract::{Extractor, Found, Slot};
use crate::headers::Headers;
use crate::pattern::Patterns;
use crate::signature::Verified;
use place::{Place, Unreadable, event_type, resource_id};

/// Whose data an endpoint may speak of.
#[derive(Debug, Clone)]
pub struct Tenant {
    /// Which provider.
    pub provider: Provider,
    /// The account that is meant when the body names none.
    pub account: Account,
    /// Further accounts it may name.
    pub further: BTreeSet<Account>,
    /// The one environment.
    pub environment: Environment,
}

impl Tenant {
    /// Every account that may be named.
    pub fn accounts(&self) -> impl Iterator<Item = &Account> {
        std::iter::once(&self.account).chain(&self.further)
    }

    /// An account of which another endpoint may speak too, in the same world of the same provider. Two
    /// such endpoints would make one identity of two senders' events and one resource of two objects.
    #[must_use]
    pub fn shared_with<'t>(&'t self, other: &Self) -> Option<&'t Account> {
        let same = self.provider == other.provider && self.environment == other.environment;
        let mut shared = self
            .accounts()
            .filter(|account| other.accounts().any(|theirs| theirs == *account));
        shared.next().filter(|_| same)
    }
}

/// What an accepted event is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// What makes it the same event.
    pub identity: EventIdentity,
    /// What the provider calls it.
    pub kind: EventType,
    /// What it is about; never empty.
    pub resources: Vec<ResourceKey>,
}

/// What reading a verified request leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Reading {
    /// To be stored.
    Concerns(Event),
    /// Well signed, but nothing configured is about this type.
    Unrouted(EventType),
    /// Well signed, but about the provider's other world, which some providers send to every endpoint.
    OtherEnvironment,
    /// It names an account that is not on the list.
    ForeignAccount,
    /// An id that cannot be kept exactly.
    Refused(NameError),
}

/// The type of the resource that an unreadable event is kept under: the event itself.
pub const UNREADABLE: &str = "unreadable-event";

/// A contract's rules for one endpoint, arranged for speed: made once, used for every request.
#[derive(Debug, Clone)]
pub struct Reader {
    tenant: Tenant,
    extractor: Extractor,
    id: Place,
    kind: Vec<Place>,
    account: Option<Place>,
    environment: Option<(Place, BTreeMap<String, Environment>)>,
    routes: Vec<Route>,
}

#[derive(Debug, Clone)]
struct Route {
    kind: ResourceType,
    events: Patterns,
    without: Vec<Slot>,
    id: Vec<Place>,
}

impl Reader {
    /// Arranges the rules for one endpoint.
    #[must_use]
    pub fn new(
        tenant: Tenant,
        event: &EventRules,
        resources: &BTreeMap<ResourceType, ResourceRules>,
    ) -> Self {
        let mut extractor = Extractor::default();
        let id = Place::of(&event.id, &mut extractor);
        let kind = Place::all(&event.kind, &mut extractor);
        let account = event
            .account
            .as_ref()
            .map(|source| Place::of(source, &mut extractor));
        let environment = event.environment.as_ref().map(|rules| {
            let place = Place::of(&rules.from, &mut extractor);
            (place, rules.values.clone())
        });
        let routes = resources
            .iter()
            .map(|(kind, rules)| Route {
                kind: kind.clone(),
                events: rules.events.clone(),
                without: rules.without.iter().map(|p| extractor.add(p)).collect(),
                id: Place::all(&rules.id, &mut extractor),
            })
            .collect();
        Self {
            tenant,
            extractor,
            id,
            kind,
            account,
            environment,
            routes,
        }
    }

    /// Whose data this endpoint may speak of.
    #[must_use]
    pub fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// What this request is about.
    pub fn read(&self, headers: &Headers, body: Verified<'_>) -> Reading {
        let bytes = body.bytes();
        let text = std::str::from_utf8(bytes)
            .ok()
            .map(|text| text.strip_prefix('\u{feff}').unwrap_or(text));
        let found = text.and_then(|text| self.extractor.extract(text).ok());
        let Some(found) = found else {
            return self.unreadable(headers, bytes);
        };
        match self.read_found(headers, &found) {
            Ok(reading) => reading,
            Err(Unreadable::Body) => self.unreadable(headers, bytes),
            Err(Unreadable::Name(error)) => Reading::Refused(error),
        }
    }

    fn read_found(&self, headers: &Headers, found: &Found<'_>) -> Result<Reading, Unreadable> {
        if let Some((place, values)) = &self.environment {
            let named = place.value(headers, found)?.ok_or(Unreadable::Body)?;
            if values.get(&*named).ok_or(Unreadable::Body)? != &self.tenant.environment {
                return Ok(Reading::OtherEnvironment);
            }
        }
        let named = match &self.account {
            None => None,
            Some(place) => place.value(headers, found)?,
        };
        let account = match named {
            None => self.tenant.account.clone(),
            Some(named) => Account::parse(&named)?,
        };
        if !self.tenant.accounts().any(|own| *own == account) {
            return Ok(Reading::ForeignAccount);
        }
        let kind = event_type(&self.kind, headers, found)?;
        let mut resources = Vec::new();
        let mut incomplete = false;
        for route in &self.routes {
            if !route.events.matches(kind.as_str()) {
                continue;
            }
            match route.id(headers, found) {
                Ok(id) => resources.push(self.resource(&account, route.kind.clone(), id)),
                Err(Unreadable::Body) => incomplete = true,
                Err(error @ Unreadable::Name(_)) => return Err(error),
            }
        }
        match (resources.is_empty(), incomplete) {
            (true, false) => return Ok(Reading::Unrouted(kind)),
            (true, true) => return Err(Unreadable::Body),
            (false, _) => {}
        }
        let id = self.id.value(headers, found)?.ok_or(Unreadable::Body)?;
        let id = EventId::parse(&id)?;
        if incomplete {
            // What was not found in it must end in a decision too.
            resources.push(self.itself(&account, &id)?);
        }
        Ok(Reading::Concerns(Event {
            identity: self.identity(account, id),
            kind,
            resources,
        }))
    }

    /// A body that cannot be read as the contract says is kept all the same, about itself: it ends in a
    /// decision that can be looked up, and its body stays as long as any. Its identity
    /// is the header's where the contract has it there, else the body's own digest.
    fn unreadable(&self, headers: &Headers, bytes: &[u8]) -> Reading {
        let named = match &self.id {
            Place::Header(name) => headers.one(name).and_then(|id| EventId::parse(id).ok()),
            Place::Body(_) => None,
        };
        let digest = Digest::of(bytes).to_text();
        let id = named.map_or_else(|| EventId::parse(&digest), Ok);
        let event = id.and_then(|id| {
            let resource = self.itself(&self.tenant.account, &id)?;
            let identity = self.identity(self.tenant.account.clone(), id);
            Ok(Event {
                identity,
                kind: EventType::parse(UNREADABLE)?,
                resources: vec![resource],
            })
        });
        event.map_or_else(Reading::Refused, Reading::Concerns)
    }

    /// The resource that an event is kept under, as far as it cannot be read.
    fn itself(&self, account: &Account, id: &EventId) -> Result<ResourceKey, NameError> {
        let kind = ResourceType::parse(UNREADABLE)?;
        Ok(self.resource(account, kind, ResourceId::parse(id.as_str())?))
    }

    fn identity(&self, account: Account, id: EventId) -> EventIdentity {
        EventIdentity {
            provider: self.tenant.provider.clone(),
            account,
            environment: self.tenant.environment.clone(),
            id,
        }
    }

    fn resource(&self, account: &Account, kind: ResourceType, id: ResourceId) -> ResourceKey {
        ResourceKey {
            provider: self.tenant.provider.clone(),
            account: account.clone(),
            environment: self.tenant.environment.clone(),
            kind,
            id,
        }
    }
}

impl Route {
    /// The id of what a routed event is about; none where the body is another event's.
    fn id(&self, headers: &Headers, found: &Found<'_>) -> Result<ResourceId, Unreadable> {
        if self.without.iter().any(|slot| found.raw(*slot).is_some()) {
            return Err(Unreadable::Body);
        }
        resource_id(&self.id, headers, found)
    }
}

#[cfg(test)]
mod tests;

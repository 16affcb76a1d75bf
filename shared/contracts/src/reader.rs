//! What a verified body is about, as the contract says: identity, account, type, resources.
//!
//! Law 2's second half stands here: the integration chooses account and environment. An account named
//! in a signed body must be on the integration's list, and an unsigned header can name neither.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use lastword_domain::name::{
    Account, Environment, EventId, EventType, NameError, Provider, ResourceId, ResourceType,
};
use lastword_domain::{Digest, EventIdentity, ResourceKey};

use crate::contract::{EventRules, ResourceRules};
use crate::extract::{Extractor, Found, NotPlain, Slot};
use crate::headers::Headers;
use crate::pattern::Patterns;
use crate::signature::Verified;
use crate::source::{Source, Sources};

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
enum Place {
    Header(String),
    Body(Slot),
}

#[derive(Debug, Clone)]
struct Route {
    kind: ResourceType,
    events: Patterns,
    id: Vec<Place>,
}

enum Unreadable {
    Body,
    Name(NameError),
}

impl From<NameError> for Unreadable {
    fn from(error: NameError) -> Self {
        Self::Name(error)
    }
}

impl From<NotPlain> for Unreadable {
    fn from(_: NotPlain) -> Self {
        Self::Body
    }
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
        let mut place = |source: &Source| match source {
            Source::Header(name) => Place::Header(name.clone()),
            Source::Body(pointer) => Place::Body(extractor.add(pointer)),
        };
        let places = |sources: &Sources, place: &mut dyn FnMut(&Source) -> Place| {
            sources.as_slice().iter().map(place).collect::<Vec<_>>()
        };
        let id = place(&event.id);
        let kind = places(&event.kind, &mut place);
        let account = event.account.as_ref().map(&mut place);
        let environment = event
            .environment
            .as_ref()
            .map(|rules| (place(&rules.from), rules.values.clone()));
        let routes = resources
            .iter()
            .map(|(kind, rules)| Route {
                kind: kind.clone(),
                events: rules.events.clone(),
                id: places(&rules.id, &mut place),
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
            let named = value(place, headers, found)?.ok_or(Unreadable::Body)?;
            if values.get(&*named).ok_or(Unreadable::Body)? != &self.tenant.environment {
                return Ok(Reading::OtherEnvironment);
            }
        }
        let account = match &self.account {
            None => self.tenant.account.clone(),
            Some(place) => match value(place, headers, found)? {
                None => self.tenant.account.clone(),
                Some(named) => Account::parse(&named)?,
            },
        };
        if account != self.tenant.account && !self.tenant.further.contains(&account) {
            return Ok(Reading::ForeignAccount);
        }
        let kind = self.event_type(headers, found)?.ok_or(Unreadable::Body)?;
        let mut resources = Vec::new();
        let mut incomplete = false;
        for route in self
            .routes
            .iter()
            .filter(|route| route.events.matches(kind.as_str()))
        {
            match resource_id(&route.id, headers, found)? {
                Some(id) => resources.push(self.resource(&account, route.kind.clone(), id)),
                None => incomplete = true,
            }
        }
        if resources.is_empty() && !incomplete {
            return Ok(Reading::Unrouted(kind));
        }
        if incomplete {
            return Err(Unreadable::Body);
        }
        let id = value(&self.id, headers, found)?.ok_or(Unreadable::Body)?;
        let id = EventId::parse(&id)?;
        Ok(Reading::Concerns(Event {
            identity: self.identity(account, id),
            kind,
            resources,
        }))
    }

    fn event_type(
        &self,
        headers: &Headers,
        found: &Found<'_>,
    ) -> Result<Option<EventType>, Unreadable> {
        let mut joined = String::new();
        for place in &self.kind {
            if let Some(part) = value(place, headers, found)? {
                if !joined.is_empty() {
                    joined.push('.');
                }
                joined.push_str(&part);
            }
        }
        if joined.is_empty() {
            Ok(None)
        } else {
            Ok(Some(EventType::parse(&joined)?))
        }
    }

    /// A body that cannot be read as the contract says is kept all the same, about itself: it ends in a
    /// decision that can be looked up, and can be driven again when the contract is mended. Its identity
    /// is the header's where the contract has it there, else the body's own digest.
    fn unreadable(&self, headers: &Headers, bytes: &[u8]) -> Reading {
        let named = match &self.id {
            Place::Header(name) => headers.one(name).and_then(|id| EventId::parse(id).ok()),
            Place::Body(_) => None,
        };
        let digest = Digest::of(bytes).to_text();
        let id = named.map_or_else(|| EventId::parse(&digest), Ok);
        let event = id.and_then(|id| {
            let resource = self.resource(
                &self.tenant.account,
                ResourceType::parse(UNREADABLE)?,
                ResourceId::parse(id.as_str())?,
            );
            let identity = self.identity(self.tenant.account.clone(), id);
            Ok(Event {
                identity,
                kind: EventType::parse(UNREADABLE)?,
                resources: vec![resource],
            })
        });
        event.map_or_else(Reading::Refused, Reading::Concerns)
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

fn value<'f>(
    place: &Place,
    headers: &'f Headers,
    found: &Found<'f>,
) -> Result<Option<Cow<'f, str>>, NotPlain> {
    match place {
        Place::Header(name) => Ok(headers.one(name).map(Cow::Borrowed)),
        Place::Body(slot) => found.text(*slot),
    }
}

/// An id of several parts is joined with slashes; a part that holds one itself is refused, because two
/// different lists of parts could then be one id.
fn resource_id(
    places: &[Place],
    headers: &Headers,
    found: &Found<'_>,
) -> Result<Option<ResourceId>, Unreadable> {
    let mut joined = String::new();
    for (at, place) in places.iter().enumerate() {
        let Some(part) = value(place, headers, found)? else {
            return Ok(None);
        };
        if places.len() > 1 && (part.is_empty() || part.contains('/')) {
            return Err(NameError::Character {
                kind: "a part of a resource id",
                found: '/',
            }
            .into());
        }
        if at > 0 {
            joined.push('/');
        }
        joined.push_str(&part);
    }
    Ok(Some(ResourceId::parse(&joined)?))
}

#[cfg(test)]
mod tests;

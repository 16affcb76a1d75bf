//! A contract's places arranged for speed: every body is walked once, every item once.

use std::borrow::Cow;
use std::collections::BTreeMap;

use lastword_domain::name::{Environment, EventId, EventType, ResourceId, ResourceType};

use super::place::{Place, Unreadable, event_id, event_type, resource_id};
use crate::contract::{EventRules, ResourceRules};
use crate::extract::{Extractor, Found, Slot};
use crate::items::Items;
use crate::pattern::Patterns;
use crate::request::Request;
use crate::source::Source;

/// The rules of one endpoint.
#[derive(Debug, Clone)]
pub(super) struct Arranged {
    body: Extractor,
    item: Extractor,
    id: Vec<Place>,
    id_otherwise: Option<Place>,
    kind: Vec<Place>,
    kind_otherwise: Option<Place>,
    account: Option<Place>,
    account_hint: Option<Place>,
    environment: Option<(Place, BTreeMap<String, Environment>)>,
    routes: Vec<Route>,
}

#[derive(Debug, Clone)]
struct Route {
    kind: ResourceType,
    events: Patterns,
    without: Vec<Slot>,
    id: Vec<Place>,
    each: Option<(Items, Extractor)>,
}

/// One event as it is looked at.
pub(super) struct Look<'l> {
    pub(super) request: &'l Request<'l>,
    pub(super) body: &'l Found<'l>,
    pub(super) item: Found<'l>,
    /// The JSON text of the item, or of the whole body.
    pub(super) text: &'l str,
    pub(super) bytes: &'l [u8],
}

/// The resources that an event is about.
#[derive(Default)]
pub(super) struct Routed<'r> {
    pub(super) found: Vec<(&'r ResourceType, ResourceId)>,
    /// Whether one that it should be about could not be read.
    pub(super) incomplete: bool,
}

impl Arranged {
    pub(super) fn of(
        event: &EventRules,
        resources: &BTreeMap<ResourceType, ResourceRules>,
    ) -> Self {
        let (mut body, mut item) = (Extractor::default(), Extractor::default());
        let id = Place::all(&event.id, &mut body, &mut item);
        let kind = Place::all(&event.kind, &mut body, &mut item);
        let mut one = |source: &Option<Source>| {
            let source = source.as_ref()?;
            Some(Place::of(source, &mut body, &mut item))
        };
        let id_otherwise = one(&event.id_otherwise);
        let kind_otherwise = one(&event.type_otherwise);
        let account = one(&event.account);
        let account_hint = one(&event.account_hint);
        let environment = event.environment.as_ref().map(|rules| {
            let place = Place::of(&rules.from, &mut body, &mut item);
            (place, rules.values.clone())
        });
        let mut routes = Vec::with_capacity(resources.len());
        for (kind, rules) in resources {
            let mut within = Extractor::default();
            let id = match &rules.each {
                None => Place::all(&rules.id, &mut body, &mut item),
                Some(_) => Place::all(&rules.id, &mut body, &mut within),
            };
            routes.push(Route {
                kind: kind.clone(),
                events: rules.events.clone(),
                without: rules.without.iter().map(|p| body.add(p)).collect(),
                id,
                each: rules.each.clone().map(|each| (each, within)),
            });
        }
        Self {
            body,
            item,
            id,
            id_otherwise,
            kind,
            kind_otherwise,
            account,
            account_hint,
            environment,
            routes,
        }
    }

    /// Walks a body; none when it is no JSON, or names something twice.
    pub(super) fn body<'t>(&self, text: &'t str) -> Option<Found<'t>> {
        // Where nothing is looked for in it, it need be no JSON: a form's fields have places of their own.
        if self.body.is_empty() {
            return Some(Found::default());
        }
        self.body.extract(text).ok()
    }

    /// Walks an item, where anything is looked for in it.
    pub(super) fn look<'l>(
        &self,
        request: &'l Request<'l>,
        body: &'l Found<'l>,
        text: &'l str,
        bytes: &'l [u8],
    ) -> Option<Look<'l>> {
        let item = if self.item.is_empty() {
            Found::default()
        } else {
            self.item.extract(text).ok()?
        };
        Some(Look {
            request,
            body,
            item,
            text,
            bytes,
        })
    }

    /// The provider's world that the event is of, where it says so.
    pub(super) fn environment(&self, look: &Look<'_>) -> Result<Option<&Environment>, Unreadable> {
        let Some((place, values)) = &self.environment else {
            return Ok(None);
        };
        let named = place.value(look)?.ok_or(Unreadable::Body)?;
        values.get(&*named).ok_or(Unreadable::Body).map(Some)
    }

    /// The account that the event names.
    pub(super) fn account<'l>(
        &'l self,
        look: &'l Look<'_>,
    ) -> Result<Option<Cow<'l, str>>, Unreadable> {
        match &self.account {
            None => Ok(None),
            Some(place) => place.value(look),
        }
    }

    /// The account that something unsigned names.
    pub(super) fn account_hint<'l>(
        &'l self,
        look: &'l Look<'_>,
    ) -> Result<Option<Cow<'l, str>>, Unreadable> {
        match &self.account_hint {
            None => Ok(None),
            Some(place) => place.value(look),
        }
    }

    pub(super) fn kind(&self, look: &Look<'_>) -> Result<EventType, Unreadable> {
        event_type(&self.kind, self.kind_otherwise.as_ref(), look)
    }

    pub(super) fn id(&self, look: &Look<'_>) -> Result<EventId, Unreadable> {
        event_id(&self.id, self.id_otherwise.as_ref(), look)
    }

    /// The id of a request whose body cannot be read, where a header alone holds it.
    pub(super) fn header_id(&self, request: &Request<'_>) -> Option<EventId> {
        match self.id.as_slice() {
            [Place::Header(name)] => EventId::parse(request.headers.one(name)?).ok(),
            [] | [_] | [_, _, ..] => None,
        }
    }

    /// What an event of this type is about.
    pub(super) fn route(
        &self,
        kind: &EventType,
        look: &Look<'_>,
    ) -> Result<Routed<'_>, Unreadable> {
        let mut routed = Routed::default();
        for route in &self.routes {
            if route.events.matches(kind.as_str()) {
                route.add(look, &mut routed)?;
            }
        }
        Ok(routed)
    }
}

impl Route {
    fn add<'r>(&'r self, look: &Look<'_>, routed: &mut Routed<'r>) -> Result<(), Unreadable> {
        // The body is another event's.
        let other = |slot: &Slot| look.body.raw(*slot).is_some();
        if self.without.iter().any(other) {
            routed.incomplete = true;
            return Ok(());
        }
        let Some((each, within)) = &self.each else {
            return self.keep(resource_id(&self.id, look), routed);
        };
        let Ok(parts) = each.of(look.text) else {
            routed.incomplete = true;
            return Ok(());
        };
        for part in parts.unwrap_or_default() {
            let Ok(item) = within.extract(part) else {
                routed.incomplete = true;
                continue;
            };
            let look = Look { item, ..*look };
            self.keep(resource_id(&self.id, &look), routed)?;
        }
        Ok(())
    }

    fn keep<'r>(
        &'r self,
        id: Result<ResourceId, Unreadable>,
        routed: &mut Routed<'r>,
    ) -> Result<(), Unreadable> {
        match id {
            Ok(id) => {
                let one = (&self.kind, id);
                if !routed.found.contains(&one) {
                    routed.found.push(one);
                }
            }
            Err(Unreadable::Body) => routed.incomplete = true,
            Err(error @ Unreadable::Name(_)) => return Err(error),
        }
        Ok(())
    }
}

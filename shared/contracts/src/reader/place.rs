//! Values of an event by their place, and the names that are joined from several.
//!
//! Absent and ambiguous are two things: a value that a contract lets be absent must not be left out
//! because it came twice and differently.

use std::borrow::Cow;

use lastword_domain::Digest;
use lastword_domain::name::{EventId, EventType, NameError, ResourceId};

use super::arranged::Look;
use crate::extract::{Extractor, NotPlain, Slot};
use crate::source::{Source, Sources};

/// Where a value stands, arranged for speed.
#[derive(Debug, Clone)]
pub(super) enum Place {
    Header(String),
    Query(String),
    Form(String),
    Body(Slot),
    Item(Slot),
    Digest,
    Const(String),
}

/// Why an event is not what the contract says.
pub(super) enum Unreadable {
    /// It does not hold what it should.
    Body,
    /// A name in it cannot be kept exactly.
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

impl Place {
    pub(super) fn of(source: &Source, body: &mut Extractor, item: &mut Extractor) -> Self {
        match source {
            Source::Header(name) => Self::Header(name.clone()),
            Source::Query(name) => Self::Query(name.clone()),
            Source::Form(name) => Self::Form(name.clone()),
            Source::Body(pointer) => Self::Body(body.add(pointer)),
            Source::Item(pointer) => Self::Item(item.add(pointer)),
            Source::Digest => Self::Digest,
            Source::Const(text) => Self::Const(text.clone()),
        }
    }

    pub(super) fn all(sources: &Sources, body: &mut Extractor, item: &mut Extractor) -> Vec<Self> {
        let sources = sources.as_slice().iter();
        sources.map(|source| Self::of(source, body, item)).collect()
    }

    /// The value, `None` where there is none at all.
    pub(super) fn value<'l>(
        &'l self,
        look: &'l Look<'_>,
    ) -> Result<Option<Cow<'l, str>>, Unreadable> {
        Ok(match self {
            Self::Body(slot) => look.body.text(*slot)?,
            Self::Item(slot) => look.item.text(*slot)?,
            Self::Header(name) => match look.request.headers.one(name) {
                None if look.request.headers.all(name).next().is_some() => {
                    return Err(Unreadable::Body);
                }
                value => value.map(Cow::Borrowed),
            },
            Self::Query(name) => look.request.in_query(name),
            Self::Form(name) => look.request.in_form(name),
            Self::Digest => Some(Cow::Owned(Digest::of(look.bytes).to_text())),
            Self::Const(text) => Some(Cow::Borrowed(text)),
        })
    }

    /// Whether whoever sends a request can write it without a secret, as far as the place alone tells.
    fn is_outside(&self) -> bool {
        match self {
            Self::Header(_) | Self::Query(_) => true,
            Self::Body(_) | Self::Item(_) | Self::Form(_) | Self::Digest | Self::Const(_) => false,
        }
    }
}

/// An event's type. Without its first part it is not known at all, so that part may not be missing; later
/// ones only say more. A header's part may not hold the joint: it is not signed, and would otherwise put
/// words before what the signed body says.
pub(super) fn event_type(
    places: &[Place],
    otherwise: Option<&Place>,
    look: &Look<'_>,
) -> Result<EventType, Unreadable> {
    let mut joined = String::new();
    for (at, place) in places.iter().enumerate() {
        let part = place.value(look)?;
        let Some(part) = part.filter(|part| at > 0 || !part.is_empty()) else {
            if at == 0 {
                let other = otherwise.ok_or(Unreadable::Body)?;
                let kind = other.value(look)?.ok_or(Unreadable::Body)?;
                return Ok(EventType::parse(&kind)?);
            }
            continue;
        };
        if place.is_outside() && places.len() > 1 && part.contains('.') {
            return Err(Unreadable::Body);
        }
        if at > 0 {
            joined.push('.');
        }
        joined.push_str(&part);
    }
    Ok(EventType::parse(&joined)?)
}

/// An event's id. Of several parts each is there, and a slash in one is written so that two different lists
/// of parts are never one id.
pub(super) fn event_id(
    places: &[Place],
    otherwise: Option<&Place>,
    look: &Look<'_>,
) -> Result<EventId, Unreadable> {
    let mut joined = String::new();
    for (at, place) in places.iter().enumerate() {
        let Some(part) = place.value(look)? else {
            let other = otherwise.ok_or(Unreadable::Body)?;
            let id = other.value(look)?.ok_or(Unreadable::Body)?;
            return Ok(EventId::parse(&id)?);
        };
        if places.len() == 1 {
            return Ok(EventId::parse(&part)?);
        }
        if at > 0 {
            joined.push('/');
        }
        joined.push_str(&part.replace('%', "%25").replace('/', "%2F"));
    }
    Ok(EventId::parse(&joined)?)
}

/// An id of several parts is joined with slashes; a part that holds one itself is refused, because two
/// different lists of parts could then be one id.
pub(super) fn resource_id(places: &[Place], look: &Look<'_>) -> Result<ResourceId, Unreadable> {
    let mut joined = String::new();
    for (at, place) in places.iter().enumerate() {
        let part = place.value(look)?.ok_or(Unreadable::Body)?;
        if places.len() > 1 && part.is_empty() {
            return Err(NameError::Empty {
                kind: "a part of a resource id",
            }
            .into());
        }
        if places.len() > 1 && part.contains('/') {
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
    Ok(ResourceId::parse(&joined)?)
}

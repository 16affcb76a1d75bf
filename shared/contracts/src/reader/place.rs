//! Values of a request by their place, and the names that are joined from several.
//!
//! Absent and ambiguous are two things: a value that a contract lets be absent must not be left out
//! because it came twice and differently.

use std::borrow::Cow;

use lastword_domain::name::{EventType, NameError, ResourceId};

use crate::extract::{Extractor, Found, NotPlain, Slot};
use crate::headers::Headers;
use crate::source::{Source, Sources};

/// Where a value stands, arranged for speed.
#[derive(Debug, Clone)]
pub(super) enum Place {
    Header(String),
    Body(Slot),
}

/// Why a request is not what the contract says.
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
    pub(super) fn of(source: &Source, extractor: &mut Extractor) -> Self {
        match source {
            Source::Header(name) => Self::Header(name.clone()),
            Source::Body(pointer) => Self::Body(extractor.add(pointer)),
        }
    }

    pub(super) fn all(sources: &Sources, extractor: &mut Extractor) -> Vec<Self> {
        let sources = sources.as_slice().iter();
        sources.map(|source| Self::of(source, extractor)).collect()
    }

    /// The value, `None` where there is none at all.
    pub(super) fn value<'f>(
        &self,
        headers: &'f Headers,
        found: &Found<'f>,
    ) -> Result<Option<Cow<'f, str>>, Unreadable> {
        match self {
            Self::Body(slot) => Ok(found.text(*slot)?),
            Self::Header(name) => match headers.one(name) {
                None if headers.all(name).next().is_some() => Err(Unreadable::Body),
                value => Ok(value.map(Cow::Borrowed)),
            },
        }
    }
}

/// An event's type. Without its first part it is not known at all, so that part may not be missing; later
/// ones only say more. A header's part may not hold the joint: it is not signed, and would otherwise put
/// words before what the signed body says.
pub(super) fn event_type(
    places: &[Place],
    headers: &Headers,
    found: &Found<'_>,
) -> Result<EventType, Unreadable> {
    let mut joined = String::new();
    for (at, place) in places.iter().enumerate() {
        let part = place.value(headers, found)?;
        let Some(part) = part.filter(|part| at > 0 || !part.is_empty()) else {
            if at == 0 {
                return Err(Unreadable::Body);
            }
            continue;
        };
        let unsigned = matches!(place, Place::Header(_));
        if unsigned && places.len() > 1 && part.contains('.') {
            return Err(Unreadable::Body);
        }
        if at > 0 {
            joined.push('.');
        }
        joined.push_str(&part);
    }
    Ok(EventType::parse(&joined)?)
}

/// An id of several parts is joined with slashes; a part that holds one itself is refused, because two
/// different lists of parts could then be one id.
pub(super) fn resource_id(
    places: &[Place],
    headers: &Headers,
    found: &Found<'_>,
) -> Result<ResourceId, Unreadable> {
    let mut joined = String::new();
    for (at, place) in places.iter().enumerate() {
        let part = place.value(headers, found)?.ok_or(Unreadable::Body)?;
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
    Ok(ResourceId::parse(&joined)?)
}

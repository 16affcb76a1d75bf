//! What a body proves about a resource: an event's own snapshot, change or status, or the read API's answer
//! ([`seen`]), and the facts that an event tells ([`facts`]).

pub mod facts;
pub mod seen;

use lastword_domain::decide::Delta;
use lastword_domain::{Content, Json, Status, Version};

use crate::contract::ResourceRules;
use crate::extract::{Extractor, Found, Slot};

/// What an event's own body proves about a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// Under which version.
    pub version: Version,
    /// What the resource was.
    pub content: Content,
}

/// The body does not hold what the contract says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the body does not hold {0}")]
pub struct NoEvidence(pub(crate) &'static str);

impl ResourceRules {
    /// What an event's own body proves about this kind of resource, under its version.
    ///
    /// # Errors
    /// When the body does not hold what the contract says.
    pub fn evidence(&self, event_type: &str, body: &[u8]) -> Result<Evidence, NoEvidence> {
        let text = text_of(body)?;
        let mut extractor = Extractor::default();
        let version = self.version.as_ref().map(|pointer| extractor.add(pointer));
        let snapshot = self.snapshot.as_ref().map(|pointer| extractor.add(pointer));
        let found = extractor.extract(text).map_err(|_| NoEvidence("JSON"))?;
        let version = self.version_in(&found, version)?;
        Ok(Evidence {
            version,
            content: self.snapshot_in(event_type, &found, snapshot)?,
        })
    }

    /// The version that an event's own body proves, where the contract says where it stands. For a read that must
    /// not be older.
    #[must_use]
    pub fn proves(&self, body: &[u8]) -> Option<Version> {
        let text = self.version.as_ref()?.text(text_of(body).ok()?)?;
        Version::parse_as(self.version_kind.0, &text).ok()
    }

    /// The status that an event's own body tells, with the object as it was; no status for a deletion.
    ///
    /// # Errors
    /// When the body does not hold what the contract says.
    pub fn ranked(
        &self,
        event_type: &str,
        body: &[u8],
    ) -> Result<(Option<Status>, Content), NoEvidence> {
        let text = text_of(body)?;
        let mut extractor = Extractor::default();
        let status = self.status.as_ref().map(|pointer| extractor.add(pointer));
        let snapshot = self.snapshot.as_ref().map(|pointer| extractor.add(pointer));
        let found = extractor.extract(text).map_err(|_| NoEvidence("JSON"))?;
        let content = self.snapshot_in(event_type, &found, snapshot)?;
        if content == Content::Deleted {
            return Ok((None, content));
        }
        let status = status_in(&found, status)?;
        Ok((Some(status), content))
    }

    /// The change that an event's own body tells, and its number.
    ///
    /// # Errors
    /// When the body does not hold what the contract says.
    pub fn change(&self, event_type: &str, body: &[u8]) -> Result<(Version, Delta), NoEvidence> {
        let text = text_of(body)?;
        let mut extractor = Extractor::default();
        let number = self.number.as_ref().map(|pointer| extractor.add(pointer));
        let change = self.change.as_ref().map(|pointer| extractor.add(pointer));
        let snapshot = self.snapshot.as_ref().map(|pointer| extractor.add(pointer));
        let found = extractor.extract(text).map_err(|_| NoEvidence("JSON"))?;
        let number = number
            .and_then(|slot| found.text(slot).ok().flatten())
            .and_then(|text| Version::parse(&text).ok())
            .ok_or(NoEvidence("a number where the contract says"))?;
        if self.deleted_by.matches(event_type) {
            return Ok((number, Delta::Deleted));
        }
        let raw = |slot: Option<Slot>| slot.and_then(|slot| found.raw(slot));
        let delta = match (raw(change), raw(snapshot)) {
            (Some(change), _) if self.change.is_some() => Delta::Patch(object(change)?),
            (None, Some(whole)) if self.change.is_none() => Delta::Whole(object(whole)?),
            (_, _) => return Err(NoEvidence("a change where the contract says")),
        };
        Ok((number, delta))
    }

    fn version_in(&self, found: &Found<'_>, slot: Option<Slot>) -> Result<Version, NoEvidence> {
        slot.and_then(|slot| found.text(slot).ok().flatten())
            .and_then(|text| Version::parse_as(self.version_kind.0, &text).ok())
            .ok_or(NoEvidence("a version where the contract says"))
    }

    fn snapshot_in(
        &self,
        event_type: &str,
        found: &Found<'_>,
        slot: Option<Slot>,
    ) -> Result<Content, NoEvidence> {
        if self.deleted_by.matches(event_type) {
            return Ok(Content::Deleted);
        }
        let content = slot
            .and_then(|slot| found.raw(slot))
            .ok_or(NoEvidence("a snapshot where the contract says"))?;
        Ok(Content::Present(object(content)?))
    }
}

fn status_in(found: &Found<'_>, slot: Option<Slot>) -> Result<Status, NoEvidence> {
    slot.and_then(|slot| found.text(slot).ok().flatten())
        .and_then(|text| Status::parse(&text).ok())
        .ok_or(NoEvidence("a status where the contract says"))
}

/// An object is an object: an empty page, a list or a bare text is not a state.
fn object(text: &str) -> Result<Json, NoEvidence> {
    let json = Json::parse(text).map_err(|_| NoEvidence("JSON that is kept"))?;
    if !json.as_str().starts_with('{') {
        return Err(NoEvidence("an object"));
    }
    Ok(json)
}

/// A byte order mark is no part of JSON; some senders write one.
fn text_of(body: &[u8]) -> Result<&str, NoEvidence> {
    let text = std::str::from_utf8(body).map_err(|_| NoEvidence("UTF-8"))?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

#[cfg(test)]
mod tests;

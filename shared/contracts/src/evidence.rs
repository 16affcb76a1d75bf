//! What a body proves about a resource: an event's own snapshot, or the read API's answer.

use lastword_domain::name::ResourceId;
use lastword_domain::{Content, Json, Version};

use crate::contract::ResourceRules;
use crate::extract::Extractor;

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
pub struct NoEvidence(&'static str);

impl ResourceRules {
    /// What an event's own body proves about this kind of resource.
    ///
    /// # Errors
    /// When the body does not hold what the contract says.
    pub fn evidence(&self, event_type: &str, body: &[u8]) -> Result<Evidence, NoEvidence> {
        let text = text_of(body)?;
        let mut extractor = Extractor::default();
        let version = self.version.as_ref().map(|pointer| extractor.add(pointer));
        let snapshot = self.snapshot.as_ref().map(|pointer| extractor.add(pointer));
        let found = extractor.extract(text).map_err(|_| NoEvidence("JSON"))?;
        let version = version
            .and_then(|slot| found.text(slot).ok().flatten())
            .and_then(|text| Version::parse(&text).ok())
            .ok_or(NoEvidence("a version where the contract says"))?;
        if self.deleted_by.matches(event_type) {
            return Ok(Evidence {
                version,
                content: Content::Deleted,
            });
        }
        let content = snapshot
            .and_then(|slot| found.raw(slot))
            .ok_or(NoEvidence("a snapshot where the contract says"))?;
        Ok(Evidence {
            version,
            content: Content::Present(object(content)?),
        })
    }

    /// What the read API's answer says of the resource that was asked for. An answer that is another
    /// object, or that does not say which one it is, says nothing: a proxy, a cache or a maintenance page
    /// can answer 200 too.
    ///
    /// # Errors
    /// When the answer does not hold what the contract says.
    pub fn seen(
        &self,
        id: &ResourceId,
        body: &[u8],
    ) -> Result<(Content, Option<Version>), NoEvidence> {
        let answer = text_of(body)?;
        let text = match &self.read_at {
            None => answer,
            Some(at) => at
                .raw(answer)
                .ok_or(NoEvidence("an object where the contract says"))?,
        };
        let mut extractor = Extractor::default();
        let own = self.read_id.as_ref().map(|pointer| extractor.add(pointer));
        let version = self
            .read_version
            .as_ref()
            .map(|pointer| extractor.add(pointer));
        let deleted = self
            .deleted_when
            .as_ref()
            .map(|pointer| extractor.add(pointer));
        let found = extractor.extract(text).map_err(|_| NoEvidence("JSON"))?;
        if let Some(slot) = own {
            let shown = found.text(slot).ok().flatten();
            if shown.as_deref() != Some(self.last_part(id)) {
                return Err(NoEvidence("the object that was asked for"));
            }
        }
        let version = match version {
            None => None,
            Some(slot) => Some(
                found
                    .text(slot)
                    .ok()
                    .flatten()
                    .and_then(|text| Version::parse(&text).ok())
                    .ok_or(NoEvidence("a version where the contract says"))?,
            ),
        };
        if deleted.and_then(|slot| found.raw(slot)) == Some("true") {
            return Ok((Content::Deleted, version));
        }
        Ok((Content::Present(object(text)?), version))
    }

    /// What a provider's answer calls the object; the parts before only say where it stands.
    fn last_part<'i>(&self, id: &'i ResourceId) -> &'i str {
        let id = id.as_str();
        match self.id.as_slice() {
            // An id of one part may hold any character.
            [] | [_] => id,
            [_, _, ..] => id.rsplit_once('/').map_or(id, |(_, last)| last),
        }
    }
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

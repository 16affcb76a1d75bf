//! What the read API's answer says of an object.

use lastword_domain::name::ResourceId;
use lastword_domain::{Content, Status, Version};

use super::{NoEvidence, object, status_in, text_of};
use crate::contract::ResourceRules;
use crate::extract::Extractor;

/// What an answer shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// What the resource is.
    pub content: Content,
    /// Under which version, or after which change, where the contract says where that stands.
    pub version: Option<Version>,
    /// In which status, where the contract says where that stands.
    pub status: Option<Status>,
}

impl ResourceRules {
    /// What the read API's answer says of the resource that was asked for. An answer that is another
    /// object, or that does not say which one it is, says nothing: a proxy, a cache or a maintenance page
    /// can answer 200 too.
    ///
    /// # Errors
    /// When the answer does not hold what the contract says.
    pub fn seen(&self, id: &ResourceId, body: &[u8]) -> Result<Seen, NoEvidence> {
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
        let status = self
            .read_status
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
            Some(slot) => Some(self.version_in(&found, Some(slot))?),
        };
        if deleted.and_then(|slot| found.raw(slot)) == Some("true") {
            return Ok(Seen {
                content: Content::Deleted,
                version,
                status: None,
            });
        }
        let status = match status {
            None => None,
            Some(slot) => Some(status_in(&found, Some(slot))?),
        };
        Ok(Seen {
            content: Content::Present(object(text)?),
            version,
            status,
        })
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

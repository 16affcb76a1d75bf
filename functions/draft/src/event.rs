//! What the event bus hands over. May not guess: what is missing or unknown is an error, and the bus keeps the event.

use lastword_domain::name::{EffectName, WordingName};
use lastword_domain::{Digest, Owner, ResourceKey, SubjectKey};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::data::{DataError, Members, Value, members};

const SOURCE: &str = "lastword";
const DETAIL_TYPE: &str = "Lastword Draft Wanted";
const VERSION: u32 = 1;

/// A decision that wants wording.
#[derive(Clone)]
pub struct Wanted {
    /// The effect's business key.
    pub key: Digest,
    /// The effect's name.
    pub effect: EffectName,
    /// How it is to be worded.
    pub wording: WordingName,
    /// Whose effect it is.
    pub owner: Owner,
    /// What it is about, as it is told.
    pub about: Value,
    /// What is told.
    pub data: Members,
}

/// Why an event is none of ours. Nothing of its content is in it but names.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    /// Not the form of the bus, or of version 1.
    #[error("the event is not of the form that is expected: line {}, column {}: {}", .0.line(), .0.column(), kind(.0))]
    Form(serde_json::Error),
    /// Somebody else's.
    #[error("the event is no \"Lastword Draft Wanted\" of \"lastword\"")]
    Foreign,
    /// Of a later version.
    #[error("the event is of version {0}; expected {VERSION}")]
    Version(u32),
    /// Its key is none.
    #[error("the event's key is not 43 characters of base64url")]
    Key,
    /// It is about nothing, or about two things.
    #[error("the event is not about one resource or one subject")]
    About,
    /// Its data is none.
    #[error("the event's data cannot be used: {0}")]
    Data(#[from] DataError),
}

/// What is wrong, without the value that is.
fn kind(error: &serde_json::Error) -> &'static str {
    match error.classify() {
        serde_json::error::Category::Io => "it cannot be read",
        serde_json::error::Category::Syntax => "it is not JSON",
        serde_json::error::Category::Data => "a member is missing or of another type",
        serde_json::error::Category::Eof => "it ends too early",
    }
}

#[derive(Deserialize)]
struct Envelope<'e> {
    #[serde(rename = "detail-type")]
    detail_type: String,
    source: String,
    #[serde(borrow)]
    detail: &'e RawValue,
}

#[derive(Deserialize)]
struct Detail<'e> {
    version: u32,
    key: String,
    effect: EffectName,
    wording: WordingName,
    #[serde(borrow)]
    about: &'e RawValue,
    #[serde(borrow)]
    data: &'e RawValue,
}

#[derive(Deserialize)]
struct About {
    resource: Option<ResourceKey>,
    subject: Option<SubjectKey>,
}

impl Wanted {
    /// Reads an event of the bus.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn read(event: &str) -> Result<Self, EventError> {
        let envelope: Envelope<'_> = serde_json::from_str(event).map_err(EventError::Form)?;
        if envelope.source != SOURCE || envelope.detail_type != DETAIL_TYPE {
            return Err(EventError::Foreign);
        }
        let detail = envelope.detail.get();
        let detail: Detail<'_> = serde_json::from_str(detail).map_err(EventError::Form)?;
        if detail.version != VERSION {
            return Err(EventError::Version(detail.version));
        }
        let about: About = serde_json::from_str(detail.about.get()).map_err(EventError::Form)?;
        Ok(Self {
            key: Digest::from_text(&detail.key).ok_or(EventError::Key)?,
            effect: detail.effect,
            wording: detail.wording,
            owner: match (about.resource, about.subject) {
                (Some(resource), None) => Owner::Resource(resource),
                (None, Some(subject)) => Owner::Subject(subject),
                (Some(_), Some(_)) | (None, None) => return Err(EventError::About),
            },
            about: Value::parse(detail.about.get()).map_err(DataError::from)?,
            data: members(detail.data.get())?,
        })
    }
}

/// Without what it is about and its data.
impl std::fmt::Debug for Wanted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wanted")
            .field("effect", &self.effect)
            .field("wording", &self.wording)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"version":"0","id":"x","detail-type":"Lastword Draft Wanted","source":"lastword","detail":{"version":1,"key":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","effect":"confirmation","wording":"order-confirmation","about":{"subject":{"kind":"order","id":"7"}},"data":{"order":"7"},"later":[]}}"#;

    #[test]
    fn an_event_is_read_and_what_is_unknown_in_it_is_passed_over() {
        let wanted = Wanted::read(GOOD).unwrap();
        assert_eq!(wanted.owner.to_string(), "subject/order/7");
        assert_eq!(wanted.data["order"], Value::Text("7".into()));
        assert!(!format!("{wanted:?}").contains('7'));
    }

    #[test]
    fn a_resource_and_its_fact_are_what_it_may_be_about_too() {
        let about = r#"{"resource":{"provider":"p","account":"a","environment":"live","type":"invoice","id":"i"},"fact":{"kind":"paid","id":"i"}}"#;
        let event = GOOD.replace(r#"{"subject":{"kind":"order","id":"7"}}"#, about);
        let wanted = Wanted::read(&event).unwrap();
        assert_eq!(wanted.owner.to_string(), "p/a/live/invoice/i");
    }

    #[test]
    fn a_bad_event_is_refused_in_words_and_its_content_is_not_repeated() {
        for (from, to, expected) in [
            (
                "\"lastword\"",
                "\"other\"",
                "is no \"Lastword Draft Wanted\"",
            ),
            ("Draft Wanted", "Effect", "is no \"Lastword Draft Wanted\""),
            ("\"version\":1", "\"version\":2", "of version 2; expected 1"),
            ("AAAA\"", "AAA\"", "43 characters"),
            (
                "\"subject\"",
                "\"nobody\"",
                "not about one resource or one subject",
            ),
            (
                "\"order-confirmation\"",
                "\"SECRET\"",
                "a member is missing or of another type",
            ),
            ("{\"order\":\"7\"}", "\"SECRET\"", "no JSON object"),
            (
                "{\"order\":\"7\"}",
                "{\"SECRET\":1,\"SECRET\":2}",
                "a member twice",
            ),
            (
                "{\"version\":\"0\"",
                "\"SECRET\":{\"version\":\"0\"",
                "line 1",
            ),
        ] {
            assert!(GOOD.contains(from), "{from}");
            let error = Wanted::read(&GOOD.replacen(from, to, 1))
                .unwrap_err()
                .to_string();
            assert!(
                error.contains(expected) && !error.contains("SECRET"),
                "{error}"
            );
        }
    }
}

//! The facts that an event tells: what happened and stays true, whatever becomes of the resource.

use lastword_domain::Json;
use lastword_domain::name::{EventId, FactId, FactKind};

use super::{NoEvidence, text_of};
use crate::contract::{FactRules, ResourceRules};
use crate::extract::Pointer;

/// A fact as an event tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToldFact {
    /// What kind of fact.
    pub kind: FactKind,
    /// Its business identity.
    pub id: FactId,
    /// What is kept of it, exactly.
    pub content: Json,
}

impl ResourceRules {
    /// The kinds of facts that an event of this type tells.
    pub fn told_by<'r>(
        &'r self,
        event_type: &'r str,
    ) -> impl Iterator<Item = (&'r FactKind, &'r FactRules)> {
        let all = self.facts.iter();
        all.filter(move |(_, rules)| rules.events.matches(event_type))
    }
}

impl FactRules {
    /// The fact that a body tells: the event's own, or the event as it was read by its id.
    ///
    /// # Errors
    /// When the body does not hold what the contract says.
    pub fn told(&self, kind: &FactKind, body: &[u8]) -> Result<ToldFact, NoEvidence> {
        let text = text_of(body)?;
        let content = match &self.content {
            None => text,
            Some(pointer) => pointer
                .raw(text)
                .ok_or(NoEvidence("a fact where the contract says"))?,
        };
        let content = Json::parse(content).map_err(|_| NoEvidence("JSON that is kept"))?;
        let id = identity(&self.id, content.as_str())?;
        Ok(ToldFact {
            kind: kind.clone(),
            id,
            content,
        })
    }

    /// As [`FactRules::told`], from an answer to the question for this event.
    ///
    /// # Errors
    /// When the answer is about another event, or does not hold what the contract says.
    pub fn read_back(
        &self,
        kind: &FactKind,
        event: &EventId,
        answer: &[u8],
    ) -> Result<ToldFact, NoEvidence> {
        let text = text_of(answer)?;
        let shown = self.read_id.as_ref().and_then(|pointer| pointer.text(text));
        if shown.as_deref() != Some(event.as_str()) {
            return Err(NoEvidence("the event that was asked for"));
        }
        self.told(kind, answer)
    }
}

/// Parts are joined with a slash. A part's own slash is written `~1` and its tilde `~0`, where there are several, so
/// that no two identities run together.
fn identity(pointers: &[Pointer], content: &str) -> Result<FactId, NoEvidence> {
    let missing = NoEvidence("a fact's identity where the contract says");
    let mut parts = Vec::with_capacity(pointers.len());
    for pointer in pointers {
        let part = pointer.text(content).ok_or_else(|| missing.clone())?;
        parts.push(match pointers.len() {
            1 => part.into_owned(),
            _ => part.replace('~', "~0").replace('/', "~1"),
        });
    }
    FactId::parse(&parts.join("/")).map_err(|_| missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(id: &[&str], content: Option<&str>) -> FactRules {
        let rules = serde_json::json!({ "events": ["invoice.paid"], "id": id, "content": content, "read_id": "/id" });
        serde_json::from_value(rules).unwrap()
    }

    fn told(rules: &FactRules, body: &str) -> Result<ToldFact, NoEvidence> {
        rules.told(&FactKind::parse("invoice-paid").unwrap(), body.as_bytes())
    }

    #[test]
    fn a_fact_is_kept_to_the_byte_under_its_business_identity() {
        let rules = rules(&["/id"], Some("/data/object"));
        let body = r#"{"id":"evt_1","data":{"object":{"id":"in_7", "total": 1.10}}}"#;
        let fact = told(&rules, body).unwrap();
        assert_eq!(fact.id.as_str(), "in_7");
        assert_eq!(fact.content.as_str(), r#"{"id":"in_7", "total": 1.10}"#);
        assert!(told(&rules, r#"{"data":{"object":{"total":1}}}"#).is_err());
        assert!(told(&rules, "no JSON").is_err());
    }

    #[test]
    fn identities_of_several_parts_do_not_run_together() {
        let rules = rules(&["/a", "/b"], None);
        let one = told(&rules, r#"{"a":"x/y","b":"z"}"#).unwrap();
        let other = told(&rules, r#"{"a":"x","b":"y/z"}"#).unwrap();
        assert_ne!(one.id, other.id);
        let exact = told(&rules, r#"{"a":9007199254740993,"b":18446744073709551616}"#).unwrap();
        assert_eq!(exact.id.as_str(), "9007199254740993/18446744073709551616");
    }

    #[test]
    fn an_answer_about_another_event_tells_nothing() {
        let rules = rules(&["/data/id"], None);
        let kind = FactKind::parse("invoice-paid").unwrap();
        let asked = EventId::parse("evt_1").unwrap();
        let answer = |id: &str| format!(r#"{{"id":"{id}","data":{{"id":"in_1"}}}}"#).into_bytes();
        assert!(rules.read_back(&kind, &asked, &answer("evt_1")).is_ok());
        assert!(rules.read_back(&kind, &asked, &answer("evt_2")).is_err());
    }
}

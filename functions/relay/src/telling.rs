//! What others are told: one event shape for each kind of change, without bodies (law 14). Plain functions.
//!
//! | `detail-type` | `detail` |
//! |---|---|
//! | `Lastword Resource Changed` | `version`, `resource`, `revision`, `standing`, `verdict` |
//! | `Lastword Subject Decided` | `version`, `subject`, `revision`, `verdict` |
//! | `Lastword Fact Recorded` | `version`, `resource`, `fact`, `event` |
//!
//! `version` is 1. `standing` is `present`, `deleted` or `contested`. `verdict` is `null` or holds `state` and `allowed`
//! as the rules conclude them, and none of their data. An event may come twice, and later than a newer one: a greater
//! `revision` of the same thing is newer. Whoever wants contents reads the State table.

use lastword_store::state::streamed::Told;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// An event for the bus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Telling {
    /// What kind of change.
    pub detail_type: &'static str,
    /// What changed, as JSON.
    pub detail: String,
}

/// What is told of a verdict.
#[derive(Serialize, Deserialize)]
struct Verdict {
    state: String,
    allowed: Vec<String>,
}

/// The event that tells of this; `None` for what nobody outside is told of.
#[must_use]
pub fn telling(told: &Told) -> Option<Telling> {
    match told {
        Told::Resource {
            resource,
            revision,
            standing,
            verdict,
        } => Some(Telling {
            detail_type: "Lastword Resource Changed",
            detail: json!({
                "version": 1,
                "resource": resource,
                "revision": number(revision),
                "standing": standing,
                "verdict": short(verdict.as_deref()),
            })
            .to_string(),
        }),
        Told::Subject {
            subject,
            revision,
            verdict,
        } => Some(Telling {
            detail_type: "Lastword Subject Decided",
            detail: json!({
                "version": 1,
                "subject": subject,
                "revision": number(revision),
                "verdict": short(verdict.as_deref()),
            })
            .to_string(),
        }),
        Told::Fact {
            resource,
            kind,
            id,
            event,
        } => Some(Telling {
            detail_type: "Lastword Fact Recorded",
            detail: json!({
                "version": 1,
                "resource": resource,
                "fact": { "kind": kind.as_str(), "id": id.as_str() },
                "event": event,
            })
            .to_string(),
        }),
        Told::Effect { .. } | Told::Nothing => None,
    }
}

fn short(verdict: Option<&str>) -> Option<Verdict> {
    verdict.and_then(|verdict| serde_json::from_str(verdict).ok())
}

fn number(revision: &str) -> u64 {
    revision.parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use lastword_domain::SubjectKey;
    use lastword_domain::name::{SubjectId, SubjectKind};

    use super::*;

    #[test]
    fn what_is_told_of_a_verdict_is_its_state_and_what_is_allowed_and_no_data() {
        let verdict =
            r#"{"allowed":["ship"],"data":{"email":"someone@example.com"},"state":"paid"}"#;
        let told = Told::Subject {
            subject: SubjectKey {
                kind: SubjectKind::parse("order").unwrap(),
                id: SubjectId::parse("7").unwrap(),
            },
            revision: "3".to_owned(),
            verdict: Some(verdict.to_owned()),
        };
        let telling = telling(&told).unwrap();
        let detail: serde_json::Value = serde_json::from_str(&telling.detail).unwrap();
        assert_eq!(
            detail,
            json!({
                "version": 1,
                "subject": { "kind": "order", "id": "7" },
                "revision": 3,
                "verdict": { "state": "paid", "allowed": ["ship"] },
            })
        );
    }
}

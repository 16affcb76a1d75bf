//! What a resource means to this deployment: the verdict of its rules, the subjects it speaks about, and the
//! reviews that its state calls for.
//!
//! All three are functions of what is held and of the rules, never of what was held before: whatever the order in
//! which a state was reached, it means the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::digest::Digest;
use crate::json::Json;
use crate::key::KeyHash;
use crate::name::{Role, RuleName, SubjectId, SubjectKind};

/// A thing of our own business that several resources speak about.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(deny_unknown_fields)]
pub struct SubjectKey {
    /// What kind of thing, as the configuration calls it: `order`.
    pub kind: SubjectKind,
    /// Its id, as its members' states say.
    pub id: SubjectId,
}

impl SubjectKey {
    /// The key under which everything about it is stored and queued.
    #[must_use]
    pub fn hash(&self) -> KeyHash {
        KeyHash::of("subject", &[self.kind.as_str(), self.id.as_str()])
    }
}

impl fmt::Display for SubjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind, self.id)
    }
}

/// That a resource is a member of a subject, in a role.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link {
    /// Of which subject.
    pub subject: SubjectKey,
    /// As what.
    pub role: Role,
}

/// What makes two reviews the same: the rule that could not decide, and what it could not decide about. The same
/// evidence never opens a second one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReviewKey {
    /// Which rule.
    pub rule: RuleName,
    /// A digest of the evidence.
    pub evidence: Digest,
}

/// A text that is no review's key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a review's key (a rule's name, '#' and 43 characters)")]
pub struct ReviewKeyError;

impl ReviewKey {
    /// From the text that [`fmt::Display`] writes.
    ///
    /// # Errors
    /// When the text is not of that form.
    pub fn parse(text: &str) -> Result<Self, ReviewKeyError> {
        let (rule, evidence) = text.rsplit_once('#').ok_or(ReviewKeyError)?;
        Ok(Self {
            rule: RuleName::parse(rule).map_err(|_| ReviewKeyError)?,
            evidence: Digest::from_text(evidence).ok_or(ReviewKeyError)?,
        })
    }
}

impl fmt::Display for ReviewKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.rule, self.evidence)
    }
}

/// Where a review is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewStatus {
    /// A person has to decide.
    Open,
    /// What it was about is not so any more; nobody decided.
    Withdrawn,
    /// A person decided.
    Closed,
}

impl ReviewStatus {
    /// Every status.
    pub const ALL: [Self; 3] = [Self::Open, Self::Withdrawn, Self::Closed];

    /// Its word, as stored.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Withdrawn => "withdrawn",
            Self::Closed => "closed",
        }
    }

    /// From its word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }

    /// The status that a review goes to, given whether its evidence holds; `None` where it stays as it is. What a
    /// person decided stays decided: the same evidence never opens it again.
    #[must_use]
    pub fn follow(held: Option<Self>, holds: bool) -> Option<Self> {
        match (held, holds) {
            (None | Some(Self::Withdrawn), true) => Some(Self::Open),
            (Some(Self::Open), false) => Some(Self::Withdrawn),
            (Some(Self::Open | Self::Closed), true)
            | (Some(Self::Closed | Self::Withdrawn) | None, false) => None,
        }
    }
}

/// What a state means.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Meaning {
    /// What its rules conclude: the confirmed state, what is allowed, minimal data. `None` where no rule is
    /// declared, or nothing is known.
    pub verdict: Option<Json>,
    /// Where it is a member.
    pub links: BTreeSet<Link>,
    /// What a person has to decide while it is so.
    pub reviews: BTreeSet<ReviewKey>,
}

/// What a person is shown of a review: what its rule names as evidence, which its key is made of. So it is the same
/// whenever and however the review was opened.
pub type Evidence = BTreeMap<ReviewKey, Vec<String>>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_review_s_key_survives_its_text() {
        let key = ReviewKey {
            rule: RuleName::parse("paid-and-cancelled").unwrap(),
            evidence: Digest::of(b"evidence"),
        };
        assert_eq!(ReviewKey::parse(&key.to_string()), Ok(key));
        for text in ["", "rule", "rule#", "#", "rule#short"] {
            assert_eq!(ReviewKey::parse(text), Err(ReviewKeyError), "{text}");
        }
    }

    #[test]
    fn what_a_person_closed_is_not_opened_by_the_same_evidence() {
        for holds in [true, false, true] {
            assert_eq!(
                ReviewStatus::follow(Some(ReviewStatus::Closed), holds),
                None
            );
        }
        assert_eq!(ReviewStatus::follow(None, false), None);
        let withdrawn = ReviewStatus::follow(Some(ReviewStatus::Open), false);
        assert_eq!(withdrawn, Some(ReviewStatus::Withdrawn));
        assert_eq!(
            ReviewStatus::follow(withdrawn, true),
            Some(ReviewStatus::Open)
        );
    }

    #[test]
    fn subjects_of_another_kind_or_id_are_others() {
        let key = |kind: &str, id: &str| SubjectKey {
            kind: SubjectKind::parse(kind).unwrap(),
            id: SubjectId::parse(id).unwrap(),
        };
        assert_ne!(key("order", "7").hash(), key("parcel", "7").hash());
        assert_ne!(key("order", "7").hash(), key("order", "8").hash());
    }
}

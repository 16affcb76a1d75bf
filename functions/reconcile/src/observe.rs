//! Looks at the source: what the provider's answer shows of a resource, and what the signals say about deletion.
//!
//! Law 7, absence is not deletion, has its one place here ([`observation`]): of all that a read can come
//! to, only a seen object and what the contract names as evidence of deletion reach a projection.

use std::time::Duration;

use lastword_contracts::{Absence, ResourceRules};
use lastword_domain::{Content, EventRef, Observation, Projection, Proof, Reason};
use lastword_provider::Answer;
use lastword_store::LoadedEvent;

/// What the read shows, with a few words for the record and the pause that the provider asks for.
#[derive(Debug)]
pub struct Look {
    /// What it shows.
    pub observation: Observation,
    /// For the record of a failed attempt; never content.
    pub detail: String,
    /// How long the provider asks to be left alone.
    pub retry_after: Option<Duration>,
}

/// What the signals themselves say about deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// Nothing.
    Nothing,
    /// It is deleted. A read that still shows it is behind.
    Deleted,
    /// It may be: one of several contents under equal evidence says so, or it may have come back. The read settles it.
    PerhapsDeleted,
}

/// What an answer proves about a resource, given what is held and what the signals say.
#[must_use]
pub fn observation(answer: Answer, held: &Projection, told: Told) -> Look {
    let detail = answer.to_string();
    let nothing = |reason, retry_after| Look {
        observation: Observation::Nothing(reason),
        detail: detail.clone(),
        retry_after,
    };
    match answer {
        Answer::Seen {
            content: Content::Present(_),
            ..
        } if told == Told::Deleted => {
            // The signal's own evidence is newer than what the read shows.
            nothing(Reason::ReadBehind, None)
        }
        Answer::Seen {
            content,
            version,
            status,
        } => Look {
            observation: Observation::Seen {
                proof: (content == Content::Deleted).then_some(Proof::Shown),
                content,
                version,
                status,
            },
            detail,
            retry_after: None,
        },
        Answer::Absent(Absence::Deleted) => gone(detail),
        Answer::Absent(Absence::DeletedIfTold) if told != Told::Nothing || is_tombstone(held) => {
            gone(detail)
        }
        Answer::Absent(Absence::DeletedIfTold | Absence::ProvesNothing) => {
            nothing(Reason::Absent, None)
        }
        Answer::Busy { retry_after, .. } => nothing(Reason::Unreadable, retry_after),
        Answer::Refused { .. } | Answer::Unreadable(_) => nothing(Reason::Unreadable, None),
    }
}

fn gone(detail: String) -> Look {
    let observation = Observation::Seen {
        content: Content::Deleted,
        version: None,
        status: None,
        proof: Some(Proof::Absence),
    };
    Look {
        observation,
        detail,
        retry_after: None,
    }
}

fn is_tombstone(held: &Projection) -> bool {
    held.contents
        .as_ref()
        .is_some_and(|contents| contents.contains(&Content::Deleted))
}

/// Whether one of the signals says that the resource is deleted. Where it can come back, it may have done so since: the
/// read settles that.
#[must_use]
pub fn told(rules: &ResourceRules, pending: &[&LoadedEvent]) -> Told {
    let mut stored = pending.iter().filter_map(|event| event.stored.as_ref());
    let deleted = stored.any(|event| rules.deleted_by.matches(event.kind.as_str()));
    match (deleted, rules.comes_back) {
        (true, false) => Told::Deleted,
        (true, true) => Told::PerhapsDeleted,
        (false, _) => Told::Nothing,
    }
}

/// The signals that say something else than a deletion.
#[must_use]
pub fn not_deletions(rules: &ResourceRules, pending: &[&LoadedEvent]) -> Vec<EventRef> {
    let other = |event: &&&LoadedEvent| {
        let stored = event.stored.as_ref();
        !stored.is_some_and(|stored| rules.deleted_by.matches(stored.kind.as_str()))
    };
    let others = pending.iter().filter(other);
    others.map(|event| event.reference.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastword_domain::{Contents, Json};
    use lastword_provider::Unreadable;

    fn seen() -> Answer {
        Answer::Seen {
            content: Content::Present(Json::parse("{}").unwrap()),
            version: None,
            status: None,
        }
    }

    fn tombstone() -> Projection {
        Projection {
            contents: Some(Contents::one(Content::Deleted)),
            ..Projection::unknown()
        }
    }

    fn shows(answer: Answer, held: &Projection, told: Told) -> Observation {
        observation(answer, held, told).observation
    }

    #[test]
    fn nothing_but_a_seen_object_or_the_contract_s_evidence_reaches_a_projection() {
        for (answer, told) in [
            (Answer::Refused { status: 401 }, Told::Deleted),
            (Answer::Refused { status: 403 }, Told::Deleted),
            (
                Answer::Busy {
                    status: 429,
                    retry_after: None,
                },
                Told::Deleted,
            ),
            (
                Answer::Busy {
                    status: 503,
                    retry_after: None,
                },
                Told::Deleted,
            ),
            (Answer::Unreadable(Unreadable::Timeout), Told::Deleted),
            (Answer::Unreadable(Unreadable::Status(404)), Told::Deleted),
            (Answer::Absent(Absence::ProvesNothing), Told::Deleted),
            (Answer::Absent(Absence::DeletedIfTold), Told::Nothing),
        ] {
            let shown = shows(answer.clone(), &Projection::unknown(), told);
            assert!(matches!(shown, Observation::Nothing(_)), "{answer:?}");
        }
    }

    #[test]
    fn an_absence_is_a_deletion_when_an_event_says_so_or_it_was_known() {
        let absent = || Answer::Absent(Absence::DeletedIfTold);
        let gone = Observation::Seen {
            content: Content::Deleted,
            version: None,
            status: None,
            proof: Some(Proof::Absence),
        };
        assert_eq!(shows(absent(), &Projection::unknown(), Told::Deleted), gone);
        assert_eq!(shows(absent(), &tombstone(), Told::Nothing), gone);
        assert_eq!(
            shows(
                Answer::Absent(Absence::Deleted),
                &Projection::unknown(),
                Told::Nothing
            ),
            gone
        );
    }

    #[test]
    fn a_read_that_still_shows_what_an_event_says_is_deleted_is_behind() {
        assert_eq!(
            shows(seen(), &Projection::unknown(), Told::Deleted),
            Observation::Nothing(Reason::ReadBehind)
        );
        for told in [Told::Nothing, Told::PerhapsDeleted] {
            let shown = shows(seen(), &Projection::unknown(), told);
            assert!(matches!(shown, Observation::Seen { .. }), "{told:?}");
        }
    }
}

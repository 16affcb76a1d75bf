//! Looks at the source: what the provider's answer, or the events' own bodies, show of a resource.
//!
//! Law 7, absence is not deletion, has its one place here ([`observation`]): of all that a read can come
//! to, only a seen object and what the contract names as evidence of deletion reach a projection.

use std::time::Duration;

use lastword_config::Resource;
use lastword_contracts::Absence;
use lastword_domain::decide::Snapshot;
use lastword_domain::{Content, Mark, Observation, Outcome, Projection, Reason};
use lastword_provider::Answer;
use lastword_store::{LoadedEvent, State, StoreError};

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
    /// One of several contents under equal evidence is the deletion: the read settles it.
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
        Answer::Seen { content, version } => Look {
            observation: Observation::Seen { content, version },
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

/// Whether one of the signals says that the resource is deleted.
#[must_use]
pub fn told(resource: &Resource, pending: &[&LoadedEvent]) -> Told {
    let mut stored = pending.iter().filter_map(|event| event.stored.as_ref());
    if stored.any(|event| resource.rules.deleted_by.matches(event.kind.as_str())) {
        Told::Deleted
    } else {
        Told::Nothing
    }
}

/// The signals that say something else than a deletion.
#[must_use]
pub fn not_deletions<'l>(resource: &Resource, pending: &[&'l LoadedEvent]) -> Vec<&'l LoadedEvent> {
    let other = |event: &&&LoadedEvent| {
        let stored = event.stored.as_ref();
        !stored.is_some_and(|stored| resource.rules.deleted_by.matches(stored.kind.as_str()))
    };
    pending.iter().filter(other).copied().collect()
}

/// What the bodies prove, and the marks of those that prove nothing.
#[derive(Debug, Default)]
pub struct Proofs {
    /// One for each body that holds what the contract says.
    pub snapshots: Vec<Snapshot>,
    /// One for each that does not: it stays, and can be driven again.
    pub failed: Vec<Mark>,
}

/// Reads the evidence out of the signals' bodies.
///
/// # Errors
/// When a body cannot be read from the store.
pub async fn proofs(
    state: &State,
    resource: &Resource,
    pending: &[&LoadedEvent],
) -> Result<Proofs, StoreError> {
    let mut proofs = Proofs::default();
    for event in pending {
        let failed = |reason| Mark {
            event: event.reference.clone(),
            outcome: Outcome::Failed,
            reason,
        };
        let Some(stored) = &event.stored else {
            proofs.failed.push(failed(Reason::EventGone));
            continue;
        };
        let body = state.inbox().body(stored).await?;
        match resource.rules.evidence(stored.kind.as_str(), &body) {
            Ok(evidence) => proofs.snapshots.push(Snapshot {
                event: event.reference.clone(),
                version: evidence.version,
                content: evidence.content,
            }),
            Err(_) => proofs.failed.push(failed(Reason::Unparsable)),
        }
    }
    Ok(proofs)
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

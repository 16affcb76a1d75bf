//! Strategy `current`: the fetched state is taken whole.
//!
//! It converges because the accepted reads of a resource form a chain in time: a commit is accepted
//! only if nobody committed since before its read began (law 5, enforced in the store's condition), and
//! every signal it covers was stored before that read. The last accepted read thus began after the last
//! signal.

use super::{Conclusion, Observation};
use crate::decision::{Mark, Outcome, Reason};
use crate::key::EventRef;
use crate::projection::{Content, Contents, Projection};
use crate::version::Version;

/// Concludes from one read about all the signals that were stored before it began.
///
/// `proven` is the greatest version that the signals' own bodies prove, where they prove one.
pub fn conclude_read(
    held: &Projection,
    signals: &[EventRef],
    proven: Option<&Version>,
    seen: Observation,
) -> Conclusion {
    let (content, version) = match seen {
        Observation::Nothing(reason) => return Conclusion::LookAgain(reason),
        Observation::Seen { content, version } => (content, version),
    };
    // A read that is older than what is already proved is kept out.
    let floor = held.version.as_ref().max(proven);
    if version.as_ref().is_some_and(|seen| Some(seen) < floor) {
        return Conclusion::LookAgain(Reason::ReadBehind);
    }
    let version = version.or_else(|| floor.cloned());
    let same =
        held.contents.as_ref() == Some(&Contents::one(content.clone())) && version == held.version;
    let mark = |outcome, reason| {
        signals
            .iter()
            .map(|event| Mark {
                event: event.clone(),
                outcome,
                reason,
            })
            .collect()
    };
    if same {
        return Conclusion::Quiet {
            marks: mark(Outcome::Unchanged, Reason::ReadSame),
        };
    }
    let reason = match content {
        Content::Present(_) if proven.is_some() => Reason::VersionTieRead,
        Content::Present(_) => Reason::ReadChanged,
        Content::Deleted => Reason::ReadGone,
    };
    Conclusion::Change {
        next: Projection {
            revision: held.revision.next(),
            contents: Some(Contents::one(content)),
            version,
            recent: held.recent.clone(),
            paged: held.paged,
        },
        marks: mark(Outcome::Applied, reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;
    use crate::projection::Standing;

    fn seen(text: &str) -> Observation {
        Observation::Seen {
            content: Content::Present(Json::parse(text).unwrap()),
            version: None,
        }
    }

    fn held(text: &str) -> Projection {
        match conclude_read(&Projection::unknown(), &[], None, seen(text)) {
            Conclusion::Change { next, .. } => next,
            Conclusion::Quiet { .. } | Conclusion::Reread | Conclusion::LookAgain(_) => {
                panic!("a change")
            }
        }
    }

    #[test]
    fn what_could_not_be_read_changes_nothing() {
        for reason in [Reason::Unreadable, Reason::Absent] {
            let conclusion = conclude_read(&held("1"), &[], None, Observation::Nothing(reason));
            assert_eq!(conclusion, Conclusion::LookAgain(reason));
        }
    }

    #[test]
    fn a_read_that_shows_the_same_in_another_rendering_is_quiet() {
        assert!(matches!(
            conclude_read(&held("{\"a\":1}"), &[], None, seen("{ \"a\": 1 }")),
            Conclusion::Quiet { .. }
        ));
    }

    #[test]
    fn a_read_older_than_what_a_signal_proves_is_kept_out() {
        let version = |n: &str| Version::parse(n).unwrap();
        let read = |n| Observation::Seen {
            content: Content::Present(Json::parse("1").unwrap()),
            version: Some(version(n)),
        };
        let held = Projection {
            version: Some(version("3")),
            ..held("0")
        };
        assert_eq!(
            conclude_read(&held, &[], None, read("2")),
            Conclusion::LookAgain(Reason::ReadBehind)
        );
        assert_eq!(
            conclude_read(&held, &[], Some(&version("5")), read("4")),
            Conclusion::LookAgain(Reason::ReadBehind)
        );
        let Conclusion::Change { next, .. } =
            conclude_read(&held, &[], Some(&version("5")), read("5"))
        else {
            panic!("a change")
        };
        assert_eq!(next.version, Some(version("5")));
    }

    #[test]
    fn evidence_of_deletion_leaves_a_tombstone() {
        let gone = Observation::Seen {
            content: Content::Deleted,
            version: None,
        };
        let Conclusion::Change { next, .. } = conclude_read(&held("1"), &[], None, gone) else {
            panic!("a change")
        };
        assert_eq!(next.contents.unwrap().standing(), Standing::Deleted);
    }
}

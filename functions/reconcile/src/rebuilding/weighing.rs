//! Whether what comes out of the bodies takes the place of what is held. Plain functions.
//!
//! A state is never taken back: what is behind the held one may be older than a read of the source that the inbox knows
//! nothing of.

use std::collections::BTreeSet;

use lastword_domain::status::Relation;
use lastword_domain::version::StoredVersion;
use lastword_domain::{Content, Contents, Part, Projection, Proof, StatusOrder, Version};

/// How what comes out stands to what is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(super) enum Weighed {
    /// It says the same.
    Same,
    /// It says something else, and may be taken.
    Other,
    /// It is behind.
    Behind,
}

/// What comes out, with what is of no evidence as it is held.
pub(super) fn onto(held: &Projection, found: Projection) -> Projection {
    let same = digest(&found) == digest(held);
    Projection {
        // The same contents stay in the words in which they are held.
        contents: if same {
            held.contents.clone()
        } else {
            found.contents
        },
        // What waits may be known from an event that is not decided.
        waiting: found.waiting || held.waiting,
        version: found.version,
        grave: found.grave,
        tied: found.tied,
        ..held.clone()
    }
}

fn digest(projection: &Projection) -> Option<lastword_domain::Digest> {
    projection.contents.as_ref().map(Contents::digest)
}

/// Weighs what comes out. `order` is that of the statuses, where they are ordered.
pub(super) fn weigh(held: &Projection, found: &Projection, order: Option<&StatusOrder>) -> Weighed {
    let tie = found.tied.is_some() && found.tied == held.tied;
    let shown = digest(found) == digest(held);
    let as_held = (held.version == found.version || tie)
        && held.grave == found.grave
        && held.tied == found.tied
        && held.waiting == found.waiting;
    if shown && as_held {
        return Weighed::Same;
    }
    // Only a read can have shown it.
    let read_grave = held
        .grave
        .as_ref()
        .is_some_and(|grave| grave.proof != Proof::Event);
    let behind = match order {
        Some(order) => status_behind(held, found, order),
        None => version_behind(held.version.as_ref(), found.version.as_ref()),
    };
    match behind || (read_grave && found.grave.is_none()) {
        true => Weighed::Behind,
        false => Weighed::Other,
    }
}

fn version_behind(held: Option<&Version>, found: Option<&Version>) -> bool {
    let (Some(held), Some(found)) = (held, found) else {
        return held.is_some();
    };
    // Versions of two kinds compare with nothing: the configuration is another one.
    let number = |version: &Version| matches!(version.stored(), StoredVersion::Number(_));
    number(held) == number(found) && held > found
}

/// Whether a state that is held is reached by none that is found.
fn status_behind(held: &Projection, found: &Projection, order: &StatusOrder) -> bool {
    let deleted = |contents: &Contents| contents.contains(&Content::Deleted);
    let states = held.contents.iter().flat_map(Contents::with_status);
    let found = found.contents.as_ref();
    let reached = |status: &str| {
        let mut others = found.into_iter().flat_map(Contents::with_status);
        found.is_some_and(deleted)
            || others.any(|(_, other)| {
                other.is_some_and(|other| {
                    matches!(
                        order.compare(other.as_str(), status),
                        Relation::Same | Relation::Further
                    )
                })
            })
    };
    let declared = |status: &&str| order.declares(status);
    let statuses = states.filter_map(|(_, status)| status.map(|status| status.as_str()));
    let mut statuses = statuses.filter(declared);
    statuses.any(|status| !reached(status))
}

/// What of a projection is another. The revision is not asked: it always goes on.
pub(super) fn differing(held: &Projection, next: &Projection) -> BTreeSet<Part> {
    let mut differs = BTreeSet::new();
    let state = held.contents != next.contents
        || held.grave != next.grave
        || held.tied != next.tied
        || held.waiting != next.waiting;
    let (old, new) = (&held.meaning, &next.meaning);
    for (part, differing) in [
        (Part::Contents, state),
        (Part::Version, held.version != next.version),
        (Part::Verdict, old.verdict != new.verdict),
        (Part::Links, old.links != new.links),
        (Part::Reviews, old.reviews != new.reviews),
    ] {
        if differing {
            differs.insert(part);
        }
    }
    differs
}

#[cfg(test)]
mod tests {
    use lastword_domain::{Grave, Json, Status};

    use super::*;

    fn at(version: &str, text: &str) -> Projection {
        Projection {
            contents: Some(Contents::one(Content::Present(Json::parse(text).unwrap()))),
            version: Some(Version::parse(version).unwrap()),
            ..Projection::unknown()
        }
    }

    fn deleted(version: &str, proof: Proof) -> Projection {
        let version = Some(Version::parse(version).unwrap());
        Projection {
            contents: Some(Contents::one(Content::Deleted)),
            version: version.clone(),
            grave: Some(Grave { proof, version }),
            ..Projection::unknown()
        }
    }

    #[test]
    fn what_tells_less_than_is_held_is_behind_and_the_same_version_may_be_put_right() {
        let held = at("2", "{}");
        for (found, weighed) in [
            (at("2", " {}"), Weighed::Same),
            (at("2", "[]"), Weighed::Other),
            (at("3", "{}"), Weighed::Other),
            (at("1", "{}"), Weighed::Behind),
            (deleted("2", Proof::Event), Weighed::Other),
        ] {
            assert_eq!(weigh(&held, &found, None), weighed, "{found:?}");
        }
        assert_eq!(onto(&held, at("2", " {}")), held);
    }

    #[test]
    fn a_tombstone_that_only_a_read_can_have_left_is_not_taken_back() {
        let found = at("2", "{}");
        assert_eq!(
            weigh(&deleted("2", Proof::Absence), &found, None),
            Weighed::Behind
        );
        // All events are there, and none of them says so.
        assert_eq!(
            weigh(&deleted("2", Proof::Event), &found, None),
            Weighed::Other
        );
    }

    #[test]
    fn of_ordered_statuses_one_that_does_not_reach_the_held_one_is_behind() {
        let leads = |from: &str, to: &[&str]| {
            (
                from.to_owned(),
                to.iter().map(|to| (*to).to_owned()).collect(),
            )
        };
        let order = [leads("a", &["b", "c"]), leads("b", &["d"])].into();
        let order = StatusOrder::parse(&order).unwrap();
        let under = |status: &str, text: &str| {
            let content = Content::Present(Json::parse(text).unwrap());
            let status = Status::parse(status).unwrap();
            Projection {
                contents: Some(Contents::ranked(content, status)),
                ..Projection::unknown()
            }
        };
        for (found, weighed) in [
            (under("b", "1"), Weighed::Same),
            (under("b", "2"), Weighed::Other),
            (under("d", "2"), Weighed::Other),
            (under("a", "1"), Weighed::Behind),
            (under("c", "1"), Weighed::Behind),
        ] {
            assert_eq!(
                weigh(&under("b", "1"), &found, Some(&order)),
                weighed,
                "{found:?}"
            );
        }
        // A status that is not declared any more holds nobody up.
        assert_eq!(
            weigh(&under("x", "1"), &under("a", "1"), Some(&order)),
            Weighed::Other
        );
    }

    #[test]
    fn a_tie_in_a_count_is_the_same_however_far_the_count_had_come_before_it_was_found() {
        let tied = |version: &str| Projection {
            tied: Some(Version::parse("2").unwrap()),
            ..at(version, "[1]")
        };
        assert_eq!(weigh(&tied("5"), &tied("1"), None), Weighed::Same);
        assert_eq!(weigh(&at("5", "[1]"), &tied("1"), None), Weighed::Behind);
    }
}

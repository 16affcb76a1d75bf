//! Strategy `version`: the greatest documented version wins; a tie between different contents has no
//! winner.
//!
//! What is held is a pair: the greatest version seen, and the set of contents seen under it. Joining two
//! such pairs keeps the greater version, or at equal versions the union of the sets. That join is
//! commutative, associative and idempotent, so order and repetition of arrival cannot show (law 4, and
//! law 6: a tie is a conflict, never a silent winner).

use super::Conclusion;
use crate::decision::{Mark, Outcome, Reason};
use crate::key::EventRef;
use crate::projection::{Content, Contents, Projection, Standing};
use crate::version::Version;

/// What one event's own body proves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The event whose body this is.
    pub event: EventRef,
    /// The version it speaks of.
    pub version: Version,
    /// What the resource was at that version.
    pub content: Content,
}

/// Concludes from the bodies of all the signals at once.
///
/// `can_read` says whether the contract offers a read that settles a tie.
pub fn conclude_versions(held: &Projection, snapshots: &[Snapshot], can_read: bool) -> Conclusion {
    let mut joined = held.version.clone().zip(held.contents.clone());
    for snapshot in snapshots {
        joined = Some(join(joined, snapshot));
    }
    let Some((version, contents)) = joined else {
        return Conclusion::Quiet { marks: Vec::new() };
    };
    let contested = matches!(contents.standing(), Standing::Contested(_));
    let changed =
        held.version.as_ref() != Some(&version) || held.contents.as_ref() != Some(&contents);
    if contested && can_read && snapshots.iter().any(|snapshot| snapshot.version == version) {
        return Conclusion::Reread;
    }
    let marks = snapshots
        .iter()
        .map(|snapshot| mark(snapshot, held, &version, contested))
        .collect();
    if !changed {
        return Conclusion::Quiet { marks };
    }
    Conclusion::Change {
        next: Projection {
            revision: held.revision.next(),
            contents: Some(contents),
            version: Some(version),
            recent: held.recent.clone(),
            paged: held.paged,
        },
        marks,
    }
}

fn join(held: Option<(Version, Contents)>, snapshot: &Snapshot) -> (Version, Contents) {
    let new = Contents::one(snapshot.content.clone());
    match held {
        None => (snapshot.version.clone(), new),
        Some((version, contents)) => match snapshot.version.cmp(&version) {
            std::cmp::Ordering::Less => (version, contents),
            std::cmp::Ordering::Equal => (version, contents.union(new)),
            std::cmp::Ordering::Greater => (snapshot.version.clone(), new),
        },
    }
}

fn mark(snapshot: &Snapshot, held: &Projection, greatest: &Version, contested: bool) -> Mark {
    let known = held.version.as_ref() == Some(greatest)
        && held
            .contents
            .as_ref()
            .is_some_and(|contents| contents.contains(&snapshot.content));
    let (outcome, reason) = if snapshot.version < *greatest {
        (Outcome::Stale, Reason::VersionOlder)
    } else if contested {
        (Outcome::Conflict, Reason::VersionTie)
    } else if known {
        (Outcome::Duplicate, Reason::VersionSame)
    } else {
        (Outcome::Applied, Reason::VersionGreater)
    };
    Mark {
        event: snapshot.event.clone(),
        outcome,
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest;
    use crate::json::Json;
    use proptest::prelude::*;

    fn snapshot((version, content): &(u8, u8)) -> Snapshot {
        let identity = Digest::of_parts(&[&version.to_string(), &content.to_string()]).to_text();
        Snapshot {
            event: EventRef::parse(&identity).unwrap(),
            version: Version::parse(&version.to_string()).unwrap(),
            // One of the contents is the deletion, so that ties between it and a state are met too.
            content: match content {
                0 => Content::Deleted,
                n => Content::Present(Json::parse(&format!("{{\"n\":{n}}}")).unwrap()),
            },
        }
    }

    fn take(held: Projection, snapshots: &[Snapshot]) -> Projection {
        match conclude_versions(&held, snapshots, false) {
            Conclusion::Change { next, .. } => next,
            Conclusion::Quiet { .. } => Projection {
                revision: held.revision.next(),
                ..held
            },
            Conclusion::Reread | Conclusion::LookAgain(_) => panic!("a conclusion"),
        }
    }

    /// What a projection says, without how many conclusions it took.
    fn says(projection: &Projection) -> (Option<Version>, Option<Contents>) {
        (projection.version.clone(), projection.contents.clone())
    }

    fn told(history: &[Snapshot], batch: usize) -> (Option<Version>, Option<Contents>) {
        says(
            &history
                .chunks(batch.max(1))
                .fold(Projection::unknown(), take),
        )
    }

    /// Histories full of ties: few versions, few contents.
    fn history() -> impl Strategy<Value = Vec<(u8, u8)>> {
        proptest::collection::vec((0u8..4, 0u8..3), 1..7)
    }

    proptest! {
        #[test]
        fn any_order_and_repetition_in_any_batches_ends_in_one_projection(
            (told_once, told_again) in history().prop_flat_map(|history| {
                let repeated: Vec<_> = history.iter().chain(&history).chain(&history).copied().collect();
                (Just(history), Just(repeated).prop_shuffle())
            }),
            batch in 1usize..8,
        ) {
            let once: Vec<_> = told_once.iter().map(snapshot).collect();
            let again: Vec<_> = told_again.iter().map(snapshot).collect();
            prop_assert_eq!(told(&once, 1), told(&again, batch));
        }

        #[test]
        fn two_tellings_commute_and_a_second_telling_says_nothing_new(a in history(), b in history()) {
            let a: Vec<_> = a.iter().map(snapshot).collect();
            let b: Vec<_> = b.iter().map(snapshot).collect();
            let ab = take(take(Projection::unknown(), &a), &b);
            let ba = take(take(Projection::unknown(), &b), &a);
            prop_assert_eq!(says(&ab), says(&ba));
            let again = conclude_versions(&ab, &a, false);
            let quiet = matches!(again, Conclusion::Quiet { .. });
            prop_assert!(quiet, "{:?}", again);
        }

        #[test]
        fn a_projection_never_goes_back_to_a_lower_version(a in history(), b in history()) {
            let a: Vec<_> = a.iter().map(snapshot).collect();
            let b: Vec<_> = b.iter().map(snapshot).collect();
            let before = take(Projection::unknown(), &a);
            let after = take(before.clone(), &b);
            prop_assert!(after.version >= before.version);
        }

        #[test]
        fn every_signal_gets_exactly_one_mark(a in history(), b in history()) {
            let held = take(Projection::unknown(), &a.iter().map(snapshot).collect::<Vec<_>>());
            let b: Vec<_> = b.iter().map(snapshot).collect();
            let (Conclusion::Change { marks, .. } | Conclusion::Quiet { marks }) = conclude_versions(&held, &b, false) else {
                panic!("a conclusion");
            };
            prop_assert_eq!(
                marks.iter().map(|mark| &mark.event).collect::<Vec<_>>(),
                b.iter().map(|snapshot| &snapshot.event).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn all_permutations_of_a_history_with_ties_and_a_deletion_agree() {
        let history: Vec<_> = [(1, 1), (2, 1), (2, 2), (3, 1), (3, 0), (2, 1)]
            .iter()
            .map(snapshot)
            .collect();
        let expected = told(&history, 1);
        let mut order: Vec<usize> = (0..history.len()).collect();
        let mut seen = 0;
        permute(&mut order, 0, &mut |order| {
            let told_so: Vec<_> = order.iter().map(|i| history[*i].clone()).collect();
            assert_eq!(told(&told_so, 1), expected);
            seen += 1;
        });
        assert_eq!(seen, 720);
        assert!(matches!(
            expected.1.unwrap().standing(),
            Standing::Contested(_)
        ));
    }

    fn permute(order: &mut [usize], from: usize, each: &mut impl FnMut(&[usize])) {
        if from == order.len() {
            return each(order);
        }
        for i in from..order.len() {
            order.swap(from, i);
            permute(order, from + 1, each);
            order.swap(from, i);
        }
    }

    #[test]
    fn a_tie_asks_the_source_where_it_can_be_read() {
        let held = take(Projection::unknown(), &[snapshot(&(2, 1))]);
        assert_eq!(
            conclude_versions(&held, &[snapshot(&(2, 2))], true),
            Conclusion::Reread
        );
        assert!(matches!(
            conclude_versions(&held, &[snapshot(&(1, 2))], true),
            Conclusion::Quiet { .. }
        ));
    }
}

use super::*;
use crate::digest::Digest;
use crate::json::Json;
use proptest::prelude::*;

const COMES_BACK: Terms = Terms {
    can_read: false,
    comes_back: true,
};
const FINAL: Terms = Terms {
    can_read: false,
    comes_back: false,
};

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

fn take(held: Projection, snapshots: &[Snapshot], terms: Terms) -> Projection {
    match conclude_versions(&held, snapshots, terms) {
        Conclusion::Change { next, .. } => next,
        Conclusion::Quiet { .. } => Projection {
            revision: held.revision.next(),
            ..held
        },
        Conclusion::Reread | Conclusion::LookAgain(_) => panic!("a conclusion"),
    }
}

/// What a projection says, without how many conclusions it took.
type Says = (Option<Version>, Option<Contents>, Option<Grave>);

fn says(projection: &Projection) -> Says {
    (
        projection.version.clone(),
        projection.contents.clone(),
        projection.grave.clone(),
    )
}

fn told(history: &[Snapshot], batch: usize, terms: Terms) -> Says {
    let batches = history.chunks(batch.max(1));
    says(&batches.fold(Projection::unknown(), |held, batch| {
        take(held, batch, terms)
    }))
}

/// What the law says of a whole history at once.
fn expected(history: &[Snapshot], terms: Terms) -> Says {
    let versions = |deleted: bool| {
        let those = history
            .iter()
            .filter(move |s| !deleted || s.content == Content::Deleted);
        those.map(|s| s.version.clone()).max()
    };
    let greatest = versions(false);
    let deletion =
        versions(true).filter(|deletion| !terms.comes_back || Some(deletion) == greatest.as_ref());
    let under = history
        .iter()
        .filter(|s| Some(&s.version) == greatest.as_ref());
    let contents = match (&deletion, terms.comes_back) {
        (Some(_), false) => Some(Contents::one(Content::Deleted)),
        _ => Contents::several(under.map(|s| (s.content.clone(), None))),
    };
    let deleted = contents == Some(Contents::one(Content::Deleted));
    let grave = deletion.filter(|_| deleted).map(|version| Grave {
        proof: Proof::Event,
        version: Some(version),
    });
    (greatest, contents, grave)
}

fn terms() -> impl Strategy<Value = Terms> {
    prop_oneof![Just(COMES_BACK), Just(FINAL)]
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
        terms in terms(),
    ) {
        let once: Vec<_> = told_once.iter().map(snapshot).collect();
        let again: Vec<_> = told_again.iter().map(snapshot).collect();
        prop_assert_eq!(told(&once, 1, terms), expected(&once, terms));
        prop_assert_eq!(told(&again, batch, terms), expected(&once, terms));
    }

    #[test]
    fn two_tellings_commute_and_a_second_telling_says_nothing_new(a in history(), b in history(), terms in terms()) {
        let a: Vec<_> = a.iter().map(snapshot).collect();
        let b: Vec<_> = b.iter().map(snapshot).collect();
        let ab = take(take(Projection::unknown(), &a, terms), &b, terms);
        let ba = take(take(Projection::unknown(), &b, terms), &a, terms);
        prop_assert_eq!(says(&ab), says(&ba));
        let again = conclude_versions(&ab, &a, terms);
        let quiet = matches!(again, Conclusion::Quiet { .. });
        prop_assert!(quiet, "{:?}", again);
    }

    #[test]
    fn a_projection_never_goes_back_to_a_lower_version(a in history(), b in history(), terms in terms()) {
        let a: Vec<_> = a.iter().map(snapshot).collect();
        let b: Vec<_> = b.iter().map(snapshot).collect();
        let before = take(Projection::unknown(), &a, terms);
        let after = take(before.clone(), &b, terms);
        prop_assert!(after.version >= before.version);
        if !terms.comes_back {
            let grave = |held: &Projection| held.grave.as_ref().and_then(|grave| grave.version.clone());
            prop_assert!(grave(&after) >= grave(&before));
        }
    }

    #[test]
    fn every_signal_gets_exactly_one_mark(a in history(), b in history(), terms in terms()) {
        let held = take(Projection::unknown(), &a.iter().map(snapshot).collect::<Vec<_>>(), terms);
        let b: Vec<_> = b.iter().map(snapshot).collect();
        let (Conclusion::Change { marks, .. } | Conclusion::Quiet { marks }) = conclude_versions(&held, &b, terms) else {
            panic!("a conclusion");
        };
        prop_assert_eq!(
            marks.iter().map(|mark| &mark.event).collect::<Vec<_>>(),
            b.iter().map(|snapshot| &snapshot.event).collect::<Vec<_>>()
        );
    }
}

#[test]
fn all_permutations_of_histories_with_ties_and_deletions_agree() {
    for history in [
        [(1, 1), (2, 1), (2, 2), (3, 1), (3, 0), (2, 1)],
        [(1, 0), (2, 1), (3, 0), (4, 1), (4, 2), (3, 1)],
        [(1, 1), (2, 0), (2, 0), (1, 0), (3, 1), (3, 1)],
        [(1, 1), (2, 1), (3, 0), (3, 0), (2, 0), (2, 2)],
    ] {
        let history: Vec<_> = history.iter().map(snapshot).collect();
        for terms in [COMES_BACK, FINAL] {
            let expected = expected(&history, terms);
            let mut order: Vec<usize> = (0..history.len()).collect();
            let mut seen = 0;
            permute(&mut order, 0, &mut |order| {
                let told_so: Vec<_> = order.iter().map(|i| history[*i].clone()).collect();
                assert_eq!(told(&told_so, 1, terms), expected);
                seen += 1;
            });
            assert_eq!(seen, 720);
        }
    }
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
    let can_read = Terms {
        can_read: true,
        comes_back: true,
    };
    let held = take(Projection::unknown(), &[snapshot(&(2, 1))], can_read);
    assert_eq!(
        conclude_versions(&held, &[snapshot(&(2, 2))], can_read),
        Conclusion::Reread
    );
    assert!(matches!(
        conclude_versions(&held, &[snapshot(&(1, 2))], can_read),
        Conclusion::Quiet { .. }
    ));
}

fn marked(held: &Projection, told: (u8, u8)) -> (Outcome, Reason) {
    match conclude_versions(held, &[snapshot(&told)], FINAL) {
        Conclusion::Change { marks, .. } | Conclusion::Quiet { marks } => {
            (marks[0].outcome, marks[0].reason)
        }
        Conclusion::Reread | Conclusion::LookAgain(_) => panic!("a conclusion"),
    }
}

#[test]
fn what_came_after_a_final_deletion_is_for_a_person_and_what_was_before_is_stale() {
    let held = take(Projection::unknown(), &[snapshot(&(3, 0))], FINAL);
    let changed = (Outcome::Conflict, Reason::DeletedThenChanged);
    for (told, said) in [
        ((2, 1), (Outcome::Stale, Reason::DeletedFinal)),
        ((3, 1), (Outcome::Stale, Reason::DeletedFinal)),
        ((4, 1), changed),
        ((2, 0), (Outcome::Stale, Reason::VersionOlder)),
        ((3, 0), (Outcome::Duplicate, Reason::VersionSame)),
        ((4, 0), (Outcome::Applied, Reason::VersionGreater)),
    ] {
        assert_eq!(marked(&held, told), said, "{told:?}");
    }
    let later = take(Projection::unknown(), &[snapshot(&(4, 1))], FINAL);
    assert_eq!(marked(&later, (3, 0)), changed);
    let both = take(later, &[snapshot(&(3, 0))], FINAL);
    assert!(both.version > both.grave.unwrap().version);
}

#[test]
fn a_deletion_that_was_contested_is_final_once_nothing_comes_back() {
    let tie = [snapshot(&(2, 0)), snapshot(&(2, 1))];
    let contested = take(Projection::unknown(), &tie, COMES_BACK);
    assert_eq!(contested.grave, None);
    let after = take(contested, &[snapshot(&(1, 1))], FINAL);
    assert_eq!(after.standing(), Some(Standing::Deleted));
    assert_eq!(after.grave.unwrap().version, after.version);
}

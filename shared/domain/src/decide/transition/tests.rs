use std::collections::BTreeMap;

use super::*;
use crate::digest::Digest;
use crate::json::Json;
use proptest::prelude::*;

const EVENTS_ONLY: Terms = Terms {
    can_read: false,
    comes_back: false,
};
const CAN_READ: Terms = Terms {
    can_read: true,
    comes_back: true,
};

fn order(edges: &[(usize, usize)]) -> StatusOrder {
    let mut leads: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (from, to) in edges {
        leads
            .entry(format!("s{from}"))
            .or_default()
            .push(format!("s{to}"));
    }
    StatusOrder::parse(&leads).unwrap()
}

/// `s0` to `s1` and `s2`, `s1` to `s3`.
fn fork() -> StatusOrder {
    order(&[(0, 1), (0, 2), (1, 3)])
}

/// A number for the status, of which some are declared nowhere, and 9 is the deletion.
fn ranked((status, content): &(usize, u8)) -> Ranked {
    let deletion = *status == 9;
    let identity = Digest::of_parts(&[&status.to_string(), &content.to_string()]).to_text();
    Ranked {
        event: EventRef::parse(&identity).unwrap(),
        status: (!deletion).then(|| Status::parse(&format!("s{status}")).unwrap()),
        content: if deletion {
            Content::Deleted
        } else {
            Content::Present(Json::parse(&content.to_string()).unwrap())
        },
    }
}

fn all(history: &[(usize, u8)]) -> Vec<Ranked> {
    history.iter().map(ranked).collect()
}

fn take(held: Projection, told: &[Ranked], order: &StatusOrder) -> Projection {
    match conclude_transition(&held, told, order, EVENTS_ONLY) {
        Conclusion::Change { next, .. } => next,
        Conclusion::Quiet { .. } => held.advanced(),
        Conclusion::Reread | Conclusion::LookAgain(_) => panic!("a conclusion"),
    }
}

fn says(projection: &Projection) -> (Option<Contents>, Option<Grave>) {
    (projection.contents.clone(), projection.grave.clone())
}

fn told(
    history: &[Ranked],
    batch: usize,
    order: &StatusOrder,
) -> (Option<Contents>, Option<Grave>) {
    let batches = history.chunks(batch.max(1));
    says(&batches.fold(Projection::unknown(), |held, batch| {
        take(held, batch, order)
    }))
}

/// Those of a whole history that are behind nothing in it.
fn expected(history: &[Ranked], order: &StatusOrder) -> Option<Contents> {
    if history.iter().any(|told| told.content == Content::Deleted) {
        return Some(Contents::one(Content::Deleted));
    }
    let name = |told: &Ranked| told.status.as_ref().unwrap().as_str().to_owned();
    let declared: Vec<_> = history
        .iter()
        .filter(|told| order.declares(&name(told)))
        .collect();
    let behind = |told: &Ranked| {
        let further =
            |other: &&&Ranked| order.compare(&name(other), &name(told)) == Relation::Further;
        declared.iter().any(|other| further(&other))
    };
    let furthest = declared.iter().filter(|told| !behind(told));
    Contents::several(furthest.map(|told| (told.content.clone(), told.status.clone())))
}

/// Any order without a circle over `s0` to `s6`; `s7` is never declared.
fn orders() -> impl Strategy<Value = StatusOrder> {
    let edges = proptest::collection::vec((0usize..7, 0usize..7), 1..14);
    edges.prop_filter_map("an edge", |edges| {
        let rising: Vec<_> = edges
            .into_iter()
            .filter(|(one, other)| one != other)
            .map(|(one, other)| (one.min(other), one.max(other)))
            .collect();
        (!rising.is_empty()).then(|| order(&rising))
    })
}

fn history() -> impl Strategy<Value = Vec<(usize, u8)>> {
    let status = prop_oneof![12 => 0usize..8, 1 => Just(9usize)];
    proptest::collection::vec((status, 0u8..3), 1..8)
}

proptest! {
    #[test]
    fn any_order_and_repetition_in_any_batches_ends_in_one_projection(
        order in orders(),
        (told_once, told_again) in history().prop_flat_map(|history| {
            let repeated: Vec<_> = history.iter().chain(&history).copied().collect();
            (Just(history), Just(repeated).prop_shuffle())
        }),
        batch in 1usize..8,
    ) {
        let once = told(&all(&told_once), 1, &order);
        prop_assert_eq!(&once.0, &expected(&all(&told_once), &order));
        prop_assert_eq!(once, told(&all(&told_again), batch, &order));
    }

    #[test]
    fn tellings_commute_associate_and_say_nothing_new_again(
        order in orders(), a in history(), b in history(), c in history(),
    ) {
        let (a, b, c) = (all(&a), all(&b), all(&c));
        let ab = take(take(Projection::unknown(), &a, &order), &b, &order);
        let ba = take(take(Projection::unknown(), &b, &order), &a, &order);
        prop_assert_eq!(says(&ab), says(&ba));
        let abc = take(ab.clone(), &c, &order);
        let joined: Vec<_> = b.iter().chain(&c).cloned().collect();
        let bc_at_once = take(take(Projection::unknown(), &a, &order), &joined, &order);
        prop_assert_eq!(says(&abc), says(&bc_at_once));
        let again = conclude_transition(&ab, &a, &order, EVENTS_ONLY);
        let quiet = matches!(again, Conclusion::Quiet { .. });
        prop_assert!(quiet, "{:?}", again);
    }

    #[test]
    fn a_projection_never_moves_down(order in orders(), a in history(), b in history()) {
        let before = take(Projection::unknown(), &all(&a), &order);
        let after = take(before.clone(), &all(&b), &order);
        let (old, new) = (held_pairs(&before, &order), held_pairs(&after, &order));
        for pair in &old {
            let kept = |other: &Pair| {
                other == pair || other.compare(pair, &order) == Relation::Further
            };
            prop_assert!(new.iter().any(kept), "{pair:?} in {new:?}");
        }
        for pair in &new {
            let lower = |other: &Pair| pair.compare(other, &order) == Relation::Behind;
            prop_assert!(!old.iter().any(lower));
        }
    }

    #[test]
    fn every_signal_gets_exactly_one_mark(order in orders(), a in history(), b in history()) {
        let held = take(Projection::unknown(), &all(&a), &order);
        let b = all(&b);
        let (Conclusion::Change { marks, .. } | Conclusion::Quiet { marks }) =
            conclude_transition(&held, &b, &order, EVENTS_ONLY)
        else {
            panic!("a conclusion");
        };
        prop_assert_eq!(
            marks.iter().map(|mark| &mark.event).collect::<Vec<_>>(),
            b.iter().map(|told| &told.event).collect::<Vec<_>>()
        );
    }
}

#[test]
fn all_permutations_of_a_history_agree() {
    for history in [
        [(0, 1), (1, 1), (1, 2), (2, 1), (3, 1), (7, 1)],
        [(0, 1), (1, 1), (1, 2), (0, 2), (1, 1), (7, 1)],
        [(0, 1), (9, 0), (1, 2), (2, 1), (3, 1), (9, 0)],
    ] {
        let history = all(&history);
        let expected = expected(&history, &fork());
        let mut order: Vec<usize> = (0..history.len()).collect();
        let mut seen = 0;
        permute(&mut order, 0, &mut |order| {
            let told_so: Vec<_> = order.iter().map(|i| history[*i].clone()).collect();
            assert_eq!(told(&told_so, 1, &fork()).0, expected);
            seen += 1;
        });
        assert_eq!(seen, 720);
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

fn marked(held: &[(usize, u8)], told: (usize, u8)) -> (Outcome, Reason) {
    let held = take(Projection::unknown(), &all(held), &fork());
    match conclude_transition(&held, &[ranked(&told)], &fork(), EVENTS_ONLY) {
        Conclusion::Change { marks, .. } | Conclusion::Quiet { marks } => {
            (marks[0].outcome, marks[0].reason)
        }
        Conclusion::Reread | Conclusion::LookAgain(_) => panic!("a conclusion"),
    }
}

#[test]
fn each_standing_has_its_own_word() {
    for (held, told, said) in [
        (
            &[(0, 1)][..],
            (1, 1),
            (Outcome::Applied, Reason::StatusFurther),
        ),
        (&[(3, 1)], (1, 2), (Outcome::Stale, Reason::StatusBehind)),
        (&[(3, 1)], (3, 1), (Outcome::Duplicate, Reason::StatusSame)),
        (&[(3, 1)], (3, 2), (Outcome::Conflict, Reason::StatusTie)),
        (&[(3, 1)], (2, 1), (Outcome::Conflict, Reason::StatusApart)),
        (
            &[(3, 1)],
            (7, 1),
            (Outcome::Failed, Reason::StatusUndeclared),
        ),
        (&[(9, 0)], (3, 1), (Outcome::Stale, Reason::DeletedFinal)),
        (&[(9, 0)], (9, 0), (Outcome::Duplicate, Reason::StatusSame)),
        (&[(3, 1)], (9, 0), (Outcome::Applied, Reason::StatusFurther)),
    ] {
        assert_eq!(marked(held, told), said, "{held:?} {told:?}");
    }
}

#[test]
fn an_open_question_asks_the_source_where_it_can_be_read() {
    let held = take(Projection::unknown(), &all(&[(3, 1)]), &fork());
    let ask = |told| conclude_transition(&held, &all(&[told]), &fork(), CAN_READ);
    assert_eq!(ask((3, 2)), Conclusion::Reread);
    assert_eq!(ask((2, 1)), Conclusion::Reread);
    assert!(matches!(ask((1, 1)), Conclusion::Quiet { .. }));
    assert!(matches!(ask((9, 0)), Conclusion::Change { .. }));
}

#[test]
fn what_is_held_under_a_status_that_is_no_longer_declared_gives_way_to_a_declared_one() {
    let old = take(Projection::unknown(), &all(&[(6, 1)]), &order(&[(5, 6)]));
    let untouched = take(old.clone(), &all(&[(7, 1)]), &fork());
    assert_eq!(says(&untouched), says(&old));
    let after = take(old, &all(&[(0, 2)]), &fork());
    assert_eq!(after.contents, expected(&all(&[(0, 2)]), &fork()));
}

#[test]
fn nothing_of_what_is_behind_is_merged_into_what_is_further() {
    let held = take(Projection::unknown(), &all(&[(3, 1), (1, 2)]), &fork());
    assert_eq!(held.contents, expected(&all(&[(3, 1)]), &fork()));
}

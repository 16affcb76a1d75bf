mod model;
mod reads;
mod words;

use super::*;
use crate::decision::{Mark, Outcome};
use crate::projection::Contents;
use crate::status::Status;
use model::{Store, Told, change, deleted, patch, whole};
use proptest::prelude::*;
use proptest::sample::Index;

const FINAL: Terms = Terms {
    can_read: false,
    comes_back: false,
};
const COMES_BACK: Terms = Terms {
    can_read: false,
    comes_back: true,
};

fn number(number: u32) -> Version {
    Version::parse(&number.to_string()).unwrap()
}

/// What the law says of a whole set of changes at once: the fold of the first numbers up to a gap or a tie.
fn expected(told: &[Told], terms: Terms) -> model::Says {
    let digests = |n: u32| {
        let under = told.iter().filter(|told| told.number == n);
        let mut digests: Vec<_> = under.map(|told| told.delta.digest()).collect();
        digests.sort();
        digests.dedup();
        digests
    };
    let last = told
        .iter()
        .map(|told| told.number)
        .max()
        .unwrap_or_default();
    let mut contents = None;
    let mut buried = None;
    let mut version = None;
    let mut tied = (1..=last).find(|n| digests(*n).len() > 1);
    for n in 1..=last {
        let under: Vec<_> = told.iter().filter(|told| told.number == n).collect();
        let Some(one) = under.first() else { break };
        if buried.is_none() {
            if tied == Some(n) {
                contents = model::side_by_side(under.iter().map(|told| &told.delta));
                break;
            }
            contents = Some(model::applied(contents.as_ref(), &one.delta));
            if one.delta == Delta::Deleted && !terms.comes_back {
                buried = Some(n);
                tied = None;
            }
        }
        version = Some(n);
    }
    model::Says {
        waiting: tied.is_some() || last > version.unwrap_or_default(),
        version: version.filter(|_| tied.is_none()).map(number),
        tied: tied.map(number),
        contents,
    }
}

/// Changes with gaps, ties and duplicates: few numbers, few changes.
fn history() -> impl Strategy<Value = Vec<Told>> {
    let delta = prop_oneof![
        6 => (0u8..2, 0u8..3).prop_map(|(member, value)| patch(&format!("{{\"m{member}\":{value}}}"))),
        1 => Just(patch("{\"m0\":null}")),
        2 => Just(whole("{\"m0\":7}")),
        1 => Just(patch("{\"m0\":7}")),
        1 => Just(deleted()),
    ];
    // Mostly one change for a number, so that the count goes on for some time.
    let by_number = proptest::collection::vec((delta, 0u8..12), 1..9);
    by_number.prop_map(|deltas| {
        let mut told = Vec::new();
        for (at, (delta, luck)) in deltas.into_iter().enumerate() {
            let number = u32::try_from(at).unwrap() + 1;
            match luck {
                // A gap, sometimes.
                0 => continue,
                // A tie, sometimes.
                1 => told.push(Told::new(number, whole("{\"tie\":1}"))),
                _ => {}
            }
            told.push(Told::new(number, delta));
        }
        told
    })
}

fn terms() -> impl Strategy<Value = Terms> {
    prop_oneof![Just(FINAL), Just(COMES_BACK)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_order_repetition_and_grouping_ends_in_one_projection(
        (once, again) in history().prop_flat_map(|history| {
            let repeated: Vec<_> = history.iter().chain(&history).cloned().collect();
            (Just(history), Just(repeated).prop_shuffle())
        }),
        sizes in proptest::collection::vec(1usize..5, 1..6),
        terms in terms(),
    ) {
        let mut store = Store::new(terms);
        let mut rest = again.as_slice();
        for size in sizes.iter().cycle() {
            let (batch, others) = rest.split_at((*size).min(rest.len()));
            store.take(batch);
            rest = others;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(store.says(), expected(&once, terms));
    }

    #[test]
    fn what_is_held_is_always_that_of_the_changes_so_far(
        told in history().prop_shuffle(), terms in terms(),
    ) {
        let mut store = Store::new(terms);
        for so_far in 1..=told.len() {
            store.take(&told[so_far - 1..so_far]);
            prop_assert_eq!(store.says(), expected(&told[..so_far], terms));
        }
    }

    #[test]
    fn the_number_never_goes_back_and_a_second_telling_says_nothing_new(
        told in history().prop_shuffle(), at in any::<Index>(), terms in terms(),
    ) {
        let mut store = Store::new(terms);
        let (early, late) = told.split_at(at.index(told.len() + 1));
        store.take(early);
        let before = store.held.clone();
        store.take(late);
        prop_assert!(store.held.version >= before.version);
        let (held, log) = (store.held.clone(), store.log.clone());
        store.take(&told);
        prop_assert_eq!(Projection { revision: held.revision, ..store.held }, held);
        prop_assert_eq!(store.log, log);
    }

    #[test]
    fn every_pending_change_gets_a_mark(
        told in history().prop_shuffle(), at in any::<Index>(), terms in terms(),
    ) {
        let mut store = Store::new(terms);
        let (early, late) = told.split_at(at.index(told.len() + 1));
        store.take(early);
        let marks = store.take(late);
        for told in late {
            let own = |mark: &Mark| mark.event == told.event();
            prop_assert!(marks.iter().any(own), "{told:?} in {marks:?}");
        }
    }
}

proptest! {
    #[test]
    fn a_read_that_reaches_everything_settles_it_and_its_events_told_again_change_nothing(
        told in history().prop_shuffle(),
    ) {
        let mut store = Store::new(COMES_BACK);
        store.take(&told);
        let last = told.iter().map(|told| told.number).max().unwrap_or_default();
        prop_assume!(last > 0);
        let read = store.read(&[], reads::seen(last, "{\"read\":1}"));
        prop_assert_eq!((read.gap, read.needs), (None, Vec::new()));
        let held = store.says();
        prop_assert_eq!((&held.tied, held.waiting), (&None, false));
        prop_assert_eq!(&held.version, &Some(number(last)));
        store.take(&told);
        prop_assert_eq!(store.says(), held);
    }
}

#[test]
fn all_permutations_of_histories_with_ties_gaps_and_deletions_agree() {
    let histories = [
        [
            (1, patch("{\"a\":1}")),
            (2, patch("{\"b\":1}")),
            (3, patch("{\"a\":2}")),
            (3, patch("{\"a\":3}")),
            (4, deleted()),
            (6, whole("{}")),
        ],
        [
            (1, patch("{\"a\":1}")),
            (2, deleted()),
            (3, patch("{\"b\":1}")),
            (3, deleted()),
            (4, patch("{\"c\":1}")),
            (5, whole("{}")),
        ],
        [
            (1, patch("{\"a\":1}")),
            (1, whole("{\"a\":1}")),
            (2, deleted()),
            (3, patch("{\"b\":1}")),
            (3, deleted()),
            (4, whole("{}")),
        ],
        [
            (2, patch("{\"a\":1}")),
            (2, patch("{\"a\":2}")),
            (1, deleted()),
            (4, patch("{\"b\":1}")),
            (5, deleted()),
            (5, whole("{}")),
        ],
    ];
    for history in histories {
        let history: Vec<_> = history.map(|(n, delta)| Told::new(n, delta)).into();
        for terms in [FINAL, COMES_BACK] {
            let expected = expected(&history, terms);
            let mut order: Vec<usize> = (0..history.len()).collect();
            let mut seen = 0;
            permute(&mut order, 0, &mut |order| {
                let mut store = Store::new(terms);
                for at in order {
                    store.take(&history[*at..=*at]);
                }
                assert_eq!(store.says(), expected);
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

//! What a read of the source settles.

use super::*;
use crate::decide::Observation;
use crate::projection::Proof;

fn told(number: u32, text: &str) -> Told {
    Told::new(number, patch(text))
}

pub(super) fn seen(n: u32, text: &str) -> Observation {
    Observation::Seen {
        content: Content::Present(model::json(text)),
        version: Some(number(n)),
        status: None,
        proof: None,
    }
}

fn gone() -> Observation {
    Observation::Seen {
        content: Content::Deleted,
        version: None,
        status: None,
        proof: Some(Proof::Absence),
    }
}

fn marks(conclusion: &Conclusion) -> Vec<(Outcome, Reason)> {
    let (Conclusion::Change { marks, .. } | Conclusion::Quiet { marks }) = conclusion else {
        panic!("a conclusion")
    };
    marks
        .iter()
        .map(|mark| (mark.outcome, mark.reason))
        .collect()
}

/// 1 is applied, 2 is missing, 3 and 5 wait.
fn with_gap() -> Store {
    let mut store = Store::new(FINAL);
    store.take(&[
        told(1, "{\"a\":1}"),
        told(3, "{\"c\":1}"),
        told(5, "{\"e\":1}"),
    ]);
    store
}

#[test]
fn a_read_takes_the_place_of_what_did_not_come_and_what_is_later_goes_on_from_there() {
    let mut store = with_gap();
    let read = store.read(
        &[told(3, "{\"c\":1}"), told(5, "{\"e\":1}")],
        seen(3, "{\"r\":1}"),
    );
    assert_eq!(
        marks(&read.conclusion),
        [
            (Outcome::Applied, Reason::SequenceRead),
            (Outcome::Waiting, Reason::SequenceGap)
        ]
    );
    assert_eq!(read.gap, Some(Gap { next: number(4) }));
    assert!(store.held.waiting);
    store.take(&[told(4, "{\"d\":1}")]);
    assert_eq!(store.held.version, Some(number(5)));
    assert!(!store.held.waiting);
    let expected = Content::Present(model::json("{\"r\":1,\"d\":1,\"e\":1}"));
    assert_eq!(store.held.contents, Some(Contents::one(expected)));
}

#[test]
fn what_waited_and_is_covered_by_a_read_is_marked_without_a_signal() {
    let read = with_gap().read(&[], seen(5, "{}"));
    let applied = (Outcome::Applied, Reason::SequenceRead);
    assert_eq!(marks(&read.conclusion), [applied, applied]);
    assert_eq!((read.gap, read.needs), (None, Vec::new()));
}

#[test]
fn a_read_says_which_changes_follow_it() {
    let read = with_gap().read(&[], seen(2, "{}"));
    let numbers: Vec<_> = read
        .needs
        .iter()
        .map(|logged| logged.number.clone())
        .collect();
    assert_eq!(numbers, [number(3)]);
}

#[test]
fn a_read_that_does_not_reach_what_is_missing_or_tied_settles_nothing() {
    let behind = Conclusion::LookAgain(Reason::ReadBehind);
    for n in [0, 1] {
        assert_eq!(with_gap().read(&[], seen(n, "{}")).conclusion, behind);
    }
    let tie = [told(3, "{\"c\":2}")];
    assert_eq!(with_gap().read(&tie, seen(2, "{}")).conclusion, behind);
    let mut store = with_gap();
    let settled = store.read(&tie, seen(3, "{}"));
    let reasons = marks(&settled.conclusion);
    assert_eq!(reasons[0], (Outcome::Applied, Reason::VersionTieRead));
    assert_eq!(store.held.tied, None);
}

#[test]
fn a_tie_that_a_read_settled_does_not_come_back_with_its_own_events() {
    let mut store = Store::new(FINAL);
    store.take(&[told(1, "{\"a\":1}"), told(1, "{\"a\":2}")]);
    let settled = store.read(&[], seen(1, "{\"a\":2}"));
    assert!(matches!(settled.conclusion, Conclusion::Change { .. }));
    let held = store.says();
    let again = store.take(&[told(1, "{\"a\":1}"), told(1, "{\"a\":2}")]);
    assert!(again.iter().all(|mark| mark.outcome == Outcome::Duplicate));
    assert_eq!(store.says(), held);
    store.take(&[told(1, "{\"a\":3}")]);
    assert_eq!(store.held.tied, Some(number(1)));
    assert_eq!(store.held.contents.unwrap().iter().count(), 3);
}

#[test]
fn a_change_whose_place_a_read_took_is_stale_and_remembered() {
    let mut store = with_gap();
    let read = store.read(&[], seen(5, "{}"));
    assert!(matches!(read.conclusion, Conclusion::Change { .. }));
    let late = store.take(&[told(2, "{\"b\":1}")]);
    assert_eq!(
        (late[0].outcome, late[0].reason),
        (Outcome::Stale, Reason::VersionOlder)
    );
    store.take(&[told(2, "{\"b\":2}")]);
    assert_eq!(store.held.tied, Some(number(2)));
}

#[test]
fn what_is_gone_needs_no_number_and_stays_gone_where_nothing_comes_back() {
    let mut store = with_gap();
    let read = store.read(&[], gone());
    assert_eq!(
        marks(&read.conclusion)[0],
        (Outcome::Applied, Reason::ReadGone)
    );
    assert_eq!(store.held.version, Some(number(5)));
    let again = store.read(&[], seen(9, "{}")).conclusion;
    assert_eq!(again, Conclusion::LookAgain(Reason::DeletedFinal));
    store.take(&[
        told(6, "{\"f\":1}"),
        told(2, "{\"b\":1}"),
        told(2, "{\"b\":2}"),
    ]);
    assert_eq!(store.held.contents, Some(Contents::one(Content::Deleted)));
    assert_eq!(
        (&store.held.version, &store.held.tied),
        (&Some(number(6)), &None)
    );
}

#[test]
fn a_state_without_a_number_cannot_be_placed_and_what_could_not_be_read_says_nothing() {
    let placeless = Observation::Seen {
        content: Content::Present(model::json("{}")),
        version: None,
        status: None,
        proof: None,
    };
    for (seen, reason) in [
        (placeless, Reason::Unreadable),
        (Observation::Nothing(Reason::Absent), Reason::Absent),
    ] {
        let read = with_gap().read(&[], seen);
        assert_eq!(read.conclusion, Conclusion::LookAgain(reason));
    }
}

#[test]
fn a_read_that_shows_what_is_held_is_quiet() {
    let mut store = Store::new(FINAL);
    store.take(&[told(1, "{\"a\":1}")]);
    let read = store.read(&[told(1, "{\"a\":1}")], seen(1, "{ \"a\": 1 }"));
    assert_eq!(
        marks(&read.conclusion),
        [(Outcome::Unchanged, Reason::ReadSame)]
    );
}

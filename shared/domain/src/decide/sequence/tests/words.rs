//! What is said of each change.

use super::*;

fn said(marks: &[Mark]) -> Vec<(Outcome, Reason)> {
    marks
        .iter()
        .map(|mark| (mark.outcome, mark.reason))
        .collect()
}

fn told(number: u32, text: &str) -> Told {
    Told::new(number, patch(text))
}

const APPLIED: (Outcome, Reason) = (Outcome::Applied, Reason::SequenceNext);
const WAITING: (Outcome, Reason) = (Outcome::Waiting, Reason::SequenceGap);
const SAME: (Outcome, Reason) = (Outcome::Duplicate, Reason::SequenceSame);
const TIE: (Outcome, Reason) = (Outcome::Conflict, Reason::SequenceTie);
const AFTER_DELETION: (Outcome, Reason) = (Outcome::Conflict, Reason::DeletedThenChanged);

#[test]
fn a_change_waits_for_the_one_before_it_and_is_marked_again_when_it_came() {
    let mut store = Store::new(FINAL);
    let (one, two) = (told(1, "{\"a\":1}"), told(2, "{\"b\":1}"));
    assert_eq!(said(&store.take(std::slice::from_ref(&two))), [WAITING]);
    assert_eq!(store.gap, Some(Gap { next: number(1) }));
    assert!(store.held.waiting);
    assert_eq!(said(&store.take(std::slice::from_ref(&two))), [WAITING]);
    let marks = store.take(std::slice::from_ref(&one));
    let of = |told: &Told| {
        marks
            .iter()
            .find(|mark| mark.event == told.event())
            .unwrap()
    };
    assert_eq!(
        said(&[of(&one).clone(), of(&two).clone()]),
        [APPLIED, APPLIED]
    );
    assert!(!store.held.waiting);
    assert_eq!(said(&store.take(&[one, two])), [SAME, SAME]);
}

#[test]
fn different_changes_under_one_number_are_a_tie_also_when_one_of_them_was_applied() {
    let mut store = Store::new(FINAL);
    store.take(&[
        told(1, "{\"a\":1}"),
        told(2, "{\"b\":1}"),
        told(3, "{\"c\":1}"),
    ]);
    // Also the one that was applied is marked again.
    assert_eq!(said(&store.take(&[told(2, "{\"b\":2}")])), [TIE, TIE]);
    assert_eq!(store.held.tied, Some(number(2)));
    assert_eq!(said(&store.take(&[told(4, "{\"d\":1}")])), [WAITING]);
    assert_eq!(said(&store.take(&[told(1, "{\"a\":1}")])), [SAME]);
    assert_eq!(said(&store.take(&[told(2, "{\"b\":1}")])), [TIE]);
    assert_eq!(said(&store.take(&[told(1, "{\"a\":2}")])), [TIE, TIE]);
    assert_eq!(store.held.tied, Some(number(1)));
}

#[test]
fn a_tie_above_a_gap_is_announced_and_what_is_below_it_still_applied() {
    let mut store = Store::new(FINAL);
    store.take(&[
        told(1, "{\"a\":1}"),
        told(3, "{\"c\":1}"),
        told(3, "{\"c\":2}"),
    ]);
    assert_eq!(store.held.tied, Some(number(3)));
    assert_eq!(store.held.contents, Some(applied_to_nothing("{\"a\":1}")));
    assert_eq!(said(&store.take(&[told(2, "{\"b\":1}")]))[0], APPLIED);
    assert_eq!(store.held.version, Some(number(2)));
    assert_eq!(store.held.contents.as_ref().unwrap().iter().count(), 2);
}

fn applied_to_nothing(text: &str) -> Contents {
    model::applied(None, &patch(text))
}

#[test]
fn what_comes_after_a_final_deletion_is_counted_and_for_a_person_to_look_at() {
    let mut store = Store::new(FINAL);
    store.take(&[told(1, "{}"), Told::new(2, deleted())]);
    assert_eq!(said(&store.take(&[told(3, "{\"a\":1}")])), [AFTER_DELETION]);
    assert_eq!(said(&store.take(&[told(3, "{\"a\":2}")])), [AFTER_DELETION]);
    assert_eq!(said(&store.take(&[Told::new(4, deleted())])), [APPLIED]);
    assert_eq!(store.held.contents, Some(Contents::one(Content::Deleted)));
    assert_eq!(store.held.version, Some(number(4)));
    assert_eq!(store.held.grave.as_ref().unwrap().version, Some(number(2)));
}

#[test]
fn what_comes_back_begins_with_nothing() {
    let mut store = Store::new(COMES_BACK);
    store.take(&[
        told(1, "{\"a\":1}"),
        Told::new(2, deleted()),
        told(3, "{\"b\":1}"),
    ]);
    assert_eq!(store.held.contents, Some(applied_to_nothing("{\"b\":1}")));
    assert_eq!(store.held.grave, None);
}

#[test]
fn a_change_outside_of_the_count_is_refused_and_touches_nothing() {
    let most = Version::parse(&"9".repeat(38)).unwrap();
    let fixed = crate::version::VersionKind::parse("fixed:1").unwrap();
    for outside in [most, number(0), Version::parse_as(fixed, "1").unwrap()] {
        let change = Change {
            number: outside,
            ..change(&told(1, "{}"))
        };
        let refused = conclude_sequence(&Projection::unknown(), &[], &[change], &number(1), FINAL);
        let Conclusion::Quiet { marks } = refused.conclusion else {
            panic!("quiet")
        };
        assert_eq!(said(&marks), [(Outcome::Failed, Reason::Unparsable)]);
        assert_eq!(refused.log, []);
    }
}

#[test]
fn a_tie_asks_the_source_where_it_can_be_read() {
    let can_read = Terms {
        can_read: true,
        comes_back: false,
    };
    let changes = [change(&told(1, "{}")), change(&told(1, "{\"a\":1}"))];
    let tie = conclude_sequence(&Projection::unknown(), &[], &changes, &number(1), can_read);
    assert_eq!(tie.conclusion, Conclusion::Reread);
    assert_eq!(tie.log.len(), 2);
}

#[test]
fn bodies_that_are_not_at_hand_are_asked_for() {
    let mut store = Store::new(FINAL);
    let (one, two) = (told(1, "{\"a\":1}"), told(2, "{\"b\":1}"));
    store.take(&[one, two.clone(), told(4, "{\"d\":1}")]);
    let ask = |told: Told| {
        let changes = [change(&told)];
        let log = store.known(&changes);
        conclude_sequence(&store.held, &log, &changes, &number(1), FINAL)
    };
    let tie = ask(told(2, "{\"b\":2}"));
    assert_eq!(tie.conclusion, Conclusion::LookAgain(Reason::SequenceTie));
    assert_eq!(tie.needs[0].event, Some(two.event()));
    assert_eq!(tie.log, []);
    let filled = ask(told(3, "{\"c\":1}"));
    assert!(matches!(filled.conclusion, Conclusion::Change { .. }));
    assert_eq!(filled.needs[0].event, Some(told(4, "{\"d\":1}").event()));
}

#[test]
fn one_change_told_by_two_events_is_put_down_to_the_lesser() {
    let events = [told(7, "{}").event(), told(8, "{}").event()];
    let changes = events.clone().map(|event| Change {
        event: Some(event),
        ..change(&told(1, "{}"))
    });
    let once = conclude_sequence(&Projection::unknown(), &[], &changes, &number(1), FINAL);
    let least = events.iter().min();
    assert_eq!(once.log.len(), 1);
    assert_eq!(once.log[0].event.as_ref(), least);
    let Conclusion::Change { marks, .. } = once.conclusion else {
        panic!("a change")
    };
    for mark in marks {
        let expected = if Some(&mark.event) == least {
            APPLIED
        } else {
            SAME
        };
        assert_eq!((mark.outcome, mark.reason), expected);
    }
}

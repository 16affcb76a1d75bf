use super::*;
use crate::json::Json;
use crate::projection::Standing;
use crate::status::Status;

const COMES_BACK: Terms = Terms {
    can_read: true,
    comes_back: true,
};
const FINAL: Terms = Terms {
    can_read: true,
    comes_back: false,
};

fn status(text: &str) -> Status {
    Status::parse(text).unwrap()
}

fn gone(proof: Option<Proof>) -> Observation {
    Observation::Seen {
        content: Content::Deleted,
        version: None,
        status: None,
        proof,
    }
}

fn next(conclusion: Conclusion) -> Projection {
    match conclusion {
        Conclusion::Change { next, .. } => next,
        Conclusion::Quiet { .. } | Conclusion::Reread | Conclusion::LookAgain(_) => {
            panic!("a change")
        }
    }
}

fn seen(text: &str) -> Observation {
    Observation::Seen {
        content: Content::Present(Json::parse(text).unwrap()),
        version: None,
        status: None,
        proof: None,
    }
}

fn held(text: &str) -> Projection {
    next(conclude_read(
        &Projection::unknown(),
        &[],
        None,
        seen(text),
        COMES_BACK,
    ))
}

#[test]
fn what_could_not_be_read_changes_nothing() {
    for reason in [Reason::Unreadable, Reason::Absent] {
        let conclusion = conclude_read(
            &held("1"),
            &[],
            None,
            Observation::Nothing(reason),
            COMES_BACK,
        );
        assert_eq!(conclusion, Conclusion::LookAgain(reason));
    }
}

#[test]
fn a_read_that_shows_the_same_in_another_rendering_is_quiet() {
    assert!(matches!(
        conclude_read(
            &held("{\"a\":1}"),
            &[],
            None,
            seen("{ \"a\": 1 }"),
            COMES_BACK
        ),
        Conclusion::Quiet { .. }
    ));
}

#[test]
fn a_read_older_than_what_a_signal_proves_is_kept_out() {
    let version = |n: &str| Version::parse(n).unwrap();
    let read = |n| Observation::Seen {
        content: Content::Present(Json::parse("1").unwrap()),
        version: Some(version(n)),
        status: None,
        proof: None,
    };
    let held = Projection {
        version: Some(version("3")),
        ..held("0")
    };
    assert_eq!(
        conclude_read(&held, &[], None, read("2"), COMES_BACK),
        Conclusion::LookAgain(Reason::ReadBehind)
    );
    assert_eq!(
        conclude_read(&held, &[], Some(&version("5")), read("4"), COMES_BACK),
        Conclusion::LookAgain(Reason::ReadBehind)
    );
    let Conclusion::Change { next, .. } =
        conclude_read(&held, &[], Some(&version("5")), read("5"), COMES_BACK)
    else {
        panic!("a change")
    };
    assert_eq!(next.version, Some(version("5")));
}

#[test]
fn evidence_of_deletion_leaves_a_tombstone_that_says_what_it_rests_on() {
    for (proof, kept) in [(None, Proof::Shown), (Some(Proof::Absence), Proof::Absence)] {
        let tombstone = next(conclude_read(&held("1"), &[], None, gone(proof), FINAL));
        assert_eq!(tombstone.standing(), Some(Standing::Deleted));
        assert_eq!(
            tombstone.grave.as_ref().map(|grave| grave.proof),
            Some(kept)
        );
        // Seen again it rests on what it rested on.
        let again = conclude_read(&tombstone, &[], None, gone(Some(Proof::Event)), FINAL);
        assert!(matches!(again, Conclusion::Quiet { .. }));
    }
}

#[test]
fn a_tombstone_is_undone_only_where_something_deleted_comes_back() {
    let tombstone = next(conclude_read(&held("1"), &[], None, gone(None), FINAL));
    assert_eq!(
        conclude_read(&tombstone, &[], None, seen("2"), FINAL),
        Conclusion::LookAgain(Reason::DeletedFinal)
    );
    let back = next(conclude_read(&tombstone, &[], None, seen("2"), COMES_BACK));
    assert_eq!(back.grave, None);
    assert_eq!(back.contents, held("2").contents);
}

#[test]
fn a_deletion_read_after_a_later_version_rests_on_that_version() {
    let version = Version::parse("7").unwrap();
    let tombstone = next(conclude_read(&held("1"), &[], None, gone(None), FINAL));
    let read = next(conclude_read(
        &tombstone,
        &[],
        Some(&version),
        gone(None),
        FINAL,
    ));
    assert_eq!(read.version.as_ref(), Some(&version));
    assert_eq!(read.grave.unwrap().version, Some(version));
}

#[test]
fn a_read_s_status_is_kept_with_its_content() {
    let ranked = |text: &str, name: &str| Observation::Seen {
        content: Content::Present(Json::parse(text).unwrap()),
        version: None,
        status: Some(status(name)),
        proof: None,
    };
    let read = next(conclude_read(
        &Projection::unknown(),
        &[],
        None,
        ranked("1", "open"),
        FINAL,
    ));
    let content = Content::Present(Json::parse("1").unwrap());
    assert_eq!(
        read.contents,
        Some(Contents::ranked(content, status("open")))
    );
}

fn order() -> StatusOrder {
    let leads = [
        ("sent", vec!["delivered", "failed"]),
        ("delivered", vec!["read"]),
    ];
    let owned = leads
        .into_iter()
        .map(|(from, to)| (from.to_owned(), to.into_iter().map(str::to_owned).collect()));
    StatusOrder::parse(&owned.collect()).unwrap()
}

fn event(name: &str) -> EventRef {
    EventRef::parse(&crate::digest::Digest::of(name.as_bytes()).to_text()).unwrap()
}

fn ranked(name: &str, content: &str) -> Ranked {
    Ranked {
        event: event(name),
        status: Some(status(name)),
        content: Content::Present(Json::parse(content).unwrap()),
    }
}

fn shown(name: &str) -> Observation {
    Observation::Seen {
        content: Content::Present(Json::parse("{}").unwrap()),
        version: None,
        status: Some(status(name)),
        proof: None,
    }
}

fn read_of(held: &Projection, told: &[Ranked], seen: Observation) -> Conclusion {
    let signals: Vec<_> = told.iter().map(|told| told.event.clone()).collect();
    conclude_transition_read(held, told, &order(), &signals, seen)
}

#[test]
fn a_read_whose_status_is_behind_what_is_told_or_held_is_kept_out() {
    let unknown = Projection::unknown();
    let told = [
        ranked("read", "1"),
        ranked("failed", "2"),
        ranked("lost", "3"),
    ];
    for behind in ["sent", "delivered"] {
        assert_eq!(
            read_of(&unknown, &told, shown(behind)),
            Conclusion::LookAgain(Reason::ReadBehind)
        );
    }
    let settled = next(read_of(&unknown, &told, shown("failed")));
    assert_eq!(
        read_of(&settled, &[], shown("sent")),
        Conclusion::LookAgain(Reason::ReadBehind)
    );
    assert_eq!(
        read_of(&settled, &[], shown("lost")),
        Conclusion::LookAgain(Reason::StatusUndeclared)
    );
}

#[test]
fn a_read_settles_what_is_apart_and_says_so_of_all_but_the_undeclared() {
    let told = [
        ranked("read", "1"),
        ranked("failed", "2"),
        ranked("lost", "3"),
    ];
    let Conclusion::Change { next, marks } =
        read_of(&Projection::unknown(), &told, shown("failed"))
    else {
        panic!("a change")
    };
    let content = Content::Present(Json::parse("{}").unwrap());
    assert_eq!(
        next.contents,
        Some(Contents::ranked(content, status("failed")))
    );
    let said: Vec<_> = marks
        .iter()
        .map(|mark| (mark.outcome, mark.reason))
        .collect();
    assert_eq!(
        said,
        [
            (Outcome::Applied, Reason::ReadChanged),
            (Outcome::Applied, Reason::ReadChanged),
            (Outcome::Failed, Reason::StatusUndeclared),
        ]
    );
}

#[test]
fn a_read_that_shows_what_is_deleted_is_behind() {
    let tombstone = next(read_of(&Projection::unknown(), &[], gone(None)));
    assert_eq!(tombstone.standing(), Some(Standing::Deleted));
    assert_eq!(
        read_of(&tombstone, &[], shown("read")),
        Conclusion::LookAgain(Reason::DeletedFinal)
    );
    let deletion = Ranked {
        event: event("deleted"),
        status: None,
        content: Content::Deleted,
    };
    assert_eq!(
        read_of(&Projection::unknown(), &[deletion], shown("read")),
        Conclusion::LookAgain(Reason::ReadBehind)
    );
}

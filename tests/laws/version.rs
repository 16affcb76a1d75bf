//! Strategy `version` beyond whole numbers: deletions that are final or not, and versions of other kinds.

use lastword_domain::Outcome;

use crate::shop::*;
use crate::world::*;

#[tokio::test]
async fn a_tombstone_is_final_and_a_later_version_is_for_a_person_in_every_order() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    let told_in = [(1, "new"), (2, "deleted"), (3, "back")];
    for (at, order) in orders(&told_in, 1).iter().enumerate() {
        for kind in ["page", "draft"] {
            let id = format!("{kind}{at}");
            let bodies: Vec<_> = order
                .iter()
                .map(|(version, status)| {
                    versioned(&format!("{id}-{version}"), kind, &id, *version, status)
                })
                .collect();
            each(&machine, &worker, &bodies).await;
            let told = story_of(&machine, &worker, kind, &id).await;
            let (says, open) = (says(&told), open(&told.reviews));
            match kind {
                "page" => {
                    assert_eq!(says, "deleted", "{order:?}");
                    assert_eq!(open, ["lastword.changed-after-deletion"], "{order:?}");
                    assert!(outcomes(&told).contains(&Outcome::Conflict), "{order:?}");
                }
                _ => {
                    assert_eq!(says, "back", "{order:?}");
                    assert_eq!(open, Vec::<String>::new(), "{order:?}");
                }
            }
        }
    }
}

fn whole(kind: &str, id: &str, version: &str) -> String {
    let object = format!(r#"{{"id":"{id}","version":"{version}","status":"s{version}"}}"#);
    told(
        &format!("{id}-{version}"),
        &format!("{kind}.changed"),
        &object,
    )
}

#[tokio::test]
async fn dotted_and_fixed_versions_are_compared_as_what_they_are_in_every_order() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    let cases = [
        ("release", ["1.9", "1.10", "1.2.99"], "s1.10"),
        ("release", ["9.9.9", "10.0.0", "9.10.0"], "s10.0.0"),
        ("build", ["0009", "0010", "000a"], "s0010"),
        ("build", ["A999", "a000", "Z000"], "sa000"),
    ];
    for (case, (kind, versions, last)) in cases.iter().enumerate() {
        for (at, order) in orders(versions, 1).iter().enumerate() {
            let id = format!("v{case}-{at}");
            let bodies: Vec<_> = order.iter().map(|v| whole(kind, &id, v)).collect();
            each(&machine, &worker, &bodies).await;
            let told = story_of(&machine, &worker, kind, &id).await;
            assert_eq!(says(&told), *last, "{order:?}");
            assert_eq!(outcomes(&told).len(), 3, "{order:?}");
            assert!(!outcomes(&told).contains(&Outcome::Failed), "{order:?}");
        }
    }
}

#[tokio::test]
async fn a_version_that_is_not_of_its_kind_is_refused_and_nothing_else_suffers() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    for (kind, good, bad) in [
        ("release", "1.9", "1.x"),
        ("build", "0009", "10000"),
        ("page", "9", "123456789012345678901234567890123456789"),
    ] {
        let bodies = [whole(kind, kind, good), whole(kind, kind, bad)];
        each(&machine, &worker, &bodies).await;
        let told = story_of(&machine, &worker, kind, kind).await;
        assert_eq!(says(&told), format!("s{good}"));
        let refused = decided(&told, &event(&format!("{kind}-{bad}")));
        assert_eq!(refused, Some(Outcome::Failed), "{kind}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_greater_version_stands_however_two_workers_race_over_it() {
    let machine = shop().await;
    let (one, other) = (machine.worker().unwrap(), machine.worker().unwrap());
    for round in 0..20 {
        let id = format!("r{round}");
        for version in ["1.9", "1.10"] {
            send(&machine, &one, &whole("release", &id, version)).await;
        }
        let late = signal("release", &id, &[event(&format!("{id}-1.9"))]);
        let new = signal("release", &id, &[event(&format!("{id}-1.10"))]);
        let (first, second) = tokio::join!(handle(&one, &late, AMPLE), handle(&other, &new, AMPLE));
        assert_eq!((first, second), (0, 0));
        let told = story_of(&machine, &one, "release", &id).await;
        assert_eq!(says(&told), "s1.10");
        assert_eq!(outcomes(&told).len(), 2);
    }
}

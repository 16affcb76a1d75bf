//! More than the store takes: refused with a decision that says so, alone, and nothing else is lost with it.

use lastword_domain::{Outcome, Reason};

use crate::faults::Faults;
use crate::shop::*;
use crate::world::*;

/// Text that does not pack: more than an item holds, from which place of the noise on.
fn bulk(length: usize, from: usize) -> String {
    noise(length + from).split_off(from)
}

fn large(event: &str, kind: &str, id: &str, version: u32, scan: &str) -> String {
    let object =
        format!(r#"{{"id":"{id}","version":{version},"status":"v{version}","scan":"{scan}"}}"#);
    told(event, &format!("{kind}.changed"), &object)
}

#[tokio::test]
async fn one_event_that_is_too_large_takes_none_along_that_came_in_the_same_batch() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    let scan = bulk(900_000, 0);
    send(&machine, &worker, &versioned("e1", "page", "p", 1, "v1")).await;
    send(&machine, &worker, &large("e2", "page", "p", 2, &scan)).await;
    send(&machine, &worker, &versioned("e3", "page", "p", 3, "v3")).await;
    send(&machine, &worker, &large("e4", "page", "p", 4, &scan)).await;
    machine.settle(&worker).await.unwrap();
    let told = story_of(&machine, &worker, "page", "p").await;
    assert_eq!(says(&told), "v3");
    for (name, outcome) in [("e3", Outcome::Applied), ("e4", Outcome::Failed)] {
        assert_eq!(decided(&told, &event(name)), Some(outcome), "{told:?}");
    }
    let refused = told
        .decisions
        .iter()
        .find(|d| d.event == event("e4"))
        .unwrap();
    assert_eq!(refused.reason, Some(Reason::TooLarge));
    assert_eq!(outcomes(&told).len(), 4);
}

#[tokio::test]
async fn a_fact_is_kept_though_the_state_that_its_event_tells_is_too_large() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    let scan = bulk(900_000, 0);
    for (event, paid, kept) in [("e1", 1, 1), ("e2", 1, 1), ("e3", 2, 2)] {
        let body = format!(
            r#"{{"id":"{event}","type":"bill.paid","paid":{{"receipt":7,"paid":{paid}}},"object":{{"id":"b","version":1,"scan":"{scan}"}}}}"#
        );
        each(&machine, &worker, &[body]).await;
        let told = story_of(&machine, &worker, "bill", "b").await;
        assert_eq!(told.facts.len(), kept);
        assert_eq!(says(&told), "nothing");
    }
    let told = story_of(&machine, &worker, "bill", "b").await;
    assert_eq!(counted(&told), [("failed", 3)].into());
    assert_eq!(open(&told.reviews), ["lastword.fact-contested"]);
}

#[tokio::test]
async fn a_patch_that_makes_a_state_too_large_stops_the_count_there_and_shows_it() {
    let machine = shop().await;
    let faults = Faults::none();
    let worker = machine.worker_over(Some(faults.client())).unwrap();
    let patch = |number: usize| {
        let scan = bulk(300_000, number * 300_000);
        let object = format!(r#"{{"id":"h","number":{number},"change":{{"s{number}":"{scan}"}}}}"#);
        told(&format!("e{number}"), "hasty.changed", &object)
    };
    for number in 1..=4 {
        send(&machine, &worker, &patch(number)).await;
    }
    let before = faults.seen().len();
    for _ in 0..3 {
        machine.settle(&worker).await.unwrap();
        machine.give_back().await;
    }
    let requests = faults.seen().len() - before;
    assert!(requests < 100, "{requests}");
    let told = story_of(&machine, &worker, "hasty", "h").await;
    let version = told.projection.as_ref().unwrap().version.clone();
    assert_eq!(version.unwrap().as_str(), "2", "{:?}", counted(&told));
    assert_eq!(decided(&told, &event("e3")), Some(Outcome::Failed));
    assert_eq!(outcomes(&told).len(), 4);
    assert_eq!(open(&told.reviews), ["lastword.gap"]);
}

#[tokio::test]
async fn a_state_whose_copies_for_ten_subjects_are_too_much_together_is_refused() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    let scan = bulk(640_000, 0);
    let links: Vec<_> = (0..10).map(|n| format!("\"o{n}\"")).collect();
    let body = |event: &str, version: u32, scan: &str| {
        let object = format!(
            r#"{{"id":"r","version":{version},"status":"v{version}","order":[{}],"scan":"{scan}"}}"#,
            links.join(",")
        );
        told(event, "remark.changed", &object)
    };
    each(&machine, &worker, &[body("e1", 1, "small")]).await;
    each(&machine, &worker, &[body("e2", 2, &scan)]).await;
    let told = story_of(&machine, &worker, "remark", "r").await;
    assert_eq!(says(&told), "v1", "{:?}", told.decisions);
    assert_eq!(decided(&told, &event("e2")), Some(Outcome::Failed));
    each(&machine, &worker, &[body("e3", 3, "small again")]).await;
    let told = story_of(&machine, &worker, "remark", "r").await;
    assert_eq!(says(&told), "v3");
    let order = order_story(&worker, "o7").await;
    assert_eq!(verdict(&order)["data"]["remarks"], 1);
}

#[tokio::test]
async fn a_subject_whose_verdict_is_too_large_is_undecided_and_decided_when_it_fits() {
    let config = SHOP.replace(
        "data.remarks = \"size(remarks)\"",
        "data.remarks = \"remarks.map(remark, remark.state)\"",
    );
    let machine = shop_with(&config).await;
    let worker = machine.worker().unwrap();
    let remark = |id: &str, version: u32, scan: &str| {
        let object = format!(
            r#"{{"id":"{id}","version":{version},"status":"x","order":"o","scan":"{scan}"}}"#
        );
        told(&format!("{id}{version}"), "remark.changed", &object)
    };
    let scan = bulk(200_000, 0);
    let bodies = [
        remark("a", 1, &scan),
        remark("b", 1, &scan),
        remark("c", 1, &scan),
    ];
    each(&machine, &worker, &bodies).await;
    let order = order_story(&worker, "o").await;
    assert_eq!(verdict(&order)["state"], "undecided");
    assert_eq!(open(&order.reviews).len(), 1, "{:?}", order.reviews);
    let bodies = [remark("a", 2, ""), remark("b", 2, ""), remark("c", 2, "")];
    each(&machine, &worker, &bodies).await;
    let order = order_story(&worker, "o").await;
    assert_eq!(verdict(&order)["state"], "incomplete");
    assert_eq!(open(&order.reviews), Vec::<String>::new());
}

#[tokio::test]
async fn a_state_that_just_fits_leaves_room_for_the_marks_of_what_changes_nothing() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    // The largest that is taken, found by halving.
    let (mut fits, mut fails) = (400_000, 700_000);
    let mut version = 0;
    while fails - fits > 2 {
        version += 1;
        let middle = (fits + fails) / 2;
        let body = large(
            &format!("e{version}"),
            "page",
            "p",
            version,
            &bulk(middle, 0),
        );
        each(&machine, &worker, &[body]).await;
        let told = story_of(&machine, &worker, "page", "p").await;
        match says(&told) == format!("v{version}") {
            true => fits = middle,
            false => fails = middle,
        }
    }
    version += 1;
    let body = large("last", "page", "p", version, &bulk(fits, 0));
    each(&machine, &worker, &[body]).await;
    for number in 0..20 {
        let body = versioned(&format!("late{number}"), "page", "p", 0, "old");
        each(&machine, &worker, &[body]).await;
        let told = story_of(&machine, &worker, "page", "p").await;
        let late = decided(&told, &event(&format!("late{number}")));
        assert_eq!(late, Some(Outcome::Stale), "{number}");
    }
}

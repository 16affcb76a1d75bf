//! Tasks for people: opened with the conclusion that calls for them, withdrawn when it is no longer so, and closed for good.

use lastword_domain::{KeyHash, ReviewStatus};
use lastword_local::machine::Worker;
use lastword_store::{Closed, Moment, Review};

use crate::faults::{Fault, Faults};
use crate::shop::*;
use crate::world::*;

async fn of_page(worker: &Worker, id: &str) -> Vec<Review> {
    worker
        .state
        .story(&thing("page", id))
        .await
        .unwrap()
        .reviews
}

async fn close(worker: &Worker, hash: &KeyHash, review: &Review) -> Closed {
    let now = Moment::from_unix_ms(1_796_065_200_000);
    let closing = worker
        .state
        .close_review(hash, &review.key, "ada", "it is fine", now);
    closing.await.unwrap()
}

fn page(version: u32, status: &str) -> String {
    let object = format!(r#"{{"id":"p","version":{version},"status":"{status}","amount":1}}"#);
    told(&format!("p{version}"), "page.changed", &object)
}

#[tokio::test]
async fn a_review_is_opened_once_withdrawn_when_it_is_no_longer_so_and_opened_again() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    let mut statuses = Vec::new();
    for (version, status) in [
        (1, "suspicious"),
        (2, "suspicious"),
        (3, "public"),
        (4, "suspicious"),
    ] {
        each(&machine, &worker, &[page(version, status)]).await;
        let told = of_page(&worker, "p").await;
        assert_eq!(told.len(), 1, "the evidence is the same: {told:?}");
        statuses.push(told[0].status);
    }
    let (open, withdrawn) = (ReviewStatus::Open, ReviewStatus::Withdrawn);
    assert_eq!(statuses, [open, open, withdrawn, open]);
}

#[tokio::test]
async fn what_a_person_closed_is_kept_with_who_and_choice_and_the_same_evidence_never_opens_it() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    let hash = thing("page", "p").hash();
    each(&machine, &worker, &[page(1, "suspicious")]).await;
    let review = of_page(&worker, "p").await.remove(0);
    assert_eq!(close(&worker, &hash, &review).await, Closed::Done);
    assert_eq!(close(&worker, &hash, &review).await, Closed::NotOpen);
    // Again by redelivery, by a redrive, and by going away and back.
    each(
        &machine,
        &worker,
        &[page(1, "suspicious").replace("\"amount\"", " \"amount\"")],
    )
    .await;
    redrive(&worker, "shop", &thing("page", "p"), &[event("p1")]).await;
    each(
        &machine,
        &worker,
        &[page(2, "public"), page(3, "suspicious")],
    )
    .await;
    let [review] = of_page(&worker, "p").await.try_into().unwrap();
    assert_eq!(review.status, ReviewStatus::Closed);
    let said = (review.who.as_deref(), review.choice.as_deref());
    assert_eq!(said, (Some("ada"), Some("it is fine")));
    // Other evidence, another review.
    let contested = page(3, "public").replace("\"p3\"", "\"p3b\"");
    each(&machine, &worker, &[contested]).await;
    let all = of_page(&worker, "p").await;
    assert_eq!(open(&all), ["lastword.contested"]);
    assert_eq!(all.len(), 2);
}

#[tokio::test]
async fn a_person_s_choice_and_a_withdrawal_at_once_end_as_one_of_them_and_the_state_as_told() {
    let machine = shop().await;
    let hash = thing("page", "p").hash();
    let healthy = machine.worker().unwrap();
    for round in 0..10 {
        let (suspicious, public) = (2 * round + 1, 2 * round + 2);
        each(&machine, &healthy, &[page(suspicious, "suspicious")]).await;
        let reviews = of_page(&healthy, "p").await;
        let Some(review) = reviews.iter().find(|r| r.status == ReviewStatus::Open) else {
            // It was closed in an earlier round, and stays so.
            assert_eq!(reviews[0].status, ReviewStatus::Closed);
            return;
        };
        send(&machine, &healthy, &page(public, "public")).await;
        let signal = signal("page", "p", &[event(&format!("p{public}"))]);
        let (left, closed) = tokio::join!(
            handle(&healthy, &signal, AMPLE),
            close(&healthy, &hash, review)
        );
        assert_eq!(left, 0);
        let after = of_page(&healthy, "p").await.remove(0);
        let expected = match closed {
            Closed::Done => ReviewStatus::Closed,
            Closed::NotOpen => ReviewStatus::Withdrawn,
        };
        assert_eq!(after.status, expected);
        assert_eq!(
            says(&story_of(&machine, &healthy, "page", "p").await),
            "public"
        );
    }
}

#[tokio::test]
async fn a_choice_between_the_look_at_a_review_and_the_commit_stands() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    let hash = thing("page", "p").hash();
    each(&machine, &worker, &[page(1, "suspicious")]).await;
    let review = of_page(&worker, "p").await.remove(0);
    // The transaction that would withdraw it never arrives; meanwhile a person decides.
    let faults = Faults::strike("TransactWriteItems", 0, 1, Fault::CrashBefore);
    let dying = machine.worker_over(Some(faults.client())).unwrap();
    send(&machine, &worker, &page(2, "public")).await;
    let signal = signal("page", "p", &[event("p2")]);
    tokio::select! {
        _ = handle(&dying, &signal, AMPLE) => panic!("it should have died"),
        () = faults.crashed() => {}
    }
    assert_eq!(close(&worker, &hash, &review).await, Closed::Done);
    assert_eq!(handle(&worker, &signal, AMPLE).await, 0);
    assert_eq!(of_page(&worker, "p").await[0].status, ReviewStatus::Closed);
    assert_eq!(
        says(&story_of(&machine, &worker, "page", "p").await),
        "public"
    );
}

#[tokio::test]
async fn a_review_and_what_calls_for_it_are_committed_together_or_not_at_all() {
    let machine = shop().await;
    let healthy = machine.worker().unwrap();
    for fault in [Fault::CrashBefore, Fault::CrashAfter] {
        let id = format!("{fault:?}");
        let body = versioned(&id, "page", &id, 1, "suspicious")
            .replace("\"status\"", "\"amount\":1,\"status\"");
        send(&machine, &healthy, &body).await;
        let faults = Faults::strike("TransactWriteItems", 0, 1, fault);
        let dying = machine.worker_over(Some(faults.client())).unwrap();
        let signal = signal("page", &id, &[event(&id)]);
        tokio::select! {
            _ = handle(&dying, &signal, AMPLE) => panic!("it should have died"),
            () = faults.crashed() => {}
        }
        let told = story_of(&machine, &healthy, "page", &id).await;
        let done = usize::from(fault == Fault::CrashAfter);
        assert_eq!((told.reviews.len(), outcomes(&told).len()), (done, done));
        assert_eq!(handle(&healthy, &signal, AMPLE).await, 0);
        let told = story_of(&machine, &healthy, "page", &id).await;
        assert_eq!(open(&told.reviews), ["suspicious"]);
        assert_eq!(outcomes(&told).len(), 1);
    }
}

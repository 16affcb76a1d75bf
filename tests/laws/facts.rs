//! Law 8: what happened stays true, is kept once, and is not lost because of anything else.

use std::time::Duration;

use lastword_domain::Outcome;
use lastword_local::machine::{Machine, Worker};
use lastword_store::Story;

use crate::shop::*;
use crate::world::*;

fn note(event: &str, id: &str, line: u32, text: &str) -> String {
    let object = format!(r#"{{"id":"{id}","line":{line},"text":"{text}"}}"#);
    told(event, "note.written", &object)
}

fn contents(story: &Story) -> Vec<String> {
    let facts = story.facts.iter();
    let mut texts: Vec<_> = facts.map(|fact| fact.content.as_str().to_owned()).collect();
    texts.sort();
    texts
}

fn invoice() -> lastword_domain::ResourceKey {
    key("stripe", "acct_1", "live", "invoice", "in_1")
}

fn paid(event: &str, total: u32) -> String {
    format!(
        r#"{{"id":"{event}","object":"event","type":"invoice.paid","livemode":true,"data":{{"object":{{"id":"in_1","object":"invoice","total":{total}}}}}}}"#
    )
}

fn renamed(event: &str) -> String {
    format!(
        r#"{{"id":"{event}","object":"event","type":"customer.updated","livemode":true,"data":{{"object":{{"id":"cus_1","object":"customer"}}}}}}"#
    )
}

fn customer() -> lastword_domain::ResourceKey {
    key("stripe", "acct_1", "live", "customer", "cus_1")
}

async fn bill(machine: &Machine, worker: &Worker, body: &str) {
    assert_eq!(post(machine, worker, body).await.status_code, 200);
}

#[tokio::test]
async fn one_fact_told_by_two_events_is_kept_once_and_another_content_beside_it_in_every_order() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    let all = [("a", 1, "x"), ("b", 1, "x"), ("c", 1, "y"), ("d", 2, "x")];
    let mut ends = Vec::new();
    for (at, order) in orders(&all, 1).iter().enumerate() {
        let id = format!("n{at}");
        let bodies: Vec<_> = order
            .iter()
            .map(|(event, line, text)| note(&format!("{id}{event}"), &id, *line, text))
            .collect();
        each(&machine, &worker, &bodies).await;
        let told = story_of(&machine, &worker, "note", &id).await;
        assert_eq!(outcomes(&told).len(), 4, "{order:?}");
        let kept: Vec<_> = contents(&told).iter().map(|t| t.replace(&id, "")).collect();
        ends.push((kept, open(&told.reviews)));
    }
    assert_eq!(ends[0].0.len(), 3);
    assert_eq!(ends[0].1, ["lastword.fact-contested"]);
    assert!(ends.iter().all(|end| *end == ends[0]), "{ends:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_workers_that_tell_different_contents_at_once_keep_both_and_ask_a_person() {
    let machine = shop().await;
    let (one, other) = (machine.worker().unwrap(), machine.worker().unwrap());
    for round in 0..20 {
        let id = format!("n{round}");
        for (event, text) in [("a", "x"), ("b", "y")] {
            send(&machine, &one, &note(&format!("{id}{event}"), &id, 1, text)).await;
        }
        let (a, b) = (event(&format!("{id}a")), event(&format!("{id}b")));
        let (a, b) = (signal("note", &id, &[a]), signal("note", &id, &[b]));
        let left = tokio::join!(handle(&one, &a, AMPLE), handle(&other, &b, AMPLE));
        assert_eq!(left, (0, 0));
        let told = story_of(&machine, &one, "note", &id).await;
        assert_eq!(contents(&told).len(), 2, "{told:?}");
        assert_eq!(open(&told.reviews), ["lastword.fact-contested"], "{told:?}");
    }
}

#[tokio::test]
async fn a_fact_is_kept_while_the_state_cannot_be_read_and_when_the_event_is_exhausted() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    machine.standin.answer_with("/v1/invoices/in_1", 500);
    bill(&machine, &worker, &paid("evt_1", 7)).await;
    machine.relay(&worker, 100).await.unwrap();
    let batch = machine.receive().await.unwrap().unwrap();
    assert_eq!(machine.handle(&worker, &batch).await.unwrap().len(), 1);
    let told = story(&machine, &worker, &invoice()).await;
    assert_eq!(contents(&told).len(), 1, "{told:?}");
    assert_eq!(outcomes(&told), []);
    machine.reconcile(&worker, &batch).await.unwrap();
    machine.reconcile(&worker, &batch).await.unwrap();
    let told = story(&machine, &worker, &invoice()).await;
    assert_eq!(counted(&told), [("exhausted", 1)].into());
    assert_eq!(contents(&told).len(), 1);
    assert_eq!(told.decisions[0].attempts, 3);
    // Another content while it cannot be read is seen too.
    bill(&machine, &worker, &paid("evt_2", 8)).await;
    machine.settle(&worker).await.unwrap();
    let told = story(&machine, &worker, &invoice()).await;
    assert_eq!(contents(&told).len(), 2);
    assert_eq!(open(&told.reviews), ["lastword.fact-contested"]);
}

#[tokio::test]
async fn a_thin_event_s_fact_is_read_by_its_id_and_the_state_by_the_object_s() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    let customer_state = r#"{"id":"cus_1","object":"customer","status":"now"}"#;
    machine.standin.show("/v1/customers/cus_1", customer_state);
    machine.standin.show("/v1/events/evt_1", renamed("evt_1"));
    bill(&machine, &worker, &renamed("evt_1")).await;
    machine.settle(&worker).await.unwrap();
    let told = story(&machine, &worker, &customer()).await;
    assert_eq!(says(&told), "now");
    assert_eq!(contents(&told), [r#"{"id":"cus_1","object":"customer"}"#]);
    assert_eq!(outcomes(&told), [Outcome::Applied]);
}

#[tokio::test]
async fn an_answer_about_another_event_tells_nothing_and_a_busy_provider_is_asked_again() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    let customer_state = r#"{"id":"cus_1","object":"customer","status":"now"}"#;
    machine.standin.show("/v1/customers/cus_1", customer_state);
    machine.standin.show("/v1/events/evt_1", renamed("evt_2"));
    bill(&machine, &worker, &renamed("evt_1")).await;
    machine.relay(&worker, 100).await.unwrap();
    let batch = machine.receive().await.unwrap().unwrap();
    assert_eq!(machine.handle(&worker, &batch).await.unwrap().len(), 1);
    machine.standin.answer_with("/v1/events/evt_1", 429);
    assert_eq!(machine.handle(&worker, &batch).await.unwrap().len(), 1);
    let told = story(&machine, &worker, &customer()).await;
    assert_eq!(told.facts, []);
    // The state does not wait for what the event tells.
    assert_eq!(says(&told), "now");
    machine.standin.show("/v1/events/evt_1", renamed("evt_1"));
    assert_eq!(machine.handle(&worker, &batch).await.unwrap().len(), 0);
    let told = story(&machine, &worker, &customer()).await;
    assert_eq!(told.facts.len(), 1);
    assert_eq!(outcomes(&told), [Outcome::Applied]);
}

#[tokio::test]
async fn many_facts_of_one_thing_in_one_batch_are_all_kept() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    for line in 0..130 {
        send(
            &machine,
            &worker,
            &note(&format!("e{line}"), "n", line, "x"),
        )
        .await;
    }
    machine.settle(&worker).await.unwrap();
    let told = story_of(&machine, &worker, "note", "n").await;
    assert_eq!(told.facts.len(), 130);
    assert_eq!(counted(&told), [("applied", 130)].into());
}

#[tokio::test]
async fn large_facts_of_one_thing_in_one_batch_are_all_kept() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    for line in 0..12 {
        let text = noise(600_000);
        let rotated = format!("{}{}", &text[line * 100..], &text[..line * 100]);
        let line = u32::try_from(line).unwrap();
        send(
            &machine,
            &worker,
            &note(&format!("e{line}"), "n", line, &rotated),
        )
        .await;
    }
    machine.settle(&worker).await.unwrap();
    let told = story_of(&machine, &worker, "note", "n").await;
    assert_eq!(counted(&told), [("applied", 12)].into());
    assert_eq!(told.facts.len(), 12);
}

#[tokio::test]
async fn thin_events_that_take_longer_than_one_invocation_are_settled_in_several() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    let customer_state = r#"{"id":"cus_1","object":"customer","status":"now"}"#;
    machine.standin.show("/v1/customers/cus_1", customer_state);
    let mut events = Vec::new();
    for number in 0..60 {
        let id = format!("evt_{number}");
        machine
            .standin
            .show(&format!("/v1/events/{id}"), renamed(&id));
        bill(&machine, &worker, &renamed(&id)).await;
        events.push(event_of("stripe", "acct_1", &id));
    }
    machine.standin.take_time(Duration::from_millis(40));
    let mut signal = signal("note", "n", &events);
    signal.integration = lastword_domain::name::IntegrationName::parse("billing").unwrap();
    signal.resource = customer();
    // Each invocation has time for some thirty reads.
    let mut invocations = 1;
    while handle(&worker, &signal, Duration::from_millis(2600)).await > 0 {
        invocations += 1;
        assert!(invocations < 10);
    }
    let told = story(&machine, &worker, &customer()).await;
    assert!(
        !outcomes(&told).contains(&Outcome::Exhausted),
        "{invocations}"
    );
    assert_eq!(outcomes(&told).len(), 60);
}

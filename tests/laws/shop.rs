//! A shop that uses every strategy, facts, rules and subjects, with short ways of saying what a test needs.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use lastword_config::Config;
use lastword_domain::name::{
    Account, Environment, EventId, IntegrationName, Provider, SubjectId, SubjectKind,
};
use lastword_domain::{
    Cause, EventIdentity, EventRef, Outcome, ResourceKey, ReviewStatus, Signal, SubjectKey,
};
use lastword_local::machine::{Machine, Worker};
use lastword_local::stores::Place;
use lastword_queue::OutgoingMessage;
use lastword_store::{Review, Story, SubjectStory};
use serde_json::{Value, json};

use crate::world::*;

/// Billing is read; everything else is told by the shop's own systems.
pub const SHOP: &str = include_str!("shop.toml");

/// Time enough.
pub const AMPLE: Duration = Duration::from_secs(20);

pub fn shop_config(text: &str) -> Config {
    Config::parse("lastword.toml", text).unwrap()
}

pub async fn shop() -> Machine {
    shop_with(SHOP).await
}

pub async fn shop_with(config: &str) -> Machine {
    Machine::start(Place::Temporary, config, NOW).await.unwrap()
}

pub fn thing(kind: &str, id: &str) -> ResourceKey {
    key("generic-hmac", "main", "live", kind, id)
}

pub fn the_order(id: &str) -> SubjectKey {
    SubjectKey {
        kind: SubjectKind::parse("order").unwrap(),
        id: SubjectId::parse(id).unwrap(),
    }
}

/// An event of the shop; its object is what the kind's strategy reads.
pub fn told(event: &str, kind: &str, object: &str) -> String {
    format!(r#"{{"id":"{event}","type":"{kind}","object":{object}}}"#)
}

/// A numbered change that sets one member to the number.
pub fn change(event: &str, kind: &str, id: &str, number: u32) -> String {
    let object = format!(
        r#"{{"id":"{id}","number":{number},"change":{{"n{number}":{number},"last":{number}}}}}"#
    );
    told(event, &format!("{kind}.changed"), &object)
}

/// A whole object under a version.
pub fn versioned(event: &str, kind: &str, id: &str, version: u32, status: &str) -> String {
    let object = format!(r#"{{"id":"{id}","version":{version},"status":"{status}"}}"#);
    let what = if status == "deleted" {
        "deleted"
    } else {
        "changed"
    };
    told(event, &format!("{kind}.{what}"), &object)
}

/// As [`versioned`], of an order.
pub fn of_order(kind: &str, id: &str, version: u32, status: &str, order: &str) -> String {
    let object =
        format!(r#"{{"id":"{id}","version":{version},"status":"{status}","order":"{order}"}}"#);
    let event = format!("{kind}-{id}-{version}-{status}-{order}");
    told(&event, &format!("{kind}.changed"), &object)
}

/// Delivers to the shop, and expects it to be taken.
pub async fn send(machine: &Machine, worker: &Worker, body: &str) {
    let reply = machine.deliver(worker, "shop", &[], body).await.unwrap();
    assert_eq!(reply.status_code, 200, "{}", reply.body);
}

/// Delivers and settles, one after the other.
pub async fn each(machine: &Machine, worker: &Worker, bodies: &[String]) {
    for body in bodies {
        send(machine, worker, body).await;
        machine.settle(worker).await.unwrap();
    }
}

/// Settles again and again until this is so.
pub async fn until(
    machine: &Machine,
    worker: &Worker,
    what: &str,
    mut so: impl AsyncFnMut() -> bool,
) {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        machine.settle(worker).await.unwrap();
        if so().await {
            return;
        }
        assert!(Instant::now() < end, "it never came to this: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

pub async fn story_of(machine: &Machine, worker: &Worker, kind: &str, id: &str) -> Story {
    story(machine, worker, &thing(kind, id)).await
}

pub async fn order_story(worker: &Worker, id: &str) -> SubjectStory {
    worker.state.subject_story(&the_order(id)).await.unwrap()
}

/// The state of a projection that has one, as JSON.
pub fn state(story: &Story) -> Value {
    let contents = story.projection.as_ref().unwrap().contents.as_ref();
    let lastword_domain::Standing::Present(json) = contents.unwrap().standing() else {
        panic!("no state, but {contents:?}");
    };
    serde_json::from_str(json.as_str()).unwrap()
}

/// What a subject's rules conclude.
pub fn verdict(story: &SubjectStory) -> Value {
    match &story.loaded.meaning.verdict {
        None => Value::Null,
        Some(verdict) => serde_json::from_str(verdict.as_str()).unwrap(),
    }
}

/// The rules of the reviews that are open, sorted.
pub fn open(reviews: &[Review]) -> Vec<String> {
    let open = reviews.iter().filter(|r| r.status == ReviewStatus::Open);
    let mut rules: Vec<_> = open.map(|review| review.key.rule.to_string()).collect();
    rules.sort();
    rules
}

/// How often each outcome was decided.
pub fn counted(story: &Story) -> BTreeMap<&'static str, usize> {
    let mut counted = BTreeMap::new();
    for outcome in outcomes(story) {
        *counted.entry(outcome.as_str()).or_default() += 1;
    }
    counted
}

/// What was decided about an event, wherever it is kept.
pub fn decided(story: &Story, event: &EventRef) -> Option<Outcome> {
    let own = story.decisions.iter().map(|d| (&d.event, d.outcome));
    let held = story.projection.iter().flat_map(|held| &held.recent);
    let marks = held
        .chain(&story.paged)
        .map(|m| (&m.event, Some(m.outcome)));
    own.chain(marks)
        .find(|(found, _)| *found == event)
        .and_then(|(_, outcome)| outcome)
}

/// Points at an event of the shop.
pub fn event(id: &str) -> EventRef {
    event_of("generic-hmac", "main", id)
}

pub fn event_of(provider: &str, account: &str, id: &str) -> EventRef {
    let identity = EventIdentity {
        provider: Provider::parse(provider).unwrap(),
        account: Account::parse(account).unwrap(),
        environment: Environment::parse("live").unwrap(),
        id: EventId::parse(id).unwrap(),
    };
    EventRef::first(&identity.hash())
}

/// A person drives events again; says how many messages are left.
pub async fn redrive(
    worker: &Worker,
    integration: &str,
    resource: &ResourceKey,
    events: &[EventRef],
) -> usize {
    let signal = Signal {
        integration: IntegrationName::parse(integration).unwrap(),
        resource: resource.clone(),
        events: events.to_vec(),
        cause: Cause::Redrive("again".to_owned()),
    };
    handle(worker, &signal, Duration::from_secs(20)).await
}

/// A signal about a thing of the shop, as several messages of one batch come to.
pub fn signal(kind: &str, id: &str, events: &[EventRef]) -> Signal {
    Signal {
        integration: IntegrationName::parse("shop").unwrap(),
        resource: thing(kind, id),
        events: events.to_vec(),
        cause: Cause::Webhook,
    }
}

/// Hands a signal to reconcile; says how many messages are left.
pub async fn handle(worker: &Worker, signal: &Signal, time: Duration) -> usize {
    left(worker, std::slice::from_ref(signal), time).await.len()
}

/// As [`handle`], with several messages of one batch; says which are left, by their places.
pub async fn left(worker: &Worker, signals: &[Signal], time: Duration) -> Vec<String> {
    let record = |(number, signal): (usize, &Signal)| {
        let message = OutgoingMessage::new(&signal.clone().into()).unwrap();
        json!({
            "messageId": format!("m{number}"), "receiptHandle": "r", "body": message.body,
            "attributes": {"MessageGroupId": message.group},
        })
    };
    let records: Vec<_> = signals.iter().enumerate().map(record).collect();
    let batch = json!({"Records": records}).to_string();
    let reply = worker.reconcile.handle_text(&batch, time).await.unwrap();
    let failures = reply.batch_item_failures.into_iter();
    failures.map(|failure| failure.item_identifier).collect()
}

/// Some orders in which things may come, the same at every run: all of them in steps.
pub fn orders<T: Clone>(things: &[T], every: usize) -> Vec<Vec<T>> {
    fn all<T: Clone>(things: &[T]) -> Vec<Vec<T>> {
        if things.is_empty() {
            return vec![Vec::new()];
        }
        let mut orders = Vec::new();
        for at in 0..things.len() {
            let mut rest = things.to_vec();
            let first = rest.remove(at);
            for mut order in all(&rest) {
                order.insert(0, first.clone());
                orders.push(order);
            }
        }
        orders
    }
    all(things).into_iter().step_by(every).collect()
}

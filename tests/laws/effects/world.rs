//! A shop that acts on the outside, with short ways of saying what a test needs.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use lastword_dispatch::Settled;
use lastword_domain::EffectStatus;
use lastword_local::destination::Destination;
use lastword_local::machine::{Machine, Worker};
use lastword_store::KeptEffect;

pub use crate::shop::{each, send, thing, told};
use crate::shop::{order_story, shop_with, story_of};

/// Effects on facts, resources and a subject, to every kind of destination.
pub const EFFECTS: &str = include_str!("../effects.toml");

pub async fn shop() -> Machine {
    shop_with(EFFECTS).await
}

/// A bill under a version.
pub fn bill(event: &str, kind: &str, id: &str, version: u32, status: &str) -> String {
    let object = format!(r#"{{"id":"{id}","version":{version},"status":"{status}","amount":120}}"#);
    told(event, &format!("bill.{kind}"), &object)
}

/// A refund of a bill.
pub fn refund(event: &str, id: &str, version: u32, refund: &str) -> String {
    format!(
        r#"{{"id":"{event}","type":"bill.refunded","object":{{"id":"{id}","version":{version},"status":"refunded","amount":120,"refund":"{refund}"}}}}"#
    )
}

/// A payment or shipment of an order.
pub fn of_order(kind: &str, order: &str, version: u32, status: &str) -> String {
    let event = format!("{kind}-{order}-{version}-{status}");
    let what = if status == "deleted" {
        "deleted"
    } else {
        "changed"
    };
    let object = format!(
        r#"{{"id":"{kind}-{order}","version":{version},"status":"{status}","order":"{order}"}}"#
    );
    told(&event, &format!("{kind}.{what}"), &object)
}

pub async fn effects_of_bill(machine: &Machine, worker: &Worker, id: &str) -> Vec<KeptEffect> {
    story_of(machine, worker, "bill", id).await.effects
}

pub async fn effects_of_order(worker: &Worker, id: &str) -> Vec<KeptEffect> {
    order_story(worker, id).await.effects
}

/// Each effect's name and where it is, in the order of their names.
pub fn at(effects: &[KeptEffect]) -> Vec<(String, EffectStatus)> {
    let each = effects.iter();
    let mut all: Vec<_> = each
        .map(|effect| (effect.key.rule.name.to_string(), effect.status))
        .collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all
}

pub fn mail(machine: &Machine) -> &Destination {
    machine.destination("mail").unwrap()
}

/// How often a destination acted, in all.
pub fn acted(destination: &Destination) -> u32 {
    destination.actions().values().sum()
}

/// The business key of an effect, as destinations see it.
pub fn key_of(effect: &KeptEffect) -> String {
    effect.key.business_key(&effect.owner.hash()).to_string()
}

/// What each body that a destination saw told, by the effect's name.
pub fn data(destination: &Destination) -> BTreeMap<String, Vec<serde_json::Value>> {
    let mut all: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for body in destination.bodies() {
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        let name = body["effect"].as_str().unwrap().to_owned();
        all.entry(name).or_default().push(body["data"].clone());
    }
    all
}

/// What a destination was told about one order.
pub fn data_of(destination: &Destination, order: &str) -> Vec<serde_json::Value> {
    let about = format!("\"id\":\"{order}\"");
    let bodies = destination.bodies().into_iter();
    let mine = bodies.filter(|body| body.contains(&about));
    mine.map(|body| {
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        body["data"].clone()
    })
    .collect()
}

/// Hands the effect's message to a dispatcher, and lets the clock go on for as long as it wants to wait; what became of
/// it, once nothing follows by itself.
pub async fn settled(
    machine: &Machine,
    worker: &Worker,
    effect: &KeptEffect,
) -> Option<EffectStatus> {
    let settled = machine.dispatch_these(worker, std::slice::from_ref(effect));
    match settled.await.unwrap()[0] {
        Settled::At(status) => Some(status),
        Settled::Later(pause) => {
            machine.go_on(pause + Duration::from_millis(1));
            None
        }
        Settled::Gone => panic!("there is no such effect"),
    }
}

/// Waits until this is so.
pub async fn until_so(what: &str, mut so: impl AsyncFnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !so().await {
        assert!(Instant::now() < end, "it never came to this: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

//! A machine with short ways of saying what a test needs.

use lastword_domain::name::{Account, Environment, Provider, ResourceId, ResourceType};
use lastword_domain::{Outcome, ResourceKey, Standing};
use lastword_ingest::answer::Reply;
use lastword_local::machine::{Machine, Worker};
use lastword_local::stores::Place;
use lastword_store::Story;

pub const NOW: u64 = 1_796_065_200;

/// The example's integrations, and patience for tests.
pub const CONFIG: &str = r#"
[retry]
attempts = 3
first_delay_seconds = 0.01
longest_delay_seconds = 0.01

[integrations.billing]
contract = "stripe"
account = "acct_1"
environment = "live"
signing_secrets = ["env:BILLING"]
api_key = "env:BILLING_KEY"
[integrations.billing.accounts.acct_2]
api_key = "env:BILLING_KEY_2"

[integrations.code]
contract = "github"
account = "10"
environment = "main"
signing_secrets = ["env:CODE"]
api_key = "env:CODE_KEY"

[integrations.erp]
contract = "generic-hmac"
account = "main"
environment = "live"
signing_secrets = ["env:ERP"]
[integrations.erp.define.order]
events = ["order.*"]
id = "body:/order/id"
snapshot = "/order"
version = "/order/version"
strategies = ["version"]
deleted_by = ["order.deleted"]
"#;

pub async fn machine() -> Machine {
    Machine::start(Place::Temporary, CONFIG, NOW).await.unwrap()
}

pub fn subscription(id: &str) -> ResourceKey {
    key("stripe", "acct_1", "live", "subscription", id)
}

pub fn order(id: &str) -> ResourceKey {
    key("generic-hmac", "main", "live", "order", id)
}

pub fn key(provider: &str, account: &str, environment: &str, kind: &str, id: &str) -> ResourceKey {
    ResourceKey {
        provider: Provider::parse(provider).unwrap(),
        account: Account::parse(account).unwrap(),
        environment: Environment::parse(environment).unwrap(),
        kind: ResourceType::parse(kind).unwrap(),
        id: ResourceId::parse(id).unwrap(),
    }
}

/// An event about a subscription; what the body says of its status is of no consequence.
pub fn about(subscription: &str, event: &str) -> String {
    format!(
        r#"{{"id":"{event}","object":"event","type":"customer.subscription.updated","created":1,"livemode":true,"data":{{"object":{{"id":"{subscription}","object":"subscription","status":"whatever"}}}}}}"#
    )
}

pub fn order_event(event: &str, id: &str, version: u64, status: &str) -> String {
    let kind = if status == "deleted" {
        "order.deleted"
    } else {
        "order.changed"
    };
    format!(
        r#"{{"id":"{event}","type":"{kind}","order":{{"id":"{id}","version":{version},"status":"{status}"}}}}"#
    )
}

/// The source's own answer.
pub fn show(machine: &Machine, id: &str, status: &str) {
    let object = format!(r#"{{"id":"{id}","object":"subscription","status":"{status}"}}"#);
    machine
        .standin
        .show(&format!("/v1/subscriptions/{id}"), object);
}

pub async fn post(machine: &Machine, worker: &Worker, body: &str) -> Reply {
    machine.deliver(worker, "billing", &[], body).await.unwrap()
}

pub async fn story(machine: &Machine, worker: &Worker, resource: &ResourceKey) -> Story {
    machine.story(worker, resource).await.unwrap()
}

/// What the projection says, as a word: its status, `deleted`, `contested` or `nothing`.
pub fn says(story: &Story) -> String {
    let contents = story
        .projection
        .as_ref()
        .and_then(|projection| projection.contents.as_ref());
    match contents.map(|contents| contents.standing()) {
        None => "nothing".to_owned(),
        Some(Standing::Deleted) => "deleted".to_owned(),
        Some(Standing::Contested(_)) => "contested".to_owned(),
        Some(Standing::Present(json)) => {
            let value: serde_json::Value = serde_json::from_str(json.as_str()).unwrap();
            value["status"].as_str().unwrap().to_owned()
        }
    }
}

/// Every decision about the resource: those with items of their own, and those the projection keeps.
pub fn outcomes(story: &Story) -> Vec<Outcome> {
    let own = story
        .decisions
        .iter()
        .filter_map(|decision| decision.outcome);
    let kept = story
        .projection
        .iter()
        .flat_map(|projection| projection.recent.iter().map(|mark| mark.outcome));
    own.chain(kept)
        .chain(story.paged.iter().map(|mark| mark.outcome))
        .collect()
}

/// Text that does not pack well, the same at every run.
pub fn noise(length: usize) -> String {
    let mut x = 0x9E37_79B9_7F4A_7C15_u64;
    let mut letter = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        char::from(b'a' + x.to_be_bytes()[0] % 26)
    };
    (0..length).map(|_| letter()).collect()
}

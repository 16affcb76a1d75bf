//! Laws 1 to 3 for every kind of sender: batches, handshakes, signed URLs, unsigned names, queues.

mod batches;
mod feeds;
mod handshakes;
mod unsigned;

use base64::Engine as _;
use lastword_contracts::Headers;
use lastword_domain::{Outcome, Reason};
use lastword_ingest::Served;
use lastword_ingest::answer::Reply;
use lastword_local::machine::{Machine, Worker};
use lastword_local::stores::Place;
use serde_json::{Value, json};

use crate::world::*;

const CONFIG: &str = r#"
[integrations.crm]
contract = "hubspot"
account = "62515"
environment = "live"
signing_secrets = ["env:CRM"]
api_key = "env:CRM_KEY"
url = "https://hooks.example.com/webhooks/crm"

[integrations.shop]
contract = "shopify"
account = "shop1.myshopify.com"
environment = "live"
signing_secrets = ["env:SHOP"]
api_key = "env:SHOP_KEY"

[integrations.till]
contract = "square"
account = "M1"
environment = "production"
signing_secrets = ["env:TILL"]
api_key = "env:TILL_KEY"
url = "https://hooks.example.com/webhooks/till?x=1"

[integrations.pay]
contract = "mercadopago"
account = "77"
environment = "live"
signing_secrets = ["env:PAY"]
api_key = "env:PAY_KEY"

[integrations.messages]
contract = "meta"
account = "106540352242922"
environment = "live"
signing_secrets = ["env:MESSAGES"]
api_key = "env:MESSAGES_KEY"
handshake_token = "env:MESSAGES_TOKEN"

[integrations.chat]
contract = "slack"
account = "T1"
environment = "live"
signing_secrets = ["env:CHAT"]
api_key = "env:CHAT_KEY"

[integrations.books]
contract = "xero"
account = "tenant-1"
environment = "live"
signing_secrets = ["env:BOOKS"]

[integrations.store]
contract = "woocommerce"
account = "store.example.com"
environment = "live"
signing_secrets = ["env:STORE"]
api_key = "env:STORE_KEY"

[integrations.commerce]
contract = "commercetools"
account = "project-1"
environment = "live"
api_key = "env:COMMERCE_KEY"
feeds = ["arn:aws:sqs:eu-west-1:000000000000:commerce", "aws.partner/commercetools.com/project-1"]
"#;

async fn start() -> (Machine, Worker) {
    let machine = Machine::start(Place::Temporary, CONFIG, NOW).await.unwrap();
    let worker = machine.worker().unwrap();
    (machine, worker)
}

async fn handle(worker: &Worker, event: &Value) -> Reply {
    worker.ingest.handle_text(&event.to_string()).await
}

fn signed(machine: &Machine, endpoint: &str, headers: &[(&str, &str)], body: &str) -> Value {
    serde_json::from_str(&machine.signed(endpoint, headers, body).unwrap()).unwrap()
}

fn unsigned(endpoint: &str, method: &str, query: &str, body: &str) -> Value {
    let path = format!("/webhooks/{endpoint}");
    let mut event: Value = serde_json::from_str(&lastword_local::machine::gateway_event(
        &path,
        &json!({}),
        body,
    ))
    .unwrap();
    event["requestContext"]["http"]["method"] = json!(method);
    event["rawQueryString"] = json!(query);
    event
}

fn change(id: u64, portal: u64, object: &str) -> String {
    format!(
        r#"{{"eventId": {id}, "subscriptionId":5, "subscriptionType": "contact.propertyChange", "portalId":{portal},"objectId":{object},"occurredAt":1.10}}"#
    )
}

fn contact(id: &str) -> lastword_domain::ResourceKey {
    key("hubspot", "62515", "live", "contact", id)
}

//! Very many signals of one resource at once, in turns that each fit a transaction.

use lastword_domain::Outcome;
use lastword_local::machine::Machine;
use lastword_local::stores::Place;

use crate::world::*;

/// Payouts are told by events about the one account that they are of.
const CONFIG: &str = r#"
[integrations.bank]
contract = "generic-hmac"
account = "main"
environment = "live"
signing_secrets = ["env:BANK"]
[integrations.bank.define.ledger]
events = ["payout.*"]
id = "body:/ledger"
strategies = []
[integrations.bank.define.ledger.facts.payout]
events = ["payout.made"]
id = ["/payout"]
"#;

#[tokio::test]
async fn five_hundred_facts_of_one_resource_at_once_are_all_recorded() {
    const FACTS: usize = 500;
    let machine = Machine::start(Place::Temporary, CONFIG, NOW).await.unwrap();
    let worker = machine.worker().unwrap();
    for number in 0..FACTS {
        let body = format!(
            r#"{{"id":"e{number}","type":"payout.made","ledger":"l1","payout":"p{number}"}}"#
        );
        let reply = machine.deliver(&worker, "bank", &[], &body).await.unwrap();
        assert_eq!(reply.status_code, 200);
    }
    machine.settle(&worker).await.unwrap();
    let ledger = key("generic-hmac", "main", "live", "ledger", "l1");
    let story = story(&machine, &worker, &ledger).await;
    assert_eq!(story.facts.len(), FACTS);
    let outcomes = outcomes(&story);
    assert_eq!(outcomes.len(), FACTS);
    assert!(outcomes.iter().all(|outcome| *outcome == Outcome::Applied));
}

//! The sample of draft's event is what dispatch makes of a confirmed order today, and draft takes it.

use std::sync::Arc;
use std::time::Duration;

use lastword_config::Config;
use lastword_draft::{Handler, Model, Wordings};
use lastword_local::machine::{Machine, STATE_TABLE};
use lastword_local::stores::Place;
use lastword_store::{Drafts, Moment};

use super::wanted;
use crate::samples::{pretty, sample};
use crate::shop::the_order;
use crate::world::NOW;

const CONFIG: &str = include_str!("../../../events/lastword.toml");
/// What asks for the sample.
const EFFECT: &str = r#"
[effects.confirmation]
on = "order"
when = '"confirm" in verdict.allowed'
wording = "order-confirmation"
data.order = "subject.id"
data.state = "verdict.state"
data.parcels = "[]"
"#;
const ORDER: &str = r#"{"id":"erp-2","type":"order.confirmed","order":{"id":"o-1","version":2,"status":"confirmed"}}"#;

#[tokio::test]
async fn the_sample_becomes_a_draft() {
    let config = format!("{CONFIG}{EFFECT}");
    let machine = Machine::start(Place::Temporary, &config, NOW)
        .await
        .unwrap();
    let worker = machine.worker().unwrap();
    machine.deliver(&worker, "erp", &[], ORDER).await.unwrap();
    machine.settle_all(&worker).await.unwrap();
    let wanted = wanted(&machine);
    let kept = sample("draft/order-confirmation.json", &pretty(&wanted[0]));

    let config = Config::parse("events/lastword.toml", CONFIG).unwrap();
    let drafts = Drafts::new(machine.stores.dynamodb(), STATE_TABLE);
    let handler = Handler::new(
        Wordings::compile(&config).unwrap(),
        Model::Off,
        Duration::from_secs(8),
        drafts.clone(),
        Arc::new(|| Moment::from_unix_ms(NOW * 1000)),
    );
    assert!(handler.handle_text(&kept).await.is_ok());
    let made = drafts.of(&the_order("o-1").hash()).await.unwrap();
    assert_eq!(made[0].text, "Your order o-1 is confirmed.");
}

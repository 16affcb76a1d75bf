//! An effect on a running stack: from a webhook to the destination, and what a person says when it is refused.

use http::StatusCode;
use lastword_config::BUILT_IN;
use lastword_local::destination::{Destination, Kind, Next};
use serde_json::Value;

use crate::bench::{Dev, Provider, eventually, run, said};

/// The warehouse is told of each order that is sent, over a destination that does not know keys.
const EFFECT: &str = r#"
[effects.parcel]
on = "erp/order"
when = 'state.note == "sent"'
to = "warehouse"
data.order = "state.id"
[destinations.warehouse]
url = "https://warehouse.example.com/parcels"
"#;

const ORDER: &str = "generic-hmac/main/live/order/o1";

async fn status(place: &std::path::Path) -> String {
    let (out, _, _) = said(&run(place, &["inspect", ORDER, "--json"]).await);
    let told: Value = serde_json::from_str(&out).unwrap_or_default();
    let status = told.pointer("/effects/0/status").and_then(Value::as_str);
    status.unwrap_or("none").to_owned()
}

#[tokio::test]
async fn an_effect_is_sent_once_and_one_that_is_refused_waits_for_a_person() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("parcel.toml");
    std::fs::write(&file, format!("{BUILT_IN}{EFFECT}")).unwrap();
    let warehouse = Destination::start(Kind::Plain).await.unwrap();
    warehouse.next(Next::Answer(400));
    let to = format!("warehouse={}", warehouse.url());
    let config = ["--config", file.to_str().unwrap(), "--destination", &to];
    let dev = Dev::start(place.path(), &config).await;
    let provider = Provider::of(&dev);
    let order =
        r#"{"id":"e1","type":"order.changed","order":{"id":"o1","version":1,"note":"sent"}}"#;
    let answered = provider.post(&dev, "erp", order).await.unwrap();
    assert_eq!(answered, StatusCode::OK);
    eventually("the effect is refused", async || {
        status(place.path()).await == "failed"
    })
    .await;
    assert!(warehouse.actions().is_empty());
    let again = ["effect", ORDER, "parcel", "--again", "--by", "anna"];
    let (out, _, code) = said(&run(place.path(), &again).await);
    assert_eq!(
        (code, out.contains("parcel#1 is sent again")),
        (Some(0), true),
        "{out}"
    );
    eventually("the effect is done", async || {
        status(place.path()).await == "done"
    })
    .await;
    assert_eq!(warehouse.actions().values().collect::<Vec<_>>(), [&1]);
    let (_, err, code) = said(&run(place.path(), &again).await);
    assert_eq!(code, Some(1), "{err}");
    assert!(
        err.contains("no such effect failed or is ambiguous"),
        "{err}"
    );
    let (out, _, _) = said(&run(place.path(), &["inspect", ORDER]).await);
    assert!(out.contains("parcel#1") && out.contains("by anna"), "{out}");
}

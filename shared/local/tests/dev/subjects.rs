//! A subject on a running stack: from a webhook, over both streams and the queue, to its verdict.

use http::StatusCode;
use lastword_config::BUILT_IN;
use serde_json::Value;

use crate::bench::{Dev, Provider, eventually, run, said};

/// What the example declares, and one more thing of our own.
const SUBJECT: &str = r#"
[subjects.goods.members.ordered]
from = "erp/order"
link = "state.id"
many = true
[subjects.goods.rules]
state = 'ordered.exists(o, o.state.note == "sent") ? "sent" : "open"'
allow.recall = 'ordered.all(o, o.state.note != "sent")'
"#;

async fn told(place: &std::path::Path) -> Value {
    let asked = ["inspect", "subject/goods/o1", "--json"];
    let (out, _, _) = said(&run(place, &asked).await);
    serde_json::from_str(&out).unwrap()
}

#[tokio::test]
async fn a_subject_is_decided_anew_with_each_change_of_a_member_also_after_a_kill() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("goods.toml");
    std::fs::write(&file, format!("{BUILT_IN}{SUBJECT}")).unwrap();
    let config = ["--config", file.to_str().unwrap()];
    let dev = Dev::start(place.path(), &config).await;
    let provider = Provider::of(&dev);
    let order = |version: u32, note: &str| {
        let order = format!(r#"{{"id":"o1","version":{version},"note":"{note}"}}"#);
        format!(r#"{{"id":"e{version}","type":"order.changed","order":{order}}}"#)
    };
    let status = provider
        .post(&dev, "erp", &order(1, "packed"))
        .await
        .unwrap();
    assert_eq!(status, StatusCode::OK);
    eventually("the subject is open", async || {
        told(place.path()).await["verdict"] == r#"{"allowed":["recall"],"data":{},"state":"open"}"#
    })
    .await;
    let status = provider.post(&dev, "erp", &order(2, "sent")).await.unwrap();
    assert_eq!(status, StatusCode::OK);
    // Whatever was under way: the event was acknowledged, so the subject follows.
    dev.kill().await;
    let _dev = Dev::start(place.path(), &config).await;
    eventually("the subject is sent", async || {
        told(place.path()).await["verdict"] == r#"{"allowed":[],"data":{},"state":"sent"}"#
    })
    .await;
    let (out, _, code) = said(&run(place.path(), &["inspect", "subject/goods/o1"]).await);
    assert_eq!(code, Some(0));
    for text in [
        "verdict      sent",
        "allowed      nothing",
        "ordered",
        "present",
    ] {
        assert!(out.contains(text), "{text} is not in {out}");
    }
}

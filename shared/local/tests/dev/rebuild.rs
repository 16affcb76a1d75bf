//! `lastword rebuild` against a running stack.

use aws_sdk_dynamodb::types::AttributeValue;
use http::StatusCode;
use lastword_domain::ResourceKey;
use lastword_local::{clients, standin::StandIn};
use serde_json::Value;

use crate::bench::{
    Dev, Provider, eventually, order_event, run, said, state, subscription_event, subscription_path,
};

const ACTIVE: &str = r#"{"id":"sub_1","status":"active"}"#;

/// The lines that it printed, each as JSON.
fn lines(out: &str) -> Vec<Value> {
    let lines = out.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line} in {out}")))
        .collect()
}

/// An order and a subscription, both decided.
async fn filled(dev: &Dev, source: &StandIn) -> [ResourceKey; 2] {
    let provider = Provider::of(dev);
    source.show(&subscription_path("sub_1"), ACTIVE);
    let subscription = subscription_event("evt_1", "sub_1");
    let order = order_event("e1", r#"{"id":"o1","version":1,"note":"right"}"#);
    for (integration, body) in [("billing", &subscription), ("erp", &order)] {
        let status = provider.post(dev, integration, body).await.unwrap();
        assert_eq!(status, StatusCode::OK);
    }
    let all = [
        provider.resource("erp", "order", "o1"),
        provider.resource("billing", "subscription", "sub_1"),
    ];
    for resource in &all {
        eventually("it is decided", async || {
            state(dev.story(resource).await.projection.as_ref()).is_some()
        })
        .await;
    }
    all
}

#[tokio::test]
async fn rebuild_all_puts_right_what_somebody_wrote_and_tells_machines_what_it_was() {
    let place = tempfile::tempdir().unwrap();
    let source = StandIn::start().await.unwrap();
    let api = format!("stripe={}", source.url());
    let dev = Dev::start(place.path(), &["--api", &api]).await;
    let [order, _] = filled(&dev, &source).await;
    let client = clients::dynamodb(dev.text("dynamodb"));
    let text = |text: &str| AttributeValue::S(text.to_owned());
    let spoil = client.update_item().table_name(dev.text("state_table"));
    spoil
        .key("pk", text(order.hash().as_str()))
        .key("sk", text("projection"))
        .update_expression("SET #state = :wrong")
        .expression_attribute_names("#state", "state")
        .expression_attribute_values(":wrong", text(r#"{"id":"o1","version":1,"note":"wrong"}"#))
        .send()
        .await
        .unwrap();
    let all = ["rebuild", "all", "--json", "--yes", "--run", "first"];
    let (out, err, code) = said(&run(place.path(), &all).await);
    assert_eq!((err.as_str(), code), ("", Some(0)));
    let told = lines(&out);
    assert_eq!(told.len(), 2, "{out}");
    assert_eq!(told[0]["what"], order.to_string());
    assert_eq!(told[0]["outcome"], "changed");
    assert_eq!(told[0]["differs"][0], "contents");
    assert_eq!(told[1]["run"], "first");
    assert_eq!(told[1]["counts"]["changed"], 1);
    assert_ne!(told[1]["counts"]["same"], 0);
    let held = dev.story(&order).await.projection;
    assert!(state(held.as_ref()).unwrap().contains("right"));
    // The same name goes on: all is done, and the source is not asked again.
    let reads = source.reads();
    let (again, _, code) = said(&run(place.path(), &all).await);
    assert_eq!((again.as_str(), code), (out.as_str(), Some(0)));
    assert_eq!(source.reads(), reads);
}

#[tokio::test]
async fn a_source_that_cannot_be_read_is_told_and_exits_with_1() {
    let place = tempfile::tempdir().unwrap();
    let source = StandIn::start().await.unwrap();
    let api = format!("stripe={}", source.url());
    let dev = Dev::start(place.path(), &["--api", &api]).await;
    let [order, subscription] = filled(&dev, &source).await;
    source.answer_with(&subscription_path("sub_1"), 503);
    let asked = ["rebuild", "billing/subscription"];
    let (out, err, code) = said(&run(place.path(), &asked).await);
    assert_eq!((err.as_str(), code), ("", Some(1)));
    for text in [
        subscription.to_string().as_str(),
        "unread",
        "503",
        "OUTCOME",
    ] {
        assert!(out.contains(text), "{text} is not in {out}");
    }
    let one = order.to_string();
    let (out, _, code) = said(&run(place.path(), &["rebuild", &one]).await);
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains("same"), "{out}");
    let held = dev.story(&subscription).await;
    assert_eq!(state(held.projection.as_ref()), Some(ACTIVE));
    assert_eq!(held.rebuilt.unwrap().report.outcome.as_str(), "unread");
    let (out, _, _) = said(&run(place.path(), &["inspect", &subscription.to_string()]).await);
    assert!(out.contains("rebuilt"), "{out}");
}

#[tokio::test]
async fn what_is_asked_wrongly_or_is_not_configured_is_said() {
    let place = tempfile::tempdir().unwrap();
    for (what, why) in [
        ("every/thing/there/is", "provider/account/environment"),
        ("billing/nothing", "billing keeps no nothing"),
        ("nobody/order", "no integration is called nobody"),
        ("subject/nothing", "no subject is called nothing"),
        ("erp/order", "nothing runs in .lastword"),
    ] {
        let (out, err, code) = said(&run(place.path(), &["rebuild", what]).await);
        assert_eq!((out.as_str(), code), ("", Some(2)), "{what}");
        assert!(err.contains(why), "{what} says {err}");
    }
    let dev = Dev::start(place.path(), &[]).await;
    let stranger = ["rebuild", "stripe/acct_of_nobody/test/subscription/sub_1"];
    let (out, _, code) = said(&run(place.path(), &stranger).await);
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains("unconfigured"), "{out}");
    drop(dev);
}

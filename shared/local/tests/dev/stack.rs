//! `dev` and `inspect` together: what listens, what follows from a webhook, and who may run beside whom.

use std::{path::Path, time::Duration};

use http::StatusCode;
use lastword_local::standin::StandIn;
use serde_json::Value;

use crate::bench::{
    Dev, Provider, decided, eventually, order_event, run, said, state, subscription_event,
    subscription_path,
};

const CANCELLED: &str = r#"{"id":"sub_1","status":"canceled"}"#;

#[tokio::test]
async fn in_memory_it_prints_one_line_takes_a_webhook_and_the_projection_follows() {
    let place = tempfile::tempdir().unwrap();
    let source = StandIn::start().await.unwrap();
    source.show(&subscription_path("sub_1"), CANCELLED);
    let api = format!("stripe={}", source.url());
    let dev = Dev::start(place.path(), &["--memory", "--api", &api]).await;
    let provider = Provider::of(&dev);
    let body = subscription_event("evt_1", "sub_1");
    let status = provider.post(&dev, "billing", &body).await.unwrap();
    assert_eq!(status, StatusCode::OK);
    let resource = provider.resource("billing", "subscription", "sub_1");
    eventually("the projection is the source's state", async || {
        let story = dev.story(&resource).await;
        state(story.projection.as_ref()) == Some(CANCELLED)
    })
    .await;
    let directory = Path::new(dev.text("directory")).to_owned();
    assert!(directory.exists() && !place.path().join(".lastword").exists());
    assert_eq!(dev.end().await, (Some(0), String::new()));
    assert!(!directory.exists(), "nothing is left of it");
}

#[tokio::test]
async fn a_fixed_clock_checks_signatures_and_nothing_else() {
    let place = tempfile::tempdir().unwrap();
    let dev = Dev::start(place.path(), &["--memory", "--clock", "1700000000"]).await;
    let mut provider = Provider::of(&dev);
    let body = subscription_event("evt_1", "sub_1");
    let now = provider.post(&dev, "billing", &body).await.unwrap();
    assert_eq!(now, StatusCode::UNAUTHORIZED);
    provider.clock = Some(1_700_000_100);
    let then = provider.post(&dev, "billing", &body).await.unwrap();
    assert_eq!(then, StatusCode::OK);
}

#[tokio::test]
async fn a_second_stack_in_one_directory_is_refused_and_the_first_goes_on() {
    let place = tempfile::tempdir().unwrap();
    let dev = Dev::start(place.path(), &[]).await;
    let second = ["dev", "--json", "--port", "0"];
    let (out, err, code) = said(&run(place.path(), &second).await);
    assert_eq!((out.as_str(), code), ("", Some(2)));
    assert!(
        err.contains(".lastword is in use by another `lastword dev`"),
        "{err}"
    );
    let provider = Provider::of(&dev);
    let body = order_event("e1", r#"{"id":"o1","version":1}"#);
    let status = provider.post(&dev, "erp", &body).await.unwrap();
    assert_eq!(status, StatusCode::OK);
    let port = dev.text("url").rsplit(':').next().unwrap();
    let third = ["dev", "--json", "--memory", "--port", port];
    let (_, err, code) = said(&run(place.path(), &third).await);
    assert_eq!(code, Some(2));
    assert!(err.contains(&format!("port {port} is taken")), "{err}");
}

/// Posts version 2 of an order, then version 1, and waits until both are decided.
async fn two_versions(dev: &Dev) {
    let provider = Provider::of(dev);
    let resource = provider.resource("erp", "order", "o/1");
    for (event, version) in [("e2", 2), ("e1", 1)] {
        let order = format!(r#"{{"id":"o/1","version":{version},"note":"n{version}"}}"#);
        let body = order_event(event, &order);
        let status = provider.post(dev, "erp", &body).await.unwrap();
        assert_eq!(status, StatusCode::OK);
        let reference = Provider::event(&resource, event);
        eventually("the event is decided", async || {
            decided(&dev.story(&resource).await).contains(&reference)
        })
        .await;
    }
}

#[tokio::test]
async fn inspect_tells_the_story_of_a_resource_and_its_body_only_when_asked() {
    let place = tempfile::tempdir().unwrap();
    let dev = Dev::start(place.path(), &[]).await;
    two_versions(&dev).await;
    let resource = "generic-hmac/main/live/order/o/1";
    let (out, err, code) = said(&run(place.path(), &["inspect", resource]).await);
    assert_eq!((err.as_str(), code), ("", Some(0)));
    for text in [
        "standing     present",
        "version      2",
        "e1",
        "stale",
        "e2",
        "applied",
    ] {
        assert!(out.contains(text), "{text} is not in {out}");
    }
    assert!(!out.contains("n2"), "{out}");
    let asked = ["inspect", resource, "--json", "--body"];
    let (out, _, _) = said(&run(place.path(), &asked).await);
    let told: Value = serde_json::from_str(&out).unwrap();
    assert!(told["states"][0].as_str().unwrap().contains("n2"), "{told}");
    assert_eq!(told["decisions"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn inspect_says_that_nothing_is_known_and_that_nothing_runs() {
    let place = tempfile::tempdir().unwrap();
    let dev = Dev::start(place.path(), &[]).await;
    let asked = ["inspect", "generic-hmac/main/live/order/o/2"];
    let (out, _, code) = said(&run(place.path(), &asked).await);
    assert_eq!(code, Some(1));
    assert!(out.contains("Nothing is known of it"), "{out}");
    assert_eq!(dev.end().await.0, Some(0));
    let (_, err, code) = said(&run(place.path(), &asked).await);
    assert_eq!(code, Some(2));
    assert!(err.contains("nothing runs in"), "{err}");
}

#[tokio::test]
async fn a_source_that_fails_for_a_while_delays_decisions_and_loses_none() {
    let place = tempfile::tempdir().unwrap();
    let source = StandIn::start().await.unwrap();
    source.take_time(Duration::from_millis(30));
    let api = format!("stripe={}", source.url());
    let dev = Dev::start(place.path(), &["--api", &api]).await;
    let provider = Provider::of(&dev);
    let shown = |id: &str| format!(r#"{{"id":"{id}"}}"#);
    let ids: Vec<_> = (0..12).map(|number| format!("sub_{number}")).collect();
    for id in &ids {
        source.answer_with(&subscription_path(id), 503);
        let body = subscription_event(&format!("evt_{id}"), id);
        let status = provider.post(&dev, "billing", &body).await.unwrap();
        assert_eq!(status, StatusCode::OK);
    }
    for id in &ids {
        eventually("the source was asked in vain", async || {
            source.reads_of(&subscription_path(id)) > 1
        })
        .await;
        source.show(&subscription_path(id), shown(id));
    }
    for id in &ids {
        let resource = provider.resource("billing", "subscription", id);
        eventually("the projection is the source's state", async || {
            let story = dev.story(&resource).await;
            state(story.projection.as_ref()) == Some(shown(id).as_str())
        })
        .await;
    }
}

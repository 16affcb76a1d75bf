//! The real binaries of the functions behind the same command.

use http::StatusCode;
use lastword_local::standin::StandIn;

use crate::bench::{
    Dev, Provider, eventually, order_event, state, subscription_event, subscription_path,
};

const PAST_DUE: &str = r#"{"id":"sub_1","status":"past_due"}"#;

/// The names of the processes whose parent is `pid`.
fn children(pid: u32) -> Vec<String> {
    let stat = |entry: std::io::Result<std::fs::DirEntry>| {
        let text = std::fs::read_to_string(entry.ok()?.path().join("stat")).ok()?;
        let (name, rest) = text.split_once('(')?.1.rsplit_once(')')?;
        let parent: u32 = rest.split_whitespace().nth(1)?.parse().ok()?;
        (parent == pid).then(|| name.to_owned())
    };
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(stat)
        .collect()
}

/// Builds the binaries when they are missing or older, which may take a while.
#[tokio::test]
async fn the_real_binaries_take_a_webhook_and_end_with_the_command() {
    let place = tempfile::tempdir().unwrap();
    let source = StandIn::start().await.unwrap();
    source.show(&subscription_path("sub_1"), PAST_DUE);
    let api = format!("stripe={}", source.url());
    // A secret in a variable reaches the binary, too.
    let config =
        lastword_config::BUILT_IN.replace("ssm:/lastword/erp/signing", "env:LASTWORD_TEST_ERP");
    std::fs::write(place.path().join("lastword.toml"), &config).unwrap();
    let dev = Dev::start(place.path(), &["--processes", "--api", &api]).await;
    let mut running = children(dev.pid());
    running.sort();
    running.dedup();
    assert_eq!(
        running,
        ["dispatch", "draft", "ingest", "reconcile", "relay"]
    );
    let provider = Provider::configured(&dev, &config);
    let subscription = subscription_event("evt_1", "sub_1");
    let order = order_event("e1", r#"{"id":"o1","version":1}"#);
    for (integration, body) in [("billing", subscription), ("erp", order)] {
        let status = provider.post(&dev, integration, &body).await.unwrap();
        assert_eq!(status, StatusCode::OK, "{integration}");
    }
    let resource = provider.resource("billing", "subscription", "sub_1");
    eventually("the projection is the source's state", async || {
        state(dev.story(&resource).await.projection.as_ref()) == Some(PAST_DUE)
    })
    .await;
    let pid = dev.pid();
    assert_eq!(dev.end().await, (Some(0), String::new()));
    assert_eq!(children(pid), Vec::<String>::new());
}

//! What the tests share: a running `lastword dev`, a provider that signs and posts, and a way to look at
//! what became of it; asserts nothing about it.

use std::{
    collections::BTreeMap,
    path::Path,
    process::{Output, Stdio},
    time::{Duration, SystemTime},
};

use http::{Request, StatusCode};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use lastword_config::{BUILT_IN, Config};
use lastword_contracts::Headers;
use lastword_domain::{EventIdentity, EventRef, Projection, ResourceKey, Standing, name::EventId};
use lastword_local::{clients, machine::Failure, mapping::until};
use lastword_store::{State, Story};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

/// No condition of a test may take longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(40);

/// Waits until `condition` holds.
pub(crate) async fn eventually(what: &str, condition: impl AsyncFnMut() -> bool) {
    assert!(
        timeout(PATIENCE, until(condition)).await.is_ok(),
        "never happened: {what}"
    );
}

/// The command with these arguments, run in `directory`.
pub(crate) fn lastword(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lastword"));
    command
        .args(arguments)
        .current_dir(directory)
        .env_remove("LASTWORD_STATE_TABLE")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    command
}

/// Runs the command to its end.
pub(crate) async fn run(directory: &Path, arguments: &[&str]) -> Output {
    let ended = timeout(PATIENCE, lastword(directory, arguments).output()).await;
    ended.expect("it ends").unwrap()
}

/// What it said, and its exit code.
pub(crate) fn said(output: &Output) -> (String, String, Option<i32>) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (
        text(&output.stdout),
        text(&output.stderr),
        output.status.code(),
    )
}

/// A running `lastword dev --json`.
pub(crate) struct Dev {
    child: Child,
    stdout: BufReader<ChildStdout>,
    /// Its one line.
    pub(crate) line: Value,
}

impl Dev {
    /// Starts it on a free port and waits until everything listens, for as long as a build may take.
    pub(crate) async fn start(directory: &Path, arguments: &[&str]) -> Self {
        let mut all = vec!["dev", "--json", "--port", "0"];
        all.extend(arguments);
        let mut child = lastword(directory, &all)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        let read = timeout(Duration::from_secs(600), stdout.read_line(&mut line)).await;
        read.expect("it starts").unwrap();
        Self {
            child,
            stdout,
            line: serde_json::from_str(&line).expect("one line of JSON"),
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id().unwrap()
    }

    /// A value of its line.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.line[name].as_str().unwrap()
    }

    /// As `kill -9` does.
    pub(crate) async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// Asks it to end; gives back its exit code and what else it printed.
    pub(crate) async fn end(mut self) -> (Option<i32>, String) {
        let pid = self.pid().to_string();
        let asked = Command::new("kill").args(["-TERM", &pid]).status().await;
        assert!(asked.unwrap().success());
        let mut rest = String::new();
        let ended = timeout(PATIENCE, async {
            self.stdout.read_to_string(&mut rest).await.unwrap();
            self.child.wait().await.unwrap()
        });
        (ended.await.expect("it ends").code(), rest)
    }

    /// What is known of a resource.
    pub(crate) async fn story(&self, resource: &ResourceKey) -> Story {
        let client = clients::dynamodb(self.text("dynamodb"));
        let state = State::new(client, self.text("inbox_table"), self.text("state_table"));
        state.story(resource).await.unwrap()
    }
}

/// The state that is held, where there is one.
pub(crate) fn state(projection: Option<&Projection>) -> Option<&str> {
    match projection?.contents.as_ref()?.standing() {
        Standing::Present(json) => Some(json.as_str()),
        Standing::Deleted | Standing::Contested(_) => None,
    }
}

/// The events about which something was concluded.
pub(crate) fn decided(story: &Story) -> Vec<EventRef> {
    let own = story.decisions.iter().filter(|it| it.outcome.is_some());
    let recent = story.projection.iter().flat_map(|it| &it.recent);
    let marks = story.paged.iter().chain(recent);
    own.map(|it| it.event.clone())
        .chain(marks.map(|it| it.event.clone()))
        .collect()
}

/// Everybody who sends.
pub(crate) struct Provider {
    client: Client<HttpConnector, Full<Bytes>>,
    config: Config,
    secrets: BTreeMap<String, String>,
    /// When it signs; else now.
    pub(crate) clock: Option<u64>,
}

impl Provider {
    /// Knows the secrets of a running stack with the example configuration.
    pub(crate) fn of(dev: &Dev) -> Self {
        Self::configured(dev, BUILT_IN)
    }

    /// Knows the secrets of a running stack with this configuration.
    pub(crate) fn configured(dev: &Dev, config: &str) -> Self {
        let text = std::fs::read_to_string(dev.text("secrets")).unwrap();
        Self {
            client: Client::builder(TokioExecutor::new()).build_http(),
            config: Config::parse("lastword.toml", config).unwrap(),
            secrets: toml::from_str(&text).unwrap(),
            clock: None,
        }
    }

    /// The values of all secrets.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &str> {
        self.secrets.values().map(String::as_str)
    }

    /// Signs and posts; no status when the connection broke.
    pub(crate) async fn post(
        &self,
        dev: &Dev,
        integration: &str,
        body: &str,
    ) -> Result<StatusCode, Failure> {
        let configured = self.config.integration(integration).unwrap();
        let secret = &self.secrets[&configured.signing[0].to_string()];
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
        let now = self.clock.unwrap_or(now.as_secs());
        let keys = configured.keys([secret.as_str()])?;
        let signed = configured.sign(&keys, &Headers::default(), body.as_bytes(), now)?;
        let (header, signature) = signed.headers.first().ok_or("no header")?;
        let request = Request::post(dev.line["webhooks"][integration].as_str().unwrap())
            .header("content-type", "application/json")
            .header(header, signature)
            .body(Full::new(Bytes::from(body.to_owned())))?;
        Ok(self.client.request(request).await?.status())
    }

    /// Whose key a resource of an integration has.
    pub(crate) fn resource(&self, integration: &str, kind: &str, id: &str) -> ResourceKey {
        let it = self.config.integration(integration).unwrap();
        ResourceKey {
            provider: it.contract.name.clone(),
            account: it.account.clone(),
            environment: it.environment.clone(),
            kind: kind.to_owned().try_into().unwrap(),
            id: id.to_owned().try_into().unwrap(),
        }
    }

    /// What stands for an event about a resource.
    pub(crate) fn event(resource: &ResourceKey, id: &str) -> EventRef {
        let identity = EventIdentity {
            provider: resource.provider.clone(),
            account: resource.account.clone(),
            environment: resource.environment.clone(),
            id: EventId::parse(id).unwrap(),
        };
        EventRef::first(&identity.hash())
    }
}

/// Where a subscription is read.
pub(crate) fn subscription_path(id: &str) -> String {
    format!("/v1/subscriptions/{id}")
}

/// An event that only says that a subscription may have changed.
pub(crate) fn subscription_event(event: &str, id: &str) -> String {
    format!(
        r#"{{"id":"{event}","type":"customer.subscription.updated","livemode":false,"data":{{"object":{{"id":"{id}"}}}}}}"#
    )
}

/// An event that carries an order's version.
pub(crate) fn order_event(event: &str, order: &str) -> String {
    format!(r#"{{"id":"{event}","type":"order.changed","order":{order}}}"#)
}

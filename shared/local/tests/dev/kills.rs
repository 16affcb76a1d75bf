//! `kill -9` at random moments, while webhooks come in and sources are read: what was acknowledged ends in
//! a decision, and what is held is what the source shows.

use std::{
    collections::{HashSet, VecDeque},
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use futures_util::future::join_all;
use http::StatusCode;
use lastword_domain::ResourceKey;
use lastword_local::standin::StandIn;
use tokio::sync::Notify;

use crate::bench::{
    Dev, Provider, decided, eventually, order_event, state, subscription_event, subscription_path,
};

const KILLS: usize = 10;
/// Each sender has one resource of its own and posts its events one after the other.
const SENDERS: usize = 6;
const EVENTS: usize = 40;

/// One resource's provider: what it still has to post, and what was acknowledged.
struct Sender {
    number: usize,
    integration: &'static str,
    left: VecDeque<usize>,
    acknowledged: Vec<usize>,
}

impl Sender {
    fn new(number: usize) -> Self {
        Self {
            number,
            integration: if number.is_multiple_of(3) {
                "erp"
            } else {
                "billing"
            },
            left: (1..=EVENTS).collect(),
            acknowledged: Vec::new(),
        }
    }

    fn id(&self) -> String {
        format!("thing_{}", self.number)
    }

    fn resource(&self, provider: &Provider) -> ResourceKey {
        let kind = if self.integration == "erp" {
            "order"
        } else {
            "subscription"
        };
        provider.resource(self.integration, kind, &self.id())
    }

    fn event(&self, at: usize) -> String {
        format!("evt_{}_{at}", self.number)
    }

    fn object(&self, at: usize) -> String {
        format!(
            r#"{{"id":"{}","version":{at},"secret":"pineapple"}}"#,
            self.id()
        )
    }

    /// Posts in order, the source always ahead of its event; comes back when the connection breaks, and
    /// posts the same again the next time, as providers do.
    async fn send(&mut self, dev: &Dev, provider: &Provider, source: &StandIn, moment: &Moment) {
        while let Some(at) = self.left.front().copied() {
            source.show(&subscription_path(&self.id()), self.object(at));
            let body = match self.integration {
                "erp" => order_event(&self.event(at), &self.object(at)),
                _ => subscription_event(&self.event(at), &self.id()),
            };
            match provider.post(dev, self.integration, &body).await {
                Ok(StatusCode::OK) => {
                    self.left.pop_front();
                    self.acknowledged.push(at);
                    moment.count();
                }
                Ok(StatusCode::SERVICE_UNAVAILABLE) => {}
                Ok(other) => panic!("answered {other}"),
                Err(_) => return,
            }
        }
    }
}

/// When the process is killed: at this many acknowledgements.
struct Moment {
    at: usize,
    counted: AtomicUsize,
    come: Notify,
}

impl Moment {
    fn after(at: usize) -> Self {
        Self {
            at,
            counted: AtomicUsize::new(0),
            come: Notify::new(),
        }
    }

    fn count(&self) {
        if self.counted.fetch_add(1, Ordering::SeqCst) + 1 == self.at {
            self.come.notify_one();
        }
    }
}

async fn round(place: &Path, api: &str, senders: &mut [Sender], source: &StandIn) {
    let dev = Dev::start(place, &["--api", api]).await;
    let provider = Provider::of(&dev);
    let moment = Moment::after(fastrand::usize(1..=25));
    let sending = senders
        .iter_mut()
        .map(|sender| sender.send(&dev, &provider, source, &moment));
    // Everything that is being posted is cut off with it.
    tokio::select! {
        _ = join_all(sending) => {}
        () = moment.come.notified() => {}
    }
    dev.kill().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_was_acknowledged_before_a_kill_is_decided_after_it() {
    let place = tempfile::tempdir().unwrap();
    let source = StandIn::start().await.unwrap();
    source.take_time(Duration::from_millis(20));
    let api = format!("stripe={}", source.url());
    let mut senders: Vec<_> = (0..SENDERS).map(Sender::new).collect();
    for _ in 0..KILLS {
        round(place.path(), &api, &mut senders, &source).await;
    }
    let before: usize = senders.iter().map(|it| it.acknowledged.len()).sum();
    assert!(before >= KILLS, "the kills came while webhooks did");
    let dev = Dev::start(place.path(), &["--api", &api]).await;
    let provider = Provider::of(&dev);
    // What was acknowledged before the last kill must need nothing more than the restart.
    for sender in &senders {
        all_decided(sender, &dev, &provider).await;
    }
    let never = Moment::after(usize::MAX);
    for sender in &mut senders {
        sender.send(&dev, &provider, &source, &never).await;
        assert_eq!(sender.acknowledged.len(), EVENTS);
    }
    for sender in &senders {
        all_decided(sender, &dev, &provider).await;
        let (last, resource) = (sender.object(EVENTS), sender.resource(&provider));
        eventually("the projection is the source's state", async || {
            let story = dev.story(&resource).await;
            state(story.projection.as_ref()) == Some(last.as_str())
        })
        .await;
    }
    let log = std::fs::read_to_string(dev.text("log")).unwrap();
    assert!(!log.contains("pineapple"), "no body is in the log");
    for secret in provider.secrets() {
        assert!(!log.contains(secret), "no secret is in the log");
    }
    assert_eq!(dev.end().await, (Some(0), String::new()));
}

async fn all_decided(sender: &Sender, dev: &Dev, provider: &Provider) {
    let resource = sender.resource(provider);
    let acknowledged: HashSet<_> = sender
        .acknowledged
        .iter()
        .map(|at| Provider::event(&resource, &sender.event(*at)))
        .collect();
    eventually("every acknowledged event is decided", async || {
        let decided: HashSet<_> = decided(&dev.story(&resource).await).into_iter().collect();
        acknowledged.is_subset(&decided)
    })
    .await;
}

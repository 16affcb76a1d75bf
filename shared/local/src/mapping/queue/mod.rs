//! Carries the messages of a queue to a function; may not decide what a message means.
//!
//! The rules are Lambda's: at most ten messages in a batch, of several groups; several invocations at once,
//! but never two for one group; what is not reported as failed is deleted, what is reported or failed whole
//! is left to its visibility timeout, and so, in the end, to the dead-letter queue.
//!
//! The embedded queue hands out one message per group and receive, the cloud several.

mod event;
mod poller;

use std::{
    collections::HashSet,
    sync::{
        Arc, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use aws_sdk_sqs::Client;
use tokio::{
    sync::{Mutex, watch},
    task::JoinSet,
    time::sleep,
};

use super::{Counters, LOOK_AGAIN, Note, Observer, Resting, Settles, Tally, unobserved};
use crate::{function::Function, stores::QueueGauge};

/// How one queue is mapped to one function.
#[derive(Clone)]
pub struct QueueMappingConfig {
    /// For people.
    pub name: String,
    /// The queue.
    pub queue_url: String,
    /// The queue.
    pub queue_arn: String,
    /// The most messages in a batch, at most 10.
    pub batch_size: usize,
    /// The most invocations at once.
    pub maximum_concurrency: usize,
    /// Whether the function's reply is read as a report.
    pub report_batch_item_failures: bool,
    /// The function's deadline; must not exceed the queue's visibility timeout.
    pub function_timeout: Duration,
    /// Who watches.
    pub observer: Observer,
}

impl QueueMappingConfig {
    /// A mapping with the settings of the template, unobserved.
    #[must_use]
    pub fn new(
        name: impl Into<String>,
        queue_url: impl Into<String>,
        queue_arn: impl Into<String>,
    ) -> Self {
        Self {
            name: name.into(),
            queue_url: queue_url.into(),
            queue_arn: queue_arn.into(),
            batch_size: 10,
            maximum_concurrency: 10,
            report_batch_item_failures: true,
            function_timeout: Duration::from_secs(20),
            observer: unobserved(),
        }
    }
}

struct Shared {
    client: Client,
    function: Function,
    config: QueueMappingConfig,
    gauge: QueueGauge,
    counters: Counters,
    running: AtomicBool,
    in_flight: AtomicUsize,
    groups: std::sync::Mutex<HashSet<String>>,
}

impl Shared {
    fn note(&self, note: Note<'_>) {
        (self.config.observer)(note);
    }

    fn trouble(&self, reason: &str) {
        self.note(Note::Trouble {
            mapping: &self.config.name,
            reason,
        });
    }

    fn groups(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Running {
    stop: watch::Sender<bool>,
    poller: JoinSet<()>,
}

/// A running mapping. Dropping it is a crash: what is in flight comes back after its visibility timeout.
pub struct QueueMapping {
    shared: Arc<Shared>,
    running: Mutex<Option<Running>>,
}

impl QueueMapping {
    /// Starts receiving.
    pub async fn start(client: Client, function: Function, config: QueueMappingConfig) -> Self {
        let shared = Shared {
            gauge: QueueGauge::new(client.clone(), &config.queue_url),
            client,
            function,
            config,
            counters: Counters::default(),
            running: AtomicBool::new(false),
            in_flight: AtomicUsize::new(0),
            groups: std::sync::Mutex::default(),
        };
        let mapping = Self {
            shared: Arc::new(shared),
            running: Mutex::new(None),
        };
        mapping.resume().await;
        mapping
    }

    /// Lets the current long poll (at most a second) and all invocations end, and stops.
    pub async fn pause(&self) {
        let mut running = self.running.lock().await;
        let Some(mut was) = running.take() else {
            return;
        };
        was.stop.send_replace(true);
        while was.poller.join_next().await.is_some() {}
        self.shared.running.store(false, Ordering::SeqCst);
    }

    /// Stops as a killed process does: cuts the running invocations off and deletes nothing.
    pub async fn crash(&self) {
        let mut running = self.running.lock().await;
        let Some(mut was) = running.take() else {
            return;
        };
        was.poller.shutdown().await;
        self.shared.running.store(false, Ordering::SeqCst);
    }

    /// Starts again after a pause or a crash.
    pub async fn resume(&self) {
        let mut running = self.running.lock().await;
        if running.is_some() {
            return;
        }
        let (stop, stopped) = watch::channel(false);
        let mut poller = JoinSet::new();
        self.shared.running.store(true, Ordering::SeqCst);
        poller.spawn(poller::run(Arc::clone(&self.shared), stopped));
        *running = Some(Running { stop, poller });
    }

    /// How full the queue is.
    #[must_use]
    pub fn gauge(&self) -> QueueGauge {
        self.shared.gauge.clone()
    }
}

impl Settles for QueueMapping {
    fn idle(&self) -> Resting<'_> {
        Box::pin(async {
            while self.shared.running.load(Ordering::SeqCst) {
                let empty = self.shared.gauge.is_empty().await.unwrap_or(false);
                // Looked at second: what was in flight then has been deleted, or is back in the queue.
                if empty && self.shared.in_flight.load(Ordering::SeqCst) == 0 {
                    return;
                }
                sleep(LOOK_AGAIN).await;
            }
        })
    }

    fn tally(&self) -> Tally {
        self.shared.counters.tally()
    }
}

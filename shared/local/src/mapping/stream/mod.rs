//! Carries the records of a table's stream to a function; may not decide what a record means.
//!
//! The rules are Lambda's: batches in order per shard; a reported failure makes the lowest reported record
//! the new position, and everything from it on comes again; a failed batch is halved and retried; what has
//! used up its retries is set aside as a pointer and the mapping goes on.
//!
//! # Decision: when a position is saved
//!
//! Context: the queue behind the function lives in memory. At `kill -9` its messages are gone, while the
//! stream and the position file stay. Had the file moved past a record whose message was still queued, that
//! record would be lost to this path.
//!
//! Choice: a position P is saved only if, at a moment *after* the function had accepted P's batch, every
//! queue downstream was seen empty: nothing visible, nothing in flight, nothing delayed. In this order, P
//! read first and the queues looked at second: whatever P's records caused was queued before P was read, so
//! an empty queue means that it has been consumed and deleted. The other order would save a P whose message
//! was sent between the look and the read. After a restart, reading goes on behind the saved position, and
//! records that were already handled come again.
//!
//! Cost: under constant load the queue may never be seen empty and the saved position lags; a restart then
//! repeats more, which the consumers must bear anyway. A message that was moved to a dead-letter queue
//! counts as consumed and is lost with the process; so is what was set aside into a queue.

mod aside;
mod config;
mod keeper;
mod news;
mod plan;
mod position;
mod reader;
mod shards;
mod wire;

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use aws_sdk_dynamodbstreams::Client;
use tokio::{
    sync::{Mutex, Notify, watch},
    task::JoinSet,
    time::timeout,
};

pub use self::config::{OnFailure, StartingPosition, StreamMappingConfig};
pub use self::news::is_news;
use self::position::Positions;
use super::{Counters, LOOK_AGAIN, Note, Resting, Settles, Tally};
use crate::function::Function;

struct Shared {
    client: Client,
    function: Function,
    config: StreamMappingConfig,
    counters: Counters,
    /// Behind everything that the function has accepted or that was given up.
    accepted: watch::Sender<Positions>,
    /// What is on disk.
    saved: watch::Sender<Positions>,
    running: AtomicBool,
    /// Counts calls of `idle`; the reader answers with the last one it has seen before an empty read.
    asked: AtomicU64,
    drained: watch::Sender<u64>,
    nudge: Notify,
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

    fn advance(&self, shard: &str, sequence: &str) {
        self.accepted.send_modify(|positions| {
            positions.insert(shard.to_owned(), sequence.to_owned());
        });
    }

    /// Goes back to what a new process would know.
    fn recall(&self) {
        let Some(path) = &self.config.position_file else {
            return;
        };
        let positions = position::load(path, &self.config.stream_arn).unwrap_or_else(|reason| {
            self.trouble(&reason);
            Positions::new()
        });
        self.saved.send_replace(positions.clone());
        self.accepted.send_replace(positions);
    }
}

struct Running {
    stop: watch::Sender<bool>,
    reader: JoinSet<()>,
    keeper: JoinSet<()>,
}

/// A running mapping. Dropping it is a crash: nothing is finished, nothing saved.
pub struct StreamMapping {
    shared: Arc<Shared>,
    running: Mutex<Option<Running>>,
}

impl StreamMapping {
    /// Starts reading behind the saved position, or where the configuration says.
    pub async fn start(client: Client, function: Function, config: StreamMappingConfig) -> Self {
        let shared = Shared {
            client,
            function,
            config,
            counters: Counters::default(),
            accepted: watch::Sender::default(),
            saved: watch::Sender::default(),
            running: AtomicBool::new(false),
            asked: AtomicU64::new(0),
            drained: watch::Sender::new(0),
            nudge: Notify::new(),
        };
        shared.recall();
        let mapping = Self {
            shared: Arc::new(shared),
            running: Mutex::new(None),
        };
        mapping.resume().await;
        mapping
    }

    /// Finishes the running invocation, saves the position if it may, and stops.
    pub async fn pause(&self) {
        let mut running = self.running.lock().await;
        let Some(mut was) = running.take() else {
            return;
        };
        was.stop.send_replace(true);
        while was.reader.join_next().await.is_some() {}
        was.keeper.shutdown().await;
        if let Some(path) = &self.shared.config.position_file {
            keeper::keep_once(&self.shared, path).await;
        }
        self.shared.running.store(false, Ordering::SeqCst);
    }

    /// Stops as a killed process does: cuts the running invocation off and forgets what was not saved.
    /// Without a position file the position is kept, as the cloud keeps it.
    pub async fn crash(&self) {
        let mut running = self.running.lock().await;
        let Some(mut was) = running.take() else {
            return;
        };
        was.keeper.shutdown().await;
        was.reader.shutdown().await;
        self.shared.recall();
        self.shared.running.store(false, Ordering::SeqCst);
    }

    /// Starts again after a pause or a crash.
    pub async fn resume(&self) {
        let mut running = self.running.lock().await;
        if running.is_some() {
            return;
        }
        let (stop, stopped) = watch::channel(false);
        let (mut reader, mut keeper) = (JoinSet::new(), JoinSet::new());
        self.shared.running.store(true, Ordering::SeqCst);
        reader.spawn(reader::run(Arc::clone(&self.shared), stopped));
        if let Some(path) = self.shared.config.position_file.clone() {
            keeper.spawn(keeper::run(Arc::clone(&self.shared), path));
        }
        *running = Some(Running {
            stop,
            reader,
            keeper,
        });
    }

    /// Says that there is something to read, so that an idle mapping need not find out by itself.
    pub fn nudge(&self) {
        self.shared.nudge.notify_one();
    }

    /// The last handled sequence number of each shard.
    #[must_use]
    pub fn accepted(&self) -> BTreeMap<String, String> {
        self.shared.accepted.borrow().clone()
    }

    /// What is saved of it.
    #[must_use]
    pub fn saved(&self) -> BTreeMap<String, String> {
        self.shared.saved.borrow().clone()
    }
}

impl Settles for StreamMapping {
    fn idle(&self) -> Resting<'_> {
        Box::pin(async {
            let mine = self.shared.asked.fetch_add(1, Ordering::SeqCst) + 1;
            let mut drained = self.shared.drained.subscribe();
            while self.shared.running.load(Ordering::SeqCst) && *drained.borrow_and_update() < mine
            {
                self.nudge();
                // Looks again also without news: the mapping may have been stopped meanwhile.
                drop(timeout(LOOK_AGAIN, drained.changed()).await);
            }
        })
    }

    fn tally(&self) -> Tally {
        self.shared.counters.tally()
    }
}

/// The event that would carry these records of the stream `arn`, for a host that reads by hand.
#[must_use]
pub fn event_of(records: &[aws_sdk_dynamodbstreams::types::Record], arn: &str) -> String {
    let entries: Vec<_> = records
        .iter()
        .filter_map(|record| wire::entry(record, arn))
        .collect();
    wire::event(&entries)
}

//! Event source mappings: what carries records from a stream or a queue to a function, under Lambda's
//! rules. They may not look into a record further than its identifiers, its kind and its size.

mod report;

pub mod queue;
pub mod stream;

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::time::sleep;

pub use self::{
    queue::{QueueMapping, QueueMappingConfig},
    stream::{OnFailure, StartingPosition, StreamMapping, StreamMappingConfig},
};

/// How often a condition is looked at that nobody announces.
pub(crate) const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Something that happened to a mapping, for a person who watches.
#[derive(Clone, Debug)]
pub enum Note<'a> {
    /// The function took the whole batch.
    Accepted {
        /// Which mapping.
        mapping: &'a str,
        /// How many records.
        records: usize,
    },
    /// Some or all records of a batch come again.
    Failed {
        /// Which mapping.
        mapping: &'a str,
        /// How many records the batch had.
        records: usize,
        /// How many of them come again.
        again: usize,
        /// Why.
        reason: &'a str,
    },
    /// Records were given up after their retries; the mapping went on behind them.
    SetAside {
        /// Which mapping.
        mapping: &'a str,
        /// What the failure destination gets: pointers, never a record.
        pointer: &'a str,
    },
    /// The stream or the queue could not be used; the mapping tries again.
    Trouble {
        /// Which mapping.
        mapping: &'a str,
        /// Why.
        reason: &'a str,
    },
}

/// Is told what happens.
pub type Observer = Arc<dyn Fn(Note<'_>) + Send + Sync>;

/// An observer that does not care.
#[must_use]
pub fn unobserved() -> Observer {
    Arc::new(|_| {})
}

/// What a mapping has done since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How often the function was invoked.
    pub invocations: u64,
    /// Invocations that took their whole batch.
    pub accepted: u64,
    /// Invocations that did not.
    pub failed: u64,
    /// Records that were given up.
    pub set_aside: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    invocations: AtomicU64,
    accepted: AtomicU64,
    failed: AtomicU64,
    set_aside: AtomicU64,
}

impl Counters {
    pub(crate) fn invoked(&self) {
        self.invocations.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn accepted(&self) {
        self.accepted.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn failed(&self) {
        self.failed.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn set_aside(&self, records: usize) {
        self.set_aside.fetch_add(records as u64, Ordering::SeqCst);
    }

    pub(crate) fn tally(&self) -> Tally {
        Tally {
            invocations: self.invocations.load(Ordering::SeqCst),
            accepted: self.accepted.load(Ordering::SeqCst),
            failed: self.failed.load(Ordering::SeqCst),
            set_aside: self.set_aside.load(Ordering::SeqCst),
        }
    }
}

/// A future that borrows its mapping.
pub type Resting<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// A mapping that can be waited for.
pub trait Settles: Send + Sync {
    /// Resolves when all that was there at the call, and what it caused here, has been handled: the stream
    /// is read to its end or the queue holds nothing, and nothing is in flight. A mapping that does not
    /// run is idle. What fails for ever is never idle, unless it is set aside.
    fn idle(&self) -> Resting<'_>;

    /// What it has done so far.
    fn tally(&self) -> Tally;
}

/// Waits until all `mappings` are idle together: a round in which none of them invoked anything.
pub async fn settle(mappings: &[&dyn Settles]) {
    let total = || {
        mappings
            .iter()
            .map(|mapping| mapping.tally().invocations)
            .sum::<u64>()
    };
    loop {
        let before = total();
        for mapping in mappings {
            mapping.idle().await;
        }
        if total() == before {
            return;
        }
    }
}

/// Waits until `condition` holds.
pub async fn until(mut condition: impl AsyncFnMut() -> bool) {
    while !condition().await {
        sleep(LOOK_AGAIN).await;
    }
}

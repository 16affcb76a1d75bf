//! Counts what the store charges, as the store itself reports it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use aws_sdk_dynamodb::types::ConsumedCapacity;

/// Requests and units since it was made; clones count together.
#[derive(Debug, Clone, Default)]
pub struct Meter(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    requests: AtomicU64,
    halves: AtomicU64,
}

/// What was counted.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Reading {
    /// Requests answered.
    pub requests: u64,
    /// Capacity units (read or write, whichever the requests were).
    pub units: f64,
}

impl Meter {
    pub(crate) fn count<'a>(&self, consumed: impl IntoIterator<Item = &'a ConsumedCapacity>) {
        self.0.requests.fetch_add(1, Ordering::Relaxed);
        for capacity in consumed {
            // Units come in halves; counted as whole halves so that they add up exactly.
            let halves = (capacity.capacity_units().unwrap_or_default() * 2.0)
                .round()
                .max(0.0);
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            self.0.halves.fetch_add(halves as u64, Ordering::Relaxed);
        }
    }

    /// What was counted so far.
    #[must_use]
    pub fn read(&self) -> Reading {
        #[allow(clippy::cast_precision_loss)]
        let units = self.0.halves.load(Ordering::Relaxed) as f64 / 2.0;
        Reading {
            requests: self.0.requests.load(Ordering::Relaxed),
            units,
        }
    }
}

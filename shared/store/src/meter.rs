//! Counts what the store charges, as the store itself reports it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use aws_sdk_dynamodb::types::{AttributeValue, ConsumedCapacity};

use crate::item::Item;

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

    /// Counts a write whose condition failed: it is charged by the item that stood in its way, and the
    /// store's refusal does not report it.
    pub(crate) fn count_refused(&self, held: &Item) {
        let size: usize = held
            .iter()
            .map(|(name, value)| name.len() + size_of_value(value))
            .sum();
        self.0.requests.fetch_add(1, Ordering::Relaxed);
        self.0
            .halves
            .fetch_add(2 * size.div_ceil(1024).max(1) as u64, Ordering::Relaxed);
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

/// About what the store counts of a value.
fn size_of_value(value: &AttributeValue) -> usize {
    let of_list = |values: &Vec<AttributeValue>| {
        3 + values
            .iter()
            .map(|value| 1 + size_of_value(value))
            .sum::<usize>()
    };
    let of_map = |values: &Item| {
        3 + values
            .iter()
            .map(|(name, value)| 1 + name.len() + size_of_value(value))
            .sum::<usize>()
    };
    let text = value.as_s().or_else(|_| value.as_n()).map(String::len);
    let bytes = value.as_b().map(|bytes| bytes.as_ref().len());
    let nested = value
        .as_l()
        .map(of_list)
        .or_else(|_| value.as_m().map(of_map));
    text.ok().or(bytes.ok()).or(nested.ok()).unwrap_or(1)
}

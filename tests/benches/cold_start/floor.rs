//! What an event of this size costs beside runtime, decoding and SDK, which the bare binary shows: the HMAC,
//! four members of the body, its compression. Measured in this process, hot.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::{bodies, pieces::Pieces};

const BATCHES: usize = 25;
const EVENTS: u32 = 400;

/// The median of several batches.
pub(crate) fn pieces(size: usize) -> Duration {
    let body = bodies::invoice_event("evt_floor", "in_floor", size);
    let pieces = Pieces::new();
    let signature = pieces.sign(body.as_bytes());
    let mut batches: Vec<_> = (0..BATCHES)
        .map(|_| {
            let begun = Instant::now();
            for _ in 0..EVENTS {
                black_box(pieces.all(black_box(&body), &signature));
            }
            begun.elapsed() / EVENTS
        })
        .collect();
    batches.sort_unstable();
    batches.get(BATCHES / 2).copied().unwrap_or_default()
}

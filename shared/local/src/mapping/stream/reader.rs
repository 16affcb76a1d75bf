//! The loop that reads, invokes and moves the position; may not save it.

use std::{
    collections::VecDeque,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use tokio::{
    sync::watch,
    time::{sleep, timeout},
};

use super::{
    Shared,
    aside::set_aside,
    plan::{Attempt, Next, Policy, after_failure},
    shards::Shards,
    wire::{Entry, entry, event},
};
use crate::mapping::{
    Note,
    report::{self, Verdict},
};

/// The most bytes of records in one event.
const MOST_BYTES: usize = 6 * 1024 * 1024 - 1024;
/// The pauses between reads of a stream with nothing in it.
const SHORT_REST: Duration = Duration::from_millis(2);
const LONG_REST: Duration = Duration::from_millis(50);
/// The pause after a stream that could not be read.
const TROUBLE_REST: Duration = Duration::from_millis(200);

type Stop = watch::Receiver<bool>;

/// What was read of one shard.
#[derive(Default)]
struct Read {
    /// Those that pass the filter.
    entries: Vec<Entry>,
    /// The last one read, whether it passes or not.
    last: Option<String>,
}

/// A part of a batch that failed.
struct Failure {
    /// Counted from the start of the part.
    at: usize,
    reason: String,
}

pub(super) async fn run(shared: Arc<Shared>, mut stop: Stop) {
    let mut shards = Shards::default();
    let mut rest = SHORT_REST;
    while !*stop.borrow() {
        let asked = shared.asked.load(Ordering::SeqCst);
        match round(&shared, &mut shards, &mut stop).await {
            Ok(true) => rest = SHORT_REST,
            Ok(false) => {
                shared.drained.send_replace(asked);
                take_rest(&shared, &mut stop, rest).await;
                rest = (rest * 2).min(LONG_REST);
            }
            Err(reason) => {
                shared.trouble(&reason);
                take_rest(&shared, &mut stop, TROUBLE_REST).await;
            }
        }
    }
}

async fn take_rest(shared: &Shared, stop: &mut Stop, rest: Duration) {
    tokio::select! {
        () = sleep(rest) => {}
        () = shared.nudge.notified() => {}
        _ = stop.changed() => {}
    }
}

/// Reads every open shard once; answers whether anything was there.
async fn round(shared: &Shared, shards: &mut Shards, stop: &mut Stop) -> Result<bool, String> {
    let mut any = false;
    for shard in shards
        .open(&shared.client, &shared.config.stream_arn)
        .await?
    {
        let read = gather(shared, shards, &shard, stop).await?;
        let Some(last) = read.last else { continue };
        any = true;
        for batch in batches(&read.entries, shared.config.batch_size) {
            deliver(shared, &shard, batch, stop).await;
            if *stop.borrow() {
                return Ok(true);
            }
        }
        // Also behind what the filter left out.
        shared.advance(&shard, &last);
    }
    Ok(any)
}

/// Reads until a batch is full or its window is over.
async fn gather(
    shared: &Shared,
    shards: &mut Shards,
    shard: &str,
    stop: &Stop,
) -> Result<Read, String> {
    let config = &shared.config;
    let mut read = Read::default();
    let mut first = Instant::now();
    loop {
        let positions = shared.accepted.borrow().clone();
        let from = (&positions, config.starting_position);
        let records = shards
            .read(&shared.client, &config.stream_arn, shard, from)
            .await?;
        if read.last.is_none() {
            first = Instant::now();
        }
        let none = records.is_empty();
        for record in &records {
            let Some(entry) = entry(record, &config.stream_arn) else {
                continue;
            };
            read.last = Some(entry.sequence.clone());
            let named = config.event_names.is_empty() || config.event_names.contains(&entry.kind);
            if named && config.only.is_none_or(|only| only(record)) {
                read.entries.push(entry);
            }
        }
        let left = config.batching_window.saturating_sub(first.elapsed());
        if read.last.is_none() || left.is_zero() || read.entries.len() >= config.batch_size {
            return Ok(read);
        }
        if *stop.borrow() {
            // Nothing has moved the position, so nothing is lost.
            return Ok(Read::default());
        }
        if none {
            // A nudge only hurries the next read, never the window.
            drop(timeout(left.min(LONG_REST), shared.nudge.notified()).await);
        }
    }
}

/// Cuts by number and by weight; a record that is too heavy alone still gets a batch.
fn batches(entries: &[Entry], most: usize) -> Vec<&[Entry]> {
    let mut batches = Vec::new();
    let mut rest = entries;
    while !rest.is_empty() {
        let mut bytes = 0;
        let fitting = rest
            .iter()
            .take(most.max(1))
            .take_while(|entry| {
                bytes += entry.json.len() + 1;
                bytes <= MOST_BYTES
            })
            .count();
        let (batch, behind) = rest.split_at(fitting.max(1));
        batches.push(batch);
        rest = behind;
    }
    batches
}

/// Delivers one batch until each record is accepted or given up, or the mapping is to stop.
async fn deliver(shared: &Shared, shard: &str, batch: &[Entry], stop: &mut Stop) {
    let policy = Policy {
        bisect: shared.config.bisect_on_function_error,
        maximum_retries: shared.config.maximum_retry_attempts,
    };
    let mut parts = VecDeque::from([Attempt {
        range: 0..batch.len(),
        tries: 0,
    }]);
    while let Some(attempt) = parts.pop_front() {
        let part = batch.get(attempt.range.clone()).unwrap_or_default();
        let failure = try_once(shared, part).await.err();
        let done = failure.as_ref().map_or(part.len(), |failure| failure.at);
        if let Some(last) = part.get(..done).and_then(<[Entry]>::last) {
            shared.advance(shard, &last.sequence);
        }
        if let Some(failure) = failure {
            match after_failure(&attempt, attempt.range.start + failure.at, policy) {
                Next::Deliver(next) => {
                    let tries = next.first().map_or(0, |attempt| attempt.tries);
                    next.into_iter()
                        .rev()
                        .for_each(|attempt| parts.push_front(attempt));
                    back_off(shared, stop, tries).await;
                }
                Next::GiveUp(range) => {
                    let given_up = batch.get(range).unwrap_or_default();
                    set_aside(shared, shard, given_up, &failure.reason).await;
                }
            }
        }
        if *stop.borrow() {
            return;
        }
    }
}

async fn back_off(shared: &Shared, stop: &mut Stop, tries: u32) {
    let pause = shared.config.retry_pause * (1 << tries.min(5));
    tokio::select! {
        () = sleep(pause) => {}
        _ = stop.changed() => {}
    }
}

async fn try_once(shared: &Shared, part: &[Entry]) -> Result<(), Failure> {
    let config = &shared.config;
    shared.counters.invoked();
    let known: Vec<&str> = part.iter().map(|entry| entry.sequence.as_str()).collect();
    let verdict = match shared
        .function
        .invoke(event(part), config.function_timeout)
        .await
    {
        Ok(reply) if config.report_batch_item_failures => report::read(&reply, &known),
        Ok(_) => Verdict::Success,
        Err(error) => Verdict::Whole(error.message),
    };
    let (at, reason) = match verdict {
        Verdict::Success => {
            shared.counters.accepted();
            shared.note(Note::Accepted {
                mapping: &config.name,
                records: part.len(),
            });
            return Ok(());
        }
        // The batch is in order, so the first place has the lowest sequence number.
        Verdict::Partial(places) => (
            places.first().copied().unwrap_or_default(),
            "reported by the function".to_owned(),
        ),
        Verdict::Whole(reason) => (0, reason),
    };
    shared.counters.failed();
    shared.note(Note::Failed {
        mapping: &config.name,
        records: part.len(),
        again: part.len() - at,
        reason: &reason,
    });
    Err(Failure { at, reason })
}

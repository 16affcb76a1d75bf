//! How one stream is mapped to one function; the defaults are the template's.

use std::{path::PathBuf, sync::Arc, time::Duration};

use aws_sdk_dynamodbstreams::types::Record;

use crate::{
    mapping::{Observer, unobserved},
    stores::QueueGauge,
};

/// Where to begin in a shard that has no position yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartingPosition {
    /// With the oldest record.
    TrimHorizon,
    /// With what is written from now on.
    Latest,
}

/// Who is told of records that were given up. It gets pointers, never a record.
#[derive(Clone)]
pub enum OnFailure {
    /// Nobody.
    Discard,
    /// A closure.
    Call(Arc<dyn Fn(String) + Send + Sync>),
    /// A queue.
    Queue {
        /// The client to send with.
        client: aws_sdk_sqs::Client,
        /// The queue.
        url: String,
    },
}

/// How one stream is mapped to one function.
#[derive(Clone)]
pub struct StreamMappingConfig {
    /// For people.
    pub name: String,
    /// The stream.
    pub stream_arn: String,
    /// Where to begin.
    pub starting_position: StartingPosition,
    /// The most records in a batch.
    pub batch_size: usize,
    /// How long a batch that is not full waits for more.
    pub batching_window: Duration,
    /// Only these kinds (`INSERT`, `MODIFY`, `REMOVE`); empty means all.
    pub event_names: Vec<String>,
    /// Only these records, as the template's filter criteria say; `None` means all.
    pub only: Option<fn(&Record) -> bool>,
    /// Whether the function's reply is read as a report.
    pub report_batch_item_failures: bool,
    /// Whether a failed batch is halved.
    pub bisect_on_function_error: bool,
    /// How often a part is retried; `None` is for ever.
    pub maximum_retry_attempts: Option<u32>,
    /// The pause before the first retry; doubled with each, up to 32 times.
    pub retry_pause: Duration,
    /// The function's deadline.
    pub function_timeout: Duration,
    /// Where the position is saved; `None` keeps it in memory.
    pub position_file: Option<PathBuf>,
    /// The queues that must be seen empty before a position is saved.
    pub downstream: Vec<QueueGauge>,
    /// Who is told of records that were given up.
    pub on_failure: OnFailure,
    /// Who watches.
    pub observer: Observer,
}

impl StreamMappingConfig {
    /// A mapping with the settings of the template, in memory, unobserved.
    #[must_use]
    pub fn new(name: impl Into<String>, stream_arn: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            stream_arn: stream_arn.into(),
            starting_position: StartingPosition::TrimHorizon,
            batch_size: 100,
            batching_window: Duration::ZERO,
            event_names: Vec::new(),
            only: None,
            report_batch_item_failures: true,
            bisect_on_function_error: true,
            maximum_retry_attempts: Some(10),
            retry_pause: Duration::from_millis(50),
            function_timeout: Duration::from_secs(30),
            position_file: None,
            downstream: Vec::new(),
            on_failure: OnFailure::Discard,
            observer: unobserved(),
        }
    }
}

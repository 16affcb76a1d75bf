//! When a message that was left is shown again: the pause before the next attempt.

use std::time::Duration;

use aws_sdk_sqs::types::ChangeMessageVisibilityBatchRequestEntry;

use crate::send::{MOST_ENTRIES, Queue, QueueError, read};

/// A message cannot be hidden for longer than this.
const LONGEST: Duration = Duration::from_secs(43_200);

impl Queue {
    /// Hides received messages for a while. Shortening is a courtesy: when it fails, the queue's own
    /// timeout applies, and nothing is lost.
    ///
    /// # Errors
    /// When the queue did not take it.
    pub async fn hide(&self, receipts: &[&str], pause: Duration) -> Result<(), QueueError> {
        // The queue counts whole seconds; the nearest is taken.
        let pause = pause.min(LONGEST);
        let seconds = pause.as_secs() + u64::from(pause.subsec_nanos() >= 500_000_000);
        for chunk in receipts.chunks(MOST_ENTRIES) {
            let entry = |(at, receipt): (usize, &&str)| {
                ChangeMessageVisibilityBatchRequestEntry::builder()
                    .id(at.to_string())
                    .receipt_handle(*receipt)
                    .visibility_timeout(i32::try_from(seconds).unwrap_or(i32::MAX))
                    .build()
            };
            let entries: Vec<_> = chunk
                .iter()
                .enumerate()
                .map(entry)
                .collect::<Result<_, _>>()
                .map_err(|e| QueueError(e.to_string()))?;
            let request = self
                .client
                .change_message_visibility_batch()
                .queue_url(&self.url)
                .set_entries(Some(entries));
            let answer = request.send().await.map_err(|error| read(&error))?;
            if let Some(failed) = answer.failed().first() {
                return Err(QueueError(failed.code().to_owned()));
            }
        }
        Ok(())
    }
}

//! The loop that receives, invokes and deletes; it never touches the visibility of what failed.

use std::{
    collections::BTreeSet,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use aws_sdk_sqs::{
    error::DisplayErrorContext,
    types::{DeleteMessageBatchRequestEntry, Message, MessageSystemAttributeName},
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    task::JoinSet,
    time::sleep,
};

use super::{Shared, event};
use crate::mapping::{
    Note,
    report::{self, Verdict},
};

/// How long one receive waits for a message, in seconds. Short, because a pause waits for it to end: cutting
/// it off could hide a message that was just handed out.
const LONG_POLL: i32 = 1;
/// The most messages in one receive.
const MOST_MESSAGES: usize = 10;
/// The pause after a queue that could not be used.
const TROUBLE_REST: Duration = Duration::from_millis(200);

pub(super) async fn run(shared: Arc<Shared>, mut stop: watch::Receiver<bool>) {
    let permits = Arc::new(Semaphore::new(shared.config.maximum_concurrency.max(1)));
    let mut invocations = JoinSet::new();
    while !*stop.borrow() {
        while invocations.try_join_next().is_some() {}
        let permit = tokio::select! {
            permit = Arc::clone(&permits).acquire_owned() => permit,
            _ = stop.changed() => break,
        };
        let Ok(permit) = permit else { break };
        match receive(&shared).await {
            Ok(messages) => {
                let batch = Batch::admit(&shared, messages, permit);
                if !batch.messages.is_empty() {
                    invocations.spawn(async move { batch.handle().await });
                }
            }
            Err(reason) => {
                shared.trouble(&reason);
                sleep(TROUBLE_REST).await;
            }
        }
    }
    while invocations.join_next().await.is_some() {}
}

async fn receive(shared: &Shared) -> Result<Vec<Message>, String> {
    let most = shared.config.batch_size.clamp(1, MOST_MESSAGES);
    let reply = shared
        .client
        .receive_message()
        .queue_url(&shared.config.queue_url)
        .max_number_of_messages(i32::try_from(most).unwrap_or(1))
        .wait_time_seconds(LONG_POLL)
        .message_system_attribute_names(MessageSystemAttributeName::All)
        .message_attribute_names("All")
        .send()
        .await
        .map_err(|error| DisplayErrorContext(error).to_string())?;
    Ok(reply.messages.unwrap_or_default())
}

/// Messages that are being handled. Dropping it frees their groups, whatever became of them.
struct Batch {
    shared: Arc<Shared>,
    messages: Vec<Message>,
    groups: BTreeSet<String>,
    _permit: OwnedSemaphorePermit,
}

impl Batch {
    /// Takes the messages whose group is free. The others were handed out although their group is still
    /// being handled, because their visibility ran out first: they are left alone and come again.
    fn admit(shared: &Arc<Shared>, messages: Vec<Message>, permit: OwnedSemaphorePermit) -> Self {
        let mut groups = BTreeSet::new();
        let mut busy = shared.groups();
        let admitted = messages
            .into_iter()
            .filter(|message| {
                let Some(group) = event::group(message) else {
                    return true;
                };
                if busy.contains(group) && !groups.contains(group) {
                    return false;
                }
                busy.insert(group.to_owned());
                groups.insert(group.to_owned());
                true
            })
            .collect();
        drop(busy);
        shared.in_flight.fetch_add(1, Ordering::SeqCst);
        Self {
            shared: Arc::clone(shared),
            messages: admitted,
            groups,
            _permit: permit,
        }
    }

    async fn handle(mut self) {
        let shared = Arc::clone(&self.shared);
        let config = &shared.config;
        shared.counters.invoked();
        let payload = event::event(&self.messages, &config.queue_arn);
        let known: Vec<&str> = self
            .messages
            .iter()
            .map(|message| message.message_id().unwrap_or_default())
            .collect();
        let verdict = match shared
            .function
            .invoke(payload, config.function_timeout)
            .await
        {
            Ok(reply) if config.report_batch_item_failures => report::read(&reply, &known),
            Ok(_) => Verdict::Success,
            Err(error) => Verdict::Whole(error.message),
        };
        // Before anything is deleted: as soon as it is, the queue may hand out the group's next message,
        // which must not be left alone for a whole visibility timeout because of an invocation that is over.
        self.free_groups();
        let records = self.messages.len();
        let mapping = config.name.as_str();
        let (failed, reason) = match verdict {
            Verdict::Success => {
                self.delete(&[]).await;
                shared.counters.accepted();
                shared.note(Note::Accepted { mapping, records });
                return;
            }
            Verdict::Partial(places) => (places, "reported by the function".to_owned()),
            Verdict::Whole(reason) => ((0..records).collect(), reason),
        };
        self.delete(&failed).await;
        shared.counters.failed();
        shared.note(Note::Failed {
            mapping,
            records,
            again: failed.len(),
            reason: &reason,
        });
    }

    /// Lets other batches have the groups; they may be another's from then on.
    fn free_groups(&mut self) {
        let mut busy = self.shared.groups();
        for group in std::mem::take(&mut self.groups) {
            busy.remove(&group);
        }
    }

    /// Deletes all messages but those at the places `kept`.
    async fn delete(&self, kept: &[usize]) {
        let mut entries = Vec::new();
        for (place, message) in self.messages.iter().enumerate() {
            if kept.contains(&place) {
                continue;
            }
            let entry = DeleteMessageBatchRequestEntry::builder()
                .id(place.to_string())
                .receipt_handle(message.receipt_handle().unwrap_or_default())
                .build();
            match entry {
                Ok(entry) => entries.push(entry),
                Err(error) => self.shared.trouble(&error.to_string()),
            }
        }
        if entries.is_empty() {
            return;
        }
        let deleted = self
            .shared
            .client
            .delete_message_batch()
            .queue_url(&self.shared.config.queue_url)
            .set_entries(Some(entries))
            .send()
            .await;
        match deleted {
            Ok(reply) => {
                for failed in reply.failed() {
                    self.shared
                        .trouble(&format!("not deleted: {}", failed.code()));
                }
            }
            Err(error) => self.shared.trouble(&DisplayErrorContext(error).to_string()),
        }
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.free_groups();
        self.shared.in_flight.fetch_sub(1, Ordering::SeqCst);
    }
}

//! One message into a queue of SQS.

use aws_sdk_sqs::Client;
use lastword_config::QueueDestination;
use lastword_domain::Sent;

use crate::failure::failed;
use crate::message::Message;

/// Sends once. In a FIFO queue the group is the owner, so that what is of one owner stays in order, and the key is
/// what makes the message this one: within five minutes the queue drops a repetition by itself.
pub(crate) async fn send(client: &Client, queue: &QueueDestination, message: &Message<'_>) -> Sent {
    let body = match message.ascii_body() {
        Ok(body) => body,
        Err(why) => {
            return Sent::Refused {
                why: why.to_owned(),
            };
        }
    };
    let mut request = client
        .send_message()
        .queue_url(&queue.url)
        .message_body(body);
    if queue.is_fifo() {
        request = request
            .message_group_id(message.group)
            .message_deduplication_id(message.key);
    }
    match request.send().await {
        Ok(taken) if taken.message_id().is_some_and(|id| !id.is_empty()) => Sent::Done {
            told: "the queue took it".to_owned(),
        },
        Ok(_) => Sent::Unknown {
            why: "the answer does not name the message".to_owned(),
            retry_after: None,
        },
        Err(error) => failed(&error).0,
    }
}

//! Makes queues with the attributes the template gives them, and looks how full one is; sends nothing.

use std::time::Duration;

use aws_sdk_sqs::{
    Client,
    error::DisplayErrorContext,
    types::QueueAttributeName::{
        self, ApproximateNumberOfMessages, ApproximateNumberOfMessagesDelayed,
        ApproximateNumberOfMessagesNotVisible, ContentBasedDeduplication, DeduplicationScope,
        FifoQueue, FifoThroughputLimit, QueueArn, RedrivePolicy, VisibilityTimeout,
    },
};
use serde_json::json;

use super::StoresError;

/// A queue and its dead-letter queue, as the template declares them.
#[derive(Clone, Debug)]
pub struct QueueSpec {
    /// The queue's name. One that ends in `.fifo` is made FIFO, and its dead-letter queue with it.
    pub name: String,
    /// The dead-letter queue's name; must end as `name` does.
    pub dead_letter_name: String,
    /// How long a received message stays hidden.
    pub visibility_timeout: Duration,
    /// How often a message is received before it is moved.
    pub max_receive_count: u32,
}

/// A queue and its dead-letter queue.
#[derive(Clone, Debug)]
pub struct QueuePair {
    /// The queue's URL.
    pub url: String,
    /// The queue's ARN.
    pub arn: String,
    /// The dead-letter queue's URL.
    pub dead_letter_url: String,
    /// The dead-letter queue's ARN.
    pub dead_letter_arn: String,
}

/// Makes both queues; making them again answers the same.
///
/// # Errors
/// When the store refuses.
pub async fn create_queue_pair(
    client: &Client,
    spec: &QueueSpec,
) -> Result<QueuePair, StoresError> {
    let (dead_letter_url, dead_letter_arn) =
        create(client, &spec.dead_letter_name, Vec::new()).await?;
    let redrive = json!({
        "deadLetterTargetArn": dead_letter_arn,
        "maxReceiveCount": spec.max_receive_count,
    });
    let attributes = vec![
        (
            VisibilityTimeout,
            spec.visibility_timeout.as_secs().to_string(),
        ),
        (RedrivePolicy, redrive.to_string()),
    ];
    let (url, arn) = create(client, &spec.name, attributes).await?;
    Ok(QueuePair {
        url,
        arn,
        dead_letter_url,
        dead_letter_arn,
    })
}

async fn create(
    client: &Client,
    name: &str,
    mut attributes: Vec<(QueueAttributeName, String)>,
) -> Result<(String, String), StoresError> {
    if name.ends_with(".fifo") {
        attributes.extend([
            (FifoQueue, "true".to_owned()),
            (ContentBasedDeduplication, "false".to_owned()),
            (DeduplicationScope, "messageGroup".to_owned()),
            (FifoThroughputLimit, "perMessageGroupId".to_owned()),
        ]);
    }
    let made = client
        .create_queue()
        .queue_name(name)
        .set_attributes(Some(attributes.into_iter().collect()))
        .send()
        .await
        .map_err(|error| StoresError::Call(DisplayErrorContext(error).to_string()))?;
    let url = made.queue_url.unwrap_or_default();
    let arn = client
        .get_queue_attributes()
        .queue_url(&url)
        .attribute_names(QueueArn)
        .send()
        .await
        .map_err(|error| StoresError::Call(DisplayErrorContext(error).to_string()))?
        .attributes
        .and_then(|mut attributes| attributes.remove(&QueueArn))
        .ok_or_else(|| StoresError::Call(format!("queue {name} has no ARN")))?;
    Ok((url, arn))
}

/// How many messages a queue holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueDepth {
    /// Waiting to be received.
    pub visible: u64,
    /// Received and not yet deleted.
    pub in_flight: u64,
    /// Not yet visible.
    pub delayed: u64,
}

impl QueueDepth {
    /// Whether the queue holds nothing at all.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.visible + self.in_flight + self.delayed == 0
    }
}

/// Looks at one queue. On the embedded store one look is one consistent moment.
#[derive(Clone, Debug)]
pub struct QueueGauge {
    client: Client,
    url: String,
}

impl QueueGauge {
    /// A gauge for the queue at `url`.
    #[must_use]
    pub fn new(client: Client, url: impl Into<String>) -> Self {
        Self {
            client,
            url: url.into(),
        }
    }

    /// What the queue holds now.
    ///
    /// # Errors
    /// When the store cannot be asked, or answers without a number.
    pub async fn depth(&self) -> Result<QueueDepth, StoresError> {
        let reply = self
            .client
            .get_queue_attributes()
            .queue_url(&self.url)
            .attribute_names(ApproximateNumberOfMessages)
            .attribute_names(ApproximateNumberOfMessagesNotVisible)
            .attribute_names(ApproximateNumberOfMessagesDelayed)
            .send()
            .await
            .map_err(|error| StoresError::Call(DisplayErrorContext(error).to_string()))?;
        let count = |name: QueueAttributeName| {
            reply
                .attributes
                .as_ref()
                .and_then(|attributes| attributes.get(&name)?.parse().ok())
                .ok_or_else(|| StoresError::Call(format!("{} has no {name}", self.url)))
        };
        Ok(QueueDepth {
            visible: count(ApproximateNumberOfMessages)?,
            in_flight: count(ApproximateNumberOfMessagesNotVisible)?,
            delayed: count(ApproximateNumberOfMessagesDelayed)?,
        })
    }

    /// Whether the queue holds nothing at all.
    ///
    /// # Errors
    /// As [`Self::depth`].
    pub async fn is_empty(&self) -> Result<bool, StoresError> {
        Ok(self.depth().await?.is_empty())
    }
}

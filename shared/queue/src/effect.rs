//! "Effect E of owner O is to be sent": pointers, no content. A standard queue: one message can wait there by itself,
//! and a lease, not the queue, sees to it that only one works on an effect.

use std::time::Duration;

use aws_sdk_sqs::types::SendMessageBatchRequestEntry;
use lastword_domain::{EffectKey, Owner};
use serde::{Deserialize, Serialize};

use crate::ascii;
use crate::message::MessageError;
use crate::send::{MOST_ENTRIES, Queue, QueueError, SendOutcome, outcomes, read};

/// The longest that a message can wait in the queue before it is first shown.
pub const LONGEST_DELAY: Duration = Duration::from_secs(900);

/// What a message says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectSignal {
    /// Whose effect.
    pub owner: Owner,
    /// Which.
    pub effect: EffectKey,
    /// For which time it became something to be sent.
    pub turn: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    owner: Owner,
    effect: String,
    turn: u64,
}

/// A message to the effects' queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutgoingEffect {
    /// JSON in ASCII.
    pub body: String,
    /// How long it waits; what is longer than [`LONGEST_DELAY`] is cut, and whoever receives it waits on.
    pub delay: Duration,
}

impl OutgoingEffect {
    /// Makes a message that is shown after so long.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn new(signal: &EffectSignal, delay: Duration) -> Result<Self, MessageError> {
        let body = Body {
            owner: signal.owner.clone(),
            effect: signal.effect.to_string(),
            turn: signal.turn,
        };
        Ok(Self {
            body: ascii::to_string(&body)?,
            delay: delay.min(LONGEST_DELAY),
        })
    }
}

/// Reads a message's body.
///
/// # Errors
/// When it is not a signal of this version.
pub fn parse_effect(body: &str) -> Result<EffectSignal, MessageError> {
    let body: Body = serde_json::from_str(body)?;
    let effect = EffectKey::parse(&body.effect)
        .map_err(|error| serde::de::Error::custom(error.to_string()))
        .map_err(|error: serde_json::Error| MessageError::from(error))?;
    Ok(EffectSignal {
        owner: body.owner,
        effect,
        turn: body.turn,
    })
}

impl Queue {
    /// Sends all; a failure of one does not keep the others back. A message that comes twice is harmless.
    pub async fn send_effects(&self, messages: &[OutgoingEffect]) -> Vec<SendOutcome> {
        let mut sent = Vec::with_capacity(messages.len());
        for chunk in messages.chunks(MOST_ENTRIES) {
            let entry = |(at, message): (usize, &OutgoingEffect)| {
                SendMessageBatchRequestEntry::builder()
                    .id(at.to_string())
                    .message_body(&message.body)
                    .delay_seconds(i32::try_from(message.delay.as_secs()).unwrap_or(900))
                    .build()
            };
            let entries: Result<Vec<_>, _> = chunk.iter().enumerate().map(entry).collect();
            let answer = match entries {
                Err(error) => Err(QueueError(error.to_string())),
                Ok(entries) => {
                    let request = self.client.send_message_batch().queue_url(&self.url);
                    let request = request.set_entries(Some(entries));
                    request.send().await.map_err(|error| read(&error))
                }
            };
            sent.extend(outcomes(answer, chunk.len()));
        }
        sent
    }
}

#[cfg(test)]
mod tests {
    use lastword_domain::SubjectKey;
    use lastword_domain::name::{SubjectId, SubjectKind};

    use super::*;

    #[test]
    fn a_message_comes_back_exact_is_ascii_and_waits_no_longer_than_the_queue_can_hold_it() {
        let signal = EffectSignal {
            owner: Owner::Subject(SubjectKey {
                kind: SubjectKind::parse("order").unwrap(),
                id: SubjectId::parse("7 # 😊\u{ffff}").unwrap(),
            }),
            effect: EffectKey::parse("receipt#2").unwrap(),
            turn: 3,
        };
        let message = OutgoingEffect::new(&signal, Duration::from_secs(5000)).unwrap();
        assert!(message.body.is_ascii());
        assert_eq!(message.delay, LONGEST_DELAY);
        assert_eq!(parse_effect(&message.body).unwrap(), signal);
        for body in [
            "",
            "{}",
            r#"{"owner":{"subject":{"kind":"order","id":"7"}},"effect":"x","turn":1}"#,
        ] {
            assert!(parse_effect(body).is_err(), "{body}");
        }
    }
}

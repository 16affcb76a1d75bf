//! Bedrock's Converse, as its documentation gives it
//! (<https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html>).

use std::time::Duration;

use aws_sdk_bedrockruntime::Client;
use aws_sdk_bedrockruntime::config::interceptors::BeforeDeserializationInterceptorContextMut;
use aws_sdk_bedrockruntime::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_bedrockruntime::error::{BoxError, SdkError};
use aws_sdk_bedrockruntime::operation::converse::{ConverseError, ConverseOutput};
use aws_sdk_bedrockruntime::types::{
    ContentBlock, ConversationRole, ConverseOutput as Said, InferenceConfiguration, Message,
    StopReason, SystemContentBlock,
};
use aws_smithy_types::body::SdkBody;
use http_body_util::Limited;
use lastword_runtime::{Clients, Patience};
use lastword_store::NotTaken;

use super::{Asked, MOST_BYTES, Question};

/// A model of Bedrock, or an inference profile.
#[derive(Debug)]
pub struct Bedrock {
    client: Client,
    id: String,
}

impl Bedrock {
    /// `clients` may be any: what is asked through them here is asked once, within `time`.
    #[must_use]
    pub fn new(clients: &Clients, id: impl Into<String>, time: Duration) -> Self {
        let patience = Patience {
            attempt: time,
            operation: time,
        };
        let client = clients.with_patience(patience).without_retries().bedrock();
        Self {
            client,
            id: id.into(),
        }
    }

    pub(super) async fn ask(&self, question: &Question) -> Asked {
        let message = Message::builder()
            .role(ConversationRole::User)
            .content(ContentBlock::Text(question.user.clone()))
            .build();
        let Ok(message) = message else {
            return Asked::Not(NotTaken::Down);
        };
        let most = i32::try_from(question.most_tokens).unwrap_or(i32::MAX);
        let settings = InferenceConfiguration::builder()
            .temperature(0.0)
            .max_tokens(most)
            .build();
        let sent = self
            .client
            .converse()
            .model_id(&self.id)
            .system(SystemContentBlock::Text(question.system.clone()))
            .messages(message)
            .inference_config(settings)
            .customize()
            .interceptor(Bounded)
            .send()
            .await;
        match sent {
            Ok(output) => said(&output),
            Err(error) => Asked::Not(why(&error)),
        }
    }
}

fn said(output: &ConverseOutput) -> Asked {
    let stop = output.stop_reason();
    if *stop == StopReason::MaxTokens {
        return Asked::Not(NotTaken::TooLong);
    }
    // It wants a tool, or something stopped it: whatever reasons are added, none of them is an end of its own.
    if !matches!(stop, StopReason::EndTurn | StopReason::StopSequence) {
        return Asked::Not(NotTaken::Refused);
    }
    let Some(Said::Message(message)) = output.output() else {
        return Asked::Not(NotTaken::Down);
    };
    // What it says to itself on the way is no part of the text.
    let texts = message.content().iter();
    let texts = texts.filter_map(|block| block.as_text().ok());
    Asked::Text(texts.map(String::as_str).collect())
}

fn why<R>(error: &SdkError<ConverseError, R>) -> NotTaken {
    let slow = match error {
        SdkError::TimeoutError(_) => true,
        SdkError::DispatchFailure(failure) => failure.is_timeout(),
        SdkError::ServiceError(_) => return NotTaken::Refused,
        SdkError::ConstructionFailure(_) | SdkError::ResponseError(_) => false,
        other => {
            // The SDK's enum may grow; an unknown kind is no answer.
            let _: &SdkError<ConverseError, R> = other;
            false
        }
    };
    if slow { NotTaken::Slow } else { NotTaken::Down }
}

/// Ends an answer that is too large: it is then no answer.
#[derive(Debug)]
struct Bounded;

impl Intercept for Bounded {
    fn name(&self) -> &'static str {
        "Bounded"
    }

    fn modify_before_deserialization(
        &self,
        context: &mut BeforeDeserializationInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let body = context.response_mut().body_mut();
        let whole = std::mem::replace(body, SdkBody::taken());
        *body = SdkBody::from_body_1_x(Limited::new(whole, MOST_BYTES));
        Ok(())
    }
}

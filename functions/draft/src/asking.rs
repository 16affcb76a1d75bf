//! Asks a model for a text. The port: what comes back is a text that nobody has looked at yet, or a reason in one word.
//!
//! One attempt, within a time, of an answer whose size is bounded. May not decide whether a text is used, may not log
//! one, and gives a model nothing to act with.

mod bedrock;
mod openai;
mod question;

use std::time::Duration;

use lastword_store::NotTaken;

pub use bedrock::Bedrock;
pub use openai::{Endpoint, NoTls, OpenAi};
pub use question::Question;

/// The most bytes that are read of an answer.
const MOST_BYTES: usize = 64 * 1024;

/// Who is asked.
#[derive(Debug)]
pub enum Model {
    /// Nobody.
    Off,
    /// A model of Bedrock.
    Bedrock(Box<Bedrock>),
    /// An endpoint that speaks as OpenAI's does.
    OpenAi(Box<OpenAi>),
}

/// What a model said.
#[derive(Clone, PartialEq, Eq)]
#[must_use]
pub enum Asked {
    /// A text, as it came.
    Text(String),
    /// No text that could be used.
    Not(NotTaken),
}

impl Model {
    /// Asks once, and waits no longer than this.
    pub async fn ask(&self, question: &Question, time: Duration) -> Asked {
        let answer = async {
            match self {
                Self::Off => Asked::Not(NotTaken::Off),
                Self::Bedrock(model) => model.ask(question).await,
                Self::OpenAi(model) => model.ask(question).await,
            }
        };
        match tokio::time::timeout(time, answer).await {
            Ok(asked) => asked,
            Err(_elapsed) => Asked::Not(NotTaken::Slow),
        }
    }
}

/// Without what a model said.
impl std::fmt::Debug for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(_) => f.write_str("Text"),
            Self::Not(why) => f.debug_tuple("Not").field(why).finish(),
        }
    }
}

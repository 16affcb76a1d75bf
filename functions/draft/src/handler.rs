//! One event of the bus: a text is found for it and put. May not let a model's text, or its absence, decide anything
//! but which of two texts waits.

use std::sync::Arc;
use std::time::Duration;

use lastword_runtime::{Level, Line};
use lastword_store::state::draft::{Put, Source};
use lastword_store::{Draft, Drafts, Moment, NotTaken, StoreError};

use crate::asking::{Asked, Model, Question};
use crate::data::Members;
use crate::event::{EventError, Wanted};
use crate::fit::{Fit, Given, Terms, judge};
use crate::wording::{TextError, Wordings};

/// Tells the time, for people.
pub type Clock = Arc<dyn Fn() -> Moment + Send + Sync>;

/// The draft function.
pub struct Handler {
    wordings: Wordings,
    model: Model,
    /// How long a model may take.
    time: Duration,
    drafts: Drafts,
    clock: Clock,
}

/// Why there is no draft. The bus hands the event over again, and keeps it when that does not help.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// The event is none of ours.
    #[error(transparent)]
    Event(#[from] EventError),
    /// There is no approved text.
    #[error(transparent)]
    Text(#[from] TextError),
    /// It could not be put.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drafted {
    /// Where the text is from.
    pub source: Source,
    /// Whether it is the first of its key.
    pub put: Put,
}

/// What a model offers.
enum Offered {
    Fitting(String),
    Nothing(NotTaken),
}

impl Handler {
    /// Puts the parts together.
    #[must_use]
    pub fn new(
        wordings: Wordings,
        model: Model,
        time: Duration,
        drafts: Drafts,
        clock: Clock,
    ) -> Self {
        Self {
            wordings,
            model,
            time,
            drafts,
            clock,
        }
    }

    /// Drafts what an event wants.
    ///
    /// # Errors
    /// When the event cannot be read, there is no approved text for it, or the draft could not be put.
    pub async fn handle_text(&self, event: &str) -> Result<Drafted, Failed> {
        let wanted = Wanted::read(event)?;
        // First, so that what is wrong with it is found with a model and without one.
        let approved = self.wordings.text(&wanted)?;
        let (text, source) = match self.offered(&wanted).await? {
            Offered::Fitting(text) => (text, Source::Model),
            Offered::Nothing(why) => (approved, Source::Template(why)),
        };
        let draft = Draft {
            key: wanted.key,
            about: wanted.owner.to_string(),
            effect: wanted.effect,
            wording: wanted.wording,
            text,
            source,
            created_at: (self.clock)().to_text(),
        };
        let put = self.drafts.put(&wanted.owner, &draft).await?;
        tell(source, put);
        Ok(Drafted { source, put })
    }

    /// A model's text that fits, or why there is none.
    async fn offered(&self, wanted: &Wanted) -> Result<Offered, TextError> {
        let wording = self.wordings.of(&wanted.wording)?;
        let shown: Members = wanted
            .data
            .iter()
            .filter(|(name, _)| wording.shows(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let question = Question::new(wording, &shown);
        let text = match self.model.ask(&question, self.time).await {
            Asked::Text(text) => text,
            Asked::Not(why) => return Ok(Offered::Nothing(why)),
        };
        let text = text.trim();
        let must_mention: Vec<_> = wording
            .must_mention
            .iter()
            .map(|name| shown.get(name))
            .collect();
        let terms = Terms {
            given: &Given::of(shown.values()),
            most_characters: wording.most_characters,
            must_mention: &must_mention,
            never_says: &wording.never_says,
        };
        Ok(match judge(text, &terms) {
            Fit::Fits => Offered::Fitting(text.to_owned()),
            Fit::Unfit(why) => Offered::Nothing(why.into()),
        })
    }
}

fn tell(source: Source, put: Put) {
    let message = match put {
        Put::Done => "a draft was put",
        Put::ThereAlready => "there was a draft already",
    };
    let line = Line::new(Level::Info, message).field("source", source.as_str());
    match source.why() {
        None => line.emit(),
        Some(why) => line.field("why", why.as_str()).emit(),
    }
}

//! What came of a history, and whether that is right.

use lastword_config::Config;
use lastword_domain::{Content, Contents, EventRef, Json, Outcome, Projection, Reason, Standing};
use lastword_store::Story;
use serde_json::Value;

use super::history::{History, LAST, Sender};
use crate::machine::Failure;

/// One event's decision, in words.
pub(super) struct Decided {
    /// Which event: its place in what happened.
    pub(super) event: usize,
    /// What became of it.
    pub(super) outcome: &'static str,
    /// Why, in a word.
    pub(super) reason: &'static str,
    /// Why, in a sentence.
    pub(super) explained: &'static str,
}

/// A history that was played.
pub(super) struct Played {
    /// Which.
    pub(super) history: History,
    /// One for each event, in order of arrival.
    pub(super) decisions: Vec<Decided>,
    /// The state it ends in.
    pub(super) ends: String,
    /// How often the source was read.
    pub(super) reads: u64,
    /// What is wrong with it.
    pub(super) wrong: Option<String>,
}

/// The state that a projection shows, in a word.
pub(super) fn state(sender: Sender, projection: Option<&Projection>) -> String {
    let contents = projection.and_then(|projection| projection.contents.as_ref());
    let word = |json: &Json| {
        let value: Value = serde_json::from_str(json.as_str()).ok()?;
        Some(value.pointer(sender.state())?.as_str()?.to_owned())
    };
    match contents.map(Contents::standing) {
        None => "unknown".to_owned(),
        Some(Standing::Deleted) => "deleted".to_owned(),
        Some(Standing::Contested(_)) => "contested".to_owned(),
        Some(Standing::Present(json)) => word(json).unwrap_or_else(|| "without a state".to_owned()),
    }
}

/// What is wrong with a projection that should be the object as it was after this event; compared whole,
/// not only by its state.
pub(super) fn differs(
    history: &History,
    event: usize,
    projection: Option<&Projection>,
) -> Result<Option<String>, Failure> {
    let object = Json::parse(&history.object(event).to_string())?;
    let right = Contents::one(Content::Present(object));
    if projection.and_then(|projection| projection.contents.as_ref()) == Some(&right) {
        return Ok(None);
    }
    let shown = state(history.sender, projection);
    let expected = history.sender.happening(event).state;
    Ok(Some(format!("{shown} where the source says {expected}")))
}

/// Reads what came of a history out of its resource's story.
pub(super) fn judge(
    config: &Config,
    history: &History,
    story: &Story,
    reads: u64,
    wrong: Option<String>,
) -> Result<Played, Failure> {
    let projection = story.projection.as_ref();
    let mut wrong = match wrong {
        None => differs(history, LAST, projection)?,
        earlier @ Some(_) => earlier,
    };
    let mut decisions = Vec::new();
    for event in history.order {
        let reference = history.reference(config, event)?;
        match decision(story, &reference) {
            Some((outcome, reason)) => decisions.push(decided(event, outcome, reason)),
            None => {
                let word = history.sender.happening(event).word;
                wrong = wrong.or(Some(format!("no decision about {word}")));
            }
        }
    }
    Ok(Played {
        history: *history,
        decisions,
        ends: state(history.sender, projection),
        reads,
        wrong,
    })
}

/// What was decided about an event, wherever it stands.
pub(super) fn decision(story: &Story, event: &EventRef) -> Option<(Outcome, Reason)> {
    let own = story.decisions.iter().find(|own| own.event == *event);
    let own = own.and_then(|decision| decision.outcome.zip(decision.reason));
    let recent = story.projection.iter().flat_map(|held| &held.recent);
    let mut kept = recent.chain(&story.paged);
    own.or_else(|| {
        let mark = kept.find(|mark| mark.event == *event)?;
        Some((mark.outcome, mark.reason))
    })
}

pub(super) fn decided(event: usize, outcome: Outcome, reason: Reason) -> Decided {
    Decided {
        event,
        outcome: outcome.as_str(),
        reason: reason.as_str(),
        explained: reason.explain(),
    }
}

//! Looks at everything that is known of one history, and compares it with what is right.

use lastword_domain::{Content, Json, Projection, ReviewStatus, Standing};
use lastword_store::{KeptEffect, Review, Story, SubjectStory};
use serde_json::Value;

use super::plot::Thing;
use super::run::Run;
use crate::demo::stage::Stage;
use crate::machine::Failure;

/// Everything that is known of one history.
pub(super) struct Seen {
    things: Vec<(Thing, usize, Story)>,
    subject: SubjectStory,
}

/// The part of it that people are shown.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    /// The statuses of what is known.
    pub(super) statuses: Vec<(Thing, String)>,
    /// The subject's state.
    pub(super) state: String,
    /// Whether its rules allow what they are about.
    pub(super) allowed: bool,
    /// How many facts there are.
    pub(super) facts: usize,
    /// The rules of the reviews that are open.
    pub(super) reviews: Vec<String>,
}

/// A verdict as it is stored.
struct Verdict(Value);

impl Verdict {
    fn of(verdict: Option<&Json>) -> Self {
        let value = verdict.and_then(|json| serde_json::from_str(json.as_str()).ok());
        Self(value.unwrap_or_default())
    }

    fn allows(&self, action: &str) -> bool {
        let allowed = self.0.pointer("/allowed").and_then(Value::as_array);
        allowed.is_some_and(|all| all.iter().any(|one| one == action))
    }

    fn state(&self) -> String {
        let state = self.0.pointer("/state").and_then(Value::as_str);
        state.unwrap_or("-").to_owned()
    }
}

impl Seen {
    /// Looks at all that these events are about.
    pub(super) async fn look(
        stage: &Stage<'_>,
        run: &Run,
        delivered: &[usize],
    ) -> Result<Self, Failure> {
        let mut things = Vec::new();
        for (thing, event) in run.plot.known(delivered) {
            let resource = run.resource(stage.machine.config(), thing)?;
            things.push((thing, event, stage.story(&resource).await?));
        }
        let subject = stage.subject(&run.subject()?).await?;
        Ok(Self { things, subject })
    }

    /// The story of the thing that this event is about.
    pub(super) fn story(&self, thing: Thing) -> Option<&Story> {
        let mut things = self.things.iter();
        things
            .find(|(own, _, _)| *own == thing)
            .map(|(_, _, story)| story)
    }

    /// What is wrong, in words.
    pub(super) fn wrong(&self, run: &Run, delivered: &[usize]) -> Result<Option<String>, Failure> {
        for (thing, event, story) in &self.things {
            let object = Json::parse(&run.object(*event)?.to_string())?;
            let held = story.projection.as_ref().and_then(Projection::standing);
            if held != Some(Standing::Present(&object)) {
                return Ok(Some(format!(
                    "{} is not as its sender has it",
                    run.id(*thing)
                )));
            }
            let status = run.happening(*event)?.status;
            if access(story) && status != "active" {
                return Ok(Some(format!(
                    "{} is {status} and has access",
                    run.id(*thing)
                )));
            }
        }
        let (right, seen) = (run.right(delivered), self.shown(run));
        let action = run.plot.action;
        let mut facts = self.facts();
        facts.sort_unstable();
        Ok(if seen.allowed != right.allowed {
            Some(format!("{action} should be allowed: {}", right.allowed))
        } else if facts != right.facts {
            Some(format!("facts: {facts:?} instead of {:?}", right.facts))
        } else if seen.reviews != right.reviews {
            Some(format!(
                "open: {:?} instead of {:?}",
                seen.reviews, right.reviews
            ))
        } else {
            None
        })
    }

    pub(super) fn shown(&self, run: &Run) -> Shown {
        let verdict = Verdict::of(self.subject.loaded.meaning.verdict.as_ref());
        let mut reviews: Vec<_> = self.reviews().map(rule).collect();
        reviews.sort_unstable();
        let status = |(thing, _, story): &(Thing, usize, Story)| (*thing, status(story));
        Shown {
            statuses: self.things.iter().map(status).collect(),
            state: verdict.state(),
            allowed: verdict.allows(run.plot.action),
            facts: self.facts().len(),
            reviews,
        }
    }

    /// All of it as text, with no id in it that is only this history's: every history of a story ends in the same.
    pub(super) fn end(&self, run: &Run) -> String {
        let mut lines: Vec<String> = Vec::new();
        for (thing, _, story) in &self.things {
            let held = story.projection.as_ref();
            let contents = held.and_then(|held| held.contents.as_ref());
            for content in contents.iter().flat_map(|all| all.iter()) {
                lines.push(format!("{thing:?} is {}", told(content)));
            }
            let verdict = held.and_then(|held| held.meaning.verdict.as_ref());
            lines.extend(verdict.map(|verdict| format!("{thing:?} means {}", verdict.as_str())));
            let facts = story.facts.iter();
            lines.extend(
                facts.map(|fact| format!("{} {} {}", fact.kind, fact.id, fact.content.as_str())),
            );
        }
        let verdict = self.subject.loaded.meaning.verdict.as_ref();
        lines.extend(verdict.map(|verdict| format!("together {}", verdict.as_str())));
        // Not whom it names: that is who was known when it was opened, and for people only.
        lines.extend(
            self.reviews()
                .map(|review| format!("review {}", rule(review))),
        );
        lines.sort_unstable();
        lines
            .join("\n")
            .replace(&format!("_{:04}", run.number), "_n")
    }

    /// What had to be done about it.
    pub(super) fn effects(&self) -> Vec<KeptEffect> {
        let own = self.things.iter().flat_map(|(_, _, story)| &story.effects);
        own.chain(&self.subject.effects).cloned().collect()
    }

    fn facts(&self) -> Vec<String> {
        let stories = self.things.iter().map(|(_, _, story)| story);
        let facts = stories.flat_map(|story| &story.facts);
        facts.map(|fact| fact.id.as_str().to_owned()).collect()
    }

    fn reviews(&self) -> impl Iterator<Item = &Review> {
        let own = self.things.iter().flat_map(|(_, _, story)| &story.reviews);
        own.chain(&self.subject.reviews)
            .filter(|review| review.status == ReviewStatus::Open)
    }
}

fn told(content: &Content) -> &str {
    match content {
        Content::Present(state) => state.as_str(),
        Content::Deleted => "deleted",
    }
}

fn rule(review: &Review) -> String {
    review.key.rule.as_str().to_owned()
}

fn access(story: &Story) -> bool {
    let held = story.projection.as_ref();
    Verdict::of(held.and_then(|held| held.meaning.verdict.as_ref())).allows("access")
}

fn status(story: &Story) -> String {
    use crate::demo::history::Sender;
    crate::demo::played::state(Sender::Erp, story.projection.as_ref())
}

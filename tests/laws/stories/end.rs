//! In what histories end, as text that is the same for all of them.

use std::collections::{BTreeMap, BTreeSet};

use lastword_domain::{Content, Contents, Digest, EffectStatus, EventRef, ReviewKey, ReviewStatus};
use lastword_store::{KeptEffect, Review, Story, SubjectStory};

/// In what all of them ended: texts, each with the first history that ended in it.
pub struct Ends(pub BTreeMap<String, String>);

impl Ends {
    pub fn are(&self, expected: &str) {
        let expected: BTreeSet<_> = expected.split('\n').map(str::trim).collect();
        for (end, history) in &self.0 {
            let found: BTreeSet<_> = end.split('\n').collect();
            let differs: Vec<_> = found.symmetric_difference(&expected).collect();
            let differs: Vec<_> = differs
                .into_iter()
                .filter(|line| !line.is_empty())
                .collect();
            assert!(differs.is_empty(), "{history}: {differs:#?} of {end}");
        }
        assert_eq!(self.0.len(), 1);
    }
}

/// Whatever the projection and the items say of the reviews must be the same.
pub fn opened<'r>(
    called_for: &BTreeSet<ReviewKey>,
    reviews: &'r [Review],
) -> impl Iterator<Item = &'r Review> + use<'r> {
    let open = |review: &&Review| review.status == ReviewStatus::Open;
    let keys: BTreeSet<_> = reviews
        .iter()
        .filter(open)
        .map(|one| one.key.clone())
        .collect();
    assert_eq!(&keys, called_for);
    reviews.iter().filter(open)
}

pub fn decided(story: &Story, event: &EventRef) -> bool {
    let own = story.decisions.iter().filter(|own| own.outcome.is_some());
    let held = story.projection.iter().flat_map(|held| &held.recent);
    let marks = held.chain(&story.paged).map(|mark| &mark.event);
    own.map(|own| &own.event)
        .chain(marks)
        .any(|own| own == event)
}

pub fn of_resource(name: &str, story: &Story) -> Vec<String> {
    let held = story.projection.as_ref();
    let Some(contents) = held.and_then(|held| held.contents.as_ref()) else {
        return vec![format!("{name}: nothing")];
    };
    let meaning = &held.unwrap().meaning;
    let verdict = meaning
        .verdict
        .as_ref()
        .map(|verdict| format!(" {}", verdict.as_str()));
    let mut lines = vec![format!(
        "{name}: {}{}",
        statuses(contents),
        verdict.unwrap_or_default()
    )];
    for fact in &story.facts {
        let content = fact.content.as_str();
        lines.push(format!("{name}: fact {}/{} {content}", fact.kind, fact.id));
    }
    lines.extend(effects(name, &story.effects));
    for review in opened(&meaning.reviews, &story.reviews) {
        let contested = Digest::of_parts(&["", &contents.digest().to_text()]);
        assert_eq!(review.key.evidence, contested, "{}", review.key);
        lines.push(format!("{name}: open {} its contents", review.key.rule));
    }
    lines
}

/// What became of a subject's effects. One that was laid aside counts while it is still called for: one that is not
/// called for any more was seen only by whoever looked while it was.
pub fn of_subject(name: &str, story: &SubjectStory) -> Vec<String> {
    let called = |effect: &&KeptEffect| {
        let called = story.loaded.called.get(&effect.key.rule) == Some(&true);
        called || effect.status != EffectStatus::Superseded
    };
    let effects: Vec<_> = story.effects.iter().filter(called).cloned().collect();
    self::effects(name, &effects)
}

fn effects(name: &str, effects: &[KeptEffect]) -> Vec<String> {
    let each = effects.iter();
    each.map(|effect| {
        let data = effect
            .data
            .as_ref()
            .filter(|_| effect.status == EffectStatus::Done);
        let data = data.map(|data| format!(" {}", data.as_str()));
        let (rule, data) = (&effect.key.rule.name, data.unwrap_or_default());
        format!("{name}: {rule} {}{data}", effect.status)
    })
    .collect()
}

fn statuses(contents: &Contents) -> String {
    let status = |content: &Content| match content {
        Content::Deleted => "deleted".to_owned(),
        Content::Present(state) => {
            let state: serde_json::Value = serde_json::from_str(state.as_str()).unwrap();
            state["status"].as_str().unwrap().to_owned()
        }
    };
    let mut statuses: Vec<_> = contents.iter().map(status).collect();
    statuses.sort();
    statuses.join("|")
}

//! Plays histories side by side: one delivery of each, everything moved on until nothing is left to do, one look at
//! each, and so on. What is known is compared with what is right after every delivery.

use std::time::Duration;

use lastword_domain::EffectStatus;

use super::plot::Thing;
use super::run::Run;
use super::seen::{Seen, Shown};
use crate::demo::play::each;
use crate::demo::played::{decided, decision};
use crate::demo::stage::Stage;
use crate::machine::Failure;

/// As long as an effect of the example waits at most.
const SETTLED: Duration = Duration::from_secs(61);
/// How many histories are played side by side.
pub(super) const SIDE_BY_SIDE: usize = 120;

/// A history that was played, or is on its way.
pub(super) struct Played {
    pub(super) run: Run,
    pub(super) steps: Vec<Step>,
    /// Everything that is known at its end.
    pub(super) end: String,
    /// What became of what had to be done about it.
    pub(super) effects: Vec<(String, EffectStatus)>,
    /// What was wrong first.
    pub(super) wrong: Option<String>,
}

/// A delivery and what was known after it.
pub(super) struct Step {
    /// Which event.
    pub(super) event: usize,
    /// What became of it, in a word.
    pub(super) outcome: &'static str,
    /// Why, in a sentence.
    pub(super) explained: &'static str,
    pub(super) shown: Shown,
}

pub(super) async fn side_by_side(stage: &Stage<'_>, runs: &[Run]) -> Result<Vec<Played>, Failure> {
    let mut all: Vec<_> = runs.iter().map(Played::new).collect();
    let longest = runs.iter().map(|run| run.arrivals.len()).max();
    for at in 0..longest.unwrap_or_default() {
        each(all.iter().map(|one| one.deliver(stage, at))).await?;
        stage.settle(false).await?;
        each(all.iter_mut().map(|one| one.look(stage, at))).await?;
    }
    // What is told to the outside waits a minute for what it is about to come to rest.
    stage.machine.go_on(SETTLED);
    each(all.iter_mut().map(|one| one.act(stage))).await?;
    Ok(all)
}

impl Played {
    fn new(run: &Run) -> Self {
        Self {
            run: run.clone(),
            steps: Vec::new(),
            end: String::new(),
            effects: Vec::new(),
            wrong: None,
        }
    }

    /// Which history went wrong, and how.
    pub(super) fn complaint(&self) -> Option<String> {
        let wrong = self.wrong.as_ref()?;
        Some(format!("wrong: {}: {wrong}", self.run.describe()))
    }

    fn arrived(&self, at: usize) -> &[usize] {
        self.run.arrivals.get(..=at).unwrap_or_default()
    }

    /// Before it, each source has come at least to what was delivered.
    async fn deliver(&self, stage: &Stage<'_>, at: usize) -> Result<(), Failure> {
        let run = &self.run;
        let arrived = self.arrived(at);
        for (thing, event) in run.plot.known(arrived) {
            if let Some(path) = thing.path(&run.id(thing)) {
                let object = run.object(event)?.to_string();
                stage.machine.standin.show(&path, object);
            }
        }
        let Some(event) = arrived.last() else {
            return Ok(());
        };
        let integration = run.happening(*event)?.thing.integration();
        stage.post(integration, &run.body(*event)?).await
    }

    async fn look(&mut self, stage: &Stage<'_>, at: usize) -> Result<(), Failure> {
        let arrived = self.arrived(at).to_vec();
        let Some((event, before)) = arrived.split_last() else {
            return Ok(());
        };
        let seen = Seen::look(stage, &self.run, &arrived).await?;
        if self.wrong.is_none() {
            let wrong = seen.wrong(&self.run, &arrived)?;
            self.wrong = wrong.map(|wrong| format!("after step {}: {wrong}", at + 1));
        }
        let again = before.contains(event);
        let thing = self.run.happening(*event)?.thing;
        let (outcome, explained) = self.decided(stage, &seen, thing, (*event, again))?;
        self.steps.push(Step {
            event: *event,
            outcome,
            explained,
            shown: seen.shown(&self.run),
        });
        self.end = seen.end(&self.run);
        Ok(())
    }

    /// Whoever sends gets to work, and what became of it is looked at.
    async fn act(&mut self, stage: &Stage<'_>) -> Result<(), Failure> {
        let arrived = self.run.arrivals.clone();
        let before = Seen::look(stage, &self.run, &arrived).await?;
        stage.act(&before.effects()).await?;
        let seen = Seen::look(stage, &self.run, &arrived).await?;
        let each = seen.effects();
        self.effects = each
            .iter()
            .map(|effect| (effect.key.rule.name.to_string(), effect.status))
            .collect();
        let right = self.run.right(&arrived).effects;
        if self.wrong.is_none() && self.effects != right {
            let found = &self.effects;
            self.wrong = Some(format!("effects: {found:?} instead of {right:?}"));
        }
        Ok(())
    }

    fn decided(
        &mut self,
        stage: &Stage<'_>,
        seen: &Seen,
        thing: Thing,
        (event, again): (usize, bool),
    ) -> Result<(&'static str, &'static str), Failure> {
        let reference = self.run.reference(stage.machine.config(), event)?;
        let found = seen
            .story(thing)
            .and_then(|story| decision(story, &reference));
        Ok(match found {
            None => {
                let wrong = || Some("an event has no decision".to_owned());
                self.wrong = self.wrong.take().or_else(wrong);
                ("open", "it is not decided")
            }
            Some(_) if again => (
                "known",
                "it came before, is acknowledged and changes nothing",
            ),
            Some((outcome, reason)) => {
                let decided = decided(event, outcome, reason);
                (decided.outcome, decided.explained)
            }
        })
    }
}

//! Plays histories on a machine: many side by side, one step of each at a time, so that the handlers meet
//! them in batches as they would in the cloud. After every step each projection is compared with its
//! source: being right at the end is not enough.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use lastword_domain::ResourceKey;

use super::history::{History, LAST, Way, over_settled_source};
use super::played::{Played, differs, judge};
use super::progress::Progress;
use super::slow;
use super::stage::Stage;
use crate::machine::{Failure, Machine};

/// How many histories are played side by side.
const SIDE_BY_SIDE: usize = 100;
/// How many requests are under way at once.
pub(super) const AT_ONCE: usize = 8;

/// A history on its way.
struct Under<'s> {
    stage: &'s Stage<'s>,
    history: &'s History,
    resource: ResourceKey,
    steps: Vec<Vec<usize>>,
    /// How far the sender has come: at least to what was delivered, whatever the order.
    source: usize,
    wrong: Option<String>,
}

/// How a history is played.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    OneWorker,
    TwoWorkers,
    SlowRead,
}

/// Plays them all; what comes back is in the order given.
pub(super) async fn all(
    machine: &Machine,
    histories: &[History],
    progress: &mut Progress,
) -> Result<Vec<Played>, Failure> {
    let stage = Stage::new(machine)?;
    let mut played = Vec::with_capacity(histories.len());
    for group in [Group::OneWorker, Group::TwoWorkers, Group::SlowRead] {
        let these: Vec<_> = histories.iter().filter(|h| group == Group::of(h)).collect();
        for some in these.chunks(SIDE_BY_SIDE) {
            played.extend(match group {
                Group::OneWorker => steps(&stage, some, false).await?,
                Group::TwoWorkers => steps(&stage, some, true).await?,
                Group::SlowRead => slow::play(&stage, some).await?,
            });
            progress.at(played.len());
        }
    }
    played.sort_by_key(|played| played.history.number);
    Ok(played)
}

async fn steps(
    stage: &Stage<'_>,
    histories: &[&History],
    two_workers: bool,
) -> Result<Vec<Played>, Failure> {
    let mut all = Vec::with_capacity(histories.len());
    for history in histories {
        all.push(Under {
            stage,
            history,
            resource: history.resource(stage.machine.config())?,
            steps: history.steps(),
            source: if over_settled_source(history.way) {
                LAST
            } else {
                0
            },
            wrong: None,
        });
    }
    let most = all
        .iter()
        .map(|one| one.steps.len())
        .max()
        .unwrap_or_default();
    for at in 0..most {
        each(all.iter_mut().map(|one| one.step(at))).await?;
        stage.settle(two_workers).await?;
        each(all.iter_mut().map(|one| one.check(at))).await?;
    }
    each(all.iter().map(Under::judge)).await
}

/// Not one after the other, and not all at once; what comes back is in the order given.
pub(super) async fn each<T, F>(acts: impl Iterator<Item = F>) -> Result<Vec<T>, Failure>
where
    F: Future<Output = Result<T, Failure>>,
{
    stream::iter(acts.collect::<Vec<_>>())
        .buffered(AT_ONCE)
        .try_collect()
        .await
}

impl Group {
    fn of(history: &History) -> Self {
        match history.way {
            Way::Queue {
                two_workers: false, ..
            } => Self::OneWorker,
            Way::Queue {
                two_workers: true, ..
            } => Self::TwoWorkers,
            Way::SlowRead { .. } => Self::SlowRead,
        }
    }
}

impl Under<'_> {
    async fn step(&mut self, at: usize) -> Result<(), Failure> {
        for event in self.steps.get(at).into_iter().flatten() {
            self.source = self.source.max(*event);
            self.stage.show(self.history, self.source);
            self.stage.deliver(self.history, *event).await?;
        }
        Ok(())
    }

    /// What is known now must be what the source says now. The last step is judged with the rest.
    async fn check(&mut self, at: usize) -> Result<(), Failure> {
        if self.wrong.is_none() && at + 1 < self.steps.len() {
            let story = self.stage.story(&self.resource).await?;
            let wrong = differs(self.history, self.source, story.projection.as_ref())?;
            self.wrong = wrong.map(|wrong| format!("after step {}: {wrong}", at + 1));
        }
        Ok(())
    }

    async fn judge(&self) -> Result<Played, Failure> {
        let story = self.stage.story(&self.resource).await?;
        let reads = self.stage.reads(self.history);
        let config = self.stage.machine.config();
        judge(config, self.history, &story, reads, self.wrong.clone())
    }
}

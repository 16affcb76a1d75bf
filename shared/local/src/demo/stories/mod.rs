//! Stories of several things that have to do with each other, in every order in which their events can arrive:
//! a subscription that is cancelled at once, and a shop with three senders. They go through the real handlers from
//! the signed request to the subject's verdict.
//!
//! Suggested reading order: [`plot`] is what happened, [`run`] one history of it and what is right, [`play`] plays,
//! [`seen`] looks, [`print`] shows. The rules themselves are those of `lastword.toml`.

mod play;
mod plot;
mod print;
mod run;
mod seen;

use lastword_domain::EffectStatus;

use super::progress::Progress;
use super::stage::Stage;
use crate::machine::Failure;

pub(super) use print::{json, text};

/// A story that was played.
pub(super) struct Told {
    plot: &'static plot::Plot,
    /// How many histories.
    pub(super) histories: usize,
    deliveries: usize,
    /// Those that went wrong, in words.
    pub(super) wrong: Vec<String>,
    /// What became of what had to be done: the same for all of them.
    effects: Vec<(String, EffectStatus)>,
    /// The histories that are shown step by step.
    shown: Vec<play::Played>,
}

/// Every history of every story, not yet played.
pub(super) struct Stories(Vec<(&'static plot::Plot, Vec<run::Run>)>);

impl Stories {
    pub(super) fn all() -> Self {
        let mut from = 1;
        let mut all = Vec::new();
        for plot in plot::ALL {
            let runs = run::all(plot, from);
            from += runs.len();
            all.push((plot, runs));
        }
        Self(all)
    }

    /// How many histories they are.
    pub(super) fn count(&self) -> usize {
        self.0.iter().map(|(_, runs)| runs.len()).sum()
    }

    /// Plays them all; `done` histories were played before.
    pub(super) async fn play(
        &self,
        stage: &Stage<'_>,
        mut done: usize,
        progress: &mut Progress,
    ) -> Result<Vec<Told>, Failure> {
        let mut told = Vec::new();
        for (plot, runs) in &self.0 {
            let mut played = Vec::with_capacity(runs.len());
            for some in runs.chunks(play::SIDE_BY_SIDE) {
                played.extend(play::side_by_side(stage, some).await?);
                progress.at(done + played.len());
            }
            done += played.len();
            told.push(Told::of(plot, played));
        }
        Ok(told)
    }
}

impl Told {
    /// Every history of a story must end the same; what the first one ends in is right already.
    fn of(plot: &'static plot::Plot, mut played: Vec<play::Played>) -> Self {
        let first = played.first().map(|first| first.end.clone());
        let effects = played.first().map(|first| first.effects.clone());
        for one in &mut played {
            if one.wrong.is_none() && first.as_ref() != Some(&one.end) {
                one.wrong = Some("it ends other than the first history".to_owned());
            }
        }
        let complaints = played.iter().filter_map(play::Played::complaint);
        let wrong = complaints.collect();
        let (histories, deliveries) = (
            played.len(),
            played.iter().map(|one| one.run.arrivals.len()).sum(),
        );
        let shown = plot.told.iter().filter_map(|order| {
            let this = |one: &play::Played| one.run.arrivals.starts_with(order);
            let at = played.iter().position(this)?;
            Some(played.swap_remove(at))
        });
        Self {
            plot,
            histories,
            deliveries,
            wrong,
            effects: effects.unwrap_or_default(),
            shown: shown.collect(),
        }
    }
}

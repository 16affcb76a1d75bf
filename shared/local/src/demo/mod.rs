//! `cargo demo`: events in every order of arrival, repeated, raced and read too late, through the real
//! handlers; and the same against a receiver as it is often written.
//!
//! Suggested reading order: [`history`] is what is played, [`sender`] what is sent, [`play`] and [`slow`]
//! how, on [`stage`], [`played`] what is right, [`naive`] the other receiver, [`stories`] several things together,
//! [`print`] what people see.

mod history;
mod naive;
mod play;
mod played;
mod print;
mod progress;
mod sender;
mod slow;
mod stage;
mod stories;

use std::io::Write as _;

use lastword_config::Config;
use lastword_runtime::telemetry;

use crate::machine::{Failure, Machine};
use crate::stores::Place;
use played::Played;
use progress::Progress;
use stage::Stage;
use stories::{Stories, Told};

/// The example configuration, as it is delivered.
const CONFIG: &str = include_str!("../../../../lastword.toml");

/// What is to be shown.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// The receiver that applies what arrives, instead of Lastword.
    pub naive: bool,
    /// One JSON object instead of tables.
    pub json: bool,
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Report {
    /// How many histories were played.
    pub histories: usize,
    /// How many of them ended, or were at any step, other than the source.
    pub wrong: usize,
    /// Whether the other receiver was played: its being wrong is the point.
    pub naive: bool,
}

impl Report {
    fn of(naive: bool, played: &[Played], told: &[Told]) -> Self {
        let wrong = played.iter().filter(|one| one.wrong.is_some()).count();
        let others = told.iter().map(|told| told.wrong.len()).sum::<usize>();
        Self {
            histories: played.len() + told.iter().map(|told| told.histories).sum::<usize>(),
            wrong: wrong + others,
            naive,
        }
    }

    /// Whether something is wrong that should not be.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.wrong > 0 && !self.naive
    }
}

/// Plays every history and prints what came of it to standard output.
///
/// The functions' own log lines are silenced for the rest of the process.
///
/// # Errors
/// When the machine cannot be started or used, or nothing can be printed.
pub async fn run(options: Options) -> Result<Report, Failure> {
    telemetry::silence();
    let (played, told) = play(options.naive).await?;
    let report = Report::of(options.naive, &played, &told);
    if options.json {
        writeln!(
            std::io::stdout(),
            "{}",
            print::json(&report, &played, &told)
        )?;
    } else {
        // Colours are taken out where standard output is no terminal or does not want them.
        write!(
            anstream::stdout(),
            "{}",
            print::text(&report, &played, &told)
        )?;
    }
    Ok(report)
}

/// The other receiver is played on the first histories only: it has no subjects.
async fn play(naive: bool) -> Result<(Vec<Played>, Vec<Told>), Failure> {
    let histories = history::all();
    if naive {
        let config = Config::parse("lastword.toml", CONFIG)?;
        return Ok((naive::play(&config, &histories)?, Vec::new()));
    }
    let machine = Machine::start(Place::Temporary, CONFIG, sender::NOW).await?;
    let stories = Stories::all();
    let mut progress = Progress::of(histories.len() + stories.count());
    let played = everything(&machine, &histories, &stories, &mut progress).await;
    progress.end();
    machine.stores.shutdown().await;
    played
}

async fn everything(
    machine: &Machine,
    histories: &[history::History],
    stories: &Stories,
    progress: &mut Progress,
) -> Result<(Vec<Played>, Vec<Told>), Failure> {
    let played = play::all(machine, histories, progress).await?;
    let stage = Stage::new(machine)?;
    let told = stories.play(&stage, played.len(), progress).await?;
    Ok((played, told))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn every_history_ends_as_the_source_and_is_told_within_the_width() {
        telemetry::silence();
        let began = std::time::Instant::now();
        let (played, stories) = play(false).await.unwrap();
        let report = Report::of(false, &played, &stories);
        println!("{} histories in {:?}", report.histories, began.elapsed());
        let wrong: Vec<_> = played.iter().filter_map(print::complaint).collect();
        assert_eq!(wrong, Vec::<String>::new());
        for (told, histories) in stories.iter().zip([96, 120]) {
            assert_eq!((told.wrong.first(), told.histories), (None, histories));
        }
        assert_eq!(stories.len(), 2);
        assert_eq!((report.histories, report.wrong), (174 + 96 + 120, 0));
        told(&report, &played, &stories);
    }

    #[tokio::test]
    async fn the_other_receiver_is_told_within_the_width() {
        let (played, stories) = play(true).await.unwrap();
        let report = Report::of(true, &played, &stories);
        assert_eq!((report.wrong, report.histories), (116, 174));
        assert!(!report.failed());
        told(&report, &played, &stories);
    }

    fn told(report: &Report, played: &[Played], stories: &[Told]) {
        let text = print::text(report, played, stories);
        let plain = anstream::adapter::strip_str(&text).to_string();
        println!("{plain}");
        let wide: Vec<_> = plain
            .lines()
            .filter(|line| line.chars().count() > 100)
            .collect();
        assert_eq!(wide, Vec::<&str>::new());
        let closing = format!("{} histories, {} wrong.", report.histories, report.wrong);
        assert_eq!(plain.lines().last(), Some(closing.as_str()));
        let json: serde_json::Value =
            serde_json::from_str(&print::json(report, played, stories).to_string()).unwrap();
        assert_eq!(json["histories"], report.histories);
        for (name, count) in [("stories", None), ("together", Some(stories.len()))] {
            let all = json[name].as_array().unwrap();
            assert_eq!(all.len(), count.unwrap_or(all.len().max(1)), "{name}");
        }
    }
}

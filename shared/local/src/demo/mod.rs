//! `cargo demo`: events in every order of arrival, repeated, raced and read too late, through the real
//! handlers; and the same against a receiver as it is often written.
//!
//! Suggested reading order: [`history`] is what is played, [`sender`] what is sent, [`play`] and [`slow`]
//! how, on [`stage`], [`played`] what is right, [`naive`] the other receiver, [`print`] what people see.

mod history;
mod naive;
mod play;
mod played;
mod print;
mod progress;
mod sender;
mod slow;
mod stage;

use std::io::Write as _;

use lastword_config::Config;
use lastword_runtime::telemetry;

use crate::machine::{Failure, Machine};
use crate::stores::Place;
use played::Played;
use progress::Progress;

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
    let played = play(options.naive).await?;
    let report = Report {
        histories: played.len(),
        wrong: played.iter().filter(|one| one.wrong.is_some()).count(),
        naive: options.naive,
    };
    if options.json {
        writeln!(std::io::stdout(), "{}", print::json(&report, &played))?;
    } else {
        // Colours are taken out where standard output is no terminal or does not want them.
        write!(anstream::stdout(), "{}", print::text(&report, &played))?;
    }
    Ok(report)
}

async fn play(naive: bool) -> Result<Vec<Played>, Failure> {
    let histories = history::all();
    if naive {
        return naive::play(&Config::parse("lastword.toml", CONFIG)?, &histories);
    }
    let machine = Machine::start(Place::Temporary, CONFIG, sender::NOW).await?;
    let mut progress = Progress::of(histories.len());
    let played = play::all(&machine, &histories, &mut progress).await;
    progress.end();
    machine.stores.shutdown().await;
    played
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn every_history_ends_as_the_source_and_is_told_within_the_width() {
        telemetry::silence();
        let began = std::time::Instant::now();
        let played = play(false).await.unwrap();
        println!("{} histories in {:?}", played.len(), began.elapsed());
        let wrong: Vec<_> = played.iter().filter_map(print::complaint).collect();
        assert_eq!(wrong, Vec::<String>::new());
        assert!(played.len() > 150);
        let report = Report {
            histories: played.len(),
            wrong: 0,
            naive: false,
        };
        told(&report, &played);
    }

    #[tokio::test]
    async fn the_other_receiver_is_told_within_the_width() {
        let played = play(true).await.unwrap();
        let wrong = played.iter().filter(|one| one.wrong.is_some()).count();
        assert_eq!((wrong, played.len()), (116, 174));
        let report = Report {
            histories: played.len(),
            wrong,
            naive: true,
        };
        assert!(!report.failed());
        told(&report, &played);
    }

    fn told(report: &Report, played: &[Played]) {
        let text = print::text(report, played);
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
            serde_json::from_str(&print::json(report, played).to_string()).unwrap();
        assert_eq!(json["histories"], report.histories);
        assert!(
            json["stories"]
                .as_array()
                .is_some_and(|all| !all.is_empty())
        );
    }
}

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
        assert!(played.len() > 200);
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
        assert_eq!((wrong, played.len()), (148, 222));
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
        assert!(plain.lines().all(|line| line.chars().count() <= 100));
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

#[cfg(test)]
mod measure {
    use super::*;
    fn cpu() -> f64 {
        let s = std::fs::read_to_string("/proc/self/stat").unwrap();
        let f: Vec<_> = s.rsplit(')').next().unwrap().split_whitespace().collect();
        (f[11].parse::<f64>().unwrap() + f[12].parse::<f64>().unwrap()) * 10.0
    }
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn measure_ops() {
        telemetry::silence();
        let m = Machine::start(Place::Temporary, CONFIG, sender::NOW)
            .await
            .unwrap();
        let w = m.worker().unwrap();
        let hs: Vec<_> = history::all()
            .into_iter()
            .filter(|h| h.sender == history::Sender::Billing)
            .take(100)
            .collect();
        for round in 0..2 {
            let t = cpu();
            for h in &hs {
                m.standin.show(&h.path(), h.object(round).to_string());
                m.deliver(&w, "billing", &[], &h.body(round)).await.unwrap();
            }
            println!("deliver {:.2} ms", (cpu() - t) / 100.0);
            let t = cpu();
            for h in &hs {
                m.deliver(&w, "billing", &[], &h.body(round)).await.unwrap();
            }
            println!("duplicate {:.2} ms", (cpu() - t) / 100.0);
            let t = cpu();
            let mut n = 0;
            while m.relay(&w, 100).await.unwrap() > 0 {
                n += 1;
            }
            println!("relay calls {n}, {:.2} ms per event", (cpu() - t) / 100.0);
            let t = cpu();
            let mut bs = vec![];
            while let Some(b) = m.receive().await.unwrap() {
                bs.push(b);
            }
            println!(
                "receive {} batches {:.2} ms per event",
                bs.len(),
                (cpu() - t) / 100.0
            );
            let t = cpu();
            let mut left = vec![];
            for b in &bs {
                left.push(m.handle(&w, b).await.unwrap());
            }
            println!("handle {:.2} ms per event", (cpu() - t) / 100.0);
            let t = cpu();
            for (b, l) in bs.iter().zip(&left) {
                m.delete(b, l).await.unwrap();
            }
            println!("delete {:.2} ms per event", (cpu() - t) / 100.0);
            let t = cpu();
            for h in &hs {
                m.story(&w, &h.resource(m.config()).unwrap()).await.unwrap();
            }
            println!("story {:.2} ms", (cpu() - t) / 100.0);
        }
    }
}

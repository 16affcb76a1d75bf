//! The `lastword` command: what a person, or a script, asks of Lastword at a terminal.
//!
//! Suggested reading order: [`cli`] is what can be asked, [`check`], [`inspect`], [`effect`], [`rebuild`] and [`dev`]
//! answer it,
//! [`contracts`], [`sign`], [`send`] and [`vectors`] are for who adds a provider or tries an endpoint,
//! [`stack`] is how one command finds what another one runs, [`show`] is what people see.

mod cli;

mod check;
mod dev;
mod effect;
mod inspect;
mod rebuild;

mod contracts;
mod send;
mod sign;
mod vectors;

mod configuration;
mod show;
mod stack;

use std::process::ExitCode;

use clap::Parser;

use crate::{demo, machine::Failure};
use cli::{Cli, Command};

/// What was found out about what was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    /// All is well: exit code 0.
    Well,
    /// Something is wrong with it, and has been said: exit code 1.
    Wrong,
}

/// A command that could not be carried out says why: exit code 2, as for a wrong use of it.
type Outcome = Result<Found, Failure>;

/// Reads the arguments of this process, does what they ask, and says how it went.
pub async fn run() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Check(asked) => check::run(&asked),
        Command::Dev(asked) => dev::run(&asked).await,
        Command::Inspect(asked) => inspect::run(&asked).await,
        Command::Effect(asked) => effect::run(&asked).await,
        Command::Rebuild(asked) => rebuild::run(&asked).await,
        Command::Contracts(asked) => contracts::run(&asked),
        Command::Sign(asked) => sign::run(&asked),
        Command::Send(asked) => send::run(&asked).await,
        Command::Vectors(asked) => vectors::run(&asked).await,
        Command::Demo(asked) => play(&asked).await,
    };
    match outcome {
        Ok(Found::Well) => ExitCode::SUCCESS,
        Ok(Found::Wrong) => ExitCode::from(1),
        Err(why) => {
            show::trouble(&why.to_string());
            ExitCode::from(2)
        }
    }
}

async fn play(asked: &cli::Demo) -> Outcome {
    let options = demo::Options {
        naive: asked.naive,
        json: asked.json,
    };
    let report = demo::run(options).await?;
    Ok(if report.failed() {
        Found::Wrong
    } else {
        Found::Well
    })
}

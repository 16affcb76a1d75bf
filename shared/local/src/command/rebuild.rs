//! `lastword rebuild`: signals what is to be recomputed, and tells what became of it; recomputes nothing itself.

mod telling;
mod walking;
mod what;

use std::{
    io::{IsTerminal as _, Write as _},
    path::Path,
};

use lastword_queue::Queue;
use lastword_runtime::{ClientSettings, Clients, Endpoints, Patience, environment};
use lastword_store::{Moment, State};

use super::{
    Found, Outcome,
    cli::{DIRECTORY, Rebuild, What},
    configuration::Source,
    stack::Stack,
};
use crate::machine::Failure;
use telling::Telling;
use walking::Walk;

const STATE: &str = "LASTWORD_STATE_TABLE";
const INBOX: &str = "LASTWORD_INBOX_TABLE";
const QUEUE: &str = "LASTWORD_QUEUE_URL";

pub(super) async fn run(asked: &Rebuild) -> Outcome {
    let config = Source::found(asked.config.as_deref())?.parse()?;
    let stages = what::stages(&asked.what, &config)?;
    let (state, queue) = open(asked.dir.as_deref())?;
    if !wanted(asked)? {
        return Err("nothing was rebuilt".into());
    }
    let run = match &asked.run {
        Some(run) => run.clone(),
        None => Moment::now().to_text(),
    };
    let mut walk = Walk::new(&state, &queue, &config, &run, Telling::new(asked.json));
    let done = tokio::select! {
        done = walk.all(&stages) => done,
        _ = tokio::signal::ctrl_c() => Err("stopped; what is under way goes on by itself".into()),
    };
    let telling = walk.end();
    match done {
        Ok(()) => Ok(if telling.end(&run) {
            Found::Well
        } else {
            Found::Wrong
        }),
        Err(why) => {
            // What was found out so far is not lost.
            let _: bool = telling.end(&run);
            Err(format!("{why}\nto go on: the same command with --run {run}").into())
        }
    }
}

/// Whether it is to be done: a person at a terminal is asked before everything is.
fn wanted(asked: &Rebuild) -> Result<bool, Failure> {
    let everything = matches!(asked.what, What::All);
    if !everything || asked.yes || !std::io::stdin().is_terminal() {
        return Ok(true);
    }
    let mut out = anstream::stderr();
    write!(
        out,
        "Every source is read once for each of its resources. Rebuild everything? [y/N] "
    )?;
    out.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// The tables and the queue of the running stack, or of the account that the environment describes.
fn open(directory: Option<&Path>) -> Result<(State, Queue), Failure> {
    if directory.is_none() && environment::optional(STATE)?.is_some() {
        let clients = Clients::from_env(Patience::background())?;
        let (inbox, state) = (environment::required(INBOX)?, environment::required(STATE)?);
        let queue = Queue::new(clients.sqs(), environment::required(QUEUE)?);
        return Ok((State::new(clients.dynamodb(), inbox, state), queue));
    }
    let stack = Stack::find(directory.unwrap_or(Path::new(DIRECTORY)))?;
    let endpoints = Endpoints {
        dynamodb: Some(stack.dynamodb),
        sqs: Some(stack.sqs),
        ..Endpoints::default()
    };
    let clients = Clients::new(ClientSettings::local(endpoints, Patience::background()));
    let queue = Queue::new(clients.sqs(), stack.queue_url);
    let state = State::new(clients.dynamodb(), stack.inbox_table, stack.state_table);
    Ok((state, queue))
}

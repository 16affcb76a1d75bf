//! `lastword dev`: the whole package on one machine; may not do anything that the functions do.
//!
//! Suggested reading order: [`start`] puts everything together and takes it apart, [`wiring`] connects it,
//! [`parts`] is what the functions are made of, [`postbox`] is where effects go, [`hearing`] is what draft hears, [`inside`] runs their handlers in this process and
//! [`outside`] the real binaries, [`secrets`] makes up what is missing, [`log`] keeps the functions' lines
//! apart from what is answered.
//!
//! # What a kill leaves behind, as decisions
//!
//! * **An event was acknowledged and not relayed.** Its row is on disk before the answer is sent, and its
//!   stream record with it. The saved position is before it, so it is relayed after the restart.
//! * **A signal was queued and not settled.** The queue is gone with the process; the position was not
//!   saved, because it is saved only when the queue is seen empty. The signal is sent again.
//! * **A signal was settled and the position not saved.** It is sent again, found decided, and nothing is
//!   read or written.

mod start;
mod wiring;

mod hearing;
mod inside;
mod outside;
mod parts;
mod postbox;

mod binaries;
mod log;
pub(super) mod secrets;

use std::{io, time::Duration};

use tokio::time::timeout;

use super::{
    Found, Outcome,
    cli::Dev,
    show::{self, Cell, GOOD, HEADING, QUIET},
};
use start::Started;

/// How long the end waits for what is running. What it does not wait for comes again at the next start.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) async fn run(asked: &Dev) -> Outcome {
    if asked.processes && asked.clock.is_some() {
        return Err(
            "--clock cannot be used with --processes: the real binaries have no such switch".into(),
        );
    }
    let mut ending = Ending::listen()?;
    let started = tokio::select! {
        started = start::start(asked) => started?,
        () = ending.comes() => return Ok(Found::Well),
    };
    if asked.json {
        show::say(&started.stack.line());
    } else {
        show::say(&welcome(asked, &started));
    }
    ending.comes().await;
    tokio::select! {
        ended = timeout(PATIENCE, started.end()) => {
            if ended.is_err() {
                show::remark("stopped while something was running; it comes again at the next start");
            }
        }
        // Asked a second time: at once.
        () = ending.comes() => {}
    }
    Ok(Found::Well)
}

fn welcome(asked: &Dev, started: &Started) -> String {
    let stack = &started.stack;
    let mut text = format!(
        "{} {}\n\n",
        show::painted("Lastword listens on", HEADING),
        stack.url
    );
    let row = |name: &str, value: String| vec![Cell::new(name).styled(GOOD), Cell::new(value)];
    let posts = stack
        .webhooks
        .iter()
        .map(|(name, url)| row(name, format!("POST {url}")));
    text.push_str(&show::table(&["WEBHOOKS", "ENDPOINT"], posts.collect()));
    text.push('\n');
    let shown = |path: &std::path::Path| path.display().to_string();
    let tables = format!(
        "{} ({}, {})",
        stack.dynamodb, stack.inbox_table, stack.state_table
    );
    let functions = if asked.processes {
        "the real binaries"
    } else {
        "in this process"
    };
    let rows = vec![
        row("configuration", started.configuration.clone()),
        row("functions", functions.to_owned()),
        row("data", shown(&stack.directory)),
        row("secrets", shown(&stack.secrets)),
        row("log", shown(&stack.log)),
        row("tables", tables),
        row("queue", stack.queue_url.clone()),
        row("effects", stack.effects_url.clone()),
        row("bus", stack.bus.clone()),
        row("parameters", stack.ssm.clone()),
    ];
    text.push_str(&show::table(&["PARTS", "WHERE"], rows));
    for reference in &started.made_up {
        text.push_str(&format!("\nmade up, because it was not set: {reference}"));
    }
    if !started.made_up.is_empty() {
        text.push('\n');
    }
    let end = "\nCtrl-C ends it. What happens from now on is also in the log.\n";
    text.push_str(&show::painted(end, QUIET));
    text
}

/// Ctrl-C, or a polite request to end.
struct Ending {
    #[cfg(unix)]
    term: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Ending {
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            term: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    async fn comes(&mut self) {
        tokio::select! {
            _ = self.term.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

#[cfg(not(unix))]
impl Ending {
    fn listen() -> io::Result<Self> {
        Ok(Self {})
    }

    async fn comes(&mut self) {
        // Without a handler there is nothing to wait for, and the process ends as it does by default.
        drop(tokio::signal::ctrl_c().await);
    }
}

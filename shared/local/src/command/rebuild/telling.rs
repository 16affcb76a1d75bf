//! What a rebuild came to, for people and machines: how far it is, what differed, and counts.

use std::{
    collections::BTreeMap,
    io::{IsTerminal as _, Write as _},
};

use lastword_domain::{Owner, Rebuilt, Report};
use serde_json::json;

use crate::command::show::{self, BAD, Cell, GOOD, PLAIN, QUIET};

/// The most lines that are kept for a person; machines are told all.
const MOST_ROWS: usize = 500;

/// What is known so far.
pub(super) struct Telling {
    json: bool,
    watched: bool,
    shown: bool,
    counts: BTreeMap<Rebuilt, u64>,
    rows: Vec<Vec<Cell>>,
    more: u64,
}

impl Telling {
    pub(super) fn new(json: bool) -> Self {
        Self {
            json,
            watched: std::io::stderr().is_terminal(),
            shown: false,
            counts: BTreeMap::new(),
            rows: Vec::new(),
            more: 0,
        }
    }

    /// One of them is done.
    pub(super) fn told(&mut self, owner: &Owner, report: &Report) {
        *self.counts.entry(report.outcome).or_default() += 1;
        if report.outcome == Rebuilt::Same {
            return;
        }
        let differs: Vec<&str> = report.differs.iter().map(|part| part.as_str()).collect();
        if self.json {
            let told = json!({
                "what": owner.to_string(),
                "outcome": report.outcome.as_str(),
                "differs": differs,
                "why": report.why,
            });
            show::say(&format!("{told}\n"));
        } else if self.rows.len() < MOST_ROWS {
            self.rows.push(vec![
                Cell::new(owner.to_string()),
                outcome(report.outcome),
                Cell::new(if differs.is_empty() {
                    "-".to_owned()
                } else {
                    differs.join(", ")
                }),
                Cell::new(report.why.as_deref().unwrap_or_default()),
            ]);
        } else {
            self.more += 1;
        }
    }

    /// So many are under way: a line on the error stream that is written over; nothing where no terminal is.
    pub(super) fn under_way(&mut self, open: usize) {
        if self.watched {
            let done: u64 = self.counts.values().sum();
            let line = format!("\r\x1b[K{done} rebuilt, {open} under way");
            let mut out = std::io::stderr();
            self.shown = out
                .write_all(line.as_bytes())
                .and_then(|()| out.flush())
                .is_ok();
            // Where it cannot be shown once, it is not tried again.
            self.watched = self.shown;
        }
    }

    /// Tells the end; says whether all was rebuilt.
    pub(super) fn end(self, run: &str) -> bool {
        if self.shown {
            // A line that stays disturbs nobody.
            drop(std::io::stderr().write_all(b"\r\x1b[K"));
        }
        let count = |outcome: Rebuilt| self.counts.get(&outcome).copied().unwrap_or_default();
        let whole = count(Rebuilt::Unread) + count(Rebuilt::Failed) == 0;
        if self.json {
            let counts = Rebuilt::ALL.map(|it| (it.as_str(), count(it)));
            let counts: BTreeMap<_, _> = counts.into_iter().collect();
            let told = json!({ "run": run, "rebuilt": whole, "counts": counts });
            show::say(&format!("{told}\n"));
            return whole;
        }
        let counts = Rebuilt::ALL.into_iter().filter(|it| count(*it) > 0);
        let counts: Vec<_> = counts
            .map(|it| vec![outcome(it), Cell::new(count(it).to_string())])
            .collect();
        if !self.rows.is_empty() {
            let heads = ["WHAT", "OUTCOME", "DIFFERED", "WHY"];
            show::say(&format!("{}\n", show::table(&heads, self.rows)));
        }
        if self.more > 0 {
            show::say(&format!("and {} more; --json tells all\n\n", self.more));
        }
        if counts.is_empty() {
            show::say("there was nothing to rebuild\n");
        } else {
            show::say(&show::table(&["OUTCOME", "COUNT"], counts));
        }
        show::say(&format!("\nrun {run}\n"));
        whole
    }
}

fn outcome(outcome: Rebuilt) -> Cell {
    let style = match outcome {
        Rebuilt::Same => QUIET,
        Rebuilt::Changed => GOOD,
        Rebuilt::Kept | Rebuilt::Unconfigured => PLAIN,
        Rebuilt::Unread | Rebuilt::Failed => BAD,
    };
    Cell::new(outcome.as_str()).styled(style)
}

//! `lastword vectors`: recorded requests, each on the real front door of an integration made for it alone.
//! Are they answered as they should be? Knows nothing of how a signature is made.
//!
//! Suggested reading order: [`entry`] reads a recorded request, [`endpoint`] makes the integration that it is
//! for, [`door`] hands it to the handler, [`verdict`] compares.

mod door;
mod endpoint;
mod entry;
mod names;
mod verdict;

use std::{fs, path::Path};

use lastword_runtime::telemetry;
use serde_json::{Value, json};

use super::{
    Found, Outcome,
    cli::Vectors,
    show::{self, BAD, Cell, GOOD, QUIET},
};
use crate::machine::Failure;
use door::Door;
use entry::Entry;
use verdict::Expected;

/// One entry, and what came of it.
struct Trial {
    id: String,
    provider: String,
    expected: String,
    /// Status and word, as far as it came.
    came: Option<Came>,
    /// Why it is not as expected.
    wrong: Option<String>,
}

/// How the front door answered.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Came {
    /// None where only a text was compared.
    status: Option<u16>,
    word: String,
    body: String,
    hint: Option<String>,
}

pub(super) async fn run(asked: &Vectors) -> Outcome {
    let mut entries = Vec::new();
    for file in &asked.files {
        entries.extend(read(file)?);
    }
    telemetry::silence();
    let door = Door::open().await?;
    let mut trials = Vec::with_capacity(entries.len());
    for (at, entry) in entries.iter().enumerate() {
        trials.push(trial(&door, at, entry).await);
    }
    door.close().await;
    let failed = trials.iter().filter(|trial| trial.wrong.is_some()).count();
    let passed = trials.len() - failed;
    if asked.json {
        let all: Vec<_> = trials.iter().map(as_json).collect();
        let told = json!({ "passed": passed, "failed": failed, "vectors": all });
        show::say(&format!("{told}\n"));
    } else {
        show::say(&table(&trials));
        show::say(&format!("\n{passed} passed, {failed} failed\n"));
    }
    Ok(if failed == 0 {
        Found::Well
    } else {
        Found::Wrong
    })
}

/// A file's entries: those under `vectors`, or the list that it is.
fn read(file: &Path) -> Result<Vec<Value>, Failure> {
    let told = |why: &dyn std::fmt::Display| format!("{}: {why}", file.display());
    let text = fs::read(file).map_err(|error| told(&error))?;
    let whole: Value = serde_json::from_slice(&text).map_err(|error| told(&error))?;
    let list = match whole {
        Value::Object(mut members) => members.remove("vectors"),
        list @ Value::Array(_) => Some(list),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    };
    match list {
        Some(Value::Array(entries)) => Ok(entries),
        Some(_) | None => {
            Err(told(&"expected a list of vectors, alone or under \"vectors\"").into())
        }
    }
}

async fn trial(door: &Door, at: usize, raw: &Value) -> Trial {
    let text = |name| raw.get(name).and_then(entry::plain);
    let mut trial = Trial {
        id: text("id").unwrap_or_else(|| format!("#{}", at + 1)),
        provider: text("provider").unwrap_or_else(|| "?".to_owned()),
        expected: text("expect").unwrap_or_else(|| "?".to_owned()),
        came: None,
        wrong: None,
    };
    let came = match prepared(raw) {
        Ok((entry, expected)) => door
            .answer(&entry, expected)
            .await
            .map(|came| (entry, expected, came)),
        Err(why) => Err(why),
    };
    match came {
        Ok((entry, expected, came)) => {
            trial.wrong = expected.complaint(&entry, &came);
            trial.came = Some(came);
        }
        Err(why) => trial.wrong = Some(why),
    }
    trial
}

fn prepared(raw: &Value) -> Result<(Entry, Expected), String> {
    let entry = Entry::read(raw)?;
    let expected = Expected::parse(&entry.expect)?;
    Ok((entry, expected))
}

impl Came {
    fn as_text(&self) -> String {
        match self.status {
            Some(status) => format!("{status} {}", self.word),
            None => self.word.clone(),
        }
    }
}

fn as_json(trial: &Trial) -> Value {
    let came = trial.came.as_ref();
    json!({
        "id": trial.id,
        "provider": trial.provider,
        "expected": trial.expected,
        "passed": trial.wrong.is_none(),
        "status": came.and_then(|came| came.status),
        "word": came.map(|came| &came.word),
        "why": trial.wrong,
    })
}

fn table(trials: &[Trial]) -> String {
    let row = |trial: &Trial| {
        let came = trial
            .came
            .as_ref()
            .map_or_else(|| "-".to_owned(), Came::as_text);
        let (word, style) = match trial.wrong {
            None => ("passed", GOOD),
            Some(_) => ("FAILED", BAD),
        };
        vec![
            Cell::new(word).styled(style),
            Cell::new(&trial.id),
            Cell::new(&trial.provider),
            Cell::new(&trial.expected),
            Cell::new(came),
            Cell::new(trial.wrong.as_deref().unwrap_or_default()).styled(QUIET),
        ]
    };
    let heads = ["", "ID", "PROVIDER", "EXPECTED", "CAME", "WHY NOT"];
    show::table(&heads, trials.iter().map(row).collect())
}

//! What a state means, facts and reviews, for people and machines.

use std::collections::BTreeMap;

use lastword_domain::{Meaning, Report, ReviewStatus};
use lastword_store::{KeptFact, KeptReport, Review};
use serde_json::{Map, Value, json, value::RawValue};

use crate::command::show::{self, BAD, Cell, GOOD, QUIET};

/// Verdict and links, as members of a story.
pub(super) fn as_json(meaning: &Meaning) -> Map<String, Value> {
    let links = meaning.links.iter().map(|link| {
        json!({
            "subject": format!("subject/{}", link.subject),
            "role": link.role,
        })
    });
    let links: Vec<_> = links.collect();
    let mut members = Map::new();
    members.insert("verdict".to_owned(), verdict(meaning));
    members.insert("links".to_owned(), json!(links));
    members
}

/// As text: its numbers may be larger than a reader's own.
pub(super) fn verdict(meaning: &Meaning) -> Value {
    json!(meaning.verdict.as_ref().map(|verdict| verdict.as_str()))
}

pub(super) fn as_text(meaning: &Meaning) -> String {
    let mut text = String::new();
    if let Some(verdict) = &meaning.verdict {
        text.push_str(&verdict_lines(verdict.as_str()));
    }
    for link in &meaning.links {
        let subject = show::harmless(&link.subject.to_string());
        text.push_str(&format!("{:<13}{} of subject/{subject}\n", "is", link.role));
    }
    text
}

#[derive(serde::Deserialize)]
struct Verdict<'v> {
    state: String,
    allowed: Vec<String>,
    #[serde(borrow)]
    data: BTreeMap<String, &'v RawValue>,
    #[serde(default)]
    failed: BTreeMap<String, String>,
}

/// State, what is allowed, and the data, each on a line.
fn verdict_lines(verdict: &str) -> String {
    let Ok(verdict) = serde_json::from_str::<Verdict<'_>>(verdict) else {
        return String::new();
    };
    let allowed = match verdict.allowed.is_empty() {
        true => "nothing".to_owned(),
        false => verdict.allowed.join(", "),
    };
    let mut text = format!(
        "{:<13}{}\n{:<13}{}\n",
        "verdict",
        show::harmless(&verdict.state),
        "allowed",
        show::harmless(&allowed)
    );
    for (name, value) in verdict.data {
        let value = show::harmless(value.get());
        text.push_str(&format!(
            "{:<13}{} = {value}\n",
            "data",
            show::harmless(&name)
        ));
    }
    for (name, why) in verdict.failed {
        let line = format!("{}: {}", show::harmless(&name), show::harmless(&why));
        text.push_str(&format!("{:<13}{}\n", "failed", show::painted(&line, BAD)));
    }
    text
}

pub(super) fn fact(fact: &KeptFact, body: bool) -> Value {
    json!({
        "kind": fact.kind,
        "id": fact.id,
        "event": fact.event.to_string(),
        "recorded_at": fact.recorded_at,
        "content": body.then(|| fact.content.as_str()),
    })
}

pub(super) fn review(review: &Review) -> Value {
    json!({
        "key": review.key.to_string(),
        "rule": review.key.rule,
        "status": review.status.as_str(),
        "about": review.about,
        "identifiers": review.identifiers,
        "opened_at": review.opened_at,
        "who": review.who,
        "choice": review.choice,
    })
}

/// What the last rebuild came to.
pub(super) fn rebuilt(kept: Option<&KeptReport>) -> Value {
    json!(kept.map(|kept| {
        let differs = kept.report.differs.iter().map(|part| part.as_str());
        json!({
            "run": kept.report.run,
            "outcome": kept.report.outcome.as_str(),
            "differs": differs.collect::<Vec<_>>(),
            "why": kept.report.why,
            "at": kept.at,
        })
    }))
}

/// The same as a line, where there was one.
pub(super) fn rebuilt_line(kept: Option<&KeptReport>) -> String {
    let Some(kept) = kept else {
        return String::new();
    };
    let Report {
        run,
        outcome,
        differs,
        why,
    } = &kept.report;
    let differs: Vec<&str> = differs.iter().map(|part| part.as_str()).collect();
    let mut words = vec![format!("{outcome} (run {run}, {})", kept.at)];
    words.extend((!differs.is_empty()).then(|| differs.join(", ")));
    words.extend(why.clone());
    format!("{:<13}{}\n", "rebuilt", show::harmless(&words.join(": ")))
}

/// A table, where there are any.
pub(super) fn facts(facts: &[KeptFact], body: bool) -> String {
    if facts.is_empty() {
        return String::new();
    }
    let row = |fact: &KeptFact| {
        let mut cells = vec![
            Cell::new(fact.kind.as_str()),
            Cell::new(fact.id.as_str()),
            Cell::new(&fact.recorded_at),
        ];
        if body {
            cells.push(Cell::new(fact.content.as_str()));
        }
        cells
    };
    let heads = ["FACT", "ID", "RECORDED AT", "CONTENT"];
    let shown = heads.get(..if body { 4 } else { 3 }).unwrap_or_default();
    format!("\n{}", show::table(shown, facts.iter().map(row).collect()))
}

/// A table, where there are any.
pub(super) fn reviews(reviews: &[Review]) -> String {
    if reviews.is_empty() {
        return String::new();
    }
    let row = |review: &Review| {
        let style = match review.status {
            ReviewStatus::Open => BAD,
            ReviewStatus::Withdrawn => QUIET,
            ReviewStatus::Closed => GOOD,
        };
        let chosen = review.choice.iter().zip(&review.who);
        let chosen = chosen.map(|(choice, who)| format!("{choice} ({who})"));
        vec![
            Cell::new(review.key.rule.as_str()),
            Cell::new(review.status.as_str()).styled(style),
            Cell::new(review.opened_at.as_deref().unwrap_or("-")),
            Cell::lines(review.identifiers.iter().cloned().chain(chosen)),
        ]
    };
    let heads = ["REVIEW", "STATUS", "OPENED AT", "CONCERNS"];
    format!(
        "\n{}",
        show::table(&heads, reviews.iter().map(row).collect())
    )
}

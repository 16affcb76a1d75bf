//! What people, or programs, are told of the stories.

use std::collections::BTreeSet;

use lastword_domain::EffectStatus;
use serde_json::{Value, json};

use super::Told;
use super::play::{Played, Step};
use super::plot::{Happening, Plot};
use crate::demo::print::{QUIET, RIGHT, WRONG, grouped, styled};

/// The columns' widths.
const ARRIVES: usize = 24;
const DECIDED: usize = 10;
const THING: usize = 11;
const SUBJECT: usize = 19;

/// A story, for people.
pub(in crate::demo) fn text(told: &Told) -> String {
    let mut text = format!("{}\n", told.plot.heading);
    for played in &told.shown {
        text.push_str(&format!("\n  {}\n", styled(QUIET, &headings(told.plot))));
        for step in &played.steps {
            text.push_str(&format!("  {}\n", row(told.plot, step)));
        }
    }
    text.push('\n');
    let steps = told.shown.iter().flat_map(|played| &played.steps);
    let reasons: BTreeSet<_> = steps.map(|step| (step.outcome, step.explained)).collect();
    for (outcome, explained) in reasons {
        let line = format!("{outcome:<10}{explained}");
        text.push_str(&format!("  {}\n", styled(QUIET, &line)));
    }
    for (name, status) in &told.effects {
        let line = match status {
            EffectStatus::Done => format!("{name} sent once, in every order"),
            EffectStatus::Superseded => {
                format!("{name} not sent: what calls for it is not so any more when it is due")
            }
            EffectStatus::Pending
            | EffectStatus::Sending
            | EffectStatus::Failed
            | EffectStatus::Ambiguous => format!("{name} {status}"),
        };
        text.push_str(&format!("  {}\n", styled(RIGHT, &line)));
    }
    let style = if told.wrong.is_empty() { RIGHT } else { WRONG };
    let counted = format!(
        "Every order of arrival, each with an event again: {} histories, {} deliveries, {} wrong.",
        grouped(told.histories),
        grouped(told.deliveries),
        grouped(told.wrong.len()),
    );
    text.push_str(&format!("  {}\n", styled(style, &counted)));
    text
}

fn headings(plot: &Plot) -> String {
    let mut line = format!("{:<ARRIVES$}{:<DECIDED$}", "arrives", "decided");
    for (_, heading) in plot.shown {
        line.push_str(&format!("{heading:<THING$}"));
    }
    if plot.facts {
        line.push_str("facts  ");
    }
    line.push_str(&format!("{:<SUBJECT$}{}", plot.subject, plot.action));
    line
}

fn row(plot: &Plot, step: &Step) -> String {
    let (arrives, shown) = (arrives(plot, step), &step.shown);
    let quiet = step.outcome != "applied";
    let outcome = format!("{:<DECIDED$}", step.outcome);
    let outcome = if quiet {
        styled(QUIET, &outcome)
    } else {
        outcome
    };
    let mut line = format!("{arrives:<ARRIVES$}{outcome}");
    for (thing, _) in plot.shown {
        let known = shown.statuses.iter().find(|(own, _)| own == thing);
        let status = known.map_or("-", |(_, status)| status.as_str());
        line.push_str(&format!("{status:<THING$}"));
    }
    if plot.facts {
        line.push_str(&format!("{:<7}", shown.facts));
    }
    line.push_str(&format!("{:<SUBJECT$}", shown.state));
    let allowed = match (shown.allowed, shown.reviews.is_empty()) {
        (true, _) => styled(RIGHT, "allowed"),
        (false, true) => "no".to_owned(),
        (false, false) => format!("no; {}", styled(WRONG, "review")),
    };
    line.push_str(&allowed);
    line
}

fn arrives(plot: &Plot, step: &Step) -> String {
    let happening = plot.happenings.get(step.event);
    happening.map_or_else(String::new, |happening| {
        format!("{} {}", happening.at, happening.word)
    })
}

/// A story, for programs.
pub(in crate::demo) fn json(told: &Told) -> Value {
    let happened = |happening: &Happening| json!({"at": happening.at, "what": happening.word});
    json!({
        "story": told.plot.name,
        "happened": told.plot.happenings.iter().map(happened).collect::<Vec<_>>(),
        "subject": told.plot.subject,
        "action": told.plot.action,
        "histories": told.histories,
        "deliveries": told.deliveries,
        "wrong": told.wrong.len(),
        "effects": told.effects.iter().map(effect).collect::<serde_json::Map<_, _>>(),
        "shown": told.shown.iter().map(|played| shown(told.plot, played)).collect::<Vec<_>>(),
    })
}

fn effect((name, status): &(String, EffectStatus)) -> (String, Value) {
    (name.clone(), status.as_str().into())
}

fn shown(plot: &Plot, played: &Played) -> Value {
    let step = |step: &Step| {
        let named = |(thing, heading): &(_, &str)| {
            let mut statuses = step.shown.statuses.iter();
            let status = statuses.find(|(own, _)| own == thing);
            let status = status.map(|(_, status)| Value::from(status.as_str()));
            ((*heading).to_owned(), status.unwrap_or_default())
        };
        json!({
            "arrived": plot.happenings.get(step.event).map(|happening| happening.word),
            "outcome": step.outcome,
            "projections": plot.shown.iter().map(named).collect::<serde_json::Map<_, _>>(),
            "facts": step.shown.facts,
            "state": step.shown.state,
            "allowed": step.shown.allowed,
            "reviews": step.shown.reviews,
        })
    };
    Value::from(played.steps.iter().map(step).collect::<Vec<_>>())
}

//! What people, or programs, are told.

use std::collections::BTreeSet;

use anstyle::{AnsiColor, Style};
use serde_json::{Value, json};

use super::Report;
use super::history::{Again, History, LAST, PLAIN, Sender, Way};
use super::played::{Decided, Played};
use super::stories::{self, Told};

const HEADING: Style = Style::new().bold();
pub(super) const QUIET: Style = Style::new().dimmed();
pub(super) const RIGHT: Style = AnsiColor::Green.on_default();
pub(super) const WRONG: Style = AnsiColor::Red.on_default().bold();
/// The most wrong histories that are listed.
const MOST_LISTED: usize = 10;

/// The histories of one kind that tell the most, one for each order of arrival.
struct Table {
    name: &'static str,
    heading: &'static str,
    arrivals: [&'static str; 3],
    told: fn(&History) -> bool,
}

const SUBSCRIPTION: Table = Table {
    name: "subscription",
    heading: "\
A Stripe subscription: active at 10:00, past due at 10:03, canceled at 10:05.
Stripe promises no order and no version. An event only says \"look\", and the source is read.",
    arrivals: ["arrives first", "then", "last"],
    told: |history| history.sender == Sender::Billing && plain(history),
};

const ORDER: Table = Table {
    name: "order",
    heading: "\
An order of the ERP: created as version 1, paid as 2, cancelled as 3.
The documented version decides, within the write. Created, coming last, does not reopen it.",
    arrivals: ["arrives first", "then", "last"],
    told: |history| history.sender == Sender::Erp && plain(history),
};

const SLOW: Table = Table {
    name: "slow read",
    heading: "\
The subscription, and a slow read. The first event makes worker A ask the source. While the answer
is on its way the source goes on to canceled, and worker B settles what arrived meanwhile.
A's answer comes too late: it is thrown away, and the source is read a third time.",
    arrivals: ["A, slowly", "B", "B"],
    told: |history| {
        let slow = Way::SlowRead {
            held: 0,
            takes_all: false,
        };
        history.way == slow && !history.tie
    },
};

fn plain(history: &History) -> bool {
    history.way == PLAIN && history.again == Again::Nothing && !history.tie
}

/// A receiver that never reads has no slow reads; those histories are counted all the same.
fn tables(report: &Report) -> &'static [Table] {
    if report.naive {
        &[SUBSCRIPTION, ORDER]
    } else {
        &[SUBSCRIPTION, ORDER, SLOW]
    }
}

/// Everything, for people.
pub(super) fn text(report: &Report, played: &[Played], told: &[Told]) -> String {
    let title = if report.naive {
        "\
The same histories, and a receiver as it is often written: it checks every signature, knows every
event id that it has seen, and applies what arrives."
    } else {
        "\
A late webhook never gets the last word. Signed requests in every order of arrival, repeated, at one
worker and at two, go through the real handlers, over embedded stores and a stand-in of the source."
    };
    let mut text = format!("{}\n", styled(HEADING, title));
    for table in tables(report) {
        text.push('\n');
        text.push_str(&table.text(report.naive, played));
    }
    for told in told {
        text.push('\n');
        text.push_str(&stories::text(told));
    }
    text.push('\n');
    if !report.naive {
        let complaints = played.iter().filter_map(complaint);
        let others = told.iter().flat_map(|told| told.wrong.iter().cloned());
        for complaint in complaints.chain(others).take(MOST_LISTED) {
            text.push_str(&format!("{}\n", styled(WRONG, &complaint)));
        }
    }
    let closing = format!(
        "{} histories, {} wrong.",
        grouped(report.histories),
        grouped(report.wrong)
    );
    let style = if report.wrong == 0 { RIGHT } else { WRONG };
    text.push_str(&format!("{}\n", styled(style, &closing)));
    text
}

/// Which history went wrong, and how.
pub(super) fn complaint(played: &Played) -> Option<String> {
    let wrong = played.wrong.as_ref()?;
    Some(format!("wrong: {}: {wrong}", played.history.describe()))
}

impl Table {
    fn rows<'p>(&self, played: &'p [Played]) -> impl Iterator<Item = &'p Played> {
        let told = self.told;
        played.iter().filter(move |one| told(&one.history))
    }

    fn text(&self, naive: bool, played: &[Played]) -> String {
        let heading = match (naive, self.heading.split_once('\n')) {
            // What is said of how Lastword decides is not true of the other receiver.
            (true, Some((what, _))) => what,
            (true, None) | (false, _) => self.heading,
        };
        let mut text = format!("{heading}\n\n  ");
        for arrival in self.arrivals {
            text.push_str(&styled(QUIET, &format!("{arrival:<23}")));
        }
        text.push_str(&format!("{}\n", styled(QUIET, "ends as")));
        for row in self.rows(played) {
            text.push_str("  ");
            for decided in &row.decisions {
                let word = row.history.sender.happening(decided.event).word;
                let outcome = format!("{:<13}", decided.outcome);
                text.push_str(&format!("{word:<10}{}", styled(style(decided), &outcome)));
            }
            let (style, mark) = match row.wrong {
                None => (RIGHT, ""),
                Some(_) => (WRONG, "  wrong"),
            };
            text.push_str(&format!(
                "{}\n",
                styled(style, &format!("{}{mark}", row.ends))
            ));
        }
        text.push('\n');
        let reasons: BTreeSet<_> = self
            .rows(played)
            .flat_map(|row| &row.decisions)
            .map(|decided| (decided.outcome, decided.explained))
            .collect();
        for (outcome, explained) in reasons {
            text.push_str(&format!(
                "  {}\n",
                styled(QUIET, &format!("{outcome:<10}{explained}"))
            ));
        }
        text
    }
}

/// What changed the state stands out.
fn style(decided: &Decided) -> Style {
    match decided.outcome {
        "applied" => Style::new(),
        _ => QUIET,
    }
}

/// Each line by itself, so that no style runs over the end of one.
pub(super) fn styled(style: Style, text: &str) -> String {
    let lines = text.split('\n');
    let lines: Vec<_> = lines
        .map(|line| format!("{style}{line}{style:#}"))
        .collect();
    lines.join("\n")
}

pub(super) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Everything, for programs.
pub(super) fn json(report: &Report, played: &[Played], told: &[Told]) -> Value {
    let mut stories = Vec::new();
    for table in tables(report) {
        stories.extend(table.rows(played).map(|row| story(table.name, row)));
    }
    // Each history that the other receiver has wrong is no complaint: it is what was to be shown.
    let own = played
        .iter()
        .filter(|_| report.failed())
        .filter_map(complaint);
    let others = told.iter().flat_map(|told| told.wrong.iter().cloned());
    let complaints: Vec<_> = own.chain(others).collect();
    json!({
        "histories": report.histories,
        "wrong": report.wrong,
        "naive": report.naive,
        "stories": stories,
        "together": told.iter().map(stories::json).collect::<Vec<_>>(),
        "complaints": complaints,
    })
}

fn story(name: &str, played: &Played) -> Value {
    let sender = played.history.sender;
    let word = |event: usize| sender.happening(event).word;
    let decision = |decided: &Decided| {
        json!({
            "event": word(decided.event),
            "outcome": decided.outcome,
            "reason": decided.reason,
        })
    };
    json!({
        "story": name,
        "order": played.history.order.map(word),
        "decisions": played.decisions.iter().map(decision).collect::<Vec<_>>(),
        "final": played.ends,
        "source": sender.happening(LAST).state,
        "reads": played.reads,
        "wrong": played.wrong.is_some(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        let shown = [0, 12, 999, 1_000, 1_234_567].map(grouped);
        assert_eq!(shown, ["0", "12", "999", "1,000", "1,234,567"]);
    }
}

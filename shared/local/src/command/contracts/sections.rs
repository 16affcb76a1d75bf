//! A contract in sections for a person to read: what is asked first comes first, and nothing is left out.

use serde_json::{Map, Value};

use super::{
    rows::{HEAD, KNOWN_FROM, Otherwise, Row, SECTIONS},
    words,
};
use crate::command::show::{self, HEADING, QUIET};

/// How wide a line gets.
const WIDTH: usize = 100;
/// How wide the names before the values are.
const NAMES: usize = 18;

/// A heading and what stands under it.
pub(super) struct Section {
    heading: String,
    rows: Vec<(String, Vec<String>)>,
}

/// A contract's sections.
pub(super) fn all(contract: &Value) -> Vec<Section> {
    let Some(members) = contract.as_object() else {
        return Vec::new();
    };
    let mut head = members.clone();
    let mut sections = Vec::new();
    for (member, heading, named, rows) in SECTIONS {
        match head.remove(*member) {
            Some(Value::Array(tables)) => {
                for table in tables {
                    let name = table.get(*named).and_then(Value::as_str);
                    sections.extend(section(
                        &format!("{heading}: {}", name.unwrap_or("?")),
                        &table,
                        named,
                        rows,
                    ));
                }
            }
            Some(Value::Object(tables)) if *member == "resources" => {
                for (name, table) in &tables {
                    sections.extend(section(&format!("{heading}: {name}"), table, named, rows));
                }
            }
            Some(table) => sections.extend(section(heading, &table, named, rows)),
            None => {}
        }
    }
    head.remove("title");
    let head = Section {
        heading: String::new(),
        rows: rows(&head, "", HEAD),
    };
    std::iter::once(head).chain(sections).collect()
}

fn section(heading: &str, table: &Value, named: &str, known: &[Row]) -> Option<Section> {
    Some(Section {
        heading: heading.to_owned(),
        rows: rows(table.as_object()?, named, known),
    })
}

/// The known members in their order, then any that nobody thought of here, then where it is all known from.
fn rows(table: &Map<String, Value>, named: &str, known: &[Row]) -> Vec<(String, Vec<String>)> {
    let signs = table.contains_key("signed");
    let words = |row: &Row| {
        let said = match (table.get(row.member), row.otherwise) {
            (Some(value), _) => (row.words)(value),
            (None, Otherwise::Always(words)) => vec![words.to_owned()],
            (None, Otherwise::Signed(words)) if signs => vec![words.to_owned()],
            (None, Otherwise::Signed(_) | Otherwise::Nothing) => return None,
        };
        Some((row.name.to_owned(), said))
    };
    let is_known = |member: &str| {
        let mut all = known.iter().chain(KNOWN_FROM);
        member == named || all.any(|row| row.member == member)
    };
    let rest = table.iter().filter(|(member, _)| !is_known(member));
    let rest = rest.map(|(member, value)| (member.replace('_', " "), words::plain(value)));
    let first = known.iter().filter_map(words);
    first
        .chain(rest)
        .chain(KNOWN_FROM.iter().filter_map(words))
        .collect()
}

impl Section {
    pub(super) fn as_text(&self) -> String {
        let mut text = String::new();
        if !self.heading.is_empty() {
            text.push_str(&format!(
                "\n{}\n",
                show::painted(&show::harmless(&self.heading), HEADING)
            ));
        }
        for (name, paragraphs) in &self.rows {
            let lines = paragraphs.iter().flat_map(|paragraph| {
                words::wrapped(&show::harmless(paragraph), WIDTH - NAMES - 4)
            });
            for (at, line) in lines.enumerate() {
                let name = if at == 0 { name.as_str() } else { "" };
                let padding = " ".repeat(NAMES.saturating_sub(name.chars().count()));
                text.push_str(&format!(
                    "  {}{padding}  {line}\n",
                    show::painted(name, QUIET)
                ));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests;

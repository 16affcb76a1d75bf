//! What people see: aligned tables, and colour where they look at a terminal; knows nothing of what it
//! shows.

use std::io::Write as _;

use anstyle::{AnsiColor, Style};

pub(super) const PLAIN: Style = Style::new();
pub(super) const HEADING: Style = Style::new().bold();
pub(super) const QUIET: Style = Style::new().dimmed();
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();

/// Between two columns.
const GAP: &str = "  ";

/// Prints to standard output; colour is left out where it is no terminal.
pub(super) fn say(text: &str) {
    // Whoever reads may have stopped reading, as `head` does; then there is nobody to tell.
    drop(anstream::stdout().write_all(text.as_bytes()));
}

/// Prints a remark to standard error.
pub(super) fn remark(text: &str) {
    drop(writeln!(anstream::stderr(), "{text}"));
}

/// Prints what went wrong to standard error.
pub(super) fn trouble(text: &str) {
    remark(&format!("{} {text}", painted("error:", BAD)));
}

/// The text in a style.
pub(super) fn painted(text: &str, style: Style) -> String {
    format!("{style}{text}{style:#}")
}

/// The text without what a terminal would obey: a provider chooses its ids.
pub(super) fn harmless(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            let escaped = c.is_control().then(|| c.escape_default());
            let itself = escaped.is_none().then_some(c);
            escaped.into_iter().flatten().chain(itself)
        })
        .collect()
}

/// One place of a table; may have several lines.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    lines: Vec<String>,
    style: Style,
}

impl Cell {
    /// Of one line.
    pub(super) fn new(text: impl AsRef<str>) -> Self {
        Self::lines([text])
    }

    /// Of several lines.
    pub(super) fn lines(lines: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        Self {
            lines: lines.into_iter().map(|l| harmless(l.as_ref())).collect(),
            style: PLAIN,
        }
    }

    /// In a style.
    pub(super) fn styled(self, style: Style) -> Self {
        Self { style, ..self }
    }

    fn line(&self, at: usize) -> &str {
        self.lines.get(at).map_or("", String::as_str)
    }
}

/// An aligned table.
pub(super) fn table(heads: &[&str], rows: Vec<Vec<Cell>>) -> String {
    let heads = heads
        .iter()
        .map(|head| Cell::new(head).styled(HEADING))
        .collect();
    let rows: Vec<Vec<Cell>> = std::iter::once(heads).chain(rows).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let widest = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .flat_map(|cell| cell.lines.iter().map(|line| line.chars().count()))
            .max()
            .unwrap_or_default()
    };
    let widths: Vec<usize> = (0..columns).map(widest).collect();
    rows.iter().map(|row| written(row, &widths)).collect()
}

fn written(row: &[Cell], widths: &[usize]) -> String {
    let height = row.iter().map(|cell| cell.lines.len()).max().unwrap_or(1);
    let mut text = String::new();
    for at in 0..height {
        let last = row.iter().rposition(|cell| !cell.line(at).is_empty());
        let shown = row.iter().zip(widths).enumerate();
        for (column, (cell, width)) in shown.take_while(|(c, _)| Some(*c) <= last) {
            let line = cell.line(at);
            text.push_str(&painted(line, cell.style));
            if Some(column) < last {
                let padding = width.saturating_sub(line.chars().count());
                text.push_str(&" ".repeat(padding));
                text.push_str(GAP);
            }
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_line_and_nothing_trails() {
        let rows = vec![
            vec![
                Cell::new("a"),
                Cell::lines(["one", "three"]),
                Cell::new("x"),
            ],
            vec![Cell::new("long"), Cell::new("")],
        ];
        let text = anstream::adapter::strip_str(&table(&["H", "I", "J"], rows)).to_string();
        assert_eq!(text, "H     I      J\na     one    x\n      three\nlong\n");
    }

    #[test]
    fn what_a_terminal_would_obey_is_shown_and_not_obeyed() {
        assert_eq!(harmless("sub\u{1b}[2J é"), "sub\\u{1b}[2J é");
    }
}

//! Which event types a resource is told by: `invoice.*`, and `!invoice.upcoming` for what is not meant.

use serde::Deserialize;

/// Patterns over event types. The last `*` of a pattern stands for any ending; `!` takes out again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(from = "Vec<String>")]
pub struct Patterns {
    wanted: Vec<Pattern>,
    unwanted: Vec<Pattern>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    start: Box<str>,
    open: bool,
}

impl Pattern {
    fn parse(text: &str) -> Self {
        match text.strip_suffix('*') {
            Some(start) => Self {
                start: start.into(),
                open: true,
            },
            None => Self {
                start: text.into(),
                open: false,
            },
        }
    }

    fn matches(&self, event_type: &str) -> bool {
        if self.open {
            event_type.starts_with(&*self.start)
        } else {
            event_type == &*self.start
        }
    }
}

impl Patterns {
    /// Whether this event type is meant.
    #[must_use]
    pub fn matches(&self, event_type: &str) -> bool {
        let any = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(event_type));
        any(&self.wanted) && !any(&self.unwanted)
    }

    /// Whether nothing can ever match.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }
}

impl From<Vec<String>> for Patterns {
    fn from(texts: Vec<String>) -> Self {
        let mut patterns = Self::default();
        for text in &texts {
            match text.strip_prefix('!') {
                Some(text) => patterns.unwanted.push(Pattern::parse(text)),
                None => patterns.wanted.push(Pattern::parse(text)),
            }
        }
        patterns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_takes_any_ending_and_an_exclamation_mark_takes_out_again() {
        let patterns = Patterns::from(vec![
            "invoice.*".to_owned(),
            "!invoice.upcoming".to_owned(),
            "ping".to_owned(),
        ]);
        assert!(patterns.matches("invoice.paid"));
        assert!(patterns.matches("ping"));
        for other in ["invoice.upcoming", "invoice", "pings", "invoices.paid", ""] {
            assert!(!patterns.matches(other), "{other}");
        }
    }
}

//! Which event types a resource is told by: `invoice.*`, and `!invoice.upcoming` for what is not meant.

use serde::Deserialize;

/// Patterns over event types. A `*` at a pattern's end stands for any ending; `!` takes out again. A `*`
/// anywhere else is refused: read as a plain character it would match nothing, and nobody would notice.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(try_from = "Vec<String>")]
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
    fn parse(text: &str) -> Result<Self, String> {
        let (start, open) = match text.strip_suffix('*') {
            Some(start) => (start, true),
            None => (text, false),
        };
        if start.contains('*') {
            return Err(format!(
                "found {text:?}; a '*' may stand only at a pattern's end, where it means any ending"
            ));
        }
        Ok(Self {
            start: start.into(),
            open,
        })
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

impl TryFrom<Vec<String>> for Patterns {
    type Error = String;

    fn try_from(texts: Vec<String>) -> Result<Self, String> {
        let mut patterns = Self::default();
        for text in &texts {
            match text.strip_prefix('!') {
                Some(text) => patterns.unwanted.push(Pattern::parse(text)?),
                None => patterns.wanted.push(Pattern::parse(text)?),
            }
        }
        Ok(patterns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_takes_any_ending_and_an_exclamation_mark_takes_out_again() {
        let patterns = Patterns::try_from(vec![
            "invoice.*".to_owned(),
            "!invoice.upcoming".to_owned(),
            "ping".to_owned(),
        ])
        .unwrap();
        assert!(patterns.matches("invoice.paid"));
        assert!(patterns.matches("ping"));
        for other in ["invoice.upcoming", "invoice", "pings", "invoices.paid", ""] {
            assert!(!patterns.matches(other), "{other}");
        }
    }

    #[test]
    fn a_star_anywhere_but_at_the_end_is_refused() {
        for text in ["order.*.deleted", "*.deleted", "order.**", "!*x"] {
            let told = Patterns::try_from(vec![text.to_owned()]).unwrap_err();
            assert!(told.contains("only at a pattern's end"), "{told}");
        }
        assert!(Patterns::try_from(vec!["*".to_owned()]).is_ok());
    }
}

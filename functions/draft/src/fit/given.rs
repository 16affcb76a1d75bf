//! What a model was given, as its text may repeat it. May not know a text.

use std::collections::BTreeSet;

use super::decimal::Decimal;
use super::figures::tokens;
use super::words;
use crate::data::Value;

/// Numbers, identifiers, signs and words that were given.
#[derive(Debug, Clone, Default)]
pub struct Given {
    exact: BTreeSet<String>,
    values: BTreeSet<Decimal>,
    signs: BTreeSet<char>,
    words: BTreeSet<String>,
}

impl Given {
    /// Everything in these values.
    #[must_use]
    pub fn of<'v>(values: impl IntoIterator<Item = &'v Value>) -> Self {
        let mut given = Self::default();
        for leaf in values.into_iter().flat_map(Value::leaves) {
            match leaf {
                Value::Number(text) => {
                    given.exact.insert(text.clone());
                    given.values.extend(Decimal::of_json(text));
                }
                Value::Text(text) => given.text(text),
                // Neither is made of others, as leaves are; yes and no give nothing to repeat.
                Value::Null | Value::Bool(_) | Value::List(_) | Value::Object(_) => {}
            }
        }
        given
    }

    fn text(&mut self, text: &str) {
        let text = text.trim();
        self.exact.insert(text.to_owned());
        let cores = tokens(text).map(|token| token.core.to_owned());
        self.exact.extend(cores);
        self.values.extend(Decimal::of_text(text));
        self.signs.extend(text.chars().filter(|c| is_sign(*c)));
        self.words.extend(words(text).map(str::to_lowercase));
    }

    /// Whether exactly this was given, as a whole or between the spaces of a text.
    pub(super) fn has(&self, core: &str) -> bool {
        !core.is_empty() && self.exact.contains(core)
    }

    pub(super) fn has_value(&self, value: &Decimal) -> bool {
        self.values.contains(value)
    }

    /// Whether a sign or a word for a currency or for percent was given: itself, or another for the same.
    pub(super) fn has_unit(&self, unit: &str) -> bool {
        let same: &[&str] = match unit {
            "%" | "percent" | "prozent" => &["%", "percent", "prozent"],
            "€" | "eur" | "euro" | "euros" => &["€", "eur", "euro", "euros"],
            "$" => &["$", "usd"],
            "dollar" | "dollars" => &["$", "usd", "dollar", "dollars"],
            "£" | "gbp" => &["£", "gbp"],
            "pound" | "pounds" | "pfund" => &["£", "gbp", "pound", "pounds", "pfund"],
            "¥" => &["¥", "jpy", "cny"],
            "yen" => &["jpy", "yen"],
            "franc" | "francs" | "franken" => &["chf", "franc", "francs", "franken"],
            _ => &[],
        };
        let one = |unit: &str| {
            self.words.contains(unit) || unit.chars().any(|sign| self.signs.contains(&sign))
        };
        one(unit) || same.iter().any(|unit| one(unit))
    }
}

/// A sign that changes what the number beside it says.
pub(super) fn is_sign(c: char) -> bool {
    matches!(c, '%' | '‰' | '$' | '¢' | '£' | '¥' | '\u{20a0}'..='\u{20cf}')
}

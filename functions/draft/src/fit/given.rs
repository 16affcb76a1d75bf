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
    /// What stands side by side in one text.
    pairs: BTreeSet<(String, String)>,
    /// Numbers that were given in percent.
    percents: BTreeSet<Decimal>,
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
        let cores: Vec<_> = tokens(text).map(|token| token.core).collect();
        self.exact
            .extend(cores.iter().map(|core| (*core).to_owned()));
        for (one, next) in cores.iter().zip(cores.iter().skip(1)) {
            self.pairs.insert(((*one).to_owned(), (*next).to_owned()));
            if is_percent(next) {
                self.percents.extend(Decimal::of_text(one));
            }
        }
        let in_percent = cores.iter().filter_map(|core| core.strip_suffix('%'));
        self.percents
            .extend(in_percent.filter_map(Decimal::of_text));
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

    pub(super) fn has_percent(&self, value: &Decimal) -> bool {
        self.percents.contains(value)
    }

    /// Whether one was given right before the other.
    pub(super) fn has_pair(&self, one: &str, next: &str) -> bool {
        self.pairs.contains(&(one.to_owned(), next.to_owned()))
    }

    /// Whether a sign or a word for a currency was given: itself, or another for the same.
    pub(super) fn has_unit(&self, unit: &str) -> bool {
        let same: &[&str] = match unit {
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

/// A sign or a word that makes a share of the number before it.
pub(super) fn is_percent(core: &str) -> bool {
    core == "%" || ["percent", "prozent"].contains(&core.to_lowercase().as_str())
}

/// A sign that changes what the number beside it says.
pub(super) fn is_sign(c: char) -> bool {
    matches!(
        c,
        '%' | '‰' | '$' | '¢' | '£' | '¥' | '\u{20a0}'..='\u{20cf}'
    )
}

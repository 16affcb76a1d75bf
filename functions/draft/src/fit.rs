//! Whether a model's text may be shown to a person as it is. Plain functions over the text and what was given.
//!
//! In every doubt it does not fit: the approved text is always there, and a wrong number in a message costs more than a
//! plain one. So this is a list of what is allowed, not a filter of what is known to be bad:
//!
//! * **characters**: letters of a few scripts, ASCII, and common punctuation; nothing invisible, nothing that looks
//!   like something else (`characters`),
//! * **numbers and identifiers**: only those that were given, in the same form or, for numbers, with the same value
//!   (`given`, `figures`, `decimal`),
//! * **number words**: English and German ones count as numbers (`counting`). A text in another language can still
//!   spell a number that nobody sees here: ask for such texts only with that in mind,
//! * **no markup, no addresses, nothing that speaks to a model** (`shape`).
//!
//! May not look at anything but its arguments, and never changes a text so that it fits.

mod characters;
mod counting;
mod decimal;
mod figures;
mod given;
mod shape;

use std::collections::BTreeSet;

use lastword_store::NotTaken;

use crate::data::Value;
pub use given::Given;

/// Whether a text fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Fit {
    /// It may wait for a person.
    Fits,
    /// It may not be used.
    Unfit(Why),
}

/// What is wrong with a text: the first that is found, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It says nothing.
    Empty,
    /// It has more characters than are allowed.
    TooLong,
    /// It holds characters that plain text does not need.
    StrangeCharacters,
    /// It holds markup.
    Markup,
    /// It holds an address that was not given.
    Address,
    /// It speaks to or as a model.
    Instruction,
    /// It holds a word that no text may hold.
    ForbiddenWord,
    /// A number or an identifier in it was not given.
    NotGiven,
    /// A value that must be mentioned is not.
    NotMentioned,
}

/// What a text must keep to.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'t> {
    /// What the model was given.
    pub given: &'t Given,
    /// The most characters.
    pub most_characters: usize,
    /// The values that must be mentioned; one that is missing is `None`.
    pub must_mention: &'t [Option<&'t Value>],
    /// Words that it must not hold, in lower case.
    pub never_says: &'t BTreeSet<String>,
}

/// Judges a text.
pub fn judge(text: &str, terms: &Terms<'_>) -> Fit {
    match fault(text, terms) {
        None => Fit::Fits,
        Some(why) => Fit::Unfit(why),
    }
}

fn fault(text: &str, terms: &Terms<'_>) -> Option<Why> {
    if text.trim().is_empty() {
        return Some(Why::Empty);
    }
    if text.chars().count() > terms.most_characters {
        return Some(Why::TooLong);
    }
    if !characters::are_plain(text) {
        return Some(Why::StrangeCharacters);
    }
    if shape::has_markup(text) {
        return Some(Why::Markup);
    }
    if shape::addresses(text).any(|address| !terms.given.has(address)) {
        return Some(Why::Address);
    }
    if shape::speaks_to_a_model(text) {
        return Some(Why::Instruction);
    }
    if words(text).any(|word| terms.never_says.contains(&word.to_lowercase())) {
        return Some(Why::ForbiddenWord);
    }
    if !figures::are_given(text, terms.given) {
        return Some(Why::NotGiven);
    }
    let mentioned =
        |value: &Option<&Value>| value.is_some_and(|value| figures::mentions(text, value));
    if !terms.must_mention.iter().all(mentioned) {
        return Some(Why::NotMentioned);
    }
    None
}

/// The words of a text: letters that stand together.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphabetic())
        .filter(|word| !word.is_empty())
}

impl From<Why> for NotTaken {
    fn from(why: Why) -> Self {
        match why {
            Why::Empty => Self::Empty,
            Why::TooLong => Self::TooLong,
            Why::StrangeCharacters => Self::StrangeCharacters,
            Why::Markup => Self::Markup,
            Why::Address => Self::Address,
            Why::Instruction => Self::Instruction,
            Why::ForbiddenWord => Self::ForbiddenWord,
            Why::NotGiven => Self::NotGiven,
            Why::NotMentioned => Self::NotMentioned,
        }
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

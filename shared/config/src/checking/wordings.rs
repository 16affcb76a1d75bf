//! Wordings: approved texts, and what a model's text must keep to. The templates themselves are compiled elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use lastword_domain::name::WordingName;
use toml::Spanned;

use super::Checker;
use crate::effect::Effects;
use crate::raw::RawWording;
use crate::wording::{Wording, Wordings};

/// Characters that a model's text may have at most.
const MOST: RangeInclusive<i64> = 20..=4000;
const DEFAULT_MOST: i64 = 600;

type Raw = BTreeMap<Spanned<String>, Spanned<RawWording>>;

impl Checker<'_> {
    /// What is wrong with each of them by itself.
    pub(super) fn wordings(&mut self, raw: &Raw) -> Wordings {
        let mut wordings = Wordings::new();
        for (name, raw) in raw {
            let setting = format!("wordings.{}", name.get_ref());
            let parsed = self.name(name, &setting, WordingName::parse);
            let wording = self.wording(&setting, raw);
            wordings.extend(parsed.zip(wording));
        }
        wordings
    }

    fn wording(&mut self, setting: &str, raw: &Spanned<RawWording>) -> Option<Wording> {
        let at = raw.span().start;
        let raw = raw.get_ref();
        let most = format!("{setting}.most_characters");
        let most = self.number(
            &raw.most_characters,
            &most,
            MOST,
            DEFAULT_MOST,
            " characters",
        );
        let never_says = self.words(setting, &raw.never_says);
        let fields = raw.fields.as_deref().map(names);
        if let Some(fields) = &fields {
            self.hidden(setting, &raw.must_mention, fields);
        }
        let Some(template) = &raw.template else {
            let message =
                "it has no `template`; expected the approved text, which is used without a model";
            self.report(at, setting, message);
            return None;
        };
        let place = format!("{setting}.template");
        if template.get_ref().trim().is_empty() {
            self.report(
                template.span().start,
                &place,
                "is empty; expected the approved text",
            );
        }
        Some(Wording {
            template: self.rule_text(&place, template),
            brief: raw.brief.clone(),
            most_characters: usize::try_from(most).ok()?,
            must_mention: names(&raw.must_mention),
            never_says,
            fields,
        })
    }

    /// One word each: what is no word would never be found.
    fn words(&mut self, setting: &str, words: &[Spanned<String>]) -> BTreeSet<String> {
        for word in words {
            let text = word.get_ref();
            if text.is_empty() || !text.chars().all(char::is_alphabetic) {
                let message = format!("found {text:?}; expected one word, of letters only");
                self.report(word.span().start, &format!("{setting}.never_says"), message);
            }
        }
        let lower = |word: &Spanned<String>| word.get_ref().to_lowercase();
        words.iter().map(lower).collect()
    }

    /// Nobody can mention what he does not see.
    fn hidden(&mut self, setting: &str, named: &[Spanned<String>], fields: &BTreeSet<String>) {
        for name in named.iter().filter(|name| !fields.contains(name.get_ref())) {
            let message = format!("found {:?}, which is not among `fields`", name.get_ref());
            self.report(
                name.span().start,
                &format!("{setting}.must_mention"),
                message,
            );
        }
    }

    /// Whether what they name is told by every effect that uses them.
    pub(super) fn worded(&mut self, raw: &Raw, effects: &Effects) {
        for (name, wording) in raw {
            let wording = wording.get_ref();
            let used = effects.iter().filter(|(_, effect)| {
                let own = effect.wording.as_ref();
                own.is_some_and(|own| own.as_str() == name.get_ref())
            });
            for (effect, told) in used {
                for (list, members) in [
                    ("must_mention", Some(&wording.must_mention)),
                    ("fields", wording.fields.as_ref()),
                ] {
                    let unknown = members.into_iter().flatten();
                    for member in unknown.filter(|one| !told.data.contains_key(one.get_ref())) {
                        let message = format!(
                            "found {:?}, which effects.{effect} has no data of",
                            member.get_ref()
                        );
                        let setting = format!("wordings.{}.{list}", name.get_ref());
                        self.report(member.span().start, &setting, message);
                    }
                }
            }
        }
    }
}

fn names(named: &[Spanned<String>]) -> BTreeSet<String> {
    named.iter().map(|name| name.get_ref().clone()).collect()
}

#[cfg(test)]
mod tests;

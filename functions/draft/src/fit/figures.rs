//! Numbers and identifiers in a text, and whether each was given.

use super::counting;
use super::decimal::Decimal;
use super::given::{Given, is_percent, is_sign};
use crate::data::Value;

/// What may stand around a word, or a number, without being a part of it. No dash, dot or comma before a number is
/// among them: each would make another number of it.
const AROUND: &str = "()[]{}\"'„“”‘’«»‹›¡¿:;!?…•「」、";
const BEFORE: char = '#';
const AFTER: [char; 3] = ['.', ',', '。'];

/// Words for currencies: they make another statement of the number beside them.
const UNITS: &[&str] = &[
    "eur", "euro", "euros", "dollar", "dollars", "pound", "pounds", "pfund", "yen", "franc",
    "francs", "franken", "cent", "cents", "pence", "usd", "gbp", "chf", "jpy", "cny", "cad", "aud",
    "nzd", "sek", "nok", "dkk", "pln", "czk", "huf", "inr", "brl", "mxn", "sgd", "hkd", "try",
];

/// Numbers in Chinese and Japanese; the character for one is an ordinary word too, and in doubt it is a number.
const EASTERN: &str = "一二三四五六七八九十百千万萬億亿兆零两兩半倍";

/// What stands between spaces.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'t> {
    /// With everything around it.
    raw: &'t str,
    /// Without it.
    pub(super) core: &'t str,
    begins_line: bool,
}

/// All tokens of a text.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    text.split('\n').flat_map(|line| {
        let pieces = pieces(line).into_iter().enumerate();
        pieces.map(|(at, raw)| Token {
            raw,
            core: core(raw),
            begins_line: at == 0,
        })
    })
}

/// A space that does not break is within a number where digits are on both of its sides.
fn pieces(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut from = 0;
    for (at, c) in line.char_indices() {
        let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        let after = line
            .get(at + c.len_utf8()..)
            .and_then(|after| after.chars().next());
        let within = c != ' ' && digit(before) && digit(after);
        if c.is_whitespace() && !within {
            pieces.extend(line.get(from..at));
            from = at + c.len_utf8();
        }
    }
    pieces.extend(line.get(from..));
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

fn core(raw: &str) -> &str {
    let around = |c: char| AROUND.contains(c);
    raw.trim_start_matches(|c: char| around(c) || c == BEFORE)
        .trim_end_matches(|c: char| around(c) || AFTER.contains(&c))
}

/// Whether every number and identifier of a text was given.
pub(super) fn are_given(text: &str, given: &Given) -> bool {
    let mut before: Option<Token<'_>> = None;
    for token in tokens(text) {
        let share = before.filter(|_| is_percent(token.core));
        let known = match share.and_then(|before| Decimal::written(before.core)) {
            Some(value) => given.has_percent(&value),
            None => is_given(token.core, given),
        };
        let figure = is_figure(token.core);
        if !known || (figure && before.is_some_and(|before| runs_on(before, token, given))) {
            return false;
        }
        before = figure.then_some(token);
    }
    true
}

/// Two numbers with nothing between them are read as one (`5 000`, `7 million`), and were perhaps given so.
fn runs_on(before: Token<'_>, next: Token<'_>, given: &Given) -> bool {
    let touch =
        !next.begins_line && before.raw.ends_with(before.core) && next.raw.starts_with(next.core);
    touch && !given.has_pair(before.core, next.core)
}

/// Whether it is a number, in digits or in words, or a part of one.
fn is_figure(core: &str) -> bool {
    let digits = core.bytes().any(|byte| byte.is_ascii_digit());
    (digits && !core.contains(char::is_alphabetic)) || counting::counts(core)
}

fn is_given(core: &str, given: &Given) -> bool {
    if given.has(core) && !is_percent(core) {
        return true;
    }
    if let Some(number) = core.strip_suffix('%') {
        return Decimal::written(number.trim_end()).is_some_and(|value| given.has_percent(&value));
    }
    let mut signs = core.chars().filter(|c| is_sign(*c));
    if is_percent(core) || !signs.all(|sign| given.has_unit(sign.encode_utf8(&mut [0; 4]))) {
        return false;
    }
    if core.bytes().any(|byte| byte.is_ascii_digit()) {
        let bare = bare(core);
        return given.has(bare)
            || Decimal::written(bare).is_some_and(|value| given.has_value(&value));
    }
    if core.contains('_') || core.contains(|c: char| EASTERN.contains(c)) {
        return false;
    }
    let counted = counting::values(core).into_iter();
    let mut counted = counted.map(|value| value.is_some_and(|value| given.has_value(&value)));
    counted.all(|given| given) && super::words(core).all(|word| is_given_word(word, given))
}

fn is_given_word(word: &str, given: &Given) -> bool {
    if given.has(word) {
        return true;
    }
    let capitals = word.chars().count() >= 4 && word.chars().all(char::is_uppercase);
    let lower = word.to_lowercase();
    !capitals && (!UNITS.contains(&lower.as_str()) || given.has_unit(&lower))
}

/// Without the signs beside it.
fn bare(core: &str) -> &str {
    core.trim_matches(|c: char| is_sign(c) || c.is_whitespace())
}

/// Whether a value stands in a text, whole. What is made of others stands there when all of them do.
pub(super) fn mentions(text: &str, value: &Value) -> bool {
    value.leaves().into_iter().all(|leaf| match leaf {
        Value::Text(told) => stands(text, told.trim()),
        Value::Number(told) => {
            let value = Decimal::of_json(told);
            let mut cores = tokens(text).map(|token| bare(token.core));
            cores.any(|core| core == told || (value.is_some() && Decimal::written(core) == value))
        }
        // There is no one way to say nothing, yes or no.
        Value::Null | Value::Bool(_) | Value::List(_) | Value::Object(_) => false,
    })
}

fn stands(text: &str, told: &str) -> bool {
    if told.is_empty() {
        return false;
    }
    text.match_indices(told).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text
            .get(at + told.len()..)
            .and_then(|after| after.chars().next());
        !before.into_iter().chain(after).any(char::is_alphanumeric)
    })
}

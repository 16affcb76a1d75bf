//! What a plain message has not: markup, addresses, and words to a model. May not know what was given.

/// What opens markup of HTML, Markdown and templates, wherever it stands.
const MARKUP: &[&str] = &["<", ">", "`", "{{", "}}", "{%", "](", "**", "__", "~~"];

/// Beginnings of addresses that have no dots or slashes.
const SCHEMES: &[&str] = &[
    "http",
    "https",
    "ftp",
    "mailto",
    "tel",
    "sms",
    "javascript",
    "data",
];

/// Who speaks in a conversation with a model, before a colon.
const ROLES: &[&str] = &[
    "system",
    "assistant",
    "user",
    "human",
    "developer",
    "tool",
    "model",
];

/// What is said to a model or by one, in lower case with single spaces; English and German.
const SAYINGS: &[&str] = &[
    "ignore previous",
    "ignore all",
    "ignore any",
    "ignore the",
    "ignore your",
    "ignore prior",
    "ignore above",
    "disregard",
    "forget all",
    "forget previous",
    "forget your",
    "instructions",
    "as an ai",
    "as a language model",
    "language model",
    "as an assistant",
    "system prompt",
    "you are now",
    "ignoriere",
    "anweisungen",
    "als ki",
    "sprachmodell",
];

pub(super) fn has_markup(text: &str) -> bool {
    let heading = |line: &str| line.trim_start().starts_with('#');
    MARKUP.iter().any(|mark| text.contains(mark)) || text.lines().any(heading) || has_entity(text)
}

/// `&lt;`, `&#60;`: what becomes something else where it is shown.
fn has_entity(text: &str) -> bool {
    text.split('&').skip(1).any(|after| {
        let name = after.split(|c: char| !c.is_ascii_alphanumeric() && c != '#');
        let name = name.take(1).collect::<String>();
        !name.is_empty()
            && after
                .get(name.len()..)
                .is_some_and(|rest| rest.starts_with(';'))
    })
}

/// What is an address, or may be taken for one by what shows it.
pub(super) fn addresses(text: &str) -> impl Iterator<Item = &str> {
    super::figures::tokens(text)
        .map(|token| token.core)
        .filter(|core| is_address(core))
}

fn is_address(core: &str) -> bool {
    let lower = core.to_lowercase();
    let scheme = |scheme: &&str| {
        lower
            .strip_prefix(*scheme)
            .is_some_and(|rest| rest.starts_with(':'))
    };
    lower.contains('@')
        || lower.contains("://")
        || lower.contains("www.")
        || SCHEMES.iter().any(scheme)
        || lower
            .split(|c: char| !(c.is_alphanumeric() || ".。-_".contains(c)))
            .any(is_dotted)
}

/// `example.com`, but not `e.g` or `z.B`: no last part of a name has one letter.
fn is_dotted(name: &str) -> bool {
    let mut parts = name.split(['.', '。']).filter(|part| !part.is_empty());
    let last = parts.next_back().unwrap_or_default();
    let letters = last.chars().filter(|c| c.is_alphabetic()).count();
    parts.next().is_some() && letters >= 2
}

pub(super) fn speaks_to_a_model(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let joined = format!(" {} ", words.join(" "));
    let said = |saying: &&str| joined.contains(&format!(" {saying} "));
    // `system:` and `<|system|>` are both a word before a sign; only the colon is left, after markup.
    let role = |part: &str| {
        let part = part.trim_end();
        ROLES.iter().any(|role| {
            part.strip_suffix(role)
                .is_some_and(|before| !before.ends_with(char::is_alphanumeric))
        })
    };
    let mut parts = lower.split(':').collect::<Vec<_>>();
    parts.pop();
    SAYINGS.iter().any(said) || parts.into_iter().any(role)
}

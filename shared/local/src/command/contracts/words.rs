//! What stands in a contract, in words for a person. A member that has no words of its own is shown as it is.

pub(super) mod scheme;

use lastword_contracts::source::Source;
use serde_json::Value;

/// A value in words, one paragraph each.
pub(super) type Words = fn(&Value) -> Vec<String>;

/// A text, a number, a flag; of a list each; of an object each with its name.
pub(super) fn plain(value: &Value) -> Vec<String> {
    match value {
        Value::Object(members) => {
            let named = |(name, value): (&String, &Value)| format!("{name}: {}", in_line(value));
            members.iter().map(named).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            vec![in_line(value)]
        }
    }
}

fn in_line(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(all) => all.iter().map(in_line).collect::<Vec<_>>().join(", "),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Object(_) => plain(value).join("; "),
    }
}

/// One text or a list of them.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            value.as_str().into_iter().collect()
        }
    }
}

fn place_of(text: &str) -> String {
    Source::parse(text).map_or_else(|_| text.to_owned(), |place| place.to_string())
}

fn joined(value: &Value, joint: &str) -> Vec<String> {
    let places: Vec<_> = texts(value).into_iter().map(place_of).collect();
    vec![places.join(joint)]
}

/// A place, or several of which the first that holds anything counts.
pub(super) fn first_place(value: &Value) -> Vec<String> {
    joined(value, ", else ")
}

/// Places whose values are joined to an id.
pub(super) fn id(value: &Value) -> Vec<String> {
    joined(value, " / ")
}

/// Places whose values are joined to an event's type.
pub(super) fn kind(value: &Value) -> Vec<String> {
    joined(value, " . ")
}

/// What is concatenated, with its escapes; several are tried in turn.
pub(super) fn templates(value: &Value) -> Vec<String> {
    let all = texts(value).into_iter().enumerate();
    all.map(|(at, text)| {
        let or = if at == 0 { "" } else { "or " };
        format!("{or}{text:?}")
    })
    .collect()
}

/// Values that a request must hold.
pub(super) fn conditions(value: &Value) -> Vec<String> {
    let all = value.as_object().into_iter().flatten();
    all.map(|(place, wanted)| {
        let place = place_of(place);
        match wanted.as_str() {
            Some("*") => format!("{place} is there"),
            Some("") => format!("{place} is not there"),
            Some(wanted) => format!("{place} is {wanted:?}"),
            None => format!("{place} is {wanted}"),
        }
    })
    .collect()
}

pub(super) fn seconds(value: &Value) -> Vec<String> {
    vec![format!("{value} seconds")]
}

pub(super) fn days(value: &Value) -> Vec<String> {
    vec![format!("{value} days")]
}

pub(super) fn signed_first(value: &Value) -> Vec<String> {
    flag(
        value,
        SIGNED_FIRST,
        "not checked: it comes before the secret is in use",
    )
}

/// Of a handshake that says nothing about it.
pub(super) const SIGNED_FIRST: &str = "checked first";

pub(super) fn only_unsigned(value: &Value) -> Vec<String> {
    flag(
        value,
        "only where there is no signature at all",
        "also where there is a signature",
    )
}

fn flag(value: &Value, yes: &str, no: &str) -> Vec<String> {
    let text = if value.as_bool().unwrap_or_default() {
        yes
    } else {
        no
    };
    vec![text.to_owned()]
}

fn one_of(value: &Value, known: &[(&str, &str)]) -> Vec<String> {
    let word = value.as_str().unwrap_or_default();
    let found = known.iter().find(|(name, _)| *name == word);
    found.map_or_else(|| plain(value), |(_, words)| vec![(*words).to_owned()])
}

/// How a handshake is answered.
pub(super) fn answer(value: &Value) -> Vec<String> {
    let status = value
        .get("status")
        .map_or(200, |it| it.as_u64().unwrap_or(200));
    let mut lines = vec![format!("status {status}")];
    if let Some(text) = value.get("text") {
        lines.push(format!("text {}", templates(text).join(" ")));
    }
    if let Some(members) = value.get("json") {
        lines.push(format!("JSON {members}"));
    }
    let headers = value.get("headers").map(plain).unwrap_or_default();
    lines.extend(headers.iter().map(|header| format!("header {header}")));
    lines
}

/// Which of the provider's worlds an event is of.
pub(super) fn environment(value: &Value) -> Vec<String> {
    let from = value
        .get("from")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let values = value.get("values").map(in_line).unwrap_or_default();
    vec![format!("{} ({values})", place_of(from))]
}

/// What a status that says "not there" means.
pub(super) fn absent(value: &Value) -> Vec<String> {
    let all = value.as_object().into_iter().flatten();
    all.map(|(status, word)| {
        let words = one_of(
            word,
            &[
                ("deleted", "deleted"),
                (
                    "deleted-if-told",
                    "deleted, if an event said so too; else it proves nothing",
                ),
                ("proves-nothing", "it proves nothing"),
            ],
        );
        format!("{status}: {}", words.join(" "))
    })
    .collect()
}

pub(super) fn strategies(value: &Value) -> Vec<String> {
    let all = texts(value);
    if all.is_empty() {
        return vec!["no state: its events are taken in, for the facts that they tell".to_owned()];
    }
    let words = |name: &&str| match *name {
        "current" => {
            "current: it is read again, and what the provider shows then counts".to_owned()
        }
        "version" => "version: of two states the one with the higher version counts".to_owned(),
        "sequence" => {
            "sequence: its changes are numbered, and applied one after the other".to_owned()
        }
        "transition" => "transition: of two statuses the further one counts".to_owned(),
        other => other.to_owned(),
    };
    all.iter().map(words).collect()
}

/// Which statuses each leads to.
pub(super) fn statuses(value: &Value) -> Vec<String> {
    let each = value.as_object().into_iter().flatten();
    each.map(|(from, to)| format!("{from} to {}", texts(to).join(", ")))
        .collect()
}

/// The facts that its events tell.
pub(super) fn facts(value: &Value) -> Vec<String> {
    let each = value.as_object().into_iter().flatten();
    each.map(|(kind, rules)| {
        let told = |member: &str| {
            let value = rules.get(member);
            value.map(plain).unwrap_or_default().join(", ")
        };
        format!(
            "{kind}: told by {}; known by {}",
            told("events"),
            told("id")
        )
    })
    .collect()
}

/// A pointer; the empty one leads to the whole.
pub(super) fn pointer(value: &Value) -> Vec<String> {
    match value.as_str() {
        Some("") => vec!["the whole body".to_owned()],
        Some(_) | None => plain(value),
    }
}

/// How sure a claim is.
pub(super) fn certainty(value: &Value) -> Vec<String> {
    one_of(
        value,
        &[
            (
                "read",
                "read: in the provider's own code, specification or documentation",
            ),
            ("quoted", "quoted: a dated quotation of it by others"),
            (
                "believed",
                "believed: from experience, to be checked before it is relied on",
            ),
            ("unknown", "unknown: not established"),
        ],
    )
}

/// The text in lines of a width; a longer word stands alone.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let fits = |line: &&mut String| line.chars().count() + 1 + word.chars().count() <= width;
        match lines.last_mut().filter(fits) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lines_are_as_long_as_they_may_be_and_no_word_is_lost() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("a verylongword b", 4), ["a", "verylongword", "b"]);
    }

    #[test]
    fn what_has_no_words_of_its_own_is_shown_as_it_is() {
        assert_eq!(
            plain(&json!({ "a": [1, "b"], "c": true })),
            ["a: 1, b", "c: true"]
        );
        assert_eq!(scheme::key(&json!("rot13")), ["rot13"]);
        assert_eq!(scheme::algorithm(&json!("md5")), ["md5"]);
    }
}

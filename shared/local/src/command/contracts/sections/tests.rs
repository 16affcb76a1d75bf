use lastword_contracts::Contract;

use super::*;
use crate::command::contracts::text;

/// In one line, without what only arranges it.
fn flat(text: &str) -> String {
    let plain = anstream::adapter::strip_str(text).to_string();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn shown(contract: &Value) -> String {
    all(contract).iter().map(Section::as_text).collect()
}

/// Every text of a contract but for those whose words are others.
fn texts(member: &str, value: &Value, found: &mut Vec<String>) {
    const IN_OTHER_WORDS: [&str; 8] = [
        "title",
        "algorithm",
        "key",
        "prefix_is",
        "certainty",
        "strategies",
        "absent",
        "when",
    ];
    match value {
        Value::String(_) if IN_OTHER_WORDS.contains(&member) || value == "" => {}
        Value::String(text) => {
            let place = ["header:", "query:", "form:", "body:", "item:", "const:"];
            let bare = place.iter().find_map(|start| text.strip_prefix(start));
            let bare = bare.unwrap_or(text).trim_matches('*');
            if !matches!(bare, "digest" | "first") {
                found.push(
                    flat(&format!("{bare:?}"))
                        .trim_matches('"')
                        .replace("\\\"", "\""),
                );
            }
        }
        Value::Number(number) => found.push(number.to_string()),
        Value::Array(all) => all.iter().for_each(|value| texts(member, value, found)),
        Value::Object(_) if IN_OTHER_WORDS.contains(&member) => {}
        Value::Object(members) => {
            members
                .iter()
                .for_each(|(name, value)| texts(name, value, found));
        }
        Value::Null | Value::Bool(_) => {}
    }
}

#[test]
fn nothing_that_a_contract_says_is_left_out() {
    for name in Contract::names() {
        let contract = text::json(name).unwrap();
        let shown = flat(&shown(&contract));
        let mut all = Vec::new();
        texts("", &contract, &mut all);
        for text in all {
            assert!(
                shown.contains(&text),
                "{name} says {text}, which is not in {shown}"
            );
        }
    }
}

#[test]
fn no_line_is_too_wide_to_be_read_but_for_one_long_word() {
    for name in Contract::names() {
        let shown = shown(&text::json(name).unwrap());
        let plain = anstream::adapter::strip_str(&shown).to_string();
        for line in plain.lines().filter(|line| line.chars().count() > WIDTH) {
            let longest = line.split(' ').map(|word| word.chars().count()).max();
            assert!(longest > Some(40), "{name}: {line}");
        }
    }
}

#[test]
fn a_member_that_nobody_thought_of_here_is_shown_all_the_same() {
    let contract = serde_json::json!({ "order": { "some_thing": ["a", 1], "source": "s" } });
    let shown = flat(&shown(&contract));
    assert!(
        shown.ends_with("Order some thing a, 1 known from s"),
        "{shown}"
    );
}

//! `lastword sign`: what makes a POST of a file authentic; sends nothing.

pub(super) mod delivery;
mod given;

use serde_json::{Map, Value, json};

use super::{
    Found, Outcome,
    cli::Sign,
    show::{self, GOOD},
};
use delivery::{Delivery, query_of};

pub(super) fn run(asked: &Sign) -> Outcome {
    let query = asked.curl.as_deref().map(query_of).unwrap_or_default();
    let delivery = Delivery::prepare(&asked.signing, query)?;
    let told = match &asked.curl {
        Some(url) => {
            delivery.sendable()?;
            curl(&delivery, url, &asked.signing.file.display().to_string())
        }
        None if asked.signing.json => format!("{}\n", as_json(&delivery)),
        None => lines(&delivery),
    };
    show::say(&told);
    if let Some(remark) = &delivery.remark {
        show::remark(remark);
    }
    Ok(Found::Well)
}

fn lines(delivery: &Delivery) -> String {
    let line = |name: &str, value: &str| {
        let name = show::painted(&show::harmless(name), GOOD);
        format!("{name}: {}\n", show::harmless(value))
    };
    let headers = delivery.headers.iter();
    let mut text: String = headers.map(|(name, value)| line(name, value)).collect();
    if let Some((place, value)) = &delivery.in_body {
        text.push_str(&line(place, value));
    }
    text
}

fn as_json(delivery: &Delivery) -> Value {
    let headers: Map<_, _> = delivery
        .headers
        .iter()
        .map(|(name, value)| (name.clone(), json!(value)))
        .collect();
    let in_body = delivery.in_body.as_ref();
    json!({
        "scheme": delivery.scheme,
        "headers": headers,
        "in_body": in_body.map(|(place, value)| json!({ "place": place, "value": value })),
    })
}

/// A command for a shell of POSIX.
fn curl(delivery: &Delivery, url: &str, file: &str) -> String {
    let mut command = format!("curl -X POST {}", quoted(url));
    for (name, value) in &delivery.headers {
        command.push_str(" \\\n  -H ");
        command.push_str(&quoted(&format!("{name}: {value}")));
    }
    command.push_str(" \\\n  --data-binary ");
    command.push_str(&quoted(&format!("@{file}")));
    command.push('\n');
    command
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_a_quoted_text_as_it_stands() {
        assert_eq!(quoted("a b$c"), "'a b$c'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}

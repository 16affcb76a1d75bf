//! Reads a function's reply to a batch; strict, because the cloud takes every doubt as a failed batch.

use serde::Deserialize;
use serde_json::Value;

/// What a reply says of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// All records are done.
    Success,
    /// The records at these places, in ascending order and not empty, are not.
    Partial(Vec<usize>),
    /// Nothing is done, because the reply cannot be believed.
    Whole(String),
}

#[derive(Deserialize)]
struct Report {
    #[serde(rename = "batchItemFailures")]
    failures: Option<Vec<Failure>>,
}

#[derive(Deserialize)]
struct Failure {
    #[serde(rename = "itemIdentifier")]
    identifier: String,
}

/// Reads `reply` to a batch of the records `known`.
///
/// No reply, `null`, `{}`, and an absent, null or empty list mean success. Anything that is not a report,
/// a misnamed list, and an identifier that is missing, empty or not of this batch fail the whole batch.
pub(crate) fn read(reply: &str, known: &[&str]) -> Verdict {
    let text = reply.trim();
    if text.is_empty() || text == "null" {
        return Verdict::Success;
    }
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        return Verdict::Whole("the reply is not JSON".to_owned());
    };
    let Some(object) = value.as_object() else {
        return Verdict::Whole("the reply is not a report".to_owned());
    };
    if !object.is_empty() && !object.contains_key("batchItemFailures") {
        return Verdict::Whole("the reply names no batchItemFailures".to_owned());
    }
    match serde_json::from_value::<Report>(value) {
        Err(error) => Verdict::Whole(format!("the report is malformed: {error}")),
        Ok(report) => places(&report.failures.unwrap_or_default(), known),
    }
}

fn places(failures: &[Failure], known: &[&str]) -> Verdict {
    let mut places = Vec::with_capacity(failures.len());
    for failure in failures {
        let Some(place) = known.iter().position(|known| *known == failure.identifier) else {
            return Verdict::Whole(format!(
                "the report names {:?}, which is not in the batch",
                failure.identifier
            ));
        };
        places.push(place);
    }
    if places.is_empty() {
        return Verdict::Success;
    }
    places.sort_unstable();
    places.dedup();
    Verdict::Partial(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 3] = ["1", "2", "3"];

    #[test]
    fn nothing_to_report_is_success() {
        for reply in [
            "",
            " ",
            "null",
            "{}",
            r#"{"batchItemFailures":null}"#,
            r#"{"batchItemFailures":[]}"#,
        ] {
            assert_eq!(read(reply, &KNOWN), Verdict::Success, "{reply}");
        }
    }

    #[test]
    fn named_records_fail_in_the_order_of_the_batch() {
        let reply = r#"{"batchItemFailures":[{"itemIdentifier":"3"},{"itemIdentifier":"2"},{"itemIdentifier":"3"}]}"#;
        assert_eq!(read(reply, &KNOWN), Verdict::Partial(vec![1, 2]));
    }

    #[test]
    fn a_reply_that_cannot_be_believed_fails_the_whole_batch() {
        for reply in [
            "oops",
            "\"ok\"",
            "[]",
            r#"{"BatchItemFailures":[]}"#,
            r#"{"batchItemFailures":{}}"#,
            r#"{"batchItemFailures":[{"itemIdentifier":""}]}"#,
            r#"{"batchItemFailures":[{"itemIdentifier":null}]}"#,
            r#"{"batchItemFailures":[{"itemidentifier":"1"}]}"#,
            r#"{"batchItemFailures":[{"itemIdentifier":"1"},{"itemIdentifier":"9"}]}"#,
        ] {
            assert!(matches!(read(reply, &KNOWN), Verdict::Whole(_)), "{reply}");
        }
    }
}

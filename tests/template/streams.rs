//! What the streams bring to the relay, and what holds them up.

use crate::document::Template;
use crate::uphold;
use serde_json::{Value, json};

/// How long a stream keeps a record.
const A_DAY: i64 = 86_400;
/// The most alternatives that a mapping may have, unless AWS is asked for more.
const MOST_FILTERS: usize = 5;
/// The longest pattern of a filter.
const LONGEST_PATTERN: usize = 4096;

fn filters(template: &Template, mapping: &str) -> Vec<Value> {
    template
        .at("Resources")
        .at(mapping)
        .at("Properties/FilterCriteria/Filters")
        .list()
        .into_iter()
        .map(|filter| serde_json::from_str(&filter.at("Pattern").text()).unwrap_or_default())
        .collect()
}

/// Whether a record matches a pattern, in the operators that the template uses. It stops at any other.
fn matches(pattern: &Value, found: Option<&Value>) -> bool {
    match pattern {
        Value::Object(fields) => fields
            .iter()
            .all(|(name, pattern)| matches(pattern, found.and_then(|it| it.get(name)))),
        Value::Array(alternatives) => alternatives.iter().any(|it| is(it, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            panic!("{pattern} is no pattern")
        }
    }
}

fn is(alternative: &Value, found: Option<&Value>) -> bool {
    if alternative.is_string() {
        return Some(alternative) == found;
    }
    // Only what stands at the end of a path exists for a filter.
    let leaf = found.filter(|it| !it.is_object() && !it.is_array());
    match (alternative.get("prefix"), alternative.get("exists")) {
        (Some(Value::String(prefix)), None) => leaf
            .and_then(Value::as_str)
            .is_some_and(|it| it.starts_with(prefix.as_str())),
        (None, Some(Value::Bool(wanted))) => leaf.is_some() == *wanted,
        _ => panic!("{alternative} cannot be evaluated"),
    }
}

/// A record of the State table's stream, as Lambda compares it.
fn record(name: &str, sort: &str, image: Value) -> Value {
    let keys = json!({"pk": {"S": "of a hash"}, "sk": {"S": sort}});
    if name == "REMOVE" {
        return json!({"eventName": name, "dynamodb": {"Keys": keys, "OldImage": image}});
    }
    json!({"eventName": name, "dynamodb": {"Keys": keys, "NewImage": image}})
}

#[test]
fn relay_is_woken_by_news_and_by_nothing_else() {
    uphold(
        |template, complaints| {
            let quiet = || json!({"quiet": {"BOOL": true}});
            let status = |it: &str| json!({"status": {"S": it}});
            let news = [
                ("INSERT", "member#payment#h", json!({})),
                ("MODIFY", "member#payment#h", json!({})),
                ("REMOVE", "member#payment#h", json!({})),
                ("INSERT", "projection", json!({"revision": {"N": "1"}})),
                ("MODIFY", "projection", json!({})),
                ("MODIFY", "subject", json!({})),
                ("INSERT", "subject", json!({})),
                ("INSERT", "fact#paid#h#d", json!({})),
                ("INSERT", "effect#receipt", status("pending")),
                // A person, or the sweep, has made it pending again.
                ("MODIFY", "effect#receipt", status("pending")),
            ];
            let no_news = [
                ("MODIFY", "projection", quiet()),
                ("INSERT", "projection", quiet()),
                ("MODIFY", "subject", quiet()),
                ("REMOVE", "projection", json!({})),
                ("REMOVE", "subject", json!({})),
                ("INSERT", "projections", json!({})),
                ("MODIFY", "fact#paid#h#d", json!({})),
                ("REMOVE", "fact#paid#h#d", json!({})),
                ("MODIFY", "effect#receipt", status("sending")),
                ("MODIFY", "effect#receipt", status("done")),
                ("MODIFY", "effect#receipt", status("ambiguous")),
                ("INSERT", "effect#receipt", json!({})),
                ("REMOVE", "effect#receipt", status("pending")),
                ("INSERT", "decision#e", status("pending")),
                ("INSERT", "decisions#1#1", json!({})),
                ("INSERT", "review#r#e", status("open")),
                ("INSERT", "waiting#1#d", json!({})),
                ("INSERT", "draft#receipt", status("pending")),
            ];
            let filters = filters(template, "StateToRelay");
            complaints.unless((1..=MOST_FILTERS).contains(&filters.len()), || {
                format!("{} filters", filters.len())
            });
            for filter in &filters {
                complaints.unless(
                    filter.is_object() && filter.to_string().len() <= LONGEST_PATTERN,
                    || format!("{filter} is not a pattern that AWS takes"),
                );
            }
            let wakes = |record: &Value| {
                let objects = filters.iter().filter(|it| it.is_object());
                objects.into_iter().any(|it| matches(it, Some(record)))
            };
            for (name, sort, image) in news {
                let record = record(name, sort, image);
                complaints.unless(wakes(&record), || format!("not told: {record}"));
            }
            for (name, sort, image) in no_news {
                let record = record(name, sort, image);
                complaints.unless(!wakes(&record), || format!("told: {record}"));
            }
        },
        &[
            (
                "{\"prefix\":\"member#\"}",
                "{\"prefix\":\"member\"}, \"decision#e\"",
            ),
            ("{\"prefix\":\"member#\"}", "{\"prefix\":\"subject\"}"),
            ("[\"projection\",\"subject\"]", "[\"projection\"]"),
            (
                "[\"projection\",\"subject\"]",
                "[{\"prefix\":\"projection\"},\"subject\"]",
            ),
            ("{\"BOOL\":[{\"exists\":false}]}", "[{\"exists\":false}]"),
            ("\"exists\":false", "\"exists\":true"),
            ("[\"pending\"]", "[\"pending\",\"sending\"]"),
            ("{\"prefix\":\"effect#\"}", "{\"prefix\":\"\"}"),
            (
                "'{\"eventName\":[\"INSERT\"],\"dynamodb\":{\"Keys\":{\"sk\"",
                "'{\"dynamodb\":{\"Keys\":{\"sk\"",
            ),
            (
                "          - Pattern: '{\"dynamodb\"",
                "          - Pattern: '{}'\n          - Pattern: '{\"dynamodb\"",
            ),
            (
                "          - Pattern: '{\"dynamodb\"",
                "          - Pattern: 'x'\n          - Pattern: '{\"dynamodb\"",
            ),
        ],
    );
}

#[test]
fn of_the_inbox_only_what_is_new_wakes_relay() {
    uphold(
        |template, complaints| {
            complaints.unless_equal(
                "the Inbox's filters",
                filters(template, "InboxToRelay"),
                vec![json!({"eventName": ["INSERT"]})],
            );
        },
        &[(
            "{\"eventName\":[\"INSERT\"]}",
            "{\"eventName\":[\"INSERT\",\"REMOVE\"]}",
        )],
    );
}

#[test]
fn a_bad_record_cannot_hold_up_the_stream() {
    uphold(
        |template, complaints| {
            let mut streams = 0;
            for (name, mapping) in template.resources("AWS::Lambda::EventSourceMapping") {
                let mapping = mapping.at("Properties");
                if !mapping.at("EventSourceArn").text().ends_with(".StreamArn") {
                    continue;
                }
                streams += 1;
                // The Inbox's events are signalled again by the sweep; an hour is long for a retry. What the
                // State table tells is worth trying for as long as the stream knows of it.
                let (stream, age) = match name {
                    "InboxToRelay" => ("!GetAtt InboxTable.StreamArn", 600..=43_200),
                    _ => ("!GetAtt StateTable.StreamArn", A_DAY..=A_DAY),
                };
                complaints.unless_has(
                    name,
                    mapping,
                    &[
                        ("EventSourceArn", stream),
                        ("FunctionName", "!Ref Relay"),
                        ("StartingPosition", "TRIM_HORIZON"),
                        ("BisectBatchOnFunctionError", "true"),
                        (
                            "DestinationConfig/OnFailure/Destination",
                            "!GetAtt RelayFailures.Arn",
                        ),
                    ],
                );
                for (limit, range) in [
                    ("MaximumRetryAttempts", 3..=100),
                    ("MaximumRecordAgeInSeconds", age),
                    ("MaximumBatchingWindowInSeconds", 0..=1),
                    ("ParallelizationFactor", 1..=10),
                    ("BatchSize", 10..=100),
                ] {
                    let value = mapping.at(limit).number();
                    complaints.unless(value.is_some_and(|value| range.contains(&value)), || {
                        format!("{name}: {limit} is {value:?}")
                    });
                }
            }
            complaints.unless_equal("the number of stream mappings", streams, 2);
        },
        &[
            ("      BisectBatchOnFunctionError: true\n", ""),
            ("      MaximumRetryAttempts: 10\n", ""),
            ("MaximumRetryAttempts: 10", "MaximumRetryAttempts: -1"),
            (
                "MaximumRecordAgeInSeconds: 3600",
                "MaximumRecordAgeInSeconds: -1",
            ),
            ("MaximumRetryAttempts: 100", "MaximumRetryAttempts: 10000"),
            (
                "MaximumRecordAgeInSeconds: 86400",
                "MaximumRecordAgeInSeconds: 3600",
            ),
            ("StartingPosition: TRIM_HORIZON", "StartingPosition: LATEST"),
            (
                "          Destination: !GetAtt RelayFailures.Arn",
                "          Destination: !GetAtt Signals.Arn",
            ),
            (
                "MaximumBatchingWindowInSeconds: 0\n      # Order",
                "MaximumBatchingWindowInSeconds: 5\n      # Order",
            ),
        ],
    );
}

//! Who is told, and when.

use crate::document::Template;
use crate::{root, target, uphold};
use std::collections::BTreeSet;

/// Queues that hold what was set aside: targets of a redrive policy, of an on-failure destination, or of a
/// rule's dead letters.
fn set_aside(template: &Template) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for queue in template.resources("AWS::SQS::Queue").values() {
        found.insert(
            queue
                .at("Properties/RedrivePolicy/deadLetterTargetArn")
                .text(),
        );
    }
    for kind in [
        "AWS::Lambda::EventSourceMapping",
        "AWS::Lambda::EventInvokeConfig",
    ] {
        for invoker in template.resources(kind).values() {
            found.insert(
                invoker
                    .at("Properties/DestinationConfig/OnFailure/Destination")
                    .text(),
            );
        }
    }
    for rule in template.resources("AWS::Events::Rule").values() {
        for target in rule.at("Properties/Targets").list() {
            found.insert(target.at("DeadLetterConfig/Arn").text());
        }
    }
    found.remove("");
    found.iter().map(|it| target(it).to_owned()).collect()
}

#[test]
fn whatever_is_set_aside_raises_an_alarm_at_the_first_message() {
    uphold(
        |template, complaints| {
            let queues = set_aside(template);
            complaints.unless_equal(
                "the queues that hold what was set aside",
                queues.iter().map(String::as_str).collect(),
                BTreeSet::from([
                    "DraftFailures",
                    "EffectsDeadLetters",
                    "FeedFailures",
                    "RelayFailures",
                    "SignalsDeadLetters",
                ]),
            );
            for queue in queues {
                let exists = template.at("Resources").at(&queue).at("Condition").text();
                let name = format!("[{{Name: QueueName, Value: !GetAtt {queue}.QueueName}}]");
                let watched = template
                    .resources("AWS::CloudWatch::Alarm")
                    .values()
                    .any(|alarm| {
                        let together = alarm.at("Condition").is(&exists);
                        let alarm = alarm.at("Properties");
                        together
                            && alarm.at("Namespace").is("AWS/SQS")
                            && alarm
                                .at("MetricName")
                                .is("ApproximateNumberOfMessagesVisible")
                            && alarm.at("Dimensions").is(&name)
                            && alarm.at("ComparisonOperator").is("GreaterThanThreshold")
                            && alarm.at("Threshold").is("0")
                            && alarm.at("EvaluationPeriods").is("1")
                    });
                complaints.unless(watched, || format!("nobody hears of a message in {queue}"));
            }
        },
        &[
            (
                "Dimensions: [{ Name: QueueName, Value: !GetAtt SignalsDeadLetters.QueueName }]",
                "Dimensions: [{ Name: QueueName, Value: !GetAtt Signals.QueueName }]",
            ),
            (
                "Dimensions: [{ Name: QueueName, Value: !GetAtt FeedFailures.QueueName }]",
                "Dimensions: [{ Name: QueueName, Value: !GetAtt RelayFailures.QueueName }]",
            ),
            (
                "Dimensions: [{ Name: QueueName, Value: !GetAtt EffectsDeadLetters.QueueName }]",
                "Dimensions: [{ Name: QueueName, Value: !GetAtt Effects.QueueName }]",
            ),
            (
                "Dimensions: [{ Name: QueueName, Value: !GetAtt DraftFailures.QueueName }]",
                "Dimensions: [{ Name: QueueName, Value: !GetAtt FeedFailures.QueueName }]",
            ),
            (
                "AWS::CloudWatch::Alarm\n    Condition: HasFeedEventBus",
                "AWS::CloudWatch::Alarm\n    Condition: HasFeedQueue",
            ),
            (
                "DeadLetterConfig: { Arn: !GetAtt FeedFailures.Arn }",
                "DeadLetterConfig: { Arn: !GetAtt Else.Arn }",
            ),
            (
                "MaximumEventAgeInSeconds: 21600\n      DestinationConfig:\n        OnFailure:\n          Destination: !GetAtt FeedFailures.Arn",
                "MaximumEventAgeInSeconds: 21600\n      DestinationConfig:\n        OnFailure:\n          Destination: !GetAtt Else.Arn",
            ),
            (
                "      EvaluationPeriods: 1\n      Threshold: 0",
                "      EvaluationPeriods: 1\n      Threshold: 10",
            ),
            (
                "MetricName: ApproximateNumberOfMessagesVisible",
                "MetricName: NumberOfMessagesSent",
            ),
            (
                "Resources:\n",
                "Resources:\n  Another: { Type: AWS::SQS::Queue, Properties: { RedrivePolicy: { deadLetterTargetArn: !GetAtt Else.Arn } } }\n",
            ),
        ],
    );
}

#[test]
fn what_is_slow_fails_or_has_no_room_raises_an_alarm() {
    uphold(
        |template, complaints| {
            let watched: BTreeSet<String> = template
                .resources("AWS::CloudWatch::Alarm")
                .values()
                .map(|alarm| {
                    let alarm = alarm.at("Properties");
                    format!(
                        "{} {}",
                        alarm.at("MetricName").text(),
                        alarm.at("Dimensions").text()
                    )
                })
                .collect();
            let mut expected = vec![
            "IteratorAge [{Name: FunctionName, Value: !Ref Relay}]".to_owned(),
            "ApproximateAgeOfOldestMessage [{Name: QueueName, Value: !GetAtt Signals.QueueName}]".to_owned(),
            "5xx [{Name: ApiId, Value: !Ref WebhookApi}, {Name: Stage, Value: !Ref WebhookStage}]".to_owned(),
        ];
            for function in template.functions().keys() {
                for metric in ["Errors", "Throttles"] {
                    expected.push(format!(
                        "{metric} [{{Name: FunctionName, Value: !Ref {function}}}]"
                    ));
                }
            }
            for alarm in expected {
                complaints.unless(watched.contains(&alarm), || {
                    format!("nobody watches {alarm}")
                });
            }
        },
        &[
            ("MetricName: IteratorAge", "MetricName: Duration"),
            ("MetricName: 5xx", "MetricName: 4xx"),
            ("MetricName: Throttles", "MetricName: Errors"),
            (
                "MetricName: ApproximateAgeOfOldestMessage",
                "MetricName: NumberOfMessagesSent",
            ),
        ],
    );
}

#[test]
fn an_effect_that_waits_for_a_person_calls_one_and_one_that_is_not_due_does_not() {
    uphold(
        |template, complaints| {
            for (name, outcome) in [
                ("EffectsAmbiguousAlarm", "ambiguous"),
                ("EffectsFailedAlarm", "failed"),
            ] {
                complaints.unless_has(
                    name,
                    template.at("Resources").at(name).at("Properties"),
                    &[
                        ("Namespace", "Lastword"),
                        ("MetricName", "Effects"),
                        (
                            "Dimensions",
                            &format!("[{{Name: outcome, Value: {outcome}}}]"),
                        ),
                        ("Statistic", "Sum"),
                        ("EvaluationPeriods", "1"),
                        ("Threshold", "0"),
                        ("ComparisonOperator", "GreaterThanThreshold"),
                    ],
                );
            }
            // Visible is what is due; the age of a message counts the time for which it was hidden.
            complaints.unless_has(
                "EffectsBacklogAlarm",
                template.at("Resources/EffectsBacklogAlarm/Properties"),
                &[
                    ("MetricName", "ApproximateNumberOfMessagesVisible"),
                    ("Statistic", "Minimum"),
                    ("EvaluationPeriods", "15"),
                    ("DatapointsToAlarm", "15"),
                ],
            );
            for (name, alarm) in template.resources("AWS::CloudWatch::Alarm") {
                let alarm = alarm.at("Properties");
                complaints.unless(
                    !alarm.at("MetricName").is("ApproximateAgeOfOldestMessage")
                        || !alarm.at("Dimensions").text().contains("Effects"),
                    || format!("{name} takes an effect that is not due for one that is late"),
                );
            }
        },
        &[
            (
                "{ Name: outcome, Value: ambiguous }",
                "{ Name: outcome, Value: done }",
            ),
            ("Namespace: Lastword", "Namespace: Dispatch"),
            ("      Statistic: Minimum\n", "      Statistic: Maximum\n"),
            (
                "Value: !GetAtt Signals.QueueName }]",
                "Value: !GetAtt Effects.QueueName }]",
            ),
        ],
    );
}

#[test]
fn the_namespace_of_the_watched_metrics_is_the_one_that_is_written() {
    let line = root().join("shared/runtime/src/telemetry/line.rs");
    let written = std::fs::read_to_string(line).unwrap();
    assert!(written.contains("const NAMESPACE: &str = \"Lastword\";"));
}

#[test]
fn alarms_speak_to_the_topic_if_there_is_one_and_silence_is_no_alarm() {
    uphold(
        |template, complaints| {
            let topic = "!If [HasAlarmTopic, [!Ref AlarmTopicArn], !Ref AWS::NoValue]";
            for (name, alarm) in template.resources("AWS::CloudWatch::Alarm") {
                complaints.unless_has(
                    name,
                    alarm.at("Properties"),
                    &[
                        ("AlarmActions", topic),
                        ("OKActions", topic),
                        ("TreatMissingData", "notBreaching"),
                    ],
                );
                complaints.unless(alarm.at("Properties/AlarmDescription").exists(), || {
                    format!("{name} does not say what it means")
                });
            }
        },
        &[
            (
                "      AlarmActions: !If [HasAlarmTopic, [!Ref AlarmTopicArn], !Ref AWS::NoValue]\n",
                "",
            ),
            (
                "      AlarmDescription: Ingest does not start",
                "      AlarmName: Ingest does not start",
            ),
            (
                "TreatMissingData: notBreaching",
                "TreatMissingData: breaching",
            ),
        ],
    );
}

//! How signals travel.

use crate::{target, uphold};
use std::collections::BTreeSet;

/// After how many attempts reconcile parks a resource as exhausted.
const ATTEMPTS_BEFORE_EXHAUSTED: i64 = 20;
/// The longest that SQS keeps a message: 14 days.
const LONGEST_RETENTION: i64 = 1_209_600;

#[test]
fn a_queue_hides_a_message_for_at_least_six_timeouts_of_its_reader() {
    uphold(
        |template, complaints| {
            let mut readers = 0;
            for (name, mapping) in template.resources("AWS::Lambda::EventSourceMapping") {
                let source = mapping.at("Properties/EventSourceArn").text();
                let queue = template.at("Resources").at(target(&source));
                if !queue.at("Type").is("AWS::SQS::Queue") {
                    continue;
                }
                readers += 1;
                let function = mapping.at("Properties/FunctionName").text();
                let timeout = template
                    .at("Resources")
                    .at(target(&function))
                    .at("Properties/Timeout")
                    .number();
                let hidden = queue.at("Properties/VisibilityTimeout").number();
                complaints.unless(
                    timeout
                        .zip(hidden)
                        .is_some_and(|(timeout, hidden)| timeout > 0 && hidden >= 6 * timeout),
                    || {
                        format!(
                            "{name}: hidden for {hidden:?} s, read with a timeout of {timeout:?} s"
                        )
                    },
                );
            }
            complaints.unless_equal("the number of queues with a reader", readers, 2);
        },
        &[
            ("VisibilityTimeout: 180", "VisibilityTimeout: 179"),
            ("      VisibilityTimeout: 180\n", ""),
            ("VisibilityTimeout: 360", "VisibilityTimeout: 359"),
            (
                "them together.\n      Timeout: 30",
                "them together.\n      Timeout: 31",
            ),
        ],
    );
}

#[test]
fn the_dead_letter_queue_is_reached_only_after_reconcile_has_had_its_own_say() {
    uphold(
        |template, complaints| {
            let receives = template
                .at("Resources/Signals/Properties/RedrivePolicy/maxReceiveCount")
                .number()
                .unwrap_or(0);
            complaints.unless(receives >= 5, || {
                format!("{receives} receives are fewer than AWS advises")
            });
            complaints.unless(receives > ATTEMPTS_BEFORE_EXHAUSTED, || {
                format!("after {receives} receives a signal is gone before reconcile has parked it")
            });
            complaints.unless_has("Signals", template.at("Resources"), &[
            ("Signals/Properties/RedrivePolicy/deadLetterTargetArn", "!GetAtt SignalsDeadLetters.Arn"),
            ("SignalsDeadLetters/Properties/RedriveAllowPolicy/redrivePermission", "byQueue"),
            (
                "SignalsDeadLetters/Properties/RedriveAllowPolicy/sourceQueueArns",
                "[!Sub arn:${AWS::Partition}:sqs:${AWS::Region}:${AWS::AccountId}:${AWS::StackName}-signals.fifo]",
            ),
            ("Signals/Properties/QueueName", "!Sub ${AWS::StackName}-signals.fifo"),
        ]);
        },
        &[
            ("maxReceiveCount: 50", "maxReceiveCount: 20"),
            ("maxReceiveCount: 50", "maxReceiveCount: 3"),
            (
                "QueueName: !Sub \"${AWS::StackName}-signals.fifo\"",
                "QueueName: !Sub \"${AWS::StackName}-s.fifo\"",
            ),
            ("redrivePermission: byQueue", "redrivePermission: allowAll"),
        ],
    );
}

#[test]
fn fifo_queues_group_by_resource_and_never_guess_a_deduplication_id() {
    uphold(
        |template, complaints| {
            let mut fifo = BTreeSet::new();
            for (name, queue) in template.resources("AWS::SQS::Queue") {
                let properties = queue.at("Properties");
                if properties.at("FifoQueue").exists() {
                    fifo.insert(name);
                    complaints.unless_has(
                        name,
                        properties,
                        &[
                            ("FifoQueue", "true"),
                            ("ContentBasedDeduplication", "false"),
                            ("DeduplicationScope", "messageGroup"),
                            ("FifoThroughputLimit", "perMessageGroupId"),
                        ],
                    );
                    complaints.unless(properties.at("QueueName").text().ends_with(".fifo"), || {
                        format!("{name} is not named .fifo")
                    });
                }
            }
            complaints.unless_equal(
                "the FIFO queues",
                fifo,
                BTreeSet::from(["Signals", "SignalsDeadLetters"]),
            );
        },
        &[
            (
                "ContentBasedDeduplication: false",
                "ContentBasedDeduplication: true",
            ),
            ("      DeduplicationScope: messageGroup\n", ""),
            (
                "FifoThroughputLimit: perMessageGroupId",
                "FifoThroughputLimit: perQueue",
            ),
            ("      FifoQueue: true\n", ""),
        ],
    );
}

#[test]
fn every_queue_is_encrypted_and_keeps_messages_as_long_as_it_can() {
    uphold(
        |template, complaints| {
            for (name, queue) in template.resources("AWS::SQS::Queue") {
                complaints.unless_has(
                    name,
                    queue.at("Properties"),
                    &[
                        ("SqsManagedSseEnabled", "true"),
                        ("MessageRetentionPeriod", &LONGEST_RETENTION.to_string()),
                    ],
                );
            }
        },
        &[
            ("SqsManagedSseEnabled: true", "SqsManagedSseEnabled: false"),
            ("      MessageRetentionPeriod: 1209600\n", ""),
            (
                "MessageRetentionPeriod: 1209600",
                "MessageRetentionPeriod: 345600",
            ),
            (
                "Condition: HasFeedEventBus\n    Properties:\n      MessageRetentionPeriod: 1209600\n      SqsManagedSseEnabled: true\n",
                "Condition: HasFeedEventBus\n    Properties:\n      MessageRetentionPeriod: 1209600\n",
            ),
        ],
    );
}

#[test]
fn every_mapping_reports_failures_one_by_one() {
    uphold(
        |template, complaints| {
            let mappings = template.resources("AWS::Lambda::EventSourceMapping");
            complaints.unless_equal(
                "the mappings",
                mappings.keys().copied().collect(),
                vec![
                    "EffectsToDispatch",
                    "FeedQueueToIngest",
                    "InboxToRelay",
                    "SignalsToReconcile",
                    "StateToRelay",
                ],
            );
            for (name, mapping) in mappings {
                complaints.unless_has(
                    name,
                    mapping.at("Properties"),
                    &[("FunctionResponseTypes", "[ReportBatchItemFailures]")],
                );
            }
        },
        &[
            (
                "      FunctionResponseTypes: [ReportBatchItemFailures]\n      DestinationConfig",
                "      DestinationConfig",
            ),
            (
                "      FunctionResponseTypes: [ReportBatchItemFailures]\n      ScalingConfig",
                "      ScalingConfig",
            ),
            (
                "      FunctionResponseTypes: [ReportBatchItemFailures]\n      # A backlog",
                "      # A backlog",
            ),
        ],
    );
}

#[test]
fn reconcile_runs_side_by_side_but_never_without_a_bound() {
    uphold(
        |template, complaints| {
            complaints.unless_has(
                "SignalsToReconcile",
                template.at("Resources/SignalsToReconcile/Properties"),
                &[
                    ("EventSourceArn", "!GetAtt Signals.Arn"),
                    ("FunctionName", "!Ref Reconcile"),
                    ("BatchSize", "10"),
                    (
                        "ScalingConfig/MaximumConcurrency",
                        "!Ref ReconcileMaximumConcurrency",
                    ),
                ],
            );
            let bound = template.at("Parameters/ReconcileMaximumConcurrency");
            complaints.unless_equal("the least bound", bound.at("MinValue").number(), Some(2));
            complaints.unless(
                bound
                    .at("Default")
                    .number()
                    .is_some_and(|it| (2..=1000).contains(&it)),
                || "the default bound is out of range".to_owned(),
            );
            // A reservation would throttle the mapping's pollers, and each throttled try counts as a receive.
            complaints.unless(
                !template
                    .at("Resources/Reconcile/Properties/ReservedConcurrentExecutions")
                    .exists(),
                || "reconcile is bounded by a reservation".to_owned(),
            );
        },
        &[
            (
                "      ScalingConfig:\n        MaximumConcurrency: !Ref ReconcileMaximumConcurrency\n",
                "",
            ),
            ("MinValue: 2", "MinValue: 1"),
            (
                "      Description: Finds out",
                "      ReservedConcurrentExecutions: 1\n      Description: Finds out",
            ),
        ],
    );
}

//! How events come that do not come by HTTP.
//!
//! The queue and the bus are not the template's own: who may send into them, how long the queue hides a
//! message and where it sets one aside cannot be read here. What its owner must see to is said where the
//! parameter is given.

use crate::uphold;
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn without_a_feed_there_is_nothing_of_it() {
    uphold(
        |template, complaints| {
            for (parameter, condition) in [
                ("FeedQueueArn", "HasFeedQueue"),
                ("FeedEventBus", "HasFeedEventBus"),
            ] {
                let declared = template.at("Parameters").at(parameter);
                complaints.unless(declared.at("Default").exists(), || {
                    format!("{parameter} must be given")
                });
                complaints.unless_has(parameter, declared, &[("Type", "String"), ("Default", "")]);
                complaints.unless_equal(
                    condition,
                    template.at("Conditions").at(condition).text(),
                    format!("!Not [!Equals [!Ref {parameter}, ]]"),
                );
            }
            let conditional: BTreeMap<&str, String> = ["Resources", "Outputs"]
                .into_iter()
                .flat_map(|section| template.at(section).entries())
                .filter(|(_, it)| it.at("Condition").exists())
                .map(|(name, it)| (name, it.at("Condition").text()))
                .collect();
            complaints.unless_equal(
                "what is not always there",
                conditional
                    .iter()
                    .map(|(name, condition)| (*name, condition.as_str()))
                    .collect(),
                BTreeMap::from([
                    ("AccessLogGroup", "HasAccessLogs"),
                    ("FeedFailures", "HasFeedEventBus"),
                    ("FeedFailuresAlarm", "HasFeedEventBus"),
                    ("FeedFailuresPolicy", "HasFeedEventBus"),
                    ("FeedFailuresUrl", "HasFeedEventBus"),
                    ("FeedInvokesIngest", "HasFeedEventBus"),
                    ("FeedQueueToIngest", "HasFeedQueue"),
                    ("FeedRule", "HasFeedEventBus"),
                    ("IngestFromFeedBus", "HasFeedEventBus"),
                ]),
            );
        },
        &[
            (
                "  FeedQueueArn:\n    Type: String\n    Default: \"\"\n",
                "  FeedQueueArn:\n    Type: String\n",
            ),
            (
                "HasFeedEventBus: !Not [!Equals [!Ref FeedEventBus, \"\"]]",
                "HasFeedEventBus: !Not [!Equals [!Ref FeedQueueArn, \"\"]]",
            ),
            (
                "AWS::Lambda::EventSourceMapping\n    Condition: HasFeedQueue\n",
                "AWS::Lambda::EventSourceMapping\n",
            ),
            (
                "AWS::Lambda::EventInvokeConfig\n    Condition: HasFeedEventBus\n",
                "AWS::Lambda::EventInvokeConfig\n    Condition: HasFeedQueue\n",
            ),
            (
                "FeedFailuresUrl:\n    Condition: HasFeedEventBus\n",
                "FeedFailuresUrl:\n",
            ),
        ],
    );
}

#[test]
fn a_feeds_queue_is_taken_from_without_a_wait_and_within_a_bound() {
    uphold(
        |template, complaints| {
            let mapping = template.at("Resources/FeedQueueToIngest/Properties");
            complaints.unless_has(
                "FeedQueueToIngest",
                mapping,
                &[
                    ("EventSourceArn", "!Ref FeedQueueArn"),
                    ("FunctionName", "!Ref Ingest"),
                    ("BatchSize", "10"),
                    ("MaximumBatchingWindowInSeconds", "0"),
                    // What is filtered out is deleted unseen.
                    ("FilterCriteria", ""),
                ],
            );
            let bound = mapping.at("ScalingConfig/MaximumConcurrency").number();
            complaints.unless(bound.is_some_and(|it| (2..=1000).contains(&it)), || {
                format!("the feed's queue is bounded by {bound:?}")
            });
            let said = template
                .at("Parameters/IngestReservedConcurrency/Description")
                .text();
            let bound = format!(
                "above the {} that the queue may take",
                bound.unwrap_or_default()
            );
            complaints.unless(said.contains(&bound), || {
                format!("IngestReservedConcurrency does not say: {bound}")
            });
        },
        &[
            ("      ScalingConfig:\n        MaximumConcurrency: 10\n", ""),
            ("MaximumConcurrency: 10\n", "MaximumConcurrency: 1\n"),
            ("MaximumConcurrency: 10\n", "MaximumConcurrency: 50\n"),
            (
                "EventSourceArn: !Ref FeedQueueArn",
                "EventSourceArn: !GetAtt Signals.Arn",
            ),
            (
                "      BatchSize: 10\n      # No window: an event",
                "      FilterCriteria: { Filters: [{ Pattern: \"{}\" }] }\n      BatchSize: 10\n      # No window: an event",
            ),
            (
                "MaximumBatchingWindowInSeconds: 0\n      FunctionResponseTypes",
                "MaximumBatchingWindowInSeconds: 5\n      FunctionResponseTypes",
            ),
        ],
    );
}

#[test]
fn the_owner_of_a_feeds_queue_is_told_what_it_must_be() {
    uphold(
        |template, complaints| {
            let timeout = template.at("Resources/Ingest/Properties/Timeout").number();
            let hidden = format!(
                "visibility timeout of at least {} seconds (6 x ingest's timeout)",
                6 * timeout.unwrap_or_default()
            );
            let parameter = template.at("Parameters/FeedQueueArn");
            let said = parameter.at("Description").text();
            for demand in [
                hidden.as_str(),
                "redrive policy",
                "let the provider's principal send and no one else",
            ] {
                complaints.unless(said.contains(demand), || {
                    format!("FeedQueueArn does not say: {demand}")
                });
            }
            // A FIFO queue's name has a dot; no other name has.
            let pattern = parameter.at("AllowedPattern").text();
            complaints.unless(
                pattern.starts_with("(arn:") && pattern.ends_with(":[A-Za-z0-9_-]{1,80})?"),
                || format!("FeedQueueArn may be {pattern}"),
            );
        },
        &[
            (
                "not in a cut.\n      Timeout: 10",
                "not in a cut.\n      Timeout: 11",
            ),
            ("send and no one else. It", "send. It"),
            ("[A-Za-z0-9_-]{1,80})?", "[A-Za-z0-9_.-]{1,80})?"),
        ],
    );
}

#[test]
fn all_that_a_partners_source_sends_reaches_ingest_and_nothing_else_does() {
    uphold(
        |template, complaints| {
            let rules = template.resources("AWS::Events::Rule");
            complaints.unless_equal(
                "the rules",
                rules.keys().copied().collect(),
                vec!["DraftRule", "FeedRule"],
            );
            let rule = template.at("Resources/FeedRule/Properties");
            complaints.unless_has(
                "FeedRule",
                rule,
                &[
                    ("EventBusName", "!Ref FeedEventBus"),
                    ("EventPattern", "{source: [{prefix: !Ref FeedEventBus}]}"),
                ],
            );
            complaints.unless(!rule.at("State").exists(), || {
                "FeedRule may be switched off".to_owned()
            });
            let targets = rule.at("Targets").list();
            complaints.unless_equal("the number of FeedRule's targets", targets.len(), 1);
            for target in targets {
                // Without an input of its own the target gets the event as it is.
                complaints.unless_equal(
                    "what is said of FeedRule's target",
                    target.keys(),
                    BTreeSet::from(["Id", "Arn", "RetryPolicy", "DeadLetterConfig"]),
                );
                complaints.unless_has("FeedRule", target, &[("Arn", "!GetAtt Ingest.Arn")]);
            }
            // No one but AWS and the partner can send as a source of such a name.
            let pattern = template.at("Parameters/FeedEventBus/AllowedPattern").text();
            complaints.unless(
                pattern.starts_with("(aws[.]partner(/") && pattern.ends_with("){2,})?"),
                || format!("FeedEventBus may be {pattern}"),
            );
        },
        &[
            (
                "        source: [{ prefix: !Ref FeedEventBus }]\n",
                "        source: [{ prefix: \"\" }]\n",
            ),
            (
                "        source: [{ prefix: !Ref FeedEventBus }]\n",
                "        source: [{ prefix: !Ref FeedEventBus }]\n        detail-type: [order]\n",
            ),
            ("      EventBusName: !Ref FeedEventBus\n", ""),
            (
                "          Arn: !GetAtt Ingest.Arn\n",
                "          Arn: !GetAtt Ingest.Arn\n          InputPath: $.detail\n",
            ),
            (
                "          Arn: !GetAtt Ingest.Arn\n",
                "          Arn: !GetAtt Relay.Arn\n",
            ),
            ("(aws[.]partner(/", "([a-z.]+(/"),
        ],
    );
}

#[test]
fn an_event_of_the_bus_is_tried_as_long_as_aws_can_and_then_set_aside() {
    uphold(
        |template, complaints| {
            // Until Lambda has it: a day.
            for target in template.at("Resources/FeedRule/Properties/Targets").list() {
                complaints.unless_has(
                    "FeedRule",
                    target,
                    &[
                        ("RetryPolicy/MaximumEventAgeInSeconds", "86400"),
                        ("RetryPolicy/MaximumRetryAttempts", "185"),
                        ("DeadLetterConfig/Arn", "!GetAtt FeedFailures.Arn"),
                    ],
                );
            }
            // From then on: three tries, or six hours without room. The rule hears nothing of it.
            complaints.unless_has(
                "IngestFromFeedBus",
                template.at("Resources/IngestFromFeedBus/Properties"),
                &[
                    ("FunctionName", "!Ref Ingest"),
                    ("Qualifier", "$LATEST"),
                    ("MaximumRetryAttempts", "2"),
                    ("MaximumEventAgeInSeconds", "21600"),
                    (
                        "DestinationConfig/OnFailure/Destination",
                        "!GetAtt FeedFailures.Arn",
                    ),
                ],
            );
            complaints.unless_equal(
                "what is said of invocations without an answer",
                template
                    .resources("AWS::Lambda::EventInvokeConfig")
                    .into_keys()
                    .collect(),
                vec!["DraftFromBus", "IngestFromFeedBus"],
            );
        },
        &[
            ("MaximumRetryAttempts: 185", "MaximumRetryAttempts: 0"),
            (
                "          DeadLetterConfig: { Arn: !GetAtt FeedFailures.Arn }\n",
                "",
            ),
            ("      Qualifier: $LATEST\n", "      Qualifier: live\n"),
            (
                "      MaximumRetryAttempts: 2\n",
                "      MaximumRetryAttempts: 0\n",
            ),
            (
                "          Destination: !GetAtt FeedFailures.Arn",
                "          Destination: !GetAtt RelayFailures.Arn",
            ),
        ],
    );
}

#[test]
fn no_one_is_let_into_a_queue_but_a_rule_into_what_it_could_not_hand_over() {
    uphold(
        |template, complaints| {
            let policies = template.resources("AWS::SQS::QueuePolicy");
            complaints.unless_equal(
                "the queues' policies",
                policies.keys().copied().collect(),
                vec!["DraftFailuresPolicy", "FeedFailuresPolicy"],
            );
            for (name, policy) in policies {
                let policy = policy.at("Properties");
                let about = if name == "DraftFailuresPolicy" {
                    "Draft"
                } else {
                    "Feed"
                };
                let queue = format!("[!Ref {about}Failures]");
                complaints.unless_has(name, policy, &[("Queues", &queue)]);
                let statements = policy.at("PolicyDocument/Statement").list();
                complaints.unless_equal(
                    &format!("{name}'s number of statements"),
                    statements.len(),
                    1,
                );
                for statement in statements {
                    complaints.unless_has(
                        name,
                        statement,
                        &[
                            ("Effect", "Allow"),
                            ("Principal", "{Service: events.amazonaws.com}"),
                            ("Action", "sqs:SendMessage"),
                            ("Resource", &format!("!GetAtt {about}Failures.Arn")),
                            (
                                "Condition",
                                &format!(
                                    "{{ArnEquals: {{aws:SourceArn: !GetAtt {about}Rule.Arn}}}}"
                                ),
                            ),
                        ],
                    );
                }
            }
            for kind in ["AWS::SQS::QueueInlinePolicy", "AWS::Events::EventBusPolicy"] {
                complaints.unless(template.resources(kind).is_empty(), || {
                    format!("there is an {kind}")
                });
            }
        },
        &[
            (
                "Principal: { Service: events.amazonaws.com }",
                "Principal: \"*\"",
            ),
            (
                "            Condition:\n              ArnEquals:\n                aws:SourceArn: !GetAtt FeedRule.Arn\n",
                "",
            ),
            (
                "Queues: [!Ref FeedFailures]",
                "Queues: [!Ref FeedFailures, !Ref Signals]",
            ),
            (
                "aws:SourceArn: !GetAtt DraftRule.Arn",
                "aws:SourceArn: !GetAtt FeedRule.Arn",
            ),
            (
                "Resources:\n",
                "Resources:\n  Extra: { Type: AWS::SQS::QueuePolicy }\n",
            ),
            (
                "Resources:\n",
                "Resources:\n  Extra: { Type: AWS::SQS::QueueInlinePolicy }\n",
            ),
        ],
    );
}

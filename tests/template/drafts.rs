//! What words a message, and can do nothing else.

use crate::document::Template;
use crate::iam::{Request, may};
use crate::permissions::role;
use crate::uphold;
use std::collections::{BTreeMap, BTreeSet};

const STATE: &str = "!GetAtt StateTable.Arn";
/// Everything that may be configured.
const EVERYTHING: [&str; 2] = ["DraftsWithBedrock", "DraftsWithSecret"];

fn draft_may_put(template: &Template, partitions: &[&str]) -> bool {
    let context: &[(&str, &[&str])] = &[("dynamodb:LeadingKeys", partitions)];
    let request = Request {
        action: "dynamodb:PutItem",
        resource: STATE,
        context,
    };
    may(template, "Draft", &EVERYTHING, request)
}

#[test]
fn draft_puts_into_the_partitions_of_drafts_and_reaches_no_other() {
    uphold(
        |template, complaints| {
            complaints.unless(draft_may_put(template, &["draft#of a decision"]), || {
                "draft cannot put a draft".to_owned()
            });
            // Other partitions are hashes. In a transaction all of its partitions count.
            for partitions in [
                &["kPq3xW0Zz5yYbTn1aVd8Qm2Lr7Jc4Hs6Gf9Ue-Io_Ws"][..],
                &["draft#1", "kPq3xW0Zz5yYbTn1aVd8Qm2Lr7Jc4Hs6Gf9Ue-Io_Ws"][..],
                &["draft"][..],
                &["drafts#1"][..],
                &["a draft#1"][..],
                &["DRAFT#1"][..],
                &[""][..],
                // A request that AWS tells nothing about.
                &[][..],
            ] {
                complaints.unless(!draft_may_put(template, partitions), || {
                    format!("draft may put into {partitions:?}")
                });
            }
            for action in [
                "GetItem",
                "BatchGetItem",
                "Query",
                "Scan",
                "UpdateItem",
                "DeleteItem",
                "BatchWriteItem",
                "ConditionCheckItem",
                "PartiQLInsert",
                "PartiQLSelect",
            ] {
                let action = format!("dynamodb:{action}");
                let request = Request {
                    action: &action,
                    resource: STATE,
                    context: &[("dynamodb:LeadingKeys", &["draft#1"])],
                };
                complaints.unless(!may(template, "Draft", &EVERYTHING, request), || {
                    format!("draft may {action}")
                });
            }
            for (action, resource) in [
                ("dynamodb:PutItem", "!GetAtt InboxTable.Arn"),
                ("sqs:SendMessage", "!GetAtt Effects.Arn"),
                ("sqs:SendMessage", "!GetAtt Signals.Arn"),
                ("events:PutEvents", "!GetAtt Bus.Arn"),
            ] {
                let request = Request {
                    action,
                    resource,
                    context: &[("dynamodb:LeadingKeys", &["draft#1"])],
                };
                complaints.unless(!may(template, "Draft", &EVERYTHING, request), || {
                    format!("draft may {action} on {resource}")
                });
            }
        },
        &[
            (
                "                  \"Null\":\n                    dynamodb:LeadingKeys: \"false\"\n",
                "",
            ),
            ("[\"draft#*\"]", "[\"draft*\"]"),
            ("[\"draft#*\"]", "[\"*\"]"),
            ("[\"draft#*\"]", "[\"Draft#*\"]"),
            (
                "ForAllValues:StringLike:\n                    dynamodb:LeadingKeys",
                "ForAllValues:StringLike:\n                    dynamodb:Attributes",
            ),
            (
                "Resource: !GetAtt DraftFailures.Arn\n              - !If",
                "Resource: [!GetAtt DraftFailures.Arn, !GetAtt Effects.Arn]\n              - !If",
            ),
        ],
    );
}

#[test]
fn with_the_model_off_draft_may_neither_ask_one_nor_read_a_secret() {
    uphold(
        |template, complaints| {
            let draft = template.at("Resources/Draft");
            let statements: Vec<_> = role(template, draft)
                .at("Properties/Policies")
                .list()
                .into_iter()
                .flat_map(|policy| policy.at("PolicyDocument/Statement").elements())
                .collect();
            let always: BTreeSet<String> = statements
                .iter()
                .filter(|(exists, _)| exists.is_empty())
                .flat_map(|(_, statement)| statement.at("Action").texts())
                .collect();
            let expected = [
                "dynamodb:PutItem",
                "logs:CreateLogStream",
                "logs:PutLogEvents",
                "sqs:SendMessage",
            ];
            complaints.unless_equal(
                "what draft may do with the model off",
                always,
                expected.map(str::to_owned).into(),
            );
            let conditions: BTreeSet<&str> = statements
                .iter()
                .map(|(exists, _)| exists.as_str())
                .collect();
            complaints.unless_equal(
                "what its permissions depend on",
                conditions,
                BTreeSet::from(["", "DraftsWithBedrock", "DraftsWithSecret"]),
            );
            // And neither holds unless somebody asks for it.
            let before_the_colon = "!Select [0, !Split [:, !Join [, [!Ref DraftModel, :]]]]";
            complaints.unless_has(
                "the conditions",
                template.at("Conditions"),
                &[
                    ("DraftsWithBedrock", &format!("!Equals [{before_the_colon}, bedrock]")),
                    (
                        "DraftsWithSecret",
                        &format!("!And [!Equals [{before_the_colon}, openai], !Not [!Equals [!Ref DraftModelSecret, ]]]"),
                    ),
                    ("HasDraftModel", "!Not [!Equals [!Ref DraftModel, ]]"),
                ],
            );
            for parameter in ["DraftModel", "DraftModelArns", "DraftModelSecret"] {
                let given = template.at("Parameters").at(parameter).at("Default");
                complaints.unless(given.exists() && given.is(""), || {
                    format!("{parameter} is not off by default")
                });
            }
        },
        &[
            (
                "                - DraftsWithBedrock\n",
                "                - DraftsWithSecret\n                - Sid: Ask\n                  Effect: Allow\n                  Action: bedrock:InvokeModel\n                  Resource: !Ref DraftModelArns\n                - { Sid: Always, Effect: Allow, Action: bedrock:InvokeModel, Resource: !Ref DraftModelArns }\n              - !If\n                - DraftsWithBedrock\n",
            ),
            (
                "                  Resource: !Ref DraftModelArns\n                - !Ref AWS::NoValue\n              - !If\n                - DraftsWithSecret\n",
                "                  Resource: !Ref DraftModelArns\n                - !Ref AWS::NoValue\n              - !If\n                - HasDraftModel\n",
            ),
            (", bedrock]", ", \"\"]"),
            (
                "  DraftModel:\n    Type: String\n    Default: \"\"\n",
                "  DraftModel:\n    Type: String\n    Default: \"bedrock:some\"\n",
            ),
            (
                "              - Sid: PutDrafts\n                Effect: Allow\n                Action: dynamodb:PutItem\n",
                "              - Sid: PutDrafts\n                Effect: Allow\n                Action: [dynamodb:PutItem, bedrock:InvokeModel]\n",
            ),
        ],
    );
}

#[test]
fn no_parameter_can_widen_what_it_names() {
    uphold(
        |template, complaints| {
            for (parameter, shape) in [
                ("DraftModelArns", "(arn:[a-z0-9-]+:bedrock:"),
                ("DestinationQueueArns", "(arn:[a-z0-9-]+:sqs:"),
                ("DraftModelSecret", "([A-Za-z0-9_.-]+(/"),
                ("DraftModel", "(bedrock:"),
                ("SecretsPrefix", "[A-Za-z0-9_.-]+(/"),
            ] {
                let pattern = template
                    .at("Parameters")
                    .at(parameter)
                    .at("AllowedPattern")
                    .text();
                // No star or question mark of IAM's: in the pattern they only ever repeat.
                let classes: String = pattern
                    .split('[')
                    .skip(1)
                    .filter_map(|rest| rest.split(']').next())
                    .collect();
                complaints.unless(
                    pattern.starts_with(shape)
                        && (parameter == "DraftModel" || !classes.contains(['*', '?', '$', '^'])),
                    || format!("{parameter} may be {pattern}"),
                );
                complaints.unless(!pattern.contains(".*") && !pattern.contains(".+"), || {
                    format!("{parameter} may be {pattern}")
                });
            }
        },
        &[
            (":bedrock:[a-z0-9-]*:", ":[a-z*]+:[a-z0-9-]*:"),
            (
                "[a-z-]+/[A-Za-z0-9._:/-]+)?\"",
                "[a-z-]+/[A-Za-z0-9._:/*-]+)?\"",
            ),
            (
                "\"([A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*)?\"",
                "\"([A-Za-z0-9_.*-]+(/[A-Za-z0-9_.-]+)*)?\"",
            ),
            (":[A-Za-z0-9_-]{1,80}([.]fifo)?)?\"", ":.*)?\""),
        ],
    );
}

#[test]
fn a_decision_that_wants_wording_reaches_draft_or_is_set_aside() {
    uphold(
        |template, complaints| {
            let rule = template.at("Resources/DraftRule/Properties");
            complaints.unless_has(
                "DraftRule",
                rule,
                &[
                    ("EventBusName", "!Ref Bus"),
                    (
                        "EventPattern",
                        "{source: [lastword], detail-type: [Lastword Draft Wanted]}",
                    ),
                    ("State", ""),
                ],
            );
            let targets = rule.at("Targets").list();
            complaints.unless_equal("the number of DraftRule's targets", targets.len(), 1);
            for target in targets {
                complaints.unless_equal(
                    "what is said of DraftRule's target",
                    target.keys(),
                    BTreeSet::from(["Id", "Arn", "RetryPolicy", "DeadLetterConfig"]),
                );
                complaints.unless_has(
                    "DraftRule",
                    target,
                    &[
                        ("Arn", "!GetAtt Draft.Arn"),
                        ("RetryPolicy/MaximumEventAgeInSeconds", "86400"),
                        ("RetryPolicy/MaximumRetryAttempts", "185"),
                        ("DeadLetterConfig/Arn", "!GetAtt DraftFailures.Arn"),
                    ],
                );
            }
            let invoked = template.at("Resources/DraftFromBus/Properties");
            let said: BTreeMap<&str, String> = invoked
                .entries()
                .map(|(key, it)| (key, it.text()))
                .collect();
            complaints.unless_equal(
                "DraftFromBus",
                said,
                BTreeMap::from([
                    ("FunctionName", "!Ref Draft".to_owned()),
                    ("Qualifier", "$LATEST".to_owned()),
                    ("MaximumRetryAttempts", "2".to_owned()),
                    ("MaximumEventAgeInSeconds", "21600".to_owned()),
                    (
                        "DestinationConfig",
                        "{OnFailure: {Destination: !GetAtt DraftFailures.Arn}}".to_owned(),
                    ),
                ]),
            );
            // The approved text still has its time when the model has used up all of its own.
            let model = template
                .at("Parameters/DraftModelSeconds/MaxValue")
                .number();
            let timeout = template.at("Resources/Draft/Properties/Timeout").number();
            complaints.unless(
                model
                    .zip(timeout)
                    .is_some_and(|(model, timeout)| model + 5 <= timeout),
                || format!("the model has {model:?} s of {timeout:?} s"),
            );
        },
        &[
            (
                "detail-type: [Lastword Draft Wanted]",
                "detail-type: [Lastword]",
            ),
            ("        source: [lastword]\n", ""),
            ("      EventBusName: !Ref Bus\n", ""),
            (
                "          DeadLetterConfig: { Arn: !GetAtt DraftFailures.Arn }\n",
                "",
            ),
            (
                "      FunctionName: !Ref Draft\n      Qualifier: $LATEST\n      MaximumRetryAttempts: 2",
                "      FunctionName: !Ref Draft\n      Qualifier: $LATEST\n      MaximumRetryAttempts: 0",
            ),
            ("    MaxValue: 20\n", "    MaxValue: 30\n"),
        ],
    );
}

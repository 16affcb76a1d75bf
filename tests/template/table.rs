//! The table of permissions, as IAM says it. What is not here, a function may not do.
//!
//! | function | may | must never |
//! |---|---|---|
//! | ingest | put into Inbox, read secrets | read or write State; call a provider |
//! | relay | send to the queues and the bus | decide anything; read tables |
//! | reconcile | read Inbox, read providers, transact on State | write Inbox; send effects |
//! | dispatch | execute effects, record their outcome | touch projections or facts |
//! | draft | read nothing but its event; put a draft | anything else |
//!
//! Each may also write its own log lines, and do what its trigger does in its name: read the stream, take
//! from the queue, report what failed. What ingest may do about a feed, dispatch about a destination's queue
//! and draft about a model, they may only where there is one.

use crate::document::Node;
use std::collections::BTreeSet;

/// One action on one resource under one condition.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Grant {
    action: String,
    resource: String,
    condition: String,
    /// The template's condition under which the grant exists; always, when there is none.
    exists: String,
}

/// A set of them.
pub(crate) type Grants = BTreeSet<Grant>;

/// What each function may do.
pub(crate) fn allowed(function: &str) -> Grants {
    match function {
        "Ingest" => [
            own_logs("IngestLogs"),
            grants(&["dynamodb:PutItem"], "!GetAtt InboxTable.Arn", ""),
            grants(
                &["kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey"],
                "!GetAtt InboxKey.Arn",
                &via("dynamodb"),
            ),
            only_with(
                "HasFeedQueue",
                grants(
                    &[
                        "sqs:DeleteMessage",
                        "sqs:GetQueueAttributes",
                        "sqs:ReceiveMessage",
                    ],
                    "!Ref FeedQueueArn",
                    "",
                ),
            ),
            only_with(
                "HasFeedEventBus",
                grants(&["sqs:SendMessage"], "!GetAtt FeedFailures.Arn", ""),
            ),
            read_secrets(),
        ]
        .into_iter()
        .flatten()
        .collect(),
        "Relay" => [
            own_logs("RelayLogs"),
            read_stream("InboxTable"),
            read_stream("StateTable"),
            grants(&["kms:Decrypt"], "!GetAtt InboxKey.Arn", &via("dynamodb")),
            grants(&["sqs:SendMessage"], "!GetAtt Signals.Arn", ""),
            grants(&["sqs:SendMessage"], "!GetAtt Effects.Arn", ""),
            grants(&["events:PutEvents"], "!GetAtt Bus.Arn", ""),
            grants(&["sqs:SendMessage"], "!GetAtt RelayFailures.Arn", ""),
        ]
        .into_iter()
        .flatten()
        .collect(),
        "Reconcile" => [
            own_logs("ReconcileLogs"),
            take_and_hide("Signals"),
            grants(
                &[
                    "dynamodb:BatchGetItem",
                    "dynamodb:GetItem",
                    "dynamodb:Query",
                ],
                "!GetAtt InboxTable.Arn",
                "",
            ),
            grants(&["kms:Decrypt"], "!GetAtt InboxKey.Arn", &via("dynamodb")),
            grants(
                &[
                    "dynamodb:BatchGetItem",
                    "dynamodb:ConditionCheckItem",
                    "dynamodb:GetItem",
                    "dynamodb:PutItem",
                    "dynamodb:Query",
                    "dynamodb:UpdateItem",
                ],
                "!GetAtt StateTable.Arn",
                "",
            ),
            read_secrets(),
        ]
        .into_iter()
        .flatten()
        .collect(),
        "Dispatch" => [
            own_logs("DispatchLogs"),
            take_and_hide("Effects"),
            grants(
                &[
                    "dynamodb:BatchGetItem",
                    "dynamodb:ConditionCheckItem",
                    "dynamodb:GetItem",
                    "dynamodb:Query",
                ],
                "!GetAtt StateTable.Arn",
                "",
            ),
            grants(
                &["dynamodb:UpdateItem"],
                "!GetAtt StateTable.Arn",
                &format!(
                    "ForAllValues:StringEquals dynamodb:Attributes [{}] and Null dynamodb:Attributes false",
                    OF_AN_EFFECT.join(", ")
                ),
            ),
            grants(&["events:PutEvents"], "!GetAtt Bus.Arn", ""),
            only_with(
                "HasDestinationQueues",
                grants(&["sqs:SendMessage"], "!Ref DestinationQueueArns", ""),
            ),
            read_secrets(),
        ]
        .into_iter()
        .flatten()
        .collect(),
        "Draft" => [
            own_logs("DraftLogs"),
            grants(
                &["dynamodb:PutItem"],
                "!GetAtt StateTable.Arn",
                "ForAllValues:StringLike dynamodb:LeadingKeys [draft#*] and Null dynamodb:LeadingKeys false",
            ),
            grants(&["sqs:SendMessage"], "!GetAtt DraftFailures.Arn", ""),
            only_with(
                "DraftsWithBedrock",
                grants(&["bedrock:InvokeModel"], "!Ref DraftModelArns", ""),
            ),
            only_with("DraftsWithSecret", read_the_models_secret()),
        ]
        .into_iter()
        .flatten()
        .collect(),
        _ => Grants::new(),
    }
}

/// What dispatch may name in an update: an effect's key, and what it records of the effect.
pub(crate) const OF_AN_EFFECT: [&str; 15] = [
    "pk",
    "sk",
    "attempts",
    "claims",
    "data",
    "done_at",
    "error",
    "first_tried_at",
    "holder",
    "lease_until",
    "open",
    "status",
    "told",
    "tried_at",
    "uncertain",
];

/// Take from a queue, and say of each message when it is seen again.
fn take_and_hide(queue: &str) -> Grants {
    grants(
        &[
            "sqs:ChangeMessageVisibility",
            "sqs:DeleteMessage",
            "sqs:GetQueueAttributes",
            "sqs:ReceiveMessage",
        ],
        &format!("!GetAtt {queue}.Arn"),
        "",
    )
}

/// One parameter, by its whole name.
fn read_the_models_secret() -> Grants {
    let parameter = arn("ssm", "parameter/${SecretsPrefix}/${DraftModelSecret}");
    let this_parameter = format!(
        "{} and StringEquals kms:EncryptionContext:PARAMETER_ARN {parameter}",
        via("ssm")
    );
    [
        grants(&["ssm:GetParameters"], &parameter, ""),
        grants(&["kms:Decrypt"], &arn("kms", "key/*"), &this_parameter),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn read_stream(table: &str) -> Grants {
    let read = grants(
        &[
            "dynamodb:DescribeStream",
            "dynamodb:GetRecords",
            "dynamodb:GetShardIterator",
        ],
        &format!("!GetAtt {table}.StreamArn"),
        "",
    );
    let list = grants(
        &["dynamodb:ListStreams"],
        &format!("!Sub ${{{table}.Arn}}/stream/*"),
        "",
    );
    read.into_iter().chain(list).collect()
}

fn own_logs(group: &str) -> Grants {
    grants(
        &["logs:CreateLogStream", "logs:PutLogEvents"],
        &format!("!GetAtt {group}.Arn"),
        "",
    )
}

/// Secrets under the deployment's prefix, in either store, and what is encrypted of them.
fn read_secrets() -> Grants {
    let parameters = arn("ssm", "parameter/${SecretsPrefix}/*");
    let references = arn(
        "ssm",
        "parameter/aws/reference/secretsmanager/${SecretsPrefix}/*",
    );
    let secrets = arn("secretsmanager", "secret:${SecretsPrefix}/*");
    let any_key = arn("kms", "key/*");
    let a_parameter = format!(
        "{} and StringLike kms:EncryptionContext:PARAMETER_ARN {parameters}",
        via("ssm")
    );
    let a_secret = format!(
        "{} and StringLike kms:EncryptionContext:SecretARN {secrets}",
        via("secretsmanager")
    );
    [
        grants(&["ssm:GetParameters"], &parameters, ""),
        grants(&["ssm:GetParameters"], &references, ""),
        grants(&["secretsmanager:GetSecretValue"], &secrets, ""),
        grants(&["kms:Decrypt"], &any_key, &a_parameter),
        grants(&["kms:Decrypt"], &any_key, &a_secret),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn grants(actions: &[&str], resource: &str, condition: &str) -> Grants {
    actions
        .iter()
        .map(|action| Grant {
            action: (*action).to_owned(),
            resource: resource.to_owned(),
            condition: condition.to_owned(),
            exists: String::new(),
        })
        .collect()
}

/// The same grants, where the template's condition holds.
fn only_with(condition: &str, grants: Grants) -> Grants {
    grants
        .into_iter()
        .map(|grant| Grant {
            exists: condition.to_owned(),
            ..grant
        })
        .collect()
}

fn arn(service: &str, rest: &str) -> String {
    format!("!Sub arn:${{AWS::Partition}}:{service}:${{AWS::Region}}:${{AWS::AccountId}}:{rest}")
}

/// The condition that a key is used through one service only.
pub(crate) fn via(service: &str) -> String {
    format!("StringEquals kms:ViaService !Sub {service}.${{AWS::Region}}.amazonaws.com")
}

/// What a policy's statement grants, given the condition under which it stands in it. A statement in a form that this cannot read (a denial, an action
/// named by exclusion) grants something that is in no table.
pub(crate) fn granted(exists: &str, statement: Node<'_>) -> Grants {
    let known = BTreeSet::from(["Sid", "Effect", "Action", "Resource", "Condition"]);
    if !statement.at("Effect").is("Allow") || !statement.keys().is_subset(&known) {
        return grants(
            &["a statement that cannot be compared"],
            &statement.text(),
            "",
        );
    }
    let condition = condition(statement);
    let actions = statement.at("Action").texts();
    let resources = statement.at("Resource").texts();
    actions
        .iter()
        .flat_map(|action| {
            resources.iter().map(|resource| Grant {
                action: action.clone(),
                resource: resource.clone(),
                condition: condition.clone(),
                exists: exists.to_owned(),
            })
        })
        .collect()
}

/// A statement's condition as a line of text.
pub(crate) fn condition(statement: Node<'_>) -> String {
    let parts: Vec<String> = statement
        .at("Condition")
        .entries()
        .flat_map(|(operator, tests)| {
            tests
                .entries()
                .map(move |(key, value)| format!("{operator} {key} {}", value.text()))
        })
        .collect();
    parts.join(" and ")
}

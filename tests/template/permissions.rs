//! What a function may do: the template against the table of permissions.

use crate::document::{Node, Template};
use crate::{table, uphold};
use std::collections::BTreeSet;

/// The role that a function runs as.
pub(crate) fn role<'a>(template: &'a Template, function: Node<'_>) -> Node<'a> {
    let reference = function.at("Properties/Role").text();
    let id = reference
        .strip_prefix("!GetAtt ")
        .and_then(|it| it.strip_suffix(".Arn"))
        .unwrap_or("-");
    template.at("Resources").at(id)
}

#[test]
fn each_function_may_do_exactly_what_the_table_of_permissions_says() {
    uphold(
        |template, complaints| {
            let functions = template.functions();
            complaints.unless_equal(
                "the set of functions",
                functions.keys().copied().collect(),
                vec!["Dispatch", "Draft", "Ingest", "Reconcile", "Relay"],
            );
            for (name, function) in functions {
                let policies = role(template, function).at("Properties/Policies").list();
                complaints.unless_equal(&format!("{name}'s number of policies"), policies.len(), 1);
                let granted: table::Grants = policies
                    .iter()
                    .flat_map(|policy| policy.at("PolicyDocument/Statement").elements())
                    .flat_map(|(exists, statement)| table::granted(&exists, statement))
                    .collect();
                let allowed = table::allowed(name);
                for grant in granted.difference(&allowed) {
                    complaints.0.push(format!("{name} must not have {grant:?}"));
                }
                for grant in allowed.difference(&granted) {
                    complaints.0.push(format!("{name} lacks {grant:?}"));
                }
            }
        },
        &[
            (
                "Action: dynamodb:PutItem\n",
                "Action: [dynamodb:PutItem, dynamodb:GetItem]\n",
            ),
            (
                "Action: dynamodb:PutItem\n                Resource: !GetAtt InboxTable.Arn",
                "Action: dynamodb:PutItem\n                Resource: !GetAtt StateTable.Arn",
            ),
            (
                "Action: dynamodb:PutItem\n                Resource: !GetAtt InboxTable.Arn",
                "Action: dynamodb:PutItem\n                Resource: [!GetAtt InboxTable.Arn, !GetAtt StateTable.Arn]",
            ),
            (
                "Action: dynamodb:PutItem\n",
                "NotAction: dynamodb:PutItem\n",
            ),
            (
                "- !GetAtt InboxTable.StreamArn\n                  - !GetAtt StateTable.StreamArn",
                "- \"*\"",
            ),
            (
                "Action: sqs:SendMessage\n                Resource: !GetAtt Signals.Arn",
                "Action: sqs:SendMessage\n                Resource: \"*\"",
            ),
            (
                "[dynamodb:BatchGetItem, dynamodb:GetItem, dynamodb:Query]",
                "[dynamodb:BatchGetItem, dynamodb:GetItem, dynamodb:Query, dynamodb:PutItem]",
            ),
            ("                  - dynamodb:ConditionCheckItem\n", ""),
            ("parameter/${SecretsPrefix}/*", "parameter/*"),
            ("secret:${SecretsPrefix}/*", "secret:*"),
            (
                "                  StringLike:\n                    kms:EncryptionContext:PARAMETER_ARN",
                "                  StringNotLike:\n                    kms:EncryptionContext:PARAMETER_ARN",
            ),
            (
                "Resource: !GetAtt IngestLogs.Arn",
                "Resource: !GetAtt RelayLogs.Arn",
            ),
            (
                "Role: !GetAtt RelayRole.Arn",
                "Role: !GetAtt ReconcileRole.Arn",
            ),
            (
                "Resource: !Ref FeedQueueArn",
                "Resource: [!Ref FeedQueueArn, !GetAtt Signals.Arn]",
            ),
            (
                "[sqs:ReceiveMessage, sqs:DeleteMessage, sqs:GetQueueAttributes]\n",
                "[sqs:ReceiveMessage, sqs:DeleteMessage, sqs:GetQueueAttributes, sqs:SendMessage]\n",
            ),
            (
                "- HasFeedQueue\n                - Sid",
                "- HasFeedEventBus\n                - Sid",
            ),
            (
                "Resource: !Ref FeedQueueArn\n                - !Ref AWS::NoValue",
                "Resource: !Ref FeedQueueArn\n                - { Effect: Allow, Action: sqs:SendMessage, Resource: !GetAtt Signals.Arn }",
            ),
            (
                "- !If\n                - HasFeedQueue\n                - Sid",
                "- Fn::If:\n                - HasFeedQueue\n                - Sid",
            ),
            (
                "Resource: !GetAtt FeedFailures.Arn\n                - !Ref",
                "Resource: !GetAtt RelayFailures.Arn\n                - !Ref",
            ),
        ],
    );
}

#[test]
fn nothing_widens_a_role_from_outside_its_own_policy() {
    uphold(
        |template, complaints| {
            let mut roles = BTreeSet::new();
            for (name, function) in template.functions() {
                let role = role(template, function);
                roles.insert(function.at("Properties/Role").text());
                complaints.unless_equal(
                    &format!("{name}'s role"),
                    role.at("Properties").keys(),
                    BTreeSet::from(["AssumeRolePolicyDocument", "Policies"]),
                );
                let trust = role
                    .at("Properties/AssumeRolePolicyDocument/Statement")
                    .list();
                complaints.unless_equal(
                    &format!("{name}'s number of trust statements"),
                    trust.len(),
                    1,
                );
                for statement in trust {
                    complaints.unless_has(
                        name,
                        statement,
                        &[
                            ("Principal", "{Service: lambda.amazonaws.com}"),
                            ("Action", "sts:AssumeRole"),
                        ],
                    );
                }
                // With these SAM writes statements of its own.
                for property in [
                    "Policies",
                    "Events",
                    "DeadLetterQueue",
                    "Tracing",
                    "VpcConfig",
                    "EventInvokeConfig",
                ] {
                    complaints.unless(!function.at("Properties").at(property).exists(), || {
                        format!("{name} has {property}")
                    });
                }
                complaints.unless(!function.at("Connectors").exists(), || {
                    format!("{name} has connectors")
                });
            }
            complaints.unless_equal(
                "the number of roles",
                roles.len(),
                template.functions().len(),
            );
            complaints.unless_equal(
                "what all functions share",
                template.at("Globals/Function").keys(),
                BTreeSet::from([
                    "CodeUri",
                    "Handler",
                    "Runtime",
                    "Architectures",
                    "LoggingConfig",
                ]),
            );
            for kind in [
                "AWS::IAM::Policy",
                "AWS::IAM::RolePolicy",
                "AWS::IAM::ManagedPolicy",
                "AWS::Serverless::Connector",
            ] {
                complaints.unless(template.resources(kind).is_empty(), || {
                    format!("there is an {kind}")
                });
            }
        },
        &[
            (
                "      Policies:\n        - PolicyName: ingest",
                "      ManagedPolicyArns: [arn:aws:iam::aws:policy/AdministratorAccess]\n      Policies:\n        - PolicyName: ingest",
            ),
            (
                "      Role: !GetAtt IngestRole.Arn",
                "      Role: !GetAtt IngestRole.Arn\n      Policies: [DynamoDBCrudPolicy: { TableName: !Ref StateTable }]",
            ),
            (
                "Role: !GetAtt RelayRole.Arn",
                "Role: !GetAtt ReconcileRole.Arn",
            ),
            (
                "Principal: { Service: lambda.amazonaws.com }",
                "Principal: { AWS: \"*\" }",
            ),
            (
                "    Handler: bootstrap\n",
                "    Handler: bootstrap\n    Environment: { Variables: { LASTWORD_STATE_TABLE: !Ref StateTable } }\n",
            ),
            (
                "Resources:\n",
                "Resources:\n  Extra: { Type: AWS::IAM::ManagedPolicy }\n",
            ),
        ],
    );
}

#[test]
fn no_policy_anywhere_names_an_action_by_wildcard_or_allows_a_scan_or_a_delete() {
    uphold(
        |template, complaints| {
            let statements = template.statements();
            complaints.unless(statements.len() > 20, || {
                "hardly any statement was found".to_owned()
            });
            for (path, statement) in statements {
                complaints.unless(
                    statement.at("Action").exists()
                        && !statement.at("NotAction").exists()
                        && !statement.at("NotResource").exists(),
                    || format!("{path} grants by exclusion, or in a form that cannot be read"),
                );
                for action in statement.at("Action").texts() {
                    complaints.unless(!action.contains(['*', '?']), || {
                        format!("{path} allows {action}")
                    });
                    complaints.unless(
                        ![
                            "Scan",
                            "DeleteItem",
                            "BatchWriteItem",
                            "DeleteTable",
                            "PartiQL",
                        ]
                        .iter()
                        .any(|part| action.contains(part)),
                        || format!("{path} allows {action}"),
                    );
                }
                for resource in statement.at("Resource").texts() {
                    complaints.unless(resource != "*" || path.contains("/KeyPolicy/"), || {
                        format!("{path} is about every resource")
                    });
                }
            }
        },
        &[
            ("Action: dynamodb:PutItem\n", "Action: dynamodb:*\n"),
            ("Action: dynamodb:PutItem\n", "Action: \"*\"\n"),
            ("Action: ssm:GetParameters\n", "Action: ssm:GetParameter?\n"),
            ("- dynamodb:UpdateItem", "- dynamodb:Scan"),
            ("- dynamodb:UpdateItem", "- dynamodb:DeleteItem"),
            ("- kms:CancelKeyDeletion", "- kms:*"),
            ("Resource: !GetAtt StateTable.Arn", "Resource: \"*\""),
            (
                "Action: dynamodb:PutItem\n",
                "NotAction: dynamodb:PutItem\n",
            ),
            // Those under a condition are read too, and in a policy that is no role's.
            ("Resource: !Ref FeedQueueArn", "Resource: \"*\""),
            ("sqs:ReceiveMessage, sqs:DeleteMessage", "sqs:*"),
            (
                "- !If\n                - HasFeedQueue",
                "- Fn::If:\n                - HasFeedQueue",
            ),
            (
                "Action: sqs:SendMessage\n            Resource",
                "Action: sqs:*\n            Resource",
            ),
        ],
    );
}

#[test]
fn the_inbox_key_opens_bodies_only_through_dynamodb() {
    uphold(
        |template, complaints| {
            complaints.unless_has(
                "InboxTable",
                template.at("Resources/InboxTable/Properties/SSESpecification"),
                &[
                    ("SSEEnabled", "true"),
                    ("SSEType", "KMS"),
                    ("KMSMasterKeyId", "!GetAtt InboxKey.Arn"),
                ],
            );
            let key = template.at("Resources/InboxKey");
            complaints.unless_has(
                "InboxKey",
                key,
                &[
                    ("Properties/EnableKeyRotation", "true"),
                    ("DeletionPolicy", "Retain"),
                    ("UpdateReplacePolicy", "Retain"),
                ],
            );
            let opening = [
                "Decrypt",
                "Encrypt",
                "ReEncrypt",
                "GenerateDataKey",
                "CreateGrant",
            ];
            let mut openings = 0;
            for statement in key.at("Properties/KeyPolicy/Statement").list() {
                complaints.unless_has(
                    "InboxKey",
                    statement,
                    &[(
                        "Principal",
                        "{AWS: !Sub arn:${AWS::Partition}:iam::${AWS::AccountId}:root}",
                    )],
                );
                if statement
                    .at("Action")
                    .texts()
                    .iter()
                    .any(|action| opening.iter().any(|it| action.contains(it)))
                {
                    openings += 1;
                    complaints.unless_equal(
                        "the key's condition",
                        table::condition(statement),
                        table::via("dynamodb"),
                    );
                }
            }
            complaints.unless_equal("the number of statements that open", openings, 1);
        },
        &[
            ("- kms:DescribeKey\n", "- kms:Decrypt\n"),
            (
                "kms:ViaService: !Sub \"dynamodb.",
                "kms:ViaService: !Sub \"s3.",
            ),
            ("EnableKeyRotation: true", "EnableKeyRotation: false"),
            (
                "Principal: { AWS: !Sub \"arn:${AWS::Partition}:iam::${AWS::AccountId}:root\" }",
                "Principal: { AWS: \"*\" }",
            ),
            ("        KMSMasterKeyId: !GetAtt InboxKey.Arn\n", ""),
        ],
    );
}

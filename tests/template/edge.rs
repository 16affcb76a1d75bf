//! The door.

use crate::uphold;
use std::collections::{BTreeMap, BTreeSet};

const EVERY_METHOD_OF_WEBHOOKS: &str = "!Sub arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:${WebhookApi}/*/*/webhooks/*";

#[test]
fn webhooks_reach_ingest_and_nothing_else_with_their_exact_bytes() {
    uphold(
        |template, complaints| {
            let routes = template.resources("AWS::ApiGatewayV2::Route");
            let keys: BTreeSet<String> = routes
                .values()
                .map(|route| route.at("Properties/RouteKey").text())
                .collect();
            complaints.unless_equal(
                "the routes",
                keys,
                BTreeSet::from([
                    "GET /webhooks/{integration}".to_owned(),
                    "HEAD /webhooks/{integration}".to_owned(),
                    "POST /webhooks/{integration}".to_owned(),
                ]),
            );
            for (name, route) in routes {
                complaints.unless_has(
                    name,
                    route,
                    &[
                        ("Properties/ApiId", "!Ref WebhookApi"),
                        (
                            "Properties/Target",
                            "!Sub integrations/${IngestIntegration}",
                        ),
                    ],
                );
            }
            complaints.unless_has(
                "IngestIntegration",
                template.at("Resources/IngestIntegration/Properties"),
                &[
                    ("IntegrationType", "AWS_PROXY"),
                    ("IntegrationUri", "!GetAtt Ingest.Arn"),
                    ("PayloadFormatVersion", "2.0"),
                ],
            );
            let cut = template
                .at("Resources/IngestIntegration/Properties/TimeoutInMillis")
                .number();
            let timeout = template.at("Resources/Ingest/Properties/Timeout").number();
            complaints.unless(
                cut.zip(timeout)
                    .is_some_and(|(cut, timeout)| cut > timeout * 1000),
                || format!("the edge cuts after {cut:?} ms what may take {timeout:?} s"),
            );
            complaints.unless_has(
                "WebhookStage",
                template.at("Resources/WebhookStage/Properties"),
                &[
                    ("StageName", "$default"),
                    (
                        "DefaultRouteSettings/ThrottlingRateLimit",
                        "!Ref WebhookRateLimit",
                    ),
                    (
                        "DefaultRouteSettings/ThrottlingBurstLimit",
                        "!Ref WebhookBurstLimit",
                    ),
                ],
            );
            let permissions: BTreeMap<&str, BTreeMap<&str, String>> = template
                .resources("AWS::Lambda::Permission")
                .into_iter()
                .map(|(name, permission)| {
                    let properties = permission.at("Properties").entries();
                    (name, properties.map(|(key, it)| (key, it.text())).collect())
                })
                .collect();
            let to_invoke = |function: &str, principal: &str, source: &str| {
                BTreeMap::from([
                    ("Action", "lambda:InvokeFunction".to_owned()),
                    ("FunctionName", format!("!Ref {function}")),
                    ("Principal", principal.to_owned()),
                    ("SourceArn", source.to_owned()),
                ])
            };
            complaints.unless_equal(
                "the permissions to invoke",
                permissions,
                BTreeMap::from([
                    (
                        "BusInvokesDraft",
                        to_invoke("Draft", "events.amazonaws.com", "!GetAtt DraftRule.Arn"),
                    ),
                    (
                        "EdgeInvokesIngest",
                        to_invoke(
                            "Ingest",
                            "apigateway.amazonaws.com",
                            EVERY_METHOD_OF_WEBHOOKS,
                        ),
                    ),
                    (
                        "FeedInvokesIngest",
                        to_invoke("Ingest", "events.amazonaws.com", "!GetAtt FeedRule.Arn"),
                    ),
                ]),
            );
        },
        &[
            (
                "RouteKey: POST /webhooks/{integration}",
                "RouteKey: POST /{proxy+}",
            ),
            (
                "PayloadFormatVersion: \"2.0\"",
                "PayloadFormatVersion: \"1.0\"",
            ),
            ("TimeoutInMillis: 11000", "TimeoutInMillis: 10000"),
            ("        ThrottlingRateLimit: !Ref WebhookRateLimit\n", ""),
            ("      SourceArn: !Sub", "      SourceAccount: !Sub"),
            (
                "RouteKey: HEAD /webhooks/{integration}",
                "RouteKey: ANY /webhooks/{integration}",
            ),
            ("      SourceArn: !GetAtt FeedRule.Arn\n", ""),
            ("      SourceArn: !GetAtt DraftRule.Arn\n", ""),
            (
                "FunctionName: !Ref Draft\n      Principal",
                "FunctionName: !Ref Dispatch\n      Principal",
            ),
            ("Principal: events.amazonaws.com\n", "Principal: \"*\"\n"),
        ],
    );
}

#[test]
fn the_edge_logs_neither_body_nor_headers_nor_query() {
    uphold(
        |template, complaints| {
            let format = template
                .at("Resources/WebhookStage/Properties/AccessLogSettings")
                .text();
            let logged: BTreeSet<&str> = format
                .split("$context.")
                .skip(1)
                .map(|rest| rest.split('"').next().unwrap_or_default())
                .collect();
            let harmless = BTreeSet::from([
                "requestTime",
                "requestId",
                "routeKey",
                "path",
                "status",
                "responseLength",
                "responseLatency",
                "integrationLatency",
                "error.message",
            ]);
            complaints.unless_equal("what the edge logs", logged, harmless);
            complaints.unless(
                format.matches('$').count() == format.matches("$context.").count(),
                || format!("the edge logs something besides its context: {format}"),
            );
        },
        &[
            ("\"$context.status\"", "\"$context.requestOverride.body\""),
            (
                "\"$context.status\"",
                "\"$context.status\",\"q\":\"$request.querystring\"",
            ),
        ],
    );
}

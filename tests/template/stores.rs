//! What is kept.

use crate::uphold;

#[test]
fn the_tables_are_encrypted_recoverable_and_outlive_the_stack() {
    uphold(
        |template, complaints| {
            let tables = template.resources("AWS::DynamoDB::Table");
            complaints.unless_equal(
                "the tables",
                tables.keys().copied().collect(),
                vec!["InboxTable", "StateTable"],
            );
            for (name, table) in tables {
                complaints.unless_has(name, table, &[
                ("DeletionPolicy", "Retain"),
                ("UpdateReplacePolicy", "Retain"),
                ("Properties/DeletionProtectionEnabled", "true"),
                ("Properties/PointInTimeRecoverySpecification/PointInTimeRecoveryEnabled", "true"),
                ("Properties/SSESpecification/SSEEnabled", "true"),
                ("Properties/BillingMode", "PAY_PER_REQUEST"),
            ]);
            }
        },
        &[
            (
                "AWS::DynamoDB::Table\n    DeletionPolicy: Retain",
                "AWS::DynamoDB::Table\n    DeletionPolicy: Delete",
            ),
            ("      DeletionProtectionEnabled: true\n", ""),
            (
                "PointInTimeRecoveryEnabled: true",
                "PointInTimeRecoveryEnabled: false",
            ),
            (
                "SSESpecification: { SSEEnabled: true, SSEType: KMS }",
                "SSESpecification: { SSEEnabled: false }",
            ),
        ],
    );
}

#[test]
fn the_tables_have_the_keys_indexes_and_streams_that_the_code_relies_on() {
    uphold(
        |template, complaints| {
            let keys = "[{AttributeName: pk, KeyType: HASH}, {AttributeName: sk, KeyType: RANGE}]";
            let inbox = template.at("Resources/InboxTable/Properties");
            let state = template.at("Resources/StateTable/Properties");
            complaints.unless_has("InboxTable", inbox, &[
            ("KeySchema", keys),
            ("StreamSpecification/StreamViewType", "NEW_IMAGE"),
            ("TimeToLiveSpecification", "{AttributeName: expires_at, Enabled: true}"),
            ("GlobalSecondaryIndexes", "[{IndexName: by_time, KeySchema: [{AttributeName: bucket, KeyType: HASH}, {AttributeName: received_at, KeyType: RANGE}], Projection: {ProjectionType: KEYS_ONLY}}]"),
        ]);
            complaints.unless_has("StateTable", state, &[
            ("KeySchema", keys),
            ("StreamSpecification/StreamViewType", "NEW_AND_OLD_IMAGES"),
            ("TimeToLiveSpecification", ""),
            ("GlobalSecondaryIndexes", "[{IndexName: census, KeySchema: [{AttributeName: census, KeyType: HASH}, {AttributeName: pk, KeyType: RANGE}], Projection: {ProjectionType: KEYS_ONLY}}, \
              {IndexName: open, KeySchema: [{AttributeName: open, KeyType: HASH}, {AttributeName: pk, KeyType: RANGE}], Projection: {ProjectionType: KEYS_ONLY}}]"),
        ]);
            for (name, table) in [("InboxTable", inbox), ("StateTable", state)] {
                for attribute in table.at("AttributeDefinitions").list() {
                    complaints.unless_has(name, attribute, &[("AttributeType", "S")]);
                }
            }
        },
        &[
            ("StreamViewType: NEW_IMAGE", "StreamViewType: KEYS_ONLY"),
            (
                "StreamViewType: NEW_AND_OLD_IMAGES",
                "StreamViewType: NEW_IMAGE",
            ),
            ("AttributeName: expires_at", "AttributeName: ttl"),
            ("ProjectionType: KEYS_ONLY", "ProjectionType: ALL"),
            (
                "AttributeName: received_at, AttributeType: S",
                "AttributeName: received_at, AttributeType: N",
            ),
        ],
    );
}

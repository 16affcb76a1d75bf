//! The two tables as `template.yaml` declares them, for a store that has none yet: the embedded stack
//! and the tests. In an account the template makes them.

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::ProvideErrorMetadata;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType, Projection,
    ProjectionType, ScalarAttributeType, StreamSpecification, StreamViewType,
};

use crate::error::{self, StoreError};

/// An index: its name, partition key and sort key. All hold keys only.
type Index = (&'static str, &'static str, &'static str);

/// The Inbox's indexes.
pub const INBOX_INDEXES: [Index; 1] = [("by_time", "bucket", "received_at")];
/// The State table's indexes.
pub const STATE_INDEXES: [Index; 2] = [("census", "census", "pk"), ("open", "open", "pk")];

/// Makes both tables, unless they are there.
///
/// # Errors
/// When the store refuses.
pub async fn create(client: &Client, inbox: &str, state: &str) -> Result<(), StoreError> {
    create_table(client, inbox, &INBOX_INDEXES, StreamViewType::NewImage).await?;
    create_table(
        client,
        state,
        &STATE_INDEXES,
        StreamViewType::NewAndOldImages,
    )
    .await
}

async fn create_table(
    client: &Client,
    name: &str,
    indexes: &[Index],
    view: StreamViewType,
) -> Result<(), StoreError> {
    let mut request = client
        .create_table()
        .table_name(name)
        .billing_mode(BillingMode::PayPerRequest)
        .key_schema(key("pk", KeyType::Hash)?)
        .key_schema(key("sk", KeyType::Range)?)
        .stream_specification(
            StreamSpecification::builder()
                .stream_enabled(true)
                .stream_view_type(view)
                .build()
                .map_err(|error| StoreError::Refused(error.to_string()))?,
        );
    let mut attributes = vec!["pk", "sk"];
    for (index, partition, sort) in indexes {
        attributes.extend([*partition, *sort]);
        request = request.global_secondary_indexes(
            GlobalSecondaryIndex::builder()
                .index_name(*index)
                .key_schema(key(partition, KeyType::Hash)?)
                .key_schema(key(sort, KeyType::Range)?)
                .projection(
                    Projection::builder()
                        .projection_type(ProjectionType::KeysOnly)
                        .build(),
                )
                .build()
                .map_err(|error| StoreError::Refused(error.to_string()))?,
        );
    }
    attributes.sort_unstable();
    attributes.dedup();
    for attribute in attributes {
        request = request.attribute_definitions(
            AttributeDefinition::builder()
                .attribute_name(attribute)
                .attribute_type(ScalarAttributeType::S)
                .build()
                .map_err(|error| StoreError::Refused(error.to_string()))?,
        );
    }
    match request.send().await {
        Ok(_) => Ok(()),
        Err(error) if error.code() == Some("ResourceInUseException") => Ok(()),
        Err(error) => Err(error::read(&error)),
    }
}

fn key(attribute: &str, kind: KeyType) -> Result<KeySchemaElement, StoreError> {
    KeySchemaElement::builder()
        .attribute_name(attribute)
        .key_type(kind)
        .build()
        .map_err(|error| StoreError::Refused(error.to_string()))
}

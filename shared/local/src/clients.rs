//! Builds real AWS SDK clients for endpoints on this machine; may not read the environment or use TLS.

use aws_credential_types::Credentials;
use aws_smithy_http_client::Builder;
use aws_smithy_runtime_api::client::{behavior_version::BehaviorVersion, http::SharedHttpClient};
use aws_types::{SdkConfig, region::Region, sdk_config::SharedCredentialsProvider};

/// The region every part of the local stack claims to be in.
pub const REGION: &str = "us-east-1";
/// The account every part of the local stack claims to belong to.
pub const ACCOUNT: &str = "000000000000";
/// The access key and the secret that the local stack is signed with; nothing checks them.
pub const DUMMY_KEY: &str = "local";

/// SDK configuration for one local endpoint, with dummy credentials and plain HTTP.
#[must_use]
pub fn config(endpoint: &str) -> SdkConfig {
    let credentials = Credentials::from_keys(DUMMY_KEY, DUMMY_KEY, None);
    SdkConfig::builder()
        .behavior_version(BehaviorVersion::v2026_01_12())
        .region(Region::from_static(REGION))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .http_client(plain_http())
        .endpoint_url(endpoint)
        .build()
}

/// A DynamoDB client.
#[must_use]
pub fn dynamodb(endpoint: &str) -> aws_sdk_dynamodb::Client {
    aws_sdk_dynamodb::Client::new(&config(endpoint))
}

/// A DynamoDB Streams client.
#[must_use]
pub fn streams(endpoint: &str) -> aws_sdk_dynamodbstreams::Client {
    aws_sdk_dynamodbstreams::Client::new(&config(endpoint))
}

/// An SQS client.
#[must_use]
pub fn sqs(endpoint: &str) -> aws_sdk_sqs::Client {
    aws_sdk_sqs::Client::new(&config(endpoint))
}

fn plain_http() -> SharedHttpClient {
    Builder::new().build_http()
}

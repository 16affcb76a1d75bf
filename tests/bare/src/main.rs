//! The least that a Rust function can do with a webhook: decode the request, put its body, answer 200.
//!
//! What `ingest` costs is told beside this. It is built from the same libraries in the same way: lambda_http's
//! own `run`, one SDK client, credentials from the environment, one HTTP client over ring that reads trust
//! roots only when it meets TLS. It may use nothing of Lastword, and checks nothing.

mod transport;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{
    BehaviorVersion, Credentials, IdentityCache, Region, StalledStreamProtectionConfig,
};
use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use aws_smithy_async::rt::sleep::{SharedAsyncSleep, TokioSleep};
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;
use lambda_http::{Error, Request, Response, run, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let store = &Store {
        client: client()?,
        table: std::env::var("TABLE")?,
        name: std::process::id().to_string(),
        puts: AtomicU64::new(0),
    };
    run(service_fn(|request: Request| async move {
        store.put(request.into_body().as_ref()).await?;
        let reply = Response::builder().header("content-type", "application/json");
        Ok::<_, Error>(reply.body("{\"received\":\"new\"}".to_owned())?)
    }))
    .await
}

struct Store {
    client: Client,
    table: String,
    /// Keeps apart what several processes put.
    name: String,
    puts: AtomicU64,
}

impl Store {
    async fn put(&self, body: &[u8]) -> Result<(), Error> {
        let number = self.puts.fetch_add(1, Ordering::Relaxed);
        let text = |text: &str| AttributeValue::S(text.to_owned());
        self.client
            .put_item()
            .table_name(&self.table)
            .item("pk", text(&format!("{}-{number}", self.name)))
            .item("sk", text("event"))
            .item("body", AttributeValue::B(Blob::new(body)))
            .send()
            .await?;
        Ok(())
    }
}

fn client() -> Result<Client, Error> {
    let variable = |name: &str| std::env::var(name);
    let credentials = Credentials::new(
        variable("AWS_ACCESS_KEY_ID")?,
        variable("AWS_SECRET_ACCESS_KEY")?,
        variable("AWS_SESSION_TOKEN").ok(),
        None,
        "environment",
    );
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(transport::CONNECT_TIMEOUT)
        .operation_attempt_timeout(Duration::from_millis(600))
        .operation_timeout(Duration::from_secs(2))
        .build();
    let mut config = aws_sdk_dynamodb::Config::builder()
        .behavior_version(BehaviorVersion::v2026_01_12())
        .region(Region::new(variable("AWS_REGION")?))
        .credentials_provider(credentials)
        .identity_cache(IdentityCache::no_cache())
        .http_client(transport::http_client())
        .sleep_impl(SharedAsyncSleep::new(TokioSleep::new()))
        .timeout_config(timeouts)
        .retry_config(RetryConfig::standard())
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled());
    if let Ok(url) = variable("AWS_ENDPOINT_URL_DYNAMODB") {
        config = config.endpoint_url(url);
    }
    Ok(Client::from_conf(config.build()))
}

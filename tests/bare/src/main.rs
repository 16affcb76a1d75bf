//! The least that a Rust function can do with a webhook: decode the request, put its body, answer 200.
//!
//! What `ingest` costs is told beside this. It is built from the same libraries in the same way: lambda_http's
//! own `run`, one SDK client, credentials from the environment, one HTTP client over ring that reads trust
//! roots only when it meets TLS. It may use nothing of Lastword, and checks nothing.
//!
//! With `PARAMETER` set it reads that one parameter before it asks for work, as a function does that keeps
//! its secret in the parameter store.

mod transport;

use std::env::VarError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{
    BehaviorVersion, Credentials, IdentityCache, Region, StalledStreamProtectionConfig,
};
use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use aws_smithy_async::rt::sleep::{SharedAsyncSleep, TokioSleep};
use aws_smithy_runtime_api::client::http::SharedHttpClient;
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;
use lambda_http::{Error, Request, Response, run, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let http = transport::http_client();
    if let Ok(name) = std::env::var("PARAMETER") {
        read(&name, http.clone()).await?;
    }
    let store = &Store {
        client: client(http)?,
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

/// Asks for a parameter and forgets it.
async fn read(name: &str, http: SharedHttpClient) -> Result<(), Error> {
    let mut config = aws_sdk_ssm::Config::builder()
        .behavior_version(BehaviorVersion::v2026_01_12())
        .region(Region::new(variable("AWS_REGION")?))
        .credentials_provider(credentials()?)
        .identity_cache(IdentityCache::no_cache())
        .http_client(http)
        .sleep_impl(SharedAsyncSleep::new(TokioSleep::new()))
        .timeout_config(timeouts())
        .retry_config(RetryConfig::standard())
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled());
    if let Ok(url) = variable("AWS_ENDPOINT_URL_SSM") {
        config = config.endpoint_url(url);
    }
    let parameters = aws_sdk_ssm::Client::from_conf(config.build())
        .get_parameters()
        .names(name)
        .with_decryption(true)
        .send()
        .await?;
    let found = parameters.parameters().first();
    found.ok_or_else(|| format!("there is no parameter {name}"))?;
    Ok(())
}

fn client(http: SharedHttpClient) -> Result<Client, Error> {
    let mut config = aws_sdk_dynamodb::Config::builder()
        .behavior_version(BehaviorVersion::v2026_01_12())
        .region(Region::new(variable("AWS_REGION")?))
        .credentials_provider(credentials()?)
        .identity_cache(IdentityCache::no_cache())
        .http_client(http)
        .sleep_impl(SharedAsyncSleep::new(TokioSleep::new()))
        .timeout_config(timeouts())
        .retry_config(RetryConfig::standard())
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled());
    if let Ok(url) = variable("AWS_ENDPOINT_URL_DYNAMODB") {
        config = config.endpoint_url(url);
    }
    Ok(Client::from_conf(config.build()))
}

fn variable(name: &str) -> Result<String, VarError> {
    std::env::var(name)
}

fn credentials() -> Result<Credentials, VarError> {
    Ok(Credentials::new(
        variable("AWS_ACCESS_KEY_ID")?,
        variable("AWS_SECRET_ACCESS_KEY")?,
        variable("AWS_SESSION_TOKEN").ok(),
        None,
        "environment",
    ))
}

fn timeouts() -> TimeoutConfig {
    TimeoutConfig::builder()
        .connect_timeout(transport::CONNECT_TIMEOUT)
        .operation_attempt_timeout(Duration::from_millis(600))
        .operation_timeout(Duration::from_secs(2))
        .build()
}

//! The SDK clients of one process, made from its environment over one HTTP client.
//!
//! Made once, in `main`, before the first event. Credentials come from the environment and from nowhere
//! else: the profile, SSO and metadata chain costs milliseconds at every start and can find nothing in
//! Lambda. Waiting is bounded by the caller, who knows whose deadline it is.
//!
//! A pooled connection that died while the process was frozen shows itself at the next call. The pool drops
//! it if it notices in time; if not, the retry gets a new one. Either way the caller sees one success. What
//! it may also see is the second of two writes that both arrived: every write must be safe to repeat.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_sdk_dynamodb::config::{BehaviorVersion, IdentityCache, StalledStreamProtectionConfig};
use aws_smithy_async::rt::sleep::{SharedAsyncSleep, TokioSleep};
use aws_smithy_runtime_api::client::http::SharedHttpClient;
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;
use aws_types::SdkConfig;
use aws_types::region::Region;

use crate::environment::{Lookup, StartError, optional_in, process, required_in};
use crate::transport::{CONNECT_TIMEOUT, Trust, http_client};

const ATTEMPTS: u32 = 3;
const INITIAL_BACKOFF: Duration = Duration::from_millis(50);
const MAX_BACKOFF: Duration = Duration::from_secs(1);

/// How long a call may take, with and without its retries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// One attempt, connecting included.
    pub attempt: Duration,
    /// The whole call: all attempts and the pauses between them.
    pub operation: Duration,
}

impl Patience {
    /// For answering a provider, well inside the shortest deadline: 600 ms and 2 s.
    pub const fn ingest() -> Self {
        Self {
            attempt: Duration::from_millis(600),
            operation: Duration::from_secs(2),
        }
    }

    /// For work nobody waits for, and for what is read at start: 2 s and 8 s.
    pub const fn background() -> Self {
        Self {
            attempt: Duration::from_secs(2),
            operation: Duration::from_secs(8),
        }
    }
}

/// Addresses that replace the services' own. `None` leaves the service where it is.
#[derive(Debug, Clone, Default)]
pub struct Endpoints {
    /// DynamoDB.
    pub dynamodb: Option<String>,
    /// SQS.
    pub sqs: Option<String>,
    /// The parameter store.
    pub ssm: Option<String>,
    /// The event bus.
    pub eventbridge: Option<String>,
    /// The models of Bedrock.
    pub bedrock: Option<String>,
}

/// Everything the clients are made of, for those who do not read it from the environment.
#[derive(Debug, Clone)]
pub struct ClientSettings {
    /// The region whose services are called.
    pub region: String,
    /// What the calls are signed with.
    pub credentials: Credentials,
    /// Replaced addresses.
    pub endpoints: Endpoints,
    /// What the calls travel through; a test puts its faults here, around [`ClientSettings::http`].
    pub http: SharedHttpClient,
    /// How long calls may take.
    pub patience: Patience,
}

impl ClientSettings {
    /// Settings for a stack on this machine: fixed credentials that are worth nothing elsewhere.
    pub fn local(endpoints: Endpoints, patience: Patience) -> Self {
        Self {
            region: "us-east-1".to_owned(),
            credentials: Credentials::new("local", "local", None, None, "local"),
            endpoints,
            http: http_client(Trust::System),
            patience,
        }
    }

    /// The settings that the variables of a Lambda environment describe.
    pub fn from_lookup(lookup: Lookup<'_>, patience: Patience) -> Result<Self, StartError> {
        let region = match optional_in(lookup, "AWS_REGION")? {
            Some(region) => region,
            None => match optional_in(lookup, "AWS_DEFAULT_REGION")? {
                Some(region) => region,
                None => required_in(lookup, "AWS_REGION")?,
            },
        };
        Ok(Self {
            region,
            credentials: credentials(lookup)?,
            endpoints: endpoints(lookup)?,
            http: http_client(trust(lookup)?),
            patience,
        })
    }
}

/// The SDK clients of this process. Cheap to clone; each client is built when it is first asked for.
#[derive(Debug, Clone)]
pub struct Clients {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    settings: ClientSettings,
    /// How often a call is sent at most.
    attempts: u32,
    dynamodb: OnceLock<aws_sdk_dynamodb::Client>,
    sqs: OnceLock<aws_sdk_sqs::Client>,
    ssm: OnceLock<aws_sdk_ssm::Client>,
}

impl Clients {
    /// The clients for this process's environment.
    pub fn from_env(patience: Patience) -> Result<Self, StartError> {
        Ok(Self::new(ClientSettings::from_lookup(&process, patience)?))
    }

    /// The clients for given settings.
    pub fn new(settings: ClientSettings) -> Self {
        Self::with(settings, ATTEMPTS)
    }

    fn with(settings: ClientSettings, attempts: u32) -> Self {
        let shared = Shared {
            settings,
            attempts,
            dynamodb: OnceLock::new(),
            sqs: OnceLock::new(),
            ssm: OnceLock::new(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// The same connections with another patience: secrets at start may take longer than an answer.
    pub fn with_patience(&self, patience: Patience) -> Self {
        let settings = ClientSettings {
            patience,
            ..self.shared.settings.clone()
        };
        Self::with(settings, self.shared.attempts)
    }

    /// The same connections for calls that are sent once, whatever becomes of them: whoever has to know how often
    /// something may have arrived cannot have it sent behind his back.
    pub fn without_retries(&self) -> Self {
        Self::with(self.shared.settings.clone(), 1)
    }

    /// DynamoDB.
    pub fn dynamodb(&self) -> aws_sdk_dynamodb::Client {
        let build = || {
            let mut builder = aws_sdk_dynamodb::config::Builder::from(&self.base());
            builder.set_endpoint_url(self.shared.settings.endpoints.dynamodb.clone());
            aws_sdk_dynamodb::Client::from_conf(builder.build())
        };
        self.shared.dynamodb.get_or_init(build).clone()
    }

    /// SQS.
    pub fn sqs(&self) -> aws_sdk_sqs::Client {
        let build = || {
            let mut builder = aws_sdk_sqs::config::Builder::from(&self.base());
            builder.set_endpoint_url(self.shared.settings.endpoints.sqs.clone());
            aws_sdk_sqs::Client::from_conf(builder.build())
        };
        self.shared.sqs.get_or_init(build).clone()
    }

    /// The parameter store.
    pub fn ssm(&self) -> aws_sdk_ssm::Client {
        let build = || {
            let mut builder = aws_sdk_ssm::config::Builder::from(&self.base());
            builder.set_endpoint_url(self.shared.settings.endpoints.ssm.clone());
            aws_sdk_ssm::Client::from_conf(builder.build())
        };
        self.shared.ssm.get_or_init(build).clone()
    }

    /// The event bus. Made anew each time and not kept here, so that nothing of its crate stays in a function that is
    /// built in one run with those that publish.
    #[cfg(feature = "eventbridge")]
    pub fn eventbridge(&self) -> aws_sdk_eventbridge::Client {
        let mut builder = aws_sdk_eventbridge::config::Builder::from(&self.base());
        builder.set_endpoint_url(self.shared.settings.endpoints.eventbridge.clone());
        aws_sdk_eventbridge::Client::from_conf(builder.build())
    }

    /// The models of Bedrock, with a patience of their own. Made anew for the same reason.
    #[cfg(feature = "bedrock")]
    pub fn bedrock(&self) -> aws_sdk_bedrockruntime::Client {
        let mut builder = aws_sdk_bedrockruntime::config::Builder::from(&self.base());
        builder.set_endpoint_url(self.shared.settings.endpoints.bedrock.clone());
        aws_sdk_bedrockruntime::Client::from_conf(builder.build())
    }

    fn base(&self) -> SdkConfig {
        let settings = &self.shared.settings;
        let timeouts = TimeoutConfig::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .operation_attempt_timeout(settings.patience.attempt)
            .operation_timeout(settings.patience.operation)
            .build();
        let retries = RetryConfig::standard()
            .with_max_attempts(self.shared.attempts)
            .with_initial_backoff(INITIAL_BACKOFF)
            .with_max_backoff(MAX_BACKOFF);
        SdkConfig::builder()
            .behavior_version(BehaviorVersion::v2026_01_12())
            .region(Region::new(settings.region.clone()))
            .credentials_provider(SharedCredentialsProvider::new(settings.credentials.clone()))
            // Fixed for the life of the process: nothing to refresh, so nothing that could expire early.
            .identity_cache(IdentityCache::no_cache())
            .http_client(settings.http.clone())
            .sleep_impl(SharedAsyncSleep::new(TokioSleep::new()))
            .timeout_config(timeouts)
            .retry_config(retries)
            // Bodies here are small and the attempt's timeout already bounds them.
            .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
            .build()
    }
}

fn credentials(lookup: Lookup<'_>) -> Result<Credentials, StartError> {
    let id = required_in(lookup, "AWS_ACCESS_KEY_ID")?;
    let secret = required_in(lookup, "AWS_SECRET_ACCESS_KEY")?;
    let session = optional_in(lookup, "AWS_SESSION_TOKEN")?;
    Ok(Credentials::new(id, secret, session, None, "environment"))
}

fn endpoints(lookup: Lookup<'_>) -> Result<Endpoints, StartError> {
    let all = endpoint(lookup, "AWS_ENDPOINT_URL")?;
    Ok(Endpoints {
        dynamodb: endpoint(lookup, "AWS_ENDPOINT_URL_DYNAMODB")?.or_else(|| all.clone()),
        sqs: endpoint(lookup, "AWS_ENDPOINT_URL_SQS")?.or_else(|| all.clone()),
        ssm: endpoint(lookup, "AWS_ENDPOINT_URL_SSM")?.or_else(|| all.clone()),
        eventbridge: endpoint(lookup, "AWS_ENDPOINT_URL_EVENTBRIDGE")?.or_else(|| all.clone()),
        bedrock: endpoint(lookup, "AWS_ENDPOINT_URL_BEDROCK_RUNTIME")?.or(all),
    })
}

fn endpoint(lookup: Lookup<'_>, name: &str) -> Result<Option<String>, StartError> {
    match optional_in(lookup, name)? {
        Some(url) if url.starts_with("http://") || url.starts_with("https://") => Ok(Some(url)),
        Some(other) => Err(StartError::unusable(
            name,
            other,
            "it must begin with http:// or https://",
        )),
        None => Ok(None),
    }
}

pub(crate) fn trust(lookup: Lookup<'_>) -> Result<Trust, StartError> {
    const VARIABLE: &str = "AWS_CA_BUNDLE";
    match optional_in(lookup, VARIABLE)? {
        Some(path) => Trust::from_file(Path::new(&path))
            .map_err(|problem| StartError::unusable(VARIABLE, path, problem)),
        None => Ok(Trust::System),
    }
}

#[cfg(test)]
mod tests;

//! What the measured processes talk to: the embedded table store and a parameter store, on loopback.

use std::collections::BTreeMap;
use std::path::PathBuf;

use lastword_config::{Config, SecretRef};
use lastword_local::clients::{DUMMY_KEY, REGION};
use lastword_local::machine::{INBOX_TABLE, STATE_TABLE, made_up_secrets};
use lastword_local::ssm::Ssm;
use lastword_local::stores::{Place, Stores};

use crate::life::Variant;
use crate::{Failure, bodies};

/// The variable that a secret is put into for the variant without a parameter store.
const SECRET: &str = "SIGNING_SECRET";

pub(crate) struct Stack {
    /// Bytes of every webhook.
    pub(crate) body: usize,
    pub(crate) config: Config,
    stores: Stores,
    ssm: Ssm,
    /// The built-in configuration with its references pointing at variables.
    env_config: tempfile::NamedTempFile,
    secrets: Vec<(String, String)>,
}

impl Stack {
    pub(crate) async fn start(body: usize) -> Result<Self, Failure> {
        let config = bodies::config();
        let stores = Stores::start(Place::Temporary).await?;
        lastword_store::tables::create(&stores.dynamodb(), INBOX_TABLE, STATE_TABLE).await?;
        let values = made_up_secrets(&config)?;
        let mut parameters = BTreeMap::new();
        let mut secrets = Vec::new();
        let mut text = lastword_config::BUILT_IN.to_owned();
        for (number, reference) in config.signing_secrets().into_iter().enumerate() {
            let value = values
                .get(&reference)
                .ok_or("a secret without a value")?
                .expose();
            let variable = format!("{SECRET}_{number}");
            text = text.replace(&reference.to_string(), &format!("env:{variable}"));
            secrets.push((variable, value.to_owned()));
            if let Some(name) = reference.parameter() {
                parameters.insert(name, value.to_owned());
            }
        }
        let env_config = tempfile::NamedTempFile::new()?;
        std::fs::write(env_config.path(), text)?;
        Ok(Self {
            body,
            config,
            stores,
            ssm: Ssm::start(parameters).await?,
            env_config,
            secrets,
        })
    }

    pub(crate) async fn stop(self) {
        self.ssm.shutdown().await;
        self.stores.shutdown().await;
    }

    pub(crate) fn bare(&self, label: &str, program: PathBuf) -> Variant {
        let table = ("TABLE".to_owned(), INBOX_TABLE.to_owned());
        self.variant(label, program, vec![table])
    }

    /// The bare function that keeps a secret in the parameter store.
    pub(crate) fn bare_with_parameter(
        &self,
        label: &str,
        program: PathBuf,
    ) -> Result<Variant, Failure> {
        let mut variant = self.bare(label, program);
        let secrets = self.config.signing_secrets();
        let mut names = secrets.iter().filter_map(SecretRef::parameter);
        let name = names.next().ok_or("no secret is a parameter")?;
        variant.env.push(("PARAMETER".to_owned(), name));
        let ssm = ("AWS_ENDPOINT_URL_SSM".to_owned(), self.ssm.url());
        variant.env.push(ssm);
        Ok(variant)
    }

    pub(crate) fn ingest(&self, label: &str, program: PathBuf) -> Variant {
        let table = ("LASTWORD_INBOX_TABLE".to_owned(), INBOX_TABLE.to_owned());
        let ssm = ("AWS_ENDPOINT_URL_SSM".to_owned(), self.ssm.url());
        self.variant(label, program, vec![table, ssm])
    }

    pub(crate) fn ingest_without_parameters(&self, label: &str, program: PathBuf) -> Variant {
        let mut variant = self.ingest(label, program);
        let path = self.env_config.path().display().to_string();
        variant.env.push(("LASTWORD_CONFIG".to_owned(), path));
        variant.env.extend(self.secrets.iter().cloned());
        variant
    }

    fn variant(&self, label: &str, program: PathBuf, own: Vec<(String, String)>) -> Variant {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut env = vec![
            pair("AWS_LAMBDA_FUNCTION_NAME", "measured"),
            pair("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256"),
            pair("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST"),
            pair("AWS_LAMBDA_LOG_GROUP_NAME", "/aws/lambda/measured"),
            pair("AWS_LAMBDA_LOG_STREAM_NAME", "local"),
            pair("AWS_LAMBDA_LOG_FORMAT", "JSON"),
            pair("AWS_LAMBDA_LOG_LEVEL", "INFO"),
            pair("AWS_REGION", REGION),
            pair("AWS_ACCESS_KEY_ID", DUMMY_KEY),
            pair("AWS_SECRET_ACCESS_KEY", DUMMY_KEY),
            pair("AWS_SESSION_TOKEN", DUMMY_KEY),
            pair("AWS_ENDPOINT_URL_DYNAMODB", &self.stores.dynamodb_url()),
        ];
        env.extend(own);
        Variant {
            label: label.to_owned(),
            program,
            env,
            beside: 0,
        }
    }
}

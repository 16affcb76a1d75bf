//! Starts draft from its environment, or says why it cannot start.

use std::sync::Arc;
use std::time::Duration;

use lastword_config::SecretRef;
use lastword_runtime::environment::{self, Lookup, optional_in};
use lastword_runtime::{Clients, Patience, SecretSource, StartError, Vault};
use lastword_store::{Drafts, Moment};

use crate::asking::{Bedrock, Endpoint, Model, OpenAi};
use crate::handler::Handler;
use crate::wording::Wordings;

const MODEL: &str = "LASTWORD_MODEL";
const SECRET: &str = "LASTWORD_MODEL_SECRET";
const SECONDS: &str = "LASTWORD_MODEL_SECONDS";
const DEFAULT_SECONDS: u64 = 8;

/// What stops a start, in words for the log.
pub type StartFailure = Box<dyn std::error::Error + Send + Sync>;

/// Which model is asked, and how long.
#[derive(Debug, PartialEq, Eq)]
struct Settings {
    named: Named,
    time: Duration,
}

#[derive(Debug, PartialEq, Eq)]
enum Named {
    Off,
    Bedrock(String),
    OpenAi(Endpoint, Option<SecretRef>),
}

/// Makes everything that lives as long as the process.
///
/// # Errors
/// When anything is missing or wrong.
pub async fn from_environment() -> Result<Handler, StartFailure> {
    let config = environment::configuration()?;
    let wordings = Wordings::compile(&config)?;
    let table = environment::required("LASTWORD_STATE_TABLE")?;
    let settings = settings(&environment::process)?;
    let clients = Clients::from_env(Patience::background())?;
    let drafts = Drafts::new(clients.dynamodb(), table);
    let time = settings.time;
    let model = model(settings, &clients).await?;
    Ok(Handler::new(
        wordings,
        model,
        time,
        drafts,
        Arc::new(Moment::now),
    ))
}

async fn model(settings: Settings, clients: &Clients) -> Result<Model, StartFailure> {
    Ok(match settings.named {
        Named::Off => Model::Off,
        Named::Bedrock(id) => Model::Bedrock(Box::new(Bedrock::new(clients, id, settings.time))),
        Named::OpenAi(endpoint, key) => {
            let key = match key {
                None => None,
                Some(reference) => {
                    let source = SecretSource::new(environment::process, clients.clone());
                    let vault = Vault::open(source, vec![reference.clone()]).await?;
                    Some((reference, Arc::new(vault)))
                }
            };
            Model::OpenAi(Box::new(OpenAi::new(endpoint, key)?))
        }
    })
}

fn settings(lookup: Lookup<'_>) -> Result<Settings, StartError> {
    const EXPECTED: &str =
        "expected bedrock:<id of a model or of an inference profile>, or openai:<base url>#<model>";
    let text = optional_in(lookup, MODEL)?.unwrap_or_default();
    let key = key(lookup)?;
    let unusable = |why: &str| {
        // An address with a user in it may hold a password.
        let shown = if text.contains('@') {
            "(not shown)"
        } else {
            text.as_str()
        };
        StartError::unusable(MODEL, shown, format!("{why}; {EXPECTED}"))
    };
    let named = match text.split_once(':') {
        None if text.is_empty() => Named::Off,
        Some(("bedrock", id)) => {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._:/-".contains(&byte);
            if id.is_empty() || !id.bytes().all(plain) {
                return Err(unusable("its id is none"));
            }
            Named::Bedrock(id.to_owned())
        }
        Some(("openai", endpoint)) => {
            let endpoint = Endpoint::parse(endpoint).map_err(unusable)?;
            Named::OpenAi(endpoint, key.clone())
        }
        Some(_) | None => return Err(unusable("it names no kind of model that is known")),
    };
    match (&named, key) {
        (Named::Off | Named::Bedrock(_), Some(key)) => Err(StartError::unusable(
            SECRET,
            key.to_string(),
            "only openai:<base url>#<model> takes a key",
        )),
        (Named::OpenAi(..), _) | (_, None) => Ok(Settings {
            named,
            time: seconds(lookup)?,
        }),
    }
}

fn key(lookup: Lookup<'_>) -> Result<Option<SecretRef>, StartError> {
    let Some(text) = optional_in(lookup, SECRET)? else {
        return Ok(None);
    };
    match SecretRef::parse(&text) {
        Ok(reference) => Ok(Some(reference)),
        // Somebody may have written the key itself here.
        Err(error) => Err(StartError::unusable(SECRET, "(not shown)", error)),
    }
}

fn seconds(lookup: Lookup<'_>) -> Result<Duration, StartError> {
    let Some(text) = optional_in(lookup, SECONDS)? else {
        return Ok(Duration::from_secs(DEFAULT_SECONDS));
    };
    match text.parse::<u64>() {
        Ok(seconds @ 1..=25) => Ok(Duration::from_secs(seconds)),
        Ok(_) | Err(_) => Err(StartError::unusable(
            SECONDS,
            text,
            "expected a whole number from 1 to 25",
        )),
    }
}

#[cfg(test)]
mod tests;

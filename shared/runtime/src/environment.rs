//! Reads environment variables, and says of each unusable one what it is for.
//!
//! May not have defaults: a function that starts with a guessed table name fails later and elsewhere.

use std::env::VarError;

use lastword_config::{Config, ConfigError};

use crate::secrets::SecretError;

/// Where variables are read: `&process` in a function, a closure over a map in a test.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Result<String, VarError>;

/// What the variables are for, told to the person whose deployment lacks one.
const PURPOSES: &[(&str, &str)] = &[
    (
        "AWS_ACCESS_KEY_ID",
        "identifies the credentials this process calls AWS with; Lambda sets it",
    ),
    (
        "AWS_SECRET_ACCESS_KEY",
        "signs the calls to AWS; Lambda sets it",
    ),
    (
        "AWS_REGION",
        "chooses the region whose services are called (AWS_DEFAULT_REGION is also read); Lambda sets it",
    ),
    (
        "AWS_CA_BUNDLE",
        "names a PEM file of the certificate authorities to trust instead of the system's",
    ),
    (
        "AWS_ENDPOINT_URL",
        "replaces the address of every AWS service",
    ),
    (
        "AWS_ENDPOINT_URL_DYNAMODB",
        "replaces the address of DynamoDB",
    ),
    ("AWS_ENDPOINT_URL_SQS", "replaces the address of SQS"),
    (
        "AWS_ENDPOINT_URL_SSM",
        "replaces the address of the parameter store",
    ),
    (
        "LASTWORD_CONFIG",
        "names a lastword.toml to use instead of the one that was built in",
    ),
    ("LASTWORD_QUEUE_URL", "names the FIFO queue of signals"),
    (
        "LASTWORD_LOCAL_API",
        "points the reads of a provider at a stand-in on this machine",
    ),
    ("LASTWORD_INBOX_TABLE", "names the table of accepted events"),
    (
        "LASTWORD_STATE_TABLE",
        "names the table of projections, facts and effects",
    ),
    (
        "LASTWORD_MODEL",
        "names the model that words drafts; without it the approved texts are used",
    ),
    (
        "LASTWORD_MODEL_SECRET",
        "says where the key of that model's endpoint is kept",
    ),
    (
        "LASTWORD_MODEL_SECONDS",
        "bounds the time that the model has for a text",
    ),
];

/// Why a function cannot start. Every message names the variable and what it is for.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A variable is absent or empty.
    #[error("the environment variable {name} is not set; it {purpose}")]
    Missing {
        /// The variable.
        name: String,
        /// What it is for.
        purpose: &'static str,
    },
    /// A variable is there and cannot be used. The value is shown: no secret is read this way.
    #[error(
        "the environment variable {name} is {found:?}, which cannot be used: {problem}; it {purpose}"
    )]
    Unusable {
        /// The variable.
        name: String,
        /// What it holds.
        found: String,
        /// What is wrong with that.
        problem: String,
        /// What it is for.
        purpose: &'static str,
    },
    /// A secret could not be had.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The configuration is wrong; every line of what is wrong is in it.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

impl StartError {
    /// A variable whose value cannot be used, for callers that check more than presence.
    pub fn unusable(name: &str, found: impl Into<String>, problem: impl ToString) -> Self {
        Self::Unusable {
            name: name.to_owned(),
            found: found.into(),
            problem: problem.to_string(),
            purpose: purpose(name),
        }
    }
}

/// The configuration: the file that `LASTWORD_CONFIG` names, else the one that was built in.
///
/// # Errors
/// When it cannot be read or is wrong.
pub fn configuration() -> Result<Config, StartError> {
    match optional("LASTWORD_CONFIG")? {
        None => Ok(Config::parse("lastword.toml", lastword_config::BUILT_IN)?),
        Some(path) => {
            let text = std::fs::read_to_string(&path)
                .map_err(|error| StartError::unusable("LASTWORD_CONFIG", &path, error))?;
            Ok(Config::parse(&path, &text)?)
        }
    }
}

/// The value of a variable of this process that must be there and not be empty.
pub fn required(name: &str) -> Result<String, StartError> {
    required_in(&process, name)
}

/// The value of a variable of this process that may be absent; empty counts as absent.
pub fn optional(name: &str) -> Result<Option<String>, StartError> {
    optional_in(&process, name)
}

/// As [`required`], from a given lookup.
pub fn required_in(lookup: Lookup<'_>, name: &str) -> Result<String, StartError> {
    optional_in(lookup, name)?.ok_or_else(|| StartError::Missing {
        name: name.to_owned(),
        purpose: purpose(name),
    })
}

/// As [`optional`], from a given lookup.
pub fn optional_in(lookup: Lookup<'_>, name: &str) -> Result<Option<String>, StartError> {
    match lookup(name) {
        Ok(value) if value.is_empty() => Ok(None),
        Ok(value) => Ok(Some(value)),
        Err(VarError::NotPresent) => Ok(None),
        // What is not text is not shown either: nobody can tell what it was meant to be.
        Err(VarError::NotUnicode(_)) => Err(StartError::unusable(name, "", "it is not UTF-8")),
    }
}

/// The lookup of this process's own environment.
pub fn process(name: &str) -> Result<String, VarError> {
    std::env::var(name)
}

fn purpose(name: &str) -> &'static str {
    PURPOSES
        .iter()
        .find(|(known, _)| *known == name)
        .map_or("is needed by this function", |(_, purpose)| purpose)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holding(value: &'static str) -> impl Fn(&str) -> Result<String, VarError> {
        move |_| Ok(value.to_owned())
    }

    #[test]
    fn a_missing_variable_is_named_with_its_purpose() {
        let absent = |_: &str| Err(VarError::NotPresent);
        let message = required_in(&absent, "LASTWORD_INBOX_TABLE")
            .unwrap_err()
            .to_string();
        assert_eq!(
            message,
            "the environment variable LASTWORD_INBOX_TABLE is not set; it names the table of accepted events"
        );
    }

    #[test]
    fn an_empty_variable_is_as_good_as_missing() {
        let error = required_in(&holding(""), "LASTWORD_STATE_TABLE").unwrap_err();
        assert!(matches!(error, StartError::Missing { .. }), "{error}");
        assert_eq!(optional_in(&holding(""), "ANY").unwrap(), None);
    }

    #[test]
    fn a_value_is_handed_over_untouched() {
        assert_eq!(
            required_in(&holding(" inbox "), "LASTWORD_INBOX_TABLE").unwrap(),
            " inbox "
        );
    }

    #[test]
    fn a_value_that_is_not_text_is_reported_and_not_taken_for_absent() {
        let broken = |_: &str| Err(VarError::NotUnicode("x".into()));
        let message = optional_in(&broken, "LASTWORD_STATE_TABLE")
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("LASTWORD_STATE_TABLE") && message.contains("UTF-8"),
            "{message}"
        );
    }
}

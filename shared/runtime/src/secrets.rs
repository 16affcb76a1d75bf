//! Fetches secrets: variables from a lookup, everything else in one call to the parameter store per ten.
//!
//! Keeps nothing. A caller that meets a signature it cannot verify may resolve again, as often as it
//! allows itself to; the current and the previous secret are simply two references.

use std::collections::{BTreeMap, BTreeSet};
use std::env::VarError;
use std::fmt;

use aws_sdk_ssm::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_ssm::operation::get_parameters::GetParametersError;
use aws_sdk_ssm::types::Parameter;
use lastword_config::{SecretRef, SecretValue};
use zeroize::Zeroizing;

use crate::clients::Clients;

/// What GetParameters takes at most.
const NAMES_PER_CALL: usize = 10;

/// Why secrets could not be had. Names references, never values.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// Nothing is stored under these references: somebody must store it.
    #[error("these secrets do not exist: {}", list(.0))]
    Missing(Vec<SecretRef>),
    /// Something is stored that cannot be a secret: somebody must correct it.
    #[error("the secret {reference} cannot be used: {problem}")]
    Unfit {
        /// The reference.
        reference: SecretRef,
        /// What is wrong with the value.
        problem: &'static str,
    },
    /// The parameter store refused or did not answer: it may later.
    #[error("the parameter store did not give the secrets {}: {reason}", list(.references))]
    Unavailable {
        /// What was asked for.
        references: Vec<SecretRef>,
        /// What it said. The SDK's error is not kept as a source: its debug form can hold the raw answer,
        /// and with it the secrets.
        reason: String,
    },
}

type OwnedLookup = Box<dyn Fn(&str) -> Result<String, VarError> + Send + Sync>;

/// Turns references into values.
pub struct SecretSource {
    lookup: OwnedLookup,
    clients: Clients,
}

impl fmt::Debug for SecretSource {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("SecretSource")
    }
}

impl SecretSource {
    /// Reads variables with the lookup (`environment::process` in a function) and everything else with the
    /// clients, whose parameter store client is built only if a reference needs it.
    pub fn new(
        lookup: impl Fn(&str) -> Result<String, VarError> + Send + Sync + 'static,
        clients: Clients,
    ) -> Self {
        Self {
            lookup: Box::new(lookup),
            clients,
        }
    }

    /// The values of all references, or one error: the missing ones are all named together.
    pub async fn resolve_all(
        &self,
        references: &[SecretRef],
    ) -> Result<BTreeMap<SecretRef, SecretValue>, SecretError> {
        let references: BTreeSet<&SecretRef> = references.iter().collect();
        let mut found = BTreeMap::new();
        let mut asked = Vec::new();
        for reference in &references {
            match reference.parameter() {
                Some(name) => asked.push((name, *reference)),
                None => self.read_variable(reference, &mut found)?,
            }
        }
        for some in asked.chunks(NAMES_PER_CALL) {
            self.read_parameters(some, &mut found).await?;
        }
        let missing: Vec<_> = references
            .into_iter()
            .filter(|it| !found.contains_key(*it))
            .cloned()
            .collect();
        if missing.is_empty() {
            Ok(found)
        } else {
            Err(SecretError::Missing(missing))
        }
    }

    fn read_variable(
        &self,
        reference: &SecretRef,
        found: &mut BTreeMap<SecretRef, SecretValue>,
    ) -> Result<(), SecretError> {
        match (self.lookup)(reference.name()) {
            Ok(value) => keep(reference, value, found),
            Err(VarError::NotPresent) => Ok(()),
            Err(VarError::NotUnicode(_)) => Err(unfit(reference, "it is not UTF-8")),
        }
    }

    async fn read_parameters(
        &self,
        asked: &[(String, &SecretRef)],
        found: &mut BTreeMap<SecretRef, SecretValue>,
    ) -> Result<(), SecretError> {
        let names = asked.iter().map(|(name, _)| name.clone()).collect();
        let call = self
            .clients
            .ssm()
            .get_parameters()
            .set_names(Some(names))
            .with_decryption(true)
            .send();
        let answer = call.await.map_err(|error| SecretError::Unavailable {
            references: asked
                .iter()
                .map(|(_, reference)| (*reference).clone())
                .collect(),
            reason: reason(&error),
        })?;
        for parameter in answer.parameters.unwrap_or_default() {
            let name = asked_name(&parameter);
            let reference = asked
                .iter()
                .find(|(asked, _)| *asked == name)
                .map(|(_, reference)| *reference);
            if let (Some(reference), Some(value)) = (reference, parameter.value) {
                keep(reference, value, found)?;
            }
        }
        Ok(())
    }
}

/// The name as it was asked for: the answer splits a version or label off it.
fn asked_name(parameter: &Parameter) -> String {
    format!(
        "{}{}",
        parameter.name().unwrap_or_default(),
        parameter.selector().unwrap_or_default()
    )
}

fn keep(
    reference: &SecretRef,
    value: String,
    found: &mut BTreeMap<SecretRef, SecretValue>,
) -> Result<(), SecretError> {
    let value =
        SecretValue::accept(Zeroizing::new(value)).map_err(|problem| unfit(reference, problem))?;
    found.insert(reference.clone(), value);
    Ok(())
}

fn unfit(reference: &SecretRef, problem: &'static str) -> SecretError {
    SecretError::Unfit {
        reference: reference.clone(),
        problem,
    }
}

fn reason(error: &SdkError<GetParametersError>) -> String {
    match error.as_service_error() {
        Some(said) => {
            format!(
                "{}: {}",
                said.code().unwrap_or("no code"),
                said.message().unwrap_or("no message")
            )
        }
        // The error's own words ("dispatch failure", "request has timed out"), without what it carries.
        None => error.to_string(),
    }
}

fn list(references: &[SecretRef]) -> String {
    references
        .iter()
        .map(SecretRef::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests;

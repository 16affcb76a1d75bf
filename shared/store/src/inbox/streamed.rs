//! A row of this table as its stream shows it, read without its body.

use lastword_domain::name::{
    Account, Environment, IntegrationName, NameError, Provider, ResourceId, ResourceType,
};
use lastword_domain::{EventRef, ResourceKey};
use serde::Deserialize;

use crate::error::StoreError;

/// What a new row says to the relay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Streamed {
    /// An event or a variant was accepted.
    Accepted {
        /// Points at it.
        reference: EventRef,
        /// The endpoint that accepted it.
        integration: IntegrationName,
        /// What it concerns.
        resources: Vec<ResourceKey>,
    },
    /// A part of a body: its event's own row follows.
    Part,
}

/// Text in the stream's rendering.
#[derive(Deserialize)]
struct Text {
    #[serde(rename = "S")]
    text: String,
}

#[derive(Deserialize)]
struct List<T> {
    #[serde(rename = "L")]
    items: Vec<T>,
}

#[derive(Deserialize)]
struct Keys {
    pk: Text,
    sk: Text,
}

#[derive(Deserialize)]
struct Image {
    integration: Text,
    provider: Text,
    account: Text,
    environment: Text,
    resources: List<List<Text>>,
}

fn corrupt(attribute: &'static str, why: impl std::fmt::Display) -> StoreError {
    StoreError::Corrupt {
        item: "streamed event",
        attribute,
        why: why.to_string(),
    }
}

impl Streamed {
    /// Reads a record's new image, as JSON.
    ///
    /// # Errors
    /// When it is not a row of this table.
    pub fn parse(image: &str) -> Result<Self, StoreError> {
        let keys: Keys = serde_json::from_str(image).map_err(|error| corrupt("pk", error))?;
        if keys.sk.text == "part" {
            return Ok(Self::Part);
        }
        let reference = match keys.sk.text.split_once('#') {
            Some(("variant", digest)) => format!("{}.{digest}", keys.pk.text),
            Some(_) => return Err(corrupt("sk", "is of no known kind")),
            None => keys.pk.text,
        };
        let reference = EventRef::parse(&reference).map_err(|error| corrupt("pk", error))?;
        let image: Image = serde_json::from_str(image).map_err(|error| corrupt("image", error))?;
        let integration = IntegrationName::parse(&image.integration.text)
            .map_err(|error| corrupt("integration", error))?;
        let resources = image
            .resources()
            .map_err(|error| corrupt("resources", error))?;
        match resources {
            Some(resources) if !resources.is_empty() => Ok(Self::Accepted {
                reference,
                integration,
                resources,
            }),
            Some(_) | None => Err(corrupt("resources", "does not hold pairs of type and id")),
        }
    }
}

impl Image {
    fn resources(&self) -> Result<Option<Vec<ResourceKey>>, NameError> {
        let mut resources = Vec::with_capacity(self.resources.items.len());
        for pair in &self.resources.items {
            let [kind, id] = pair.items.as_slice() else {
                return Ok(None);
            };
            resources.push(ResourceKey {
                provider: Provider::parse(&self.provider.text)?,
                account: Account::parse(&self.account.text)?,
                environment: Environment::parse(&self.environment.text)?,
                kind: ResourceType::parse(&kind.text)?,
                id: ResourceId::parse(&id.text)?,
            });
        }
        Ok(Some(resources))
    }
}

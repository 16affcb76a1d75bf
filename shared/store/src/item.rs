//! Reads typed values out of a stored item, and names the item and attribute when they are not there.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use lastword_domain::ResourceKey;
use lastword_domain::name::{Account, Environment, Provider, ResourceId, ResourceType};

use crate::error::StoreError;

pub(crate) type Item = HashMap<String, AttributeValue>;

/// An item being read.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'a> {
    pub(crate) kind: &'static str,
    pub(crate) item: &'a Item,
}

impl<'a> Reading<'a> {
    pub(crate) fn corrupt(
        self,
        attribute: &'static str,
        why: impl std::fmt::Display,
    ) -> StoreError {
        StoreError::Corrupt {
            item: self.kind,
            attribute,
            why: why.to_string(),
        }
    }

    pub(crate) fn text(self, attribute: &'static str) -> Result<&'a str, StoreError> {
        self.optional_text(attribute)?
            .ok_or_else(|| self.corrupt(attribute, "is missing"))
    }

    pub(crate) fn optional_text(
        self,
        attribute: &'static str,
    ) -> Result<Option<&'a str>, StoreError> {
        match self.item.get(attribute) {
            None => Ok(None),
            Some(AttributeValue::S(text)) => Ok(Some(text)),
            Some(other) => {
                Err(self.corrupt(attribute, format_args!("is {}, not text", kind_of(other))))
            }
        }
    }

    pub(crate) fn name<T, E: std::fmt::Display>(
        self,
        attribute: &'static str,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Result<T, StoreError> {
        parse(self.text(attribute)?).map_err(|error| self.corrupt(attribute, error))
    }

    pub(crate) fn optional_digits(
        self,
        attribute: &'static str,
    ) -> Result<Option<&'a str>, StoreError> {
        match self.item.get(attribute) {
            None => Ok(None),
            Some(AttributeValue::N(digits)) => Ok(Some(digits)),
            Some(other) => Err(self.corrupt(
                attribute,
                format_args!("is {}, not a number", kind_of(other)),
            )),
        }
    }

    pub(crate) fn optional_number(
        self,
        attribute: &'static str,
    ) -> Result<Option<u64>, StoreError> {
        match self.optional_digits(attribute)? {
            None => Ok(None),
            Some(digits) => digits
                .parse()
                .map(Some)
                .map_err(|error| self.corrupt(attribute, error)),
        }
    }

    pub(crate) fn optional_bytes(
        self,
        attribute: &'static str,
    ) -> Result<Option<&'a [u8]>, StoreError> {
        match self.item.get(attribute) {
            None => Ok(None),
            Some(AttributeValue::B(blob)) => Ok(Some(blob.as_ref())),
            Some(other) => {
                Err(self.corrupt(attribute, format_args!("is {}, not bytes", kind_of(other))))
            }
        }
    }

    pub(crate) fn flag(self, attribute: &'static str) -> Result<bool, StoreError> {
        match self.item.get(attribute) {
            None => Ok(false),
            Some(AttributeValue::Bool(flag)) => Ok(*flag),
            Some(other) => {
                Err(self.corrupt(attribute, format_args!("is {}, not a flag", kind_of(other))))
            }
        }
    }

    pub(crate) fn list(self, attribute: &'static str) -> Result<&'a [AttributeValue], StoreError> {
        match self.item.get(attribute) {
            None => Ok(&[]),
            Some(AttributeValue::L(values)) => Ok(values),
            Some(other) => {
                Err(self.corrupt(attribute, format_args!("is {}, not a list", kind_of(other))))
            }
        }
    }
}

/// A projection expression of just these attributes with its names; none for all of an item.
pub(crate) fn only(attributes: &[&str]) -> (Option<String>, Option<HashMap<String, String>>) {
    if attributes.is_empty() {
        return (None, None);
    }
    let names = attributes.iter().map(|name| format!("#{name}"));
    let expression = names.clone().collect::<Vec<_>>().join(", ");
    let names = names.zip(attributes.iter().map(|name| (*name).to_owned()));
    (Some(expression), Some(names.collect()))
}

/// The most bytes of an item that is written: the store's limit is 400 KB, and counts a little more than is
/// counted here.
pub(crate) const MOST_BYTES: usize = 396 * 1024;

/// About how many bytes the store counts an item as.
pub(crate) fn size(item: &Item) -> usize {
    item.iter()
        .map(|(name, value)| name.len() + value_size(value))
        .sum()
}

fn value_size(value: &AttributeValue) -> usize {
    if let Ok(text) = value.as_s().or_else(|_| value.as_n()) {
        text.len()
    } else if let Ok(blob) = value.as_b() {
        blob.as_ref().len()
    } else if let Ok(values) = value.as_l() {
        values
            .iter()
            .map(|value| 1 + value_size(value))
            .sum::<usize>()
            + 3
    } else if let Ok(map) = value.as_m() {
        3 + size(map)
    } else {
        1
    }
}

/// The readable parts of a resource's key.
pub(crate) fn resource(key: &ResourceKey, item: &mut Item) {
    let mut put = |name: &str, value: &str| item.insert(name.to_owned(), text(value));
    put("provider", key.provider.as_str());
    put("account", key.account.as_str());
    put("environment", key.environment.as_str());
    put("type", key.kind.as_str());
    put("id", key.id.as_str());
}

impl Reading<'_> {
    /// A resource's key from its readable parts.
    pub(crate) fn resource(self) -> Result<ResourceKey, StoreError> {
        Ok(ResourceKey {
            provider: self.name("provider", Provider::parse)?,
            account: self.name("account", Account::parse)?,
            environment: self.name("environment", Environment::parse)?,
            kind: self.name("type", ResourceType::parse)?,
            id: self.name("id", ResourceId::parse)?,
        })
    }
}

fn kind_of(value: &AttributeValue) -> &'static str {
    if value.is_s() {
        "text"
    } else if value.is_n() {
        "a number"
    } else if value.is_b() {
        "bytes"
    } else if value.is_l() || value.is_m() {
        "a list or map"
    } else {
        "of another type"
    }
}

pub(crate) fn text(value: impl Into<String>) -> AttributeValue {
    AttributeValue::S(value.into())
}

pub(crate) fn number(value: impl std::fmt::Display) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

pub(crate) fn bytes(value: impl Into<Vec<u8>>) -> AttributeValue {
    AttributeValue::B(aws_sdk_dynamodb::primitives::Blob::new(value))
}

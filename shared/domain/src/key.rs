//! Law 3, identity is whole: what makes two events, or two resources, the same one.
//!
//! Keys are digests of all the parts, each with its length, because a provider chooses the parts: they
//! may be long, hold a separator, or be no text a key may hold. The readable parts are kept beside.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::name::{Account, Environment, EventId, Provider, ResourceId, ResourceType};

/// A digest that stands for a resource or an event in keys and queue groups: 43 ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyHash(Box<str>);

impl KeyHash {
    pub(crate) fn of(kind: &str, parts: &[&str]) -> Self {
        let mut all = Vec::with_capacity(parts.len() + 1);
        all.push(kind);
        all.extend_from_slice(parts);
        Self(Digest::of_parts(&all).to_text().into_boxed_str())
    }

    /// The 43 characters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One of the provider's objects. The same id under another account, environment or type is another
/// resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ResourceKey {
    /// Whose object it is.
    pub provider: Provider,
    /// Under which of the provider's accounts.
    pub account: Account,
    /// In which of the provider's worlds.
    pub environment: Environment,
    /// What kind of object.
    #[serde(rename = "type")]
    pub kind: ResourceType,
    /// The provider's id for it.
    pub id: ResourceId,
}

impl ResourceKey {
    /// The key under which everything about this resource is stored and queued.
    #[must_use]
    pub fn hash(&self) -> KeyHash {
        KeyHash::of(
            "resource",
            &[
                self.provider.as_str(),
                self.account.as_str(),
                self.environment.as_str(),
                self.kind.as_str(),
                self.id.as_str(),
            ],
        )
    }
}

impl fmt::Display for ResourceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}/{}/{}/{}/{}",
            self.provider, self.account, self.environment, self.kind, self.id
        )
    }
}

/// What makes two deliveries the same event.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EventIdentity {
    /// Who says so.
    pub provider: Provider,
    /// About which account.
    pub account: Account,
    /// In which world.
    pub environment: Environment,
    /// The provider's id for the event.
    pub id: EventId,
}

impl EventIdentity {
    /// The key under which the event's rows are stored.
    #[must_use]
    pub fn hash(&self) -> KeyHash {
        KeyHash::of(
            "event",
            &[
                self.provider.as_str(),
                self.account.as_str(),
                self.environment.as_str(),
                self.id.as_str(),
            ],
        )
    }
}

/// Points at one accepted body in the inbox: the first under an identity, or a *variant* that came
/// under the same identity with different bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EventRef {
    event: Box<str>,
    variant: Option<Box<str>>,
}

/// A text that is no event reference.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an event reference (43 characters, and for a variant a '.' and 43 more)")]
pub struct EventRefError;

impl EventRef {
    /// The first body accepted under an identity.
    #[must_use]
    pub fn first(identity: &KeyHash) -> Self {
        Self {
            event: identity.as_str().into(),
            variant: None,
        }
    }

    /// A further body under the same identity, known by its digest.
    #[must_use]
    pub fn variant(identity: &KeyHash, body: &Digest) -> Self {
        Self {
            event: identity.as_str().into(),
            variant: Some(body.to_text().into_boxed_str()),
        }
    }

    /// The identity's key.
    #[must_use]
    pub fn event(&self) -> &str {
        &self.event
    }

    /// The body's digest as text, when this is a variant.
    #[must_use]
    pub fn variant_digest(&self) -> Option<&str> {
        self.variant.as_deref()
    }

    /// From the text that [`fmt::Display`] writes.
    ///
    /// # Errors
    /// When the text is not of that form.
    pub fn parse(text: &str) -> Result<Self, EventRefError> {
        let (event, variant) = match text.split_once('.') {
            None => (text, None),
            Some((event, variant)) => (event, Some(variant)),
        };
        let sound = |part: &str| Digest::from_text(part).is_some();
        if !sound(event) || !variant.is_none_or(sound) {
            return Err(EventRefError);
        }
        Ok(Self {
            event: event.into(),
            variant: variant.map(Into::into),
        })
    }
}

impl fmt::Display for EventRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.variant {
            None => f.write_str(&self.event),
            Some(variant) => write!(f, "{}.{variant}", self.event),
        }
    }
}

impl TryFrom<String> for EventRef {
    type Error = EventRefError;
    fn try_from(text: String) -> Result<Self, EventRefError> {
        Self::parse(&text)
    }
}

impl From<EventRef> for String {
    fn from(reference: EventRef) -> Self {
        reference.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(account: &str, environment: &str, kind: &str, id: &str) -> ResourceKey {
        ResourceKey {
            provider: Provider::parse("stripe").unwrap(),
            account: Account::parse(account).unwrap(),
            environment: Environment::parse(environment).unwrap(),
            kind: ResourceType::parse(kind).unwrap(),
            id: ResourceId::parse(id).unwrap(),
        }
    }

    #[test]
    fn the_same_id_under_another_account_world_or_type_is_another_resource() {
        let one = key("acct_1", "live", "invoice", "in_1");
        for other in [
            key("acct_2", "live", "invoice", "in_1"),
            key("acct_1", "test", "invoice", "in_1"),
            key("acct_1", "live", "charge", "in_1"),
            key("acct_1", "live", "invoice", "in_2"),
        ] {
            assert_ne!(one.hash(), other.hash(), "{other}");
        }
    }

    proptest! {
        #[test]
        fn two_different_keys_never_share_a_hash_by_their_borders(
            a in "[a#/]{1,6}", b in "[a#/]{1,6}", c in "[a#/]{1,6}", d in "[a#/]{1,6}"
        ) {
            let one = key(&a, "live", "x", &b);
            let two = key(&c, "live", "x", &d);
            prop_assert_eq!(one == two, one.hash() == two.hash());
        }

        #[test]
        fn an_event_reference_survives_its_text(id in "\\PC{1,40}", body in any::<Vec<u8>>(), variant in any::<bool>()) {
            let identity = EventIdentity {
                provider: Provider::parse("p").unwrap(),
                account: Account::parse("a").unwrap(),
                environment: Environment::parse("e").unwrap(),
                id: EventId::parse(&id).unwrap(),
            };
            let reference = if variant {
                EventRef::variant(&identity.hash(), &Digest::of(&body))
            } else {
                EventRef::first(&identity.hash())
            };
            prop_assert_eq!(EventRef::parse(&reference.to_string()), Ok(reference));
        }
    }
}

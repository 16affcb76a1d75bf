//! Names as types: each has one door, [`parse`](Provider::parse), and no way to hold a bad value.
//!
//! Names chosen by people in `lastword.toml` or a contract are plain slugs. Names chosen by a provider
//! (ids, accounts, event types) are kept exactly as sent, whatever characters they hold, up to a stated
//! length; longer or empty ones are refused whole, never cut.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a text is not a name of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Nothing at all was given.
    #[error("{kind} is empty")]
    Empty {
        /// What was being parsed.
        kind: &'static str,
    },
    /// More bytes than the kind allows.
    #[error("{kind} has {found} bytes, the most is {most}")]
    TooLong {
        /// What was being parsed.
        kind: &'static str,
        /// Bytes found.
        found: usize,
        /// Bytes allowed.
        most: usize,
    },
    /// A character that the kind does not allow.
    #[error("{kind} holds {found:?}; allowed are a-z, 0-9, '-', '_' and '.'")]
    Character {
        /// What was being parsed.
        kind: &'static str,
        /// The first refused character.
        found: char,
    },
}

fn exact(kind: &'static str, most: usize, text: &str) -> Result<(), NameError> {
    if text.is_empty() {
        return Err(NameError::Empty { kind });
    }
    if text.len() > most {
        return Err(NameError::TooLong {
            kind,
            found: text.len(),
            most,
        });
    }
    Ok(())
}

fn slug(kind: &'static str, most: usize, text: &str) -> Result<(), NameError> {
    exact(kind, most, text)?;
    let allowed =
        |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
    match text.chars().find(|c| !allowed(*c)) {
        Some(found) => Err(NameError::Character { kind, found }),
        None => Ok(()),
    }
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $check:ident, $most:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Box<str>);

        impl $name {
            /// The most bytes a value may have.
            pub const MOST_BYTES: usize = $most;

            /// The only way to make one.
            ///
            /// # Errors
            /// Says what is wrong with the text; the text itself is never changed to fit.
            pub fn parse(text: &str) -> Result<Self, NameError> {
                $check($kind, $most, text)?;
                Ok(Self(text.into()))
            }

            /// The text, exactly as it was given.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = NameError;
            fn try_from(text: String) -> Result<Self, NameError> {
                $check($kind, $most, &text)?;
                Ok(Self(text.into_boxed_str()))
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0.into_string()
            }
        }
    };
}

name!(
    /// A provider, as its contract calls itself: `stripe`.
    Provider, "a provider name", slug, 64
);
name!(
    /// A configured endpoint of this deployment; its name is in the URL.
    IntegrationName, "an integration name", slug, 64
);
name!(
    /// Which of the provider's worlds: `live`, `test`, or what the integration calls it.
    Environment, "an environment", slug, 64
);
name!(
    /// A kind of the provider's objects: `subscription`.
    ResourceType, "a resource type", slug, 64
);
name!(
    /// A kind of things of our own business: `order`.
    SubjectKind, "a subject's name", slug, 64
);
name!(
    /// What a member is to its subject: `payment`.
    Role, "a role", slug, 64
);
name!(
    /// A rule, as the configuration calls it: `paid-and-cancelled`.
    RuleName, "a rule's name", slug, 128
);
name!(
    /// A kind of facts: `invoice-paid`.
    FactKind, "a fact's name", slug, 64
);
name!(
    /// An outward action, as the configuration calls it: `receipt`.
    EffectName, "an effect's name", slug, 64
);
name!(
    /// Where effects go, as the configuration calls it: `mail`.
    DestinationName, "a destination's name", slug, 64
);
name!(
    /// How a message is worded, as the configuration calls it: `order-confirmation`.
    WordingName, "a wording's name", slug, 64
);
name!(
    /// A fact's business identity, exactly as its event gives it.
    FactId, "a fact's id", exact, 1024
);
name!(
    /// The id of a thing of our own business, exactly as its members write it.
    SubjectId, "a subject's id", exact, 1024
);
name!(
    /// The provider's account that owns a resource, exactly as the provider writes it.
    Account, "an account", exact, 256
);
name!(
    /// The provider's id of a resource, exactly as the provider writes it.
    ResourceId, "a resource id", exact, 1024
);
name!(
    /// The provider's id of an event, exactly as the provider writes it.
    EventId, "an event id", exact, 1024
);
name!(
    /// The provider's name of what happened: `customer.subscription.updated`.
    EventType, "an event type", exact, 256
);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_id_of_no_bytes_is_refused_and_one_over_the_limit_is_refused_whole() {
        assert_eq!(
            ResourceId::parse(""),
            Err(NameError::Empty {
                kind: "a resource id"
            })
        );
        assert!(ResourceId::parse(&"x".repeat(1024)).is_ok());
        assert!(matches!(
            ResourceId::parse(&"x".repeat(3000)),
            Err(NameError::TooLong { found: 3000, .. })
        ));
    }

    #[test]
    fn a_name_chosen_by_people_is_a_slug() {
        assert!(IntegrationName::parse("billing-eu_2").is_ok());
        assert!(matches!(
            IntegrationName::parse("Billing"),
            Err(NameError::Character { found: 'B', .. })
        ));
        assert!(matches!(
            IntegrationName::parse("a/b"),
            Err(NameError::Character { found: '/', .. })
        ));
    }

    proptest! {
        #[test]
        fn whatever_a_provider_calls_a_thing_is_kept_to_the_byte(text in "\\PC{1,200}|[\\x00-\\x1f#/ 😊\u{ffff}]{1,40}") {
            let id = ResourceId::parse(&text).unwrap();
            prop_assert_eq!(id.as_str(), text);
        }
    }
}

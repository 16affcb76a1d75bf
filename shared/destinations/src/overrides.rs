//! Destinations that are reached on this machine instead, for the local stack only.
//!
//! An override carries the destination's secret to wherever it points, so it can point at nothing but a loopback
//! address. This room may not read the variable that the overrides come from.

use std::collections::BTreeMap;

use http::uri::Authority;
use lastword_config::destination::of_this_machine;
use lastword_domain::name::DestinationName;

/// Destinations that are reached on this machine instead of at their own address.
#[derive(Debug, Clone, Default)]
pub struct DestinationOverrides(BTreeMap<DestinationName, Authority>);

/// A text that overrides no destination.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} overrides no destination: {why}; expected name=http://127.0.0.1:port")]
pub struct InvalidOverride {
    found: String,
    why: String,
}

impl DestinationOverrides {
    /// None: every destination is reached at its own address.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// From `mail=http://127.0.0.1:8421,crm=http://127.0.0.1:8422`; an empty text overrides none.
    ///
    /// # Errors
    /// Says which of them is wrong, and why.
    pub fn parse(text: &str) -> Result<Self, InvalidOverride> {
        let mut all = Self::none();
        if text.trim().is_empty() {
            return Ok(all);
        }
        for item in text.split(',').map(str::trim) {
            // A user and password in it are not repeated.
            let found = if item.contains('@') {
                "(not shown)"
            } else {
                item
            };
            let refused = |why: String| InvalidOverride {
                found: found.to_owned(),
                why,
            };
            let (name, url) = item
                .split_once('=')
                .ok_or_else(|| refused("it has no =".to_owned()))?;
            let name = DestinationName::parse(name).map_err(|error| refused(error.to_string()))?;
            let authority = of_this_machine(url).map_err(|why| refused(why.to_owned()))?;
            if all.0.insert(name, authority).is_some() {
                return Err(refused("the destination is named twice".to_owned()));
            }
        }
        Ok(all)
    }

    /// Which destinations are overridden: a name that is not configured is worth a warning.
    pub fn names(&self) -> impl Iterator<Item = &DestinationName> {
        self.0.keys()
    }

    pub(crate) fn of(&self, name: &DestinationName) -> Option<&Authority> {
        self.0.get(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_override_on_this_machine_is_taken_for_its_destination() {
        let text = " mail=http://127.0.0.1:8421, crm=http://[::1]:1/ ,q=http://localhost";
        let all = DestinationOverrides::parse(text).unwrap();
        let of = |name: &str| {
            let name = DestinationName::parse(name).unwrap();
            all.of(&name).map(ToString::to_string)
        };
        assert_eq!(of("mail").unwrap(), "127.0.0.1:8421");
        assert_eq!(of("crm").unwrap(), "[::1]:1");
        assert_eq!(
            (of("q").unwrap().as_str(), of("other")),
            ("localhost", None)
        );
    }

    #[test]
    fn an_override_that_leads_off_this_machine_or_has_another_form_is_refused() {
        for text in [
            "mail=http://10.0.0.1:80",
            "mail=http://127.0.0.1.example.com",
            "mail=http://127.1",
            "mail=https://127.0.0.1",
            "mail=http://127.0.0.1/x",
            "mail=http://127.0.0.1?x",
            "mail=http://127.0.0.1:99999",
            "mail=127.0.0.1:80",
            "Mail=http://127.0.0.1",
            "mail=http://127.0.0.1,",
            "mail=http://127.0.0.1,mail=http://127.0.0.1",
            "=http://127.0.0.1",
            "mail",
        ] {
            assert!(DestinationOverrides::parse(text).is_err(), "{text}");
        }
        let told = DestinationOverrides::parse("mail=http://u:hunter2@127.0.0.1").unwrap_err();
        assert!(!told.to_string().contains("hunter2"), "{told}");
    }

    proptest! {
        #[test]
        fn no_text_leads_to_another_machine(text in "(mail=)?(http://)?([a-z0-9.:@/\\[\\]#?%,=]{0,24}|\\PC{0,12})") {
            if let Ok(overrides) = DestinationOverrides::parse(&text) {
                for authority in overrides.0.values() {
                    let host = authority.host();
                    prop_assert!(host == "[::1]" || host == "localhost" || host.starts_with("127."), "{}", host);
                }
            }
        }
    }
}

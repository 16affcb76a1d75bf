//! Which contract a file means: others call providers by other names.

use lastword_contracts::Contract;

/// Names of the same thing that no rule would find.
const ALSO: [(&str, &str); 4] = [
    ("whatsapp", "meta"),
    ("facebook", "meta"),
    ("instagram", "meta"),
    ("standardwebhooks", "standard-webhooks"),
];

/// The contract of a provider, by its name in a file.
pub(super) fn contract(provider: &str) -> Result<Contract, String> {
    let name = name(provider).unwrap_or(provider);
    Contract::builtin(name).map_err(|error| error.to_string())
}

fn name(provider: &str) -> Option<&'static str> {
    let wanted = provider
        .trim()
        .to_ascii_lowercase()
        .replace(['_', ' '], "-");
    let exact = Contract::names().find(|name| *name == wanted);
    let also = || {
        let (_, meant) = ALSO.iter().find(|(other, _)| wanted.starts_with(other))?;
        Some(*meant)
    };
    let unhyphened = || {
        let bare = |text: &str| text.replace('-', "");
        Contract::names().find(|name| bare(name) == bare(&wanted))
    };
    // gitlab-signing-token: the provider, and which of its ways.
    let longest = || {
        let starts = |name: &&str| {
            let rest = wanted.strip_prefix(*name);
            rest.is_some_and(|rest| rest.starts_with('-'))
        };
        Contract::names()
            .filter(starts)
            .max_by_key(|name| name.len())
    };
    exact.or_else(also).or_else(unhyphened).or_else(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_is_found_by_the_names_that_others_give_it() {
        for (called, meant) in [
            ("stripe", "stripe"),
            ("Standard_Webhooks", "standard-webhooks"),
            ("standardwebhooks", "standard-webhooks"),
            ("whatsapp", "meta"),
            ("whatsapp-cloud", "meta"),
            ("shopify-events", "shopify"),
            ("gitlab-signing-token", "gitlab"),
            ("lemon-squeezy", "lemonsqueezy"),
            ("Generic HMAC", "generic-hmac"),
        ] {
            assert_eq!(name(called), Some(meant), "{called}");
        }
        for other in ["", "strip", "stripey", "acme"] {
            assert_eq!(name(other), None, "{other}");
        }
        let why = contract("acme").unwrap_err();
        assert!(why.starts_with("unknown contract \"acme\""), "{why}");
    }
}

//! Where a request goes: the contract's host over TLS, or, for the local stack only, this machine.
//!
//! An override carries the account's key to wherever it points, so it can point at nothing but a loopback
//! address. This room may not read the variable that the overrides come from.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use http::uri::{Authority, Scheme};
use lastword_contracts::Api;
use lastword_domain::name::{Account, Environment, Provider};

use crate::answer::Unreadable;

/// Providers that are read on this machine instead of at their own host.
#[derive(Debug, Clone, Default)]
pub struct HostOverrides(BTreeMap<Provider, Authority>);

/// A text that overrides no host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} overrides no provider's host: {why}; expected name=http://127.0.0.1:port")]
pub struct InvalidOverride {
    found: String,
    why: String,
}

/// Scheme and authority of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Base {
    pub(crate) scheme: Scheme,
    pub(crate) authority: Authority,
}

impl HostOverrides {
    /// None: every provider is read at its own host.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// From `stripe=http://127.0.0.1:8420,github=http://127.0.0.1:8421`; an empty text overrides none.
    ///
    /// # Errors
    /// Says which of them is wrong, and why.
    pub fn parse(text: &str) -> Result<Self, InvalidOverride> {
        let mut all = Self::none();
        if text.trim().is_empty() {
            return Ok(all);
        }
        for item in text.split(',').map(str::trim) {
            let refused = |why: String| InvalidOverride {
                // A user and password in it are not repeated.
                found: if item.contains('@') {
                    "(not shown)"
                } else {
                    item
                }
                .to_owned(),
                why,
            };
            let (name, url) = item
                .split_once('=')
                .ok_or_else(|| refused("it has no =".to_owned()))?;
            let provider = Provider::parse(name).map_err(|error| refused(error.to_string()))?;
            let authority = loopback(url).map_err(|why| refused(why.to_owned()))?;
            if all.0.insert(provider, authority).is_some() {
                return Err(refused("the provider is named twice".to_owned()));
            }
        }
        Ok(all)
    }

    /// Which providers are overridden: a name that no contract has is worth a warning.
    pub fn providers(&self) -> impl Iterator<Item = &Provider> {
        self.0.keys()
    }

    /// Where a provider's requests about an account go.
    pub(crate) fn base(
        &self,
        provider: &Provider,
        environment: &Environment,
        account: &Account,
        api: &Api,
    ) -> Result<Base, Unreadable> {
        if let Some(authority) = self.0.get(provider) {
            return Ok(Base {
                scheme: Scheme::HTTP,
                authority: authority.clone(),
            });
        }
        let bad = |_| Unreadable::BadContract("its host is not https://name");
        let authority = match (&api.account_host, api.hosts.get(environment), &api.host) {
            // The account is the integration's own or on its list, never a request's word alone.
            (Some(template), _, _) => host_of(&account_host(template, account)?, &Scheme::HTTPS)
                .map_err(|_| Unreadable::UnfitAccount)?,
            (None, Some(host), _) | (None, None, Some(host)) => {
                host_of(host, &Scheme::HTTPS).map_err(bad)?
            }
            (None, None, None) => {
                return Err(Unreadable::BadContract(
                    "it has no host for this environment",
                ));
            }
        };
        Ok(Base {
            scheme: Scheme::HTTPS,
            authority,
        })
    }
}

/// An account that is a host's name; anything else in it would be another host, a path or a port.
fn account_host(template: &str, account: &Account) -> Result<String, Unreadable> {
    if !is_plain(account) {
        return Err(Unreadable::UnfitAccount);
    }
    Ok(template.replace("{account}", account.as_str()))
}

/// Whether an account can stand in a host or in a path as it is.
pub(crate) fn is_plain(account: &Account) -> bool {
    let name = account.as_str();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    name.bytes().all(plain) && !name.starts_with('.') && !name.contains("..")
}

/// Scheme and host, and nothing else.
fn host_of(url: &str, scheme: &Scheme) -> Result<Authority, &'static str> {
    let parts = url
        .parse::<http::Uri>()
        .map_err(|_| "it is no URL")?
        .into_parts();
    if parts.scheme.as_ref() != Some(scheme) {
        return Err("it has another scheme");
    }
    if url.contains('#') || parts.path_and_query.is_some_and(|path| path != "/") {
        return Err("it has more than a host and a port");
    }
    let authority = parts.authority.ok_or("it has no host")?;
    let whole = match authority.port_u16() {
        None => authority.host().to_owned(),
        Some(port) => format!("{}:{port}", authority.host()),
    };
    if authority.as_str() != whole {
        return Err("it has more than a host and a port");
    }
    Ok(authority)
}

fn loopback(url: &str) -> Result<Authority, &'static str> {
    let authority = host_of(url, &Scheme::HTTP)?;
    let host = authority.host();
    let here = host == "[::1]"
        || host.eq_ignore_ascii_case("localhost")
        || host.parse::<Ipv4Addr>().is_ok_and(|ip| ip.is_loopback());
    if here {
        Ok(authority)
    } else {
        Err(
            "the host is not this machine (127.0.0.0/8, [::1], localhost), and a key would be sent to it",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastword_contracts::Contract;
    use proptest::prelude::*;

    fn base(overrides: &str, host: &str) -> Result<String, Unreadable> {
        let contract = Contract::builtin("stripe").unwrap();
        let mut api = contract.api.unwrap();
        api.host = Some(host.to_owned());
        let account = Account::parse("a").unwrap();
        let environment = Environment::parse("live").unwrap();
        HostOverrides::parse(overrides)
            .unwrap()
            .base(&contract.name, &environment, &account, &api)
            .map(|base| format!("{}://{}", base.scheme, base.authority))
    }

    #[test]
    fn an_account_s_own_host_is_its_name_and_nothing_else() {
        let api = Contract::builtin("shopify").unwrap().api.unwrap();
        let provider = Provider::parse("shopify").unwrap();
        let environment = Environment::parse("live").unwrap();
        let base = |account: &str| {
            let account = Account::parse(account).unwrap();
            let base = HostOverrides::none().base(&provider, &environment, &account, &api);
            base.map(|base| base.authority.to_string())
        };
        let own = "shop-1.myshopify.com";
        assert_eq!(base(own).unwrap(), own);
        for other in ["a/b", "a@b", "a:1", "a?b", "a#b", "..", ".a", "a b", "ä"] {
            assert_eq!(base(other), Err(Unreadable::UnfitAccount), "{other}");
        }
    }

    #[test]
    fn without_an_override_the_contracts_host_is_asked_over_tls() {
        let host = "https://api.stripe.com";
        assert_eq!(base("", host).unwrap(), host);
        assert_eq!(base("github=http://[::1]:1", host).unwrap(), host);
    }

    #[test]
    fn an_override_on_this_machine_is_taken_for_its_provider() {
        for url in [
            "http://127.0.0.1:8420",
            "http://127.9.9.9:1",
            "http://[::1]:8420",
            "http://localhost:8420",
            "http://127.0.0.1",
        ] {
            let both = format!(" stripe={url}, github=http://127.0.0.1:1 ");
            assert_eq!(base(&both, "https://api.stripe.com").unwrap(), url);
        }
    }

    #[test]
    fn an_override_that_leads_off_this_machine_is_refused_and_says_why() {
        for host in [
            "10.0.0.1",
            "0.0.0.0",
            "[::]",
            "[::ffff:127.0.0.1]",
            "127.1",
            "2130706433",
            "127.0.0.1.example.com",
            "localhost.example.com",
            "api.stripe.com",
            "128.0.0.1",
        ] {
            let error = HostOverrides::parse(&format!("stripe=http://{host}:80")).unwrap_err();
            assert!(error.to_string().contains("not this machine"), "{error}");
        }
    }

    #[test]
    fn an_override_of_another_form_is_refused() {
        for text in [
            "stripe",
            "stripe=",
            "=http://127.0.0.1",
            "Stripe=http://127.0.0.1",
            "stripe=https://127.0.0.1",
            "stripe=127.0.0.1:80",
            "stripe=http://127.0.0.1:80/x",
            "stripe=http://127.0.0.1:80?x",
            "stripe=http://127.0.0.1:99999",
            "stripe=http://127.0.0.1:",
            "stripe=http://127.0.0.1#x",
            "stripe=http://127.0.0.1,",
            "stripe=http:///x",
            "stripe=http://127.0.0.1,stripe=http://127.0.0.1",
        ] {
            assert!(HostOverrides::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_user_and_password_are_refused_and_not_repeated() {
        for url in [
            "http://u:hunter2@127.0.0.1",
            "http://127.0.0.1:hunter2@example.com",
        ] {
            let error = HostOverrides::parse(&format!("stripe={url}")).unwrap_err();
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn a_contract_whose_host_is_not_plainly_https_is_not_followed() {
        for host in [
            "http://api.stripe.com",
            "api.stripe.com",
            "https://u@api.stripe.com",
            "https://api.stripe.com/v1",
            "https://api.stripe.com?x",
            "",
            "https://",
        ] {
            assert!(
                matches!(base("", host), Err(Unreadable::BadContract(_))),
                "{host}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_text_leads_to_another_machine(text in "(stripe=)?(http://)?([a-z0-9.:@/\\[\\]#?%,=]{0,24}|\\PC{0,12})") {
            if let Ok(overrides) = HostOverrides::parse(&text) {
                for authority in overrides.0.values() {
                    let uri: http::Uri = format!("http://{authority}/v1").parse().unwrap();
                    let host = uri.host().unwrap().to_owned();
                    prop_assert!(
                        host == "[::1]" || host.eq_ignore_ascii_case("localhost") || host.starts_with("127."),
                        "{}", host
                    );
                }
            }
        }
    }
}

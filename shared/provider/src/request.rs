//! The request that reads one object, built from the contract, the integration and the account's key.
//!
//! Every value that goes into a header is one that a header carries exactly; another is refused, because
//! a server that trims or folds it would answer for another account.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, HOST, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Uri};
use http_body_util::Empty;
use lastword_config::{Integration, SecretValue};
use lastword_contracts::{Api, FactRules, ResourceRules};
use lastword_domain::name::Account;
use lastword_domain::{EventIdentity, ResourceKey};
use zeroize::Zeroizing;

use crate::answer::Unreadable;
use crate::hosts::{HostOverrides, is_plain};
use crate::path::path;

const AGENT: HeaderValue =
    HeaderValue::from_static(concat!("lastword/", env!("CARGO_PKG_VERSION")));

/// A request, and what its answer is read by.
#[derive(Debug)]
pub(crate) struct Prepared<'i, R> {
    pub(crate) request: Request<Empty<Bytes>>,
    pub(crate) api: &'i Api,
    pub(crate) rules: &'i R,
}

/// Everything that can be wrong before anything is sent is found here.
pub(crate) fn prepare<'i>(
    hosts: &HostOverrides,
    integration: &'i Integration,
    secret: Option<&SecretValue>,
    resource: &'i ResourceKey,
) -> Result<Prepared<'i, ResourceRules>, Unreadable> {
    let rules = kept(integration, resource)?;
    let template = rules.read.as_ref().ok_or(Unreadable::NoPath)?;
    let (request, api) = get(
        hosts,
        integration,
        secret,
        &resource.account,
        template,
        resource.id.as_str(),
    )?;
    Ok(Prepared {
        request,
        api,
        rules,
    })
}

/// The same for an event that is read by its id.
pub(crate) fn prepare_event<'i>(
    hosts: &HostOverrides,
    integration: &'i Integration,
    secret: Option<&SecretValue>,
    event: &EventIdentity,
    rules: &'i FactRules,
) -> Result<Prepared<'i, FactRules>, Unreadable> {
    let template = rules.read.as_ref().ok_or(Unreadable::NoPath)?;
    let (request, api) = get(
        hosts,
        integration,
        secret,
        &event.account,
        template,
        event.id.as_str(),
    )?;
    Ok(Prepared {
        request,
        api,
        rules,
    })
}

fn kept<'i>(
    integration: &'i Integration,
    resource: &ResourceKey,
) -> Result<&'i ResourceRules, Unreadable> {
    let ours = resource.provider == integration.contract.name
        && resource.environment == integration.environment;
    match integration.resources.get(&resource.kind) {
        Some(kept) if ours => Ok(&kept.rules),
        Some(_) | None => Err(Unreadable::NotConfigured),
    }
}

fn get<'i>(
    hosts: &HostOverrides,
    integration: &'i Integration,
    secret: Option<&SecretValue>,
    account: &Account,
    template: &str,
    id: &str,
) -> Result<(Request<Empty<Bytes>>, &'i Api), Unreadable> {
    let contract = &integration.contract;
    let api = contract.api.as_ref().ok_or(Unreadable::NoPath)?;
    let template = with_account(template, account)?;
    let path = path(&template, id)?;
    let base = hosts.base(&contract.name, &integration.environment, account, api)?;
    let uri = Uri::builder()
        .scheme(base.scheme)
        .authority(base.authority)
        .path_and_query(path)
        .build()
        .map_err(|_| Unreadable::BadContract("its host and path make no URL"))?;
    let other = (*account != integration.account).then_some(account);
    let secret = secret.ok_or(Unreadable::NoSecret)?;
    let mut request = Request::new(Empty::new());
    *request.uri_mut() = uri;
    *request.headers_mut() = headers(api, secret, other)?;
    Ok((request, api))
}

/// An account that stands in the path.
fn with_account<'t>(template: &'t str, account: &Account) -> Result<Cow<'t, str>, Unreadable> {
    const PLACE: &str = "{account}";
    if !template.contains(PLACE) {
        return Ok(Cow::Borrowed(template));
    }
    if !is_plain(account) {
        return Err(Unreadable::UnfitAccount);
    }
    Ok(Cow::Owned(template.replace(PLACE, account.as_str())))
}

/// The contract's headers may replace the first ones and none of the last.
fn headers(
    api: &Api,
    secret: &SecretValue,
    other: Option<&Account>,
) -> Result<HeaderMap, Unreadable> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    headers.insert(USER_AGENT, AGENT);
    for (name, value) in &api.headers {
        let name = name_of(name)?;
        let value = if value.contains("{secret}") {
            with_secret(value, secret)?
        } else {
            HeaderValue::from_str(value)
                .map_err(|_| Unreadable::BadContract("one of its headers' values cannot be sent"))?
        };
        headers.insert(name, value);
    }
    if headers.contains_key(HOST) {
        return Err(Unreadable::BadContract(
            "one of its headers is another host",
        ));
    }
    if let (Some(name), Some(account)) = (&api.account_header, other) {
        headers.insert(name_of(name)?, exact(account)?);
    }
    // An encoded answer could grow far beyond what is read.
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    match &api.authorization {
        Some(template) => headers.insert(AUTHORIZATION, with_secret(template, secret)?),
        None => headers.remove(AUTHORIZATION),
    };
    Ok(headers)
}

fn name_of(name: &str) -> Result<HeaderName, Unreadable> {
    name.parse()
        .map_err(|_| Unreadable::BadContract("one of its headers has a name that cannot be sent"))
}

fn exact(account: &Account) -> Result<HeaderValue, Unreadable> {
    let text = account.as_str();
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Unreadable::UnfitAccount);
    }
    HeaderValue::from_str(text).map_err(|_| Unreadable::UnfitAccount)
}

fn with_secret(template: &str, secret: &SecretValue) -> Result<HeaderValue, Unreadable> {
    let basic = Zeroizing::new(STANDARD.encode(secret.expose()));
    let text = template
        .replace("{secret}", secret.expose())
        .replace("{basic}", &basic);
    let text = Zeroizing::new(text);
    let mut value = HeaderValue::from_str(&text).map_err(|_| Unreadable::UnfitSecret)?;
    // Keeps it out of every `Debug`.
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastword_contracts::Contract;
    use proptest::prelude::*;

    fn api(name: &str, value: &str) -> Api {
        let mut api = Contract::builtin("stripe").unwrap().api.unwrap();
        api.headers = [(name.to_owned(), value.to_owned())].into();
        api
    }

    fn secret(text: &str) -> SecretValue {
        SecretValue::accept(text.to_owned().into()).unwrap()
    }

    #[test]
    fn no_header_of_a_contract_replaces_the_key_or_asks_for_an_encoding() {
        let key = secret("hunter2");
        for name in ["Authorization", "accept-encoding"] {
            let headers = headers(&api(name, "gzip"), &key, None).unwrap();
            assert_eq!(headers[AUTHORIZATION], "Bearer hunter2");
            assert_eq!(headers[ACCEPT_ENCODING], "identity");
        }
    }

    #[test]
    fn a_header_that_cannot_be_sent_or_names_another_host_is_refused() {
        for (name, value) in [("Host", "example.com"), ("a b", "x"), ("a", "x\r\nb: y")] {
            let refused = headers(&api(name, value), &secret("hunter2"), None);
            assert!(
                matches!(refused, Err(Unreadable::BadContract(_))),
                "{refused:?}"
            );
        }
    }

    #[test]
    fn the_key_is_not_shown_when_the_headers_are_printed() {
        let headers = headers(&api("a", "b"), &secret("hunter2"), None).unwrap();
        assert!(!format!("{headers:?}").contains("hunter2"));
    }

    proptest! {
        #[test]
        fn an_account_is_sent_as_it_is_or_not_at_all(name in "\\PC{1,20}|[ -~\\x00-\\x1f\\x7f]{1,20}") {
            let account = Account::parse(&name).unwrap();
            match headers(&api("a", "b"), &secret("hunter2"), Some(&account)) {
                Ok(headers) => prop_assert_eq!(headers["stripe-account"].as_bytes(), name.as_bytes()),
                Err(cause) => {
                    prop_assert_eq!(cause, Unreadable::UnfitAccount);
                    prop_assert!(!name.bytes().all(|byte| byte.is_ascii_graphic()));
                }
            }
        }
    }
}

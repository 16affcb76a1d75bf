//! What an endpoint needs to tell its sender: secrets, schemes, the registered URL, further settings.

use std::collections::BTreeMap;

use lastword_contracts::{Contract, Endpoint, Keys};

use super::Checker;
use crate::raw::RawIntegration;
use crate::secret::SecretRef;

/// The most seconds that a tolerance may be widened to: beyond it a replay is hardly bounded at all.
const WIDEST: u64 = 24 * 3600;

pub(super) struct Door {
    pub(super) signing: Vec<SecretRef>,
    pub(super) schemes: Keys,
    pub(super) tolerance_seconds: Option<u64>,
    pub(super) endpoint: Endpoint,
    pub(super) handshake_token: Option<SecretRef>,
    pub(super) feeds: Vec<String>,
}

impl Checker<'_> {
    pub(super) fn door(
        &mut self,
        setting: &str,
        at: usize,
        raw: &RawIntegration,
        contract: &Contract,
        signing: Vec<SecretRef>,
    ) -> Door {
        self.check_signing(setting, at, raw, contract);
        let token = raw.handshake_token.as_ref();
        Door {
            signing,
            schemes: self.schemes(setting, raw, contract),
            tolerance_seconds: self.tolerance(setting, raw),
            endpoint: Endpoint {
                url: self.url(setting, at, raw, contract),
                parameters: self.parameters(setting, at, raw, contract),
            },
            handshake_token: token
                .and_then(|text| self.secret(text, &format!("{setting}.handshake_token"))),
            feeds: self.feeds(setting, at, raw, contract),
        }
    }

    /// The references, whatever the contract is: what is wrong with them is told all the same.
    pub(super) fn signing(&mut self, setting: &str, raw: &RawIntegration) -> Vec<SecretRef> {
        let setting = format!("{setting}.signing_secrets");
        let listed = raw.signing_secrets.iter().flat_map(|list| list.get_ref());
        listed
            .filter_map(|text| self.secret(text, &setting))
            .collect()
    }

    fn check_signing(
        &mut self,
        setting: &str,
        at: usize,
        raw: &RawIntegration,
        contract: &Contract,
    ) {
        let setting = format!("{setting}.signing_secrets");
        let given = raw.signing_secrets.as_ref();
        let is_empty = given.is_none_or(|list| list.get_ref().is_empty());
        let place = given.map_or(at, |list| list.span().start);
        if contract.by_queue() {
            if !is_empty {
                let message = format!(
                    "{} does not sign: its events are authentic by the permissions of their queue; expected none",
                    contract.title
                );
                self.report(place, &setting, message);
            }
        } else if is_empty && contract.signature.needs_secret() {
            let found = if given.is_some() {
                "found an empty list"
            } else {
                "missing"
            };
            let message = format!(
                "{found}; without a secret no signature can be checked; expected one or more references"
            );
            self.report(place, &setting, message);
        }
    }

    fn schemes(&mut self, setting: &str, raw: &RawIntegration, contract: &Contract) -> Keys {
        let named = raw.schemes.as_ref();
        if let Some(none) = named.filter(|named| named.get_ref().is_empty()) {
            let message =
                "found an empty list, which would refuse everything; expected some, or nothing";
            self.report(none.span().start, &format!("{setting}.schemes"), message);
        }
        let names = named.map(|named| {
            named
                .get_ref()
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>()
        });
        match contract.signature.accept(names.as_deref()) {
            Ok(accepted) => accepted,
            Err(why) => {
                let at = named.map_or(0, |named| named.span().start);
                self.report(at, &format!("{setting}.schemes"), why);
                Keys::default()
            }
        }
    }

    fn tolerance(&mut self, setting: &str, raw: &RawIntegration) -> Option<u64> {
        let given = raw.tolerance_seconds.as_ref()?;
        if !(1..=WIDEST).contains(given.get_ref()) {
            let message = format!("found {}; expected 1 to {WIDEST} seconds", given.get_ref());
            let setting = format!("{setting}.tolerance_seconds");
            self.report(given.span().start, &setting, message);
        }
        Some(*given.get_ref())
    }

    /// The URL as it is registered at the provider.
    fn url(
        &mut self,
        setting: &str,
        at: usize,
        raw: &RawIntegration,
        contract: &Contract,
    ) -> Option<String> {
        let setting = format!("{setting}.url");
        let Some(url) = &raw.url else {
            if contract.signature.needs_url() {
                let message = format!(
                    "missing; {} signs the URL as it is registered there; expected it, such as \
                     \"https://hooks.example.com/webhooks/shop\"",
                    contract.title
                );
                self.report(at, &setting, message);
            }
            return None;
        };
        let text = url.get_ref();
        let plain = text.bytes().all(|byte| byte.is_ascii_graphic());
        let host = text
            .strip_prefix("https://")
            .or_else(|| text.strip_prefix("http://"));
        if !plain || host.is_none_or(|host| host.is_empty() || host.starts_with('/')) {
            let message = format!("found {text:?}; expected a whole URL that begins with https://");
            self.report(url.span().start, &setting, message);
        }
        Some(text.clone())
    }

    fn parameters(
        &mut self,
        setting: &str,
        at: usize,
        raw: &RawIntegration,
        contract: &Contract,
    ) -> BTreeMap<String, String> {
        let mut given = BTreeMap::new();
        for (name, value) in &raw.parameters {
            let known = contract.parameters.contains_key(name.get_ref())
                || contract.optional_parameters.contains_key(name.get_ref());
            if known {
                given.insert(name.get_ref().clone(), value.get_ref().clone());
                continue;
            }
            let all = contract
                .parameters
                .keys()
                .chain(contract.optional_parameters.keys());
            let all: Vec<_> = all.map(String::as_str).collect();
            let message = match all.as_slice() {
                [] => format!("{} has no parameters", contract.title),
                known => format!("{} has {}", contract.title, known.join(", ")),
            };
            self.report(
                name.span().start,
                &format!("{setting}.parameters.{}", name.get_ref()),
                message,
            );
        }
        for (name, meaning) in &contract.parameters {
            if !given.contains_key(name) {
                let message = format!("missing; expected {meaning}");
                self.report(at, &format!("{setting}.parameters.{name}"), message);
            }
        }
        given
    }

    /// Where events come from that do not come by HTTP.
    fn feeds(
        &mut self,
        setting: &str,
        at: usize,
        raw: &RawIntegration,
        contract: &Contract,
    ) -> Vec<String> {
        let setting = format!("{setting}.feeds");
        if contract.by_queue() && raw.feeds.is_empty() {
            let message = "missing; expected the ARN of the queue, or the name of the event source, that \
                           its events come through";
            self.report(at, &setting, message);
        }
        for feed in &raw.feeds {
            let text = feed.get_ref();
            let message = if !contract.by_queue() {
                format!("{} sends by HTTP and signs; expected none", contract.title)
            } else if text.starts_with("arn:") || text.starts_with("aws.partner/") {
                continue;
            } else {
                format!("found {text:?}; expected arn:aws:sqs:… or aws.partner/…")
            };
            self.report(feed.span().start, &setting, message);
        }
        raw.feeds
            .iter()
            .map(|feed| feed.get_ref().clone())
            .collect()
    }
}

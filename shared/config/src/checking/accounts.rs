//! Whose data an integration may speak of, with which key each account is read, and the limits of trying
//! again.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use lastword_domain::name::{Account, ResourceType};
use lastword_domain::retry::RetryPolicy;
use toml::Spanned;

use super::Checker;
use crate::DEFAULT_RETRY;
use crate::integration::Resource;
use crate::raw::{RawIntegration, RawRetry};
use crate::secret::SecretRef;

impl Checker<'_> {
    pub(super) fn accounts(
        &mut self,
        setting: &str,
        at: usize,
        raw: &RawIntegration,
        own: &Account,
        resources: &BTreeMap<ResourceType, Resource>,
    ) -> (BTreeMap<Account, SecretRef>, BTreeSet<Account>) {
        let main = raw
            .api_key
            .as_ref()
            .and_then(|text| self.secret(text, &format!("{setting}.api_key")));
        let mut keys: BTreeMap<_, _> = main
            .iter()
            .map(|secret| (own.clone(), secret.clone()))
            .collect();
        let mut further = BTreeSet::new();
        for (name, account) in &raw.accounts {
            let setting = format!("{setting}.accounts.{}", name.get_ref());
            let Some(parsed) = self.name(name, &setting, Account::parse) else {
                continue;
            };
            let secret = match &account.api_key {
                Some(text) => self.secret(text, &format!("{setting}.api_key")),
                None => main.clone(),
            };
            keys.extend(secret.map(|secret| (parsed.clone(), secret)));
            further.insert(parsed);
        }
        let read = resources
            .iter()
            .find(|(_, resource)| resource.rules.read.is_some());
        if let Some((kind, _)) = read.filter(|_| raw.api_key.is_none()) {
            let message = format!(
                "missing; expected a secret reference, because {kind} is read from the provider's API"
            );
            self.report(at, &format!("{setting}.api_key"), message);
        }
        (keys, further)
    }

    pub(super) fn retry(&mut self, raw: Option<&RawRetry>) -> RetryPolicy {
        let Some(raw) = raw else { return DEFAULT_RETRY };
        let mut policy = DEFAULT_RETRY;
        if let Some(attempts) = &raw.attempts {
            policy.attempts = *attempts.get_ref();
            if !(1..=40).contains(&policy.attempts) {
                let message = format!(
                    "found {}; expected 1 to 40 (the queue gives up at 50)",
                    policy.attempts
                );
                self.report(attempts.span().start, "retry.attempts", message);
            }
        }
        let mut seconds = |value: &Option<Spanned<f64>>, setting, otherwise| {
            let Some(value) = value else { return otherwise };
            // A message can be hidden for twelve hours at most.
            if !(0.01..=43_200.0).contains(value.get_ref()) {
                let message = format!("found {}; expected 0.01 to 43200 seconds", value.get_ref());
                self.report(value.span().start, setting, message);
                return otherwise;
            }
            Duration::from_secs_f64(*value.get_ref())
        };
        policy.first_delay = seconds(
            &raw.first_delay_seconds,
            "retry.first_delay_seconds",
            policy.first_delay,
        );
        policy.longest_delay = seconds(
            &raw.longest_delay_seconds,
            "retry.longest_delay_seconds",
            policy.longest_delay,
        );
        policy
    }
}

//! Who sent it: handshakes that need no signature, then the signature, then handshakes that do.
//!
//! Nothing of a request is believed before [`Schemes::verify`](lastword_contracts::Schemes::verify) says so;
//! what an unsigned handshake is answered with is made of the request itself.

use lastword_config::{Config, Integration};
use lastword_contracts::{Handshake, HandshakeError, Keys, Request, SignatureError, Verified};

use crate::answer::Answer;
use crate::keys::KeyRing;
use crate::published::PublishedKeys;

/// Keys of all kinds, and when they may be had anew.
pub(crate) struct Door {
    pub(crate) ring: KeyRing,
    pub(crate) published: PublishedKeys,
}

impl Door {
    /// The answer to a set-up request, which may have no signature.
    pub(crate) fn unsigned_handshake(
        &self,
        integration: &Integration,
        request: &Request<'_>,
    ) -> Option<Answer> {
        self.handshake(integration, request, None)
    }

    /// The answer to a handshake whose signature was checked.
    pub(crate) fn signed_handshake(
        &self,
        integration: &Integration,
        request: &Request<'_>,
        _: Verified<'_>,
        now: u64,
    ) -> Option<Answer> {
        self.handshake(integration, request, Some(now))
    }

    fn handshake(
        &self,
        integration: &Integration,
        request: &Request<'_>,
        signed_at: Option<u64>,
    ) -> Option<Answer> {
        let contract = &integration.contract;
        let is = |handshake: &&Handshake| {
            handshake.signed == signed_at.is_some() && handshake.is(request, &contract.signature)
        };
        let handshake = contract.handshake.iter().find(is)?;
        let all = self.ring.now();
        let held = all.get(&integration.name)?;
        let token = held.handshake_token.as_ref().map(|token| token.as_str());
        // While a secret is rolled the sender still has the old one: it is answered with what it signed with.
        let key = match signed_at {
            Some(now) => {
                let tolerance = integration.tolerance_seconds;
                contract
                    .signature
                    .signed_with(request, &held.keys, now, tolerance)
            }
            None => held.keys.first(),
        };
        Some(match handshake.answer(request, key, token) {
            Ok(answer) => Answer::Handshake(answer),
            Err(HandshakeError::WrongToken) => Answer::WrongToken,
            Err(error @ HandshakeError::Incomplete) => Answer::BadEvent(error.to_string()),
        })
    }

    /// Law 2's first half. A signature that matches nothing may be of a secret that was rolled, or of a key
    /// that is not held yet: each is looked for once, as often as its keeper allows.
    pub(crate) async fn verify<'b>(
        &self,
        config: &Config,
        integration: &Integration,
        request: &Request<'b>,
        now: u64,
    ) -> Result<Verified<'b>, SignatureError> {
        let all = self.ring.now();
        let none = Keys::default();
        let keys = all.get(&integration.name).map_or(&none, |held| &held.keys);
        match self.check(integration, request, keys, now).await {
            Err(SignatureError::NoMatch) => match self.ring.renewed(config, now).await {
                Some(all) => {
                    let keys = all.get(&integration.name).map_or(&none, |held| &held.keys);
                    self.check(integration, request, keys, now).await
                }
                None => Err(SignatureError::NoMatch),
            },
            checked => checked,
        }
    }

    async fn check<'b>(
        &self,
        integration: &Integration,
        request: &Request<'b>,
        keys: &Keys,
        now: u64,
    ) -> Result<Verified<'b>, SignatureError> {
        let schemes = &integration.contract.signature;
        let tolerance = integration.tolerance_seconds;
        let name = &integration.name;
        let fetched = self.published.now(name, now);
        match schemes.verify(request, keys, &fetched, now, tolerance) {
            Err(SignatureError::KeyNeeded(key)) => {
                let rules = schemes.fetching(&key);
                let fetched = match rules {
                    Some(rules) => self.published.with(name, &key, rules, now).await,
                    None => None,
                };
                match fetched {
                    Some(fetched) => schemes.verify(request, keys, &fetched, now, tolerance),
                    None => Err(SignatureError::KeyNeeded(key)),
                }
            }
            checked => checked,
        }
    }
}

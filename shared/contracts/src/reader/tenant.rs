//! Whose data an endpoint may speak of.

use std::collections::BTreeSet;

use lastword_domain::name::{Account, Environment, Provider};

/// Whose data an endpoint may speak of.
#[derive(Debug, Clone)]
pub struct Tenant {
    /// Which provider.
    pub provider: Provider,
    /// The account that is meant when the body names none.
    pub account: Account,
    /// Further accounts it may name.
    pub further: BTreeSet<Account>,
    /// The one environment.
    pub environment: Environment,
}

impl Tenant {
    /// Every account that may be named.
    pub fn accounts(&self) -> impl Iterator<Item = &Account> {
        std::iter::once(&self.account).chain(&self.further)
    }

    /// An account of which another endpoint may speak too, in the same world of the same provider. Two
    /// such endpoints would make one identity of two senders' events and one resource of two objects.
    #[must_use]
    pub fn shared_with<'t>(&'t self, other: &Self) -> Option<&'t Account> {
        let same = self.provider == other.provider && self.environment == other.environment;
        let mut shared = self
            .accounts()
            .filter(|account| other.accounts().any(|theirs| theirs == *account));
        shared.next().filter(|_| same)
    }
}

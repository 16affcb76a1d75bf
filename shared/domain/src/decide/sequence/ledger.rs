//! Everything that is known of the count: what is logged and what is told, by number.

use std::collections::{BTreeMap, BTreeSet};

use super::{Change, Delta, Gap, Logged};
use crate::decide::{Terms, is_final};
use crate::digest::Digest;
use crate::key::EventRef;
use crate::projection::{Projection, Proof};
use crate::version::Version;

/// The number after the last applied one.
pub(super) fn following(version: Option<&Version>, first: &Version) -> Option<Version> {
    match version {
        None => Some(first.clone()),
        Some(version) => version.next().map(|next| next.max(first.clone())),
    }
}

/// From where on the count says nothing any more, because it is deleted for good.
pub(super) enum Burial {
    /// It is not.
    None,
    /// After this number; what came under it or before still counts.
    After(Version),
    /// Whatever the number: the source itself said so.
    Whole,
}

impl Burial {
    pub(super) fn of(held: &Projection, terms: Terms) -> Self {
        if !is_final(held, terms) {
            return Self::None;
        }
        match &held.grave {
            Some(grave) if grave.proof == Proof::Event => match &grave.version {
                Some(version) => Self::After(version.clone()),
                None => Self::Whole,
            },
            Some(_) | None => Self::Whole,
        }
    }

    pub(super) fn covers(&self, number: &Version) -> bool {
        match self {
            Self::None => false,
            Self::After(last) => number > last,
            Self::Whole => true,
        }
    }
}

/// What is known under one number.
#[derive(Default)]
pub(super) struct Under<'a> {
    logged: BTreeMap<Digest, &'a Logged>,
    told: BTreeMap<Digest, Told<'a>>,
}

struct Told<'a> {
    delta: &'a Delta,
    /// The least of the events that tell it.
    event: Option<&'a EventRef>,
}

impl<'a> Under<'a> {
    /// The change's body, where just one change is known here.
    pub(super) fn only(&self) -> Option<&'a Delta> {
        self.told.values().next().map(|told| told.delta)
    }

    pub(super) fn told(&self) -> impl Iterator<Item = &'a Delta> {
        self.told.values().map(|told| told.delta)
    }

    pub(super) fn logged(&self) -> impl Iterator<Item = &'a Logged> {
        self.logged.values().copied()
    }

    /// Those whose bodies are not at hand.
    pub(super) fn only_logged(&self) -> impl Iterator<Item = &'a Logged> {
        self.logged()
            .filter(|logged| !self.told.contains_key(&logged.digest))
    }

    pub(super) fn knows(&self, digest: Digest) -> bool {
        self.logged.contains_key(&digest)
    }

    /// The event that a change is put down to.
    pub(super) fn teller(&self, digest: Digest) -> Option<&'a EventRef> {
        let logged = self
            .logged
            .get(&digest)
            .and_then(|logged| logged.event.as_ref());
        logged.or_else(|| self.told.get(&digest).and_then(|told| told.event))
    }

    fn is_tied(&self) -> bool {
        let all: BTreeSet<&Digest> = self.logged.keys().chain(self.told.keys()).collect();
        all.len() > 1
    }

    fn has_news(&self) -> bool {
        self.told.keys().any(|digest| !self.knows(*digest))
    }

    /// Whether different changes came under this number, and no read took their place since. A tie that is known and
    /// applied over, but not held as the lowest or a lower one, was settled by a read.
    pub(super) fn is_open_tie(&self, number: &Version, held: &Projection) -> bool {
        let passed = held.version.as_ref() >= Some(number);
        let held_open = held.tied.as_ref().is_some_and(|tied| tied <= number);
        self.is_tied() && (!passed || held_open || self.has_news())
    }
}

pub(super) struct Ledger<'a>(BTreeMap<&'a Version, Under<'a>>);

impl<'a> Ledger<'a> {
    pub(super) fn of(log: &'a [Logged], changes: impl Iterator<Item = &'a Change>) -> Self {
        let mut numbers: BTreeMap<&Version, Under<'_>> = BTreeMap::new();
        for logged in log {
            let under = numbers.entry(&logged.number).or_default();
            under.logged.insert(logged.digest, logged);
        }
        for change in changes {
            let under = numbers.entry(&change.number).or_default();
            let told = under.told.entry(change.delta.digest()).or_insert(Told {
                delta: &change.delta,
                event: None,
            });
            told.event = match (told.event, change.event.as_ref()) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            };
        }
        Self(numbers)
    }

    pub(super) fn under(&self, number: &Version) -> Option<&Under<'a>> {
        self.0.get(number)
    }

    /// What is known under a number of which a change is told.
    pub(super) fn told_under(&self, number: &Version) -> Option<&Under<'a>> {
        self.under(number).filter(|under| !under.told.is_empty())
    }

    /// After one number, up to another.
    pub(super) fn between(
        &self,
        after: Option<&Version>,
        to: Option<&Version>,
    ) -> impl Iterator<Item = (&'a Version, &Under<'a>)> {
        let within = move |number: &Version| Some(number) > after && Some(number) <= to;
        self.0
            .iter()
            .map(|(number, under)| (*number, under))
            .filter(move |(number, _)| within(number))
    }

    pub(super) fn goes_beyond(&self, version: Option<&Version>) -> bool {
        self.greatest().is_some_and(|last| Some(last) > version)
    }

    pub(super) fn greatest(&self) -> Option<&'a Version> {
        self.0.keys().next_back().copied()
    }

    /// The lowest number under which different changes came, and nothing settled it.
    pub(super) fn lowest_tie<'h>(
        &self,
        held: &'h Projection,
        burial: &Burial,
    ) -> Option<&'h Version>
    where
        'a: 'h,
    {
        let mut ties = self.open_ties(held, burial);
        match (ties.next(), held.tied.as_ref()) {
            (Some(found), Some(known)) => Some(found.min(known)),
            (found, known) => found.or(known),
        }
    }

    /// All such numbers, rising.
    pub(super) fn open_ties(
        &self,
        held: &Projection,
        burial: &Burial,
    ) -> impl Iterator<Item = &'a Version> {
        self.0
            .iter()
            .filter(move |(number, under)| {
                under.is_open_tie(number, held) && !burial.covers(number)
            })
            .map(|(number, _)| *number)
    }

    /// The first number after this one that is missing while a greater one is there.
    pub(super) fn gap(&self, after: Option<&Version>, first: &Version) -> Option<Gap> {
        let mut next = following(after, first)?;
        for number in self.0.keys() {
            match (*number).cmp(&next) {
                std::cmp::Ordering::Less => {}
                std::cmp::Ordering::Equal => next = next.next()?,
                std::cmp::Ordering::Greater => return Some(Gap { next }),
            }
        }
        None
    }

    /// The known changes that follow without a gap and whose bodies are not at hand.
    pub(super) fn needed_after(&self, after: Option<&Version>, first: &Version) -> Vec<Logged> {
        let mut needed = Vec::new();
        let mut next = following(after, first);
        while let Some((number, under)) = next.and_then(|next| self.0.get_key_value(&next)) {
            needed.extend(under.only_logged().cloned());
            next = number.next();
        }
        needed
    }

    /// What is told and not logged yet.
    pub(super) fn fresh(&self) -> Vec<Logged> {
        let of = |(number, under): (&&Version, &Under<'_>)| {
            let new = under
                .told
                .iter()
                .filter(|(digest, _)| !under.knows(**digest));
            let entry = |(digest, told): (&Digest, &Told<'_>)| Logged {
                number: (*number).clone(),
                digest: *digest,
                event: told.event.cloned(),
            };
            new.map(entry).collect::<Vec<_>>()
        };
        self.0.iter().flat_map(of).collect()
    }
}

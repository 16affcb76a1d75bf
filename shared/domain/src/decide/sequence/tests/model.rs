//! A small store: the projection, the log, and every body that was ever told.

use crate::decide::Observation;

use super::*;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Told {
    pub(super) number: u32,
    pub(super) delta: Delta,
}

impl Told {
    pub(super) fn new(number: u32, delta: Delta) -> Self {
        Self { number, delta }
    }

    pub(super) fn event(&self) -> EventRef {
        let identity =
            Digest::of_parts(&[&self.number.to_string(), &self.delta.digest().to_text()]);
        EventRef::parse(&identity.to_text()).unwrap()
    }
}

pub(super) fn json(text: &str) -> Json {
    Json::parse(text).unwrap()
}

pub(super) fn patch(text: &str) -> Delta {
    Delta::Patch(json(text))
}

pub(super) fn whole(text: &str) -> Delta {
    Delta::Whole(json(text))
}

pub(super) fn deleted() -> Delta {
    Delta::Deleted
}

pub(super) fn change(told: &Told) -> Change {
    Change {
        event: Some(told.event()),
        number: number(told.number),
        delta: told.delta.clone(),
    }
}

pub(super) fn applied(contents: Option<&Contents>, delta: &Delta) -> Contents {
    let base = match contents.and_then(|contents| contents.iter().next()) {
        Some(Content::Present(json)) => json.clone(),
        Some(Content::Deleted) | None => json("{}"),
    };
    Contents::one(match delta {
        Delta::Patch(patch) => Content::Present(base.patched(patch).unwrap()),
        Delta::Whole(json) => Content::Present(json.clone()),
        Delta::Deleted => Content::Deleted,
    })
}

/// The different contents; those of a patch and a whole that read alike by their words.
pub(super) fn side_by_side<'d>(deltas: impl Iterator<Item = &'d Delta>) -> Option<Contents> {
    let deltas: Vec<_> = deltas.collect();
    let plain = Contents::several(deltas.iter().map(|delta| (delta.content(), None)))?;
    if plain.iter().count() > 1 {
        return Some(plain);
    }
    let word = |delta: &Delta| Status::parse(delta.word()).ok();
    Contents::several(deltas.iter().map(|delta| (delta.content(), word(delta))))
}

/// What a reader sees.
#[derive(Debug, PartialEq)]
pub(super) struct Says {
    pub(super) contents: Option<Contents>,
    pub(super) tied: Option<Version>,
    /// While nothing is tied.
    pub(super) version: Option<Version>,
    pub(super) waiting: bool,
}

pub(super) struct Store {
    pub(super) held: Projection,
    pub(super) log: Vec<Logged>,
    bodies: Vec<Change>,
    pub(super) gap: Option<Gap>,
    terms: Terms,
}

impl Store {
    pub(super) fn new(terms: Terms) -> Self {
        Self {
            held: Projection::unknown(),
            log: Vec::new(),
            bodies: Vec::new(),
            gap: None,
            terms,
        }
    }

    pub(super) fn says(&self) -> Says {
        Says {
            contents: self.held.contents.clone(),
            tied: self.held.tied.clone(),
            version: self
                .held
                .version
                .clone()
                .filter(|_| self.held.tied.is_none()),
            waiting: self.held.waiting,
        }
    }

    /// The entries that a call is given.
    pub(super) fn known(&self, changes: &[Change]) -> Vec<Logged> {
        let wanted = |logged: &&Logged| {
            Some(&logged.number) > self.held.version.as_ref()
                || changes.iter().any(|change| change.number == logged.number)
        };
        self.log.iter().filter(wanted).cloned().collect()
    }

    fn body(&self, logged: &Logged) -> Change {
        let same = |change: &&Change| {
            change.number == logged.number && change.delta.digest() == logged.digest
        };
        self.bodies.iter().find(same).unwrap().clone()
    }

    pub(super) fn take(&mut self, told: &[Told]) -> Vec<Mark> {
        let mut changes: Vec<_> = told.iter().map(change).collect();
        self.bodies.extend(changes.iter().cloned());
        let mut all = Vec::new();
        for _ in 0..20 {
            let log = self.known(&changes);
            let sequenced = self.conclude(&log, &changes);
            self.gap = sequenced.gap;
            let bodies = sequenced.needs.iter().map(|logged| self.body(logged));
            let bodies: Vec<_> = bodies.collect();
            match sequenced.conclusion {
                Conclusion::LookAgain(_) => {
                    assert!(!bodies.is_empty());
                    changes.extend(bodies);
                    continue;
                }
                Conclusion::Change { next, marks } => {
                    self.held = next;
                    all.extend(marks);
                }
                Conclusion::Quiet { marks } => {
                    self.held = self.held.advanced();
                    all.extend(marks);
                }
                Conclusion::Reread => panic!("a conclusion"),
            }
            self.log.extend(sequenced.log);
            if bodies.is_empty() {
                return all;
            }
            changes = bodies;
        }
        panic!("it ends")
    }

    fn conclude(&self, log: &[Logged], changes: &[Change]) -> Sequenced {
        let (backwards, backwards_log): (Vec<_>, Vec<_>) = (
            changes.iter().rev().cloned().collect(),
            log.iter().rev().cloned().collect(),
        );
        let first = number(1);
        let sequenced = conclude_sequence(&self.held, log, changes, &first, self.terms);
        let mirrored =
            conclude_sequence(&self.held, &backwards_log, &backwards, &first, self.terms);
        assert_eq!(sequenced.log, mirrored.log, "the order within a call shows");
        let next = |sequenced: &Sequenced| match &sequenced.conclusion {
            Conclusion::Change { next, .. } => Some(next.clone()),
            Conclusion::Quiet { .. } | Conclusion::Reread | Conclusion::LookAgain(_) => None,
        };
        assert_eq!(next(&sequenced), next(&mirrored));
        assert_eq!(sequenced.gap, mirrored.gap);
        assert_eq!(sequenced.needs, mirrored.needs);
        sequenced
    }

    pub(super) fn read(&mut self, told: &[Told], seen: Observation) -> Sequenced {
        let signals: Vec<_> = told.iter().map(Told::event).collect();
        let changes: Vec<_> = told.iter().map(change).collect();
        let mut log = self.known(&changes);
        let fresh = conclude_sequence(&self.held, &log, &changes, &number(1), self.terms).log;
        log.extend(fresh.iter().cloned());
        let read = conclude_sequence_read(&self.held, &signals, &log, &number(1), seen, self.terms);
        let next = match &read.conclusion {
            Conclusion::Change { next, .. } => next.clone(),
            Conclusion::Quiet { .. } => self.held.advanced(),
            Conclusion::Reread | Conclusion::LookAgain(_) => return read,
        };
        self.bodies.extend(changes);
        self.held = next;
        self.log.extend(fresh);
        read
    }
}

//! Our current copy of a resource, with the evidence it rests on.

use std::collections::BTreeMap;
use std::fmt;

use crate::decision::Mark;
use crate::digest::Digest;
use crate::json::Json;
use crate::meaning::Meaning;
use crate::status::Status;
use crate::version::Version;

/// Counts the conclusions about one resource. It says nothing about the provider: it is what a commit
/// is fenced with (law 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(u64);

impl Revision {
    /// Before the first conclusion.
    pub const NONE: Self = Self(0);

    /// After one more conclusion.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// As stored.
    #[must_use]
    pub fn from_number(number: u64) -> Self {
        Self(number)
    }

    /// To be stored.
    #[must_use]
    pub fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a resource can be: there, in some state, or deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// It exists and looks like this.
    Present(Json),
    /// The contract's evidence says it is gone.
    Deleted,
}

impl Content {
    fn digest(&self) -> Digest {
        match self {
            Self::Present(json) => json.meaning(),
            Self::Deleted => Digest::of(b"deleted"),
        }
    }
}

/// What says that a resource is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// An authentic event that the contract names.
    Event,
    /// The object itself, as the source shows it.
    Shown,
    /// The source's answer that it has no such object, where the contract calls that evidence.
    Absence,
}

impl Proof {
    /// Every proof.
    pub const ALL: [Self; 3] = [Self::Event, Self::Shown, Self::Absence];

    /// Its word, as stored.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Shown => "shown",
            Self::Absence => "absence",
        }
    }

    /// From its word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|proof| proof.as_str() == word)
    }
}

/// What a tombstone rests on. It outlives late events; only what the contract allows as a way back ends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grave {
    /// What says so.
    pub proof: Proof,
    /// Under which version, where the strategy has one. A greater one in [`Projection::version`] speaks of a
    /// resource that changed after it was deleted.
    pub version: Option<Version>,
}

/// A content with what it is known under.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Held {
    content: Content,
    status: Option<Status>,
}

impl Held {
    /// The same content under two statuses is two contents.
    fn digest(&self) -> Digest {
        let meaning = self.content.digest();
        match &self.status {
            None => meaning,
            Some(status) => Digest::of_parts(&[status.as_str(), &meaning.to_text()]),
        }
    }
}

/// One content, or several that nobody may choose between.
///
/// A set, ordered by what the contents say, so that no arrival picks a winner (law 6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents(BTreeMap<Digest, Held>);

/// What a projection says to its readers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing<'a> {
    /// The resource exists and looks like this.
    Present(&'a Json),
    /// A tombstone.
    Deleted,
    /// Equal evidence, different contents: kept side by side, none is chosen.
    Contested(&'a Contents),
}

impl Contents {
    /// Just this.
    #[must_use]
    pub fn one(content: Content) -> Self {
        Self::of([(content, None)])
    }

    /// Just this, under a status.
    #[must_use]
    pub fn ranked(content: Content, status: Status) -> Self {
        Self::of([(content, Some(status))])
    }

    /// The contents stored together; `None` when there are none.
    #[must_use]
    pub fn several(contents: impl IntoIterator<Item = (Content, Option<Status>)>) -> Option<Self> {
        let set = Self::of(contents);
        (!set.0.is_empty()).then_some(set)
    }

    fn of(contents: impl IntoIterator<Item = (Content, Option<Status>)>) -> Self {
        let held = contents.into_iter().map(|(content, status)| {
            let held = Held { content, status };
            (held.digest(), held)
        });
        Self(held.collect())
    }

    /// Whether this content is among them, under whichever status.
    #[must_use]
    pub fn contains(&self, content: &Content) -> bool {
        self.0.values().any(|held| held.content == *content)
    }

    /// Both sets together.
    #[must_use]
    pub fn union(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// In the order of their digests, which is nobody's order of arrival.
    pub fn iter(&self) -> impl Iterator<Item = &Content> {
        self.0.values().map(|held| &held.content)
    }

    /// The same with the status of each, where the strategy has one.
    pub fn with_status(&self) -> impl Iterator<Item = (&Content, Option<&Status>)> {
        self.0
            .values()
            .map(|held| (&held.content, held.status.as_ref()))
    }

    /// What all of them say together: the same for the same set.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let texts: Vec<String> = self.0.keys().map(Digest::to_text).collect();
        Digest::of_parts(&texts.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// What they say to a reader.
    #[must_use]
    pub fn standing(&self) -> Standing<'_> {
        let mut all = self.iter();
        match (all.next(), all.next()) {
            (Some(Content::Present(json)), None) => Standing::Present(json),
            (Some(Content::Deleted), None) => Standing::Deleted,
            (Some(_), Some(_)) | (None, _) => Standing::Contested(self),
        }
    }
}

/// Our copy of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Projection {
    /// How many conclusions it has behind it.
    pub revision: Revision,
    /// What the resource is; `None` when conclusions were drawn but nothing is known yet.
    pub contents: Option<Contents>,
    /// The greatest version that is known, or the number of the last change that was applied, where the
    /// strategy has one.
    pub version: Option<Version>,
    /// What a deletion rests on, while the resource is deleted.
    pub grave: Option<Grave>,
    /// Strategy `sequence`: the lowest number under which different changes came. Nothing is applied from there
    /// on.
    pub tied: Option<Version>,
    /// Strategy `sequence`: whether changes wait for one before them.
    pub waiting: bool,
    /// What it means to this deployment: verdict, links and reviews. A function of the contents and the rules.
    pub meaning: Meaning,
    /// Marks of recent conclusions that changed nothing. They are written in the one request that
    /// advances the revision, and move to items of their own when there are too many.
    pub recent: Vec<Mark>,
    /// Whether marks have moved to pages: only then is there anything to look up there.
    pub paged: bool,
}

impl Projection {
    /// The most marks kept in the projection itself. At about 60 bytes each, 8 leave the item of an
    /// ordinary resource within one write unit.
    pub const MOST_RECENT: usize = 8;

    /// A resource about which nothing was ever concluded.
    #[must_use]
    pub fn unknown() -> Self {
        Self {
            revision: Revision::NONE,
            contents: None,
            version: None,
            grave: None,
            tied: None,
            waiting: false,
            meaning: Meaning::default(),
            recent: Vec::new(),
            paged: false,
        }
    }

    /// The same after one more conclusion.
    #[must_use]
    pub fn advanced(&self) -> Self {
        Self {
            revision: self.revision.next(),
            ..self.clone()
        }
    }

    /// What it says to its readers; `None` while nothing is known.
    #[must_use]
    pub fn standing(&self) -> Option<Standing<'_>> {
        self.contents.as_ref().map(Contents::standing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn present(text: &str) -> Content {
        Content::Present(Json::parse(text).unwrap())
    }

    #[test]
    fn contents_that_differ_are_contested_and_nobody_s_order_shows() {
        let ab = Contents::one(present("1")).union(Contents::one(present("2")));
        let ba = Contents::one(present("2")).union(Contents::one(present("1")));
        assert_eq!(ab, ba);
        assert!(matches!(ab.standing(), Standing::Contested(_)));
        assert_eq!(
            Contents::one(present("1"))
                .union(Contents::one(present(" 1")))
                .standing(),
            Contents::one(present("1")).standing()
        );
    }

    #[test]
    fn a_deletion_and_a_state_at_once_are_contested() {
        let both = Contents::one(Content::Deleted).union(Contents::one(present("{}")));
        assert!(matches!(both.standing(), Standing::Contested(_)));
        assert_eq!(
            Contents::one(Content::Deleted).standing(),
            Standing::Deleted
        );
    }
}

//! Our current copy of a resource, with the evidence it rests on.

use std::collections::BTreeMap;
use std::fmt;

use crate::decision::Mark;
use crate::digest::Digest;
use crate::json::Json;
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

/// One content, or several that nobody may choose between.
///
/// A set, ordered by what the contents say, so that no arrival picks a winner (law 6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents(BTreeMap<Digest, Content>);

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
        Self(BTreeMap::from([(content.digest(), content)]))
    }

    /// The contents stored together; `None` when there are none.
    #[must_use]
    pub fn several(contents: impl IntoIterator<Item = Content>) -> Option<Self> {
        let set: BTreeMap<_, _> = contents
            .into_iter()
            .map(|content| (content.digest(), content))
            .collect();
        (!set.is_empty()).then_some(Self(set))
    }

    /// Whether this content is among them.
    #[must_use]
    pub fn contains(&self, content: &Content) -> bool {
        self.0.contains_key(&content.digest())
    }

    /// Both sets together.
    #[must_use]
    pub fn union(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// In the order of their digests, which is nobody's order of arrival.
    pub fn iter(&self) -> impl Iterator<Item = &Content> {
        self.0.values()
    }

    /// What they say to a reader.
    #[must_use]
    pub fn standing(&self) -> Standing<'_> {
        let mut all = self.0.values();
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
    /// The version that `contents` rest on, where the strategy has one.
    pub version: Option<Version>,
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
            recent: Vec::new(),
            paged: false,
        }
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

//! What became of recomputing a resource or a subject, in words for a report. No contents.

use std::collections::BTreeSet;
use std::fmt;

/// What a rebuild came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rebuilt {
    /// What is held is what comes out.
    Same,
    /// Something differed, and is put right.
    Changed,
    /// The state that is held could not be recomputed, and stays; everything beside it is recomputed.
    Kept,
    /// The source could not be read: the state stays, and the same can be asked again.
    Unread,
    /// Nothing in the configuration handles it any more; it was not touched.
    Unconfigured,
    /// It could not be done.
    Failed,
}

impl Rebuilt {
    /// Every outcome.
    pub const ALL: [Self; 6] = [
        Self::Same,
        Self::Changed,
        Self::Kept,
        Self::Unread,
        Self::Unconfigured,
        Self::Failed,
    ];

    /// Its word, as stored and shown.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Changed => "changed",
            Self::Kept => "kept",
            Self::Unread => "unread",
            Self::Unconfigured => "unconfigured",
            Self::Failed => "failed",
        }
    }

    /// From its word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == word)
    }

    /// Whether nothing is left to be done: the same run never does it again.
    #[must_use]
    pub fn is_final(self) -> bool {
        match self {
            Self::Same | Self::Changed | Self::Kept | Self::Unconfigured => true,
            Self::Unread | Self::Failed => false,
        }
    }
}

impl fmt::Display for Rebuilt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What differed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// What the resource is.
    Contents,
    /// Under which version that is known.
    Version,
    /// What its rules conclude.
    Verdict,
    /// The subjects that it speaks about.
    Links,
    /// What a person has to decide.
    Reviews,
    /// What happened: some of it was not recorded.
    Facts,
    /// Its copies in subjects' partitions.
    Members,
}

impl Part {
    /// Every part.
    pub const ALL: [Self; 7] = [
        Self::Contents,
        Self::Version,
        Self::Verdict,
        Self::Links,
        Self::Reviews,
        Self::Facts,
        Self::Members,
    ];

    /// Its word, as stored and shown.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Contents => "contents",
            Self::Version => "version",
            Self::Verdict => "verdict",
            Self::Links => "links",
            Self::Reviews => "reviews",
            Self::Facts => "facts",
            Self::Members => "members",
        }
    }

    /// From its word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == word)
    }
}

/// What is told of one resource or subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Of which rebuild.
    pub run: String,
    /// What it came to.
    pub outcome: Rebuilt,
    /// What differed.
    pub differs: BTreeSet<Part>,
    /// Why it was kept, not read or not done; never content.
    pub why: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_leads_back_to_what_it_stands_for() {
        for outcome in Rebuilt::ALL {
            assert_eq!(Rebuilt::parse(outcome.as_str()), Some(outcome));
        }
        for part in Part::ALL {
            assert_eq!(Part::parse(part.as_str()), Some(part));
        }
        assert_eq!((Rebuilt::parse("lost"), Part::parse("")), (None, None));
    }
}

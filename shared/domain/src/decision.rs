//! What one reconcile concluded about one signal, and why.

use std::fmt;

use crate::key::EventRef;

/// What became of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The projection changed because of it.
    Applied,
    /// The source was read; nothing had changed.
    Unchanged,
    /// It speaks of an earlier state than the one we hold.
    Stale,
    /// It says what is already held under the same evidence.
    Duplicate,
    /// Equal evidence, different content.
    Conflict,
    /// It needs something that has not come yet.
    Waiting,
    /// It concerns nothing that is kept.
    Ignored,
    /// It cannot be understood; it stays, and can be driven again.
    Failed,
    /// It was tried as often as is allowed; it stays, and can be driven again.
    Exhausted,
}

impl Outcome {
    /// Every outcome, in the order of the design.
    pub const ALL: [Self; 9] = [
        Self::Applied,
        Self::Unchanged,
        Self::Stale,
        Self::Duplicate,
        Self::Conflict,
        Self::Waiting,
        Self::Ignored,
        Self::Failed,
        Self::Exhausted,
    ];

    /// Its word, as stored and shown.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Unchanged => "unchanged",
            Self::Stale => "stale",
            Self::Duplicate => "duplicate",
            Self::Conflict => "conflict",
            Self::Waiting => "waiting",
            Self::Ignored => "ignored",
            Self::Failed => "failed",
            Self::Exhausted => "exhausted",
        }
    }

    /// From its word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|outcome| outcome.as_str() == word)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $word:literal, $text:literal;)+) => {
        /// Why. A closed list: a reason is chosen by the decision, never composed from content (law 14).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Reason { $($(#[$doc])* $name,)+ }

        impl Reason {
            /// Every reason.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// Its word, as stored.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)+ }
            }

            /// A sentence for people.
            #[must_use]
            pub fn explain(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }

            /// From its word.
            #[must_use]
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$name),)+ _ => None }
            }
        }
    };
}

reasons! {
    /// A read that began after the signal was stored showed a new state.
    ReadChanged = "read-changed", "the source was read after this signal, and showed a new state";
    /// A read that began after the signal was stored showed what is held.
    ReadSame = "read-same", "the source was read after this signal, and showed what we hold";
    /// The contract's evidence says deleted, and the read agrees.
    ReadGone = "read-gone", "the source says it is deleted; a tombstone stays";
    /// The highest version so far.
    VersionGreater = "version-greater", "its version is greater than any before";
    /// A lower version than the one held.
    VersionOlder = "version-older", "its version is older than the one we hold";
    /// The same version, the same content.
    VersionSame = "version-same", "we hold this version already, with the same content";
    /// The same version, another content.
    VersionTie = "version-tie", "the same version came with different contents; none was chosen";
    /// The same version, another content, settled by reading the source.
    VersionTieRead = "version-tie-read", "the same version came with different contents; the source was read to settle it";
    /// It was deleted, and what the contract says knows no way back.
    DeletedFinal = "deleted-final", "it was deleted before, and the contract knows no way back";
    /// A later version of what is deleted for good.
    DeletedThenChanged = "deleted-then-changed", "a later version came of what is deleted for good; a person has to look";
    /// Its status is further than what is held.
    StatusFurther = "status-further", "its status is further than any before";
    /// Its status leads to the one held.
    StatusBehind = "status-behind", "its status is behind the one we hold";
    /// The same status, the same content.
    StatusSame = "status-same", "we hold this status already, with the same content";
    /// The same status, another content.
    StatusTie = "status-tie", "the same status came with different contents; none was chosen";
    /// Neither status leads to the other.
    StatusApart = "status-apart", "its status and another lead nowhere near each other; none was chosen";
    /// A status that the declared order does not know.
    StatusUndeclared = "status-undeclared", "its status is not among the declared ones";
    /// The next change of the count.
    SequenceNext = "sequence-next", "it was the next change in the count";
    /// A change that is kept until the ones before it are there.
    SequenceGap = "sequence-gap", "it is kept until every change before it is there and none of them is in doubt";
    /// The same number, the same change.
    SequenceSame = "sequence-same", "this change is known already under its number";
    /// The same number, another change.
    SequenceTie = "sequence-tie", "different changes came under one number; none was chosen";
    /// A read took the place of changes that did not come.
    SequenceRead = "sequence-read", "a change before it did not come; the source was read instead";
    /// A fact that was not known.
    FactRecorded = "fact-recorded", "the fact it tells is recorded";
    /// A fact that is known with this content.
    FactKnown = "fact-known", "the fact it tells is known already, with the same content";
    /// A fact that is known with another content.
    FactTie = "fact-tie", "the same fact came with different contents; all are kept";
    /// The body cannot be read as the contract says.
    Unparsable = "unparsable", "its body cannot be read as the contract says";
    /// The event's row is not in the inbox any more.
    EventGone = "event-gone", "its body is no longer in the inbox";
    /// Nothing in the configuration handles this resource.
    Unconfigured = "unconfigured", "no configured integration handles this resource any more";
    /// The contract has no way to find the state of this kind of resource.
    NothingKept = "nothing-kept", "the contract has no way to find this kind of resource's state; the event is kept";
    /// The source could not be read.
    Unreadable = "unreadable", "the source could not be read; nothing was concluded from that";
    /// The source answered that it has no such object, which is no evidence of deletion.
    Absent = "absent", "the source does not show it, and that alone is no proof of deletion";
    /// The read was older than what a signal's own body proves.
    ReadBehind = "read-behind", "the source showed an older version than one we already know";
    /// The store refuses what would be written or holds what cannot be read.
    StoreRefused = "store-refused", "the store refused what was to be written, or holds what cannot be read";
    /// It is more than one item, or one transaction, can hold.
    TooLarge = "too-large", "what would be held is larger than the store takes; what was held before stays";
    /// Our own code failed.
    Panicked = "panicked", "the work on this resource panicked";
    /// The work did not finish in its time.
    OutOfTime = "out-of-time", "the work on this resource did not finish in its time";
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.explain())
    }
}

/// One signal's outcome, as it is committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Which event.
    pub event: EventRef,
    /// What became of it.
    pub outcome: Outcome,
    /// Why.
    pub reason: Reason,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_leads_back_to_what_it_stands_for() {
        for outcome in Outcome::ALL {
            assert_eq!(Outcome::parse(outcome.as_str()), Some(outcome));
        }
        for reason in Reason::ALL {
            assert_eq!(Reason::parse(reason.as_str()), Some(*reason));
        }
        assert_eq!(Outcome::parse("resurrected"), None);
    }
}

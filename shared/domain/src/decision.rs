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

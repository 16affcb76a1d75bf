//! What whoever sends an effect does with it.
//!
//! Law 10, an effect happens once per business key, or says that it does not know. Whoever works on one holds it under
//! a lease. When a lease ends without an outcome, or an answer is lost, the effect *may* have been acted on. From then
//! on it is uncertain, and is never simply sent: a destination that knows the key gets it again under the same key and
//! with the same data, one that can be asked is asked first, and for any other only a person can find out.

use std::time::Duration;

use super::EffectStatus;
use crate::retry::{Jitter, RetryPolicy, Verdict};
use crate::sending::{Found, Sent};

/// Whether somebody holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lease {
    /// For so long still.
    Held(Duration),
    /// Nobody does, or whoever did has had their time.
    Over,
}

/// What a message about an effect leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Begin {
    /// Nothing: it is settled, or waits for a person.
    Nothing,
    /// Somebody is at it: later.
    Later(Duration),
    /// To look whether it is still wanted.
    Look {
        /// Whether it may have been acted on already.
        uncertain: bool,
    },
}

/// What a message about an effect leads to.
pub fn begin(status: EffectStatus, uncertain: bool, lease: Lease) -> Begin {
    match (status, lease) {
        (EffectStatus::Pending, _) => Begin::Look { uncertain },
        (EffectStatus::Sending, Lease::Held(left)) => Begin::Later(left),
        // Whoever held it may have sent it and died before saying so.
        (EffectStatus::Sending, Lease::Over) => Begin::Look { uncertain: true },
        (
            EffectStatus::Done
            | EffectStatus::Failed
            | EffectStatus::Ambiguous
            | EffectStatus::Superseded,
            _,
        ) => Begin::Nothing,
    }
}

/// What a destination offers to one who does not know whether it acted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Means {
    /// It knows the key, still: sent again, it acts once.
    pub knows_keys: bool,
    /// It can be asked.
    pub answers: bool,
}

/// Whether it is still wanted, by what is known now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// It is.
    Yes,
    /// It is not.
    No,
    /// The rules cannot say.
    Undecided,
}

/// What is done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Plan {
    /// It is sent, perhaps again.
    Send,
    /// The destination is asked whether it acted already.
    Ask,
    /// It is not sent: it is not so any more.
    Supersede,
    /// It is not sent: the rules cannot say whether it may.
    Fail,
    /// It may have been acted on, and nobody can say.
    GiveUp,
}

/// What is done about it.
pub fn plan(uncertain: bool, wanted: Wanted, means: Means) -> Plan {
    match (uncertain, wanted) {
        (false, Wanted::Yes) => Plan::Send,
        (false, Wanted::No) => Plan::Supersede,
        (false, Wanted::Undecided) => Plan::Fail,
        (true, Wanted::Yes) if means.knows_keys => Plan::Send,
        (true, Wanted::Yes | Wanted::No | Wanted::Undecided) if means.answers => Plan::Ask,
        (true, Wanted::Yes | Wanted::No | Wanted::Undecided) => Plan::GiveUp,
    }
}

/// What follows an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum After {
    /// It was acted on.
    Done {
        /// How that was said.
        told: String,
    },
    /// The destination was asked, and did not act: it may be sent.
    Certain,
    /// Later once more.
    Again {
        /// After so long.
        pause: Duration,
        /// Whether it may have been acted on.
        uncertain: bool,
        /// What went wrong.
        why: String,
    },
    /// It was certainly not acted on, and is not tried again.
    Failed {
        /// What went wrong.
        why: String,
    },
    /// It may have been acted on, and nobody can say.
    Ambiguous {
        /// What went wrong.
        why: String,
    },
}

/// What counts when an attempt was of no use.
#[derive(Debug, Clone, Copy)]
pub struct Counted<'c> {
    /// Whether it may have been acted on before.
    pub uncertain: bool,
    /// Attempts so far, this one among them.
    pub attempts: u32,
    /// How often, and after how long, it is tried.
    pub policy: &'c RetryPolicy,
    /// A share of the pause.
    pub jitter: Jitter,
}

/// What follows when it was sent.
pub fn after_sending(sent: Sent, means: Means, counted: Counted<'_>) -> After {
    match sent {
        Sent::Done { told } => After::Done { told },
        // A refusal speaks of this attempt only.
        Sent::Refused { why } if counted.uncertain => After::Ambiguous { why },
        Sent::Refused { why } => After::Failed { why },
        Sent::NotSent { why, retry_after } => counted.again(why, retry_after),
        Sent::Unknown { why, retry_after } if means.knows_keys || means.answers => {
            let counted = Counted {
                uncertain: true,
                ..counted
            };
            counted.again(why, retry_after)
        }
        Sent::Unknown { why, .. } => After::Ambiguous { why },
    }
}

/// What follows when the destination was asked.
pub fn after_asking(found: Found, counted: Counted<'_>) -> After {
    match found {
        Found::There { told } => After::Done { told },
        Found::NotThere => After::Certain,
        Found::Unknown { why, retry_after } => {
            let counted = Counted {
                uncertain: true,
                ..counted
            };
            counted.again(why, retry_after)
        }
    }
}

impl Counted<'_> {
    fn again(self, why: String, retry_after: Option<Duration>) -> After {
        match self.policy.verdict(self.attempts, self.jitter) {
            Verdict::Again(pause) => After::Again {
                // What a destination asks for is granted, within what a message can wait.
                pause: pause.max(retry_after.unwrap_or_default().min(LONGEST_WISH)),
                uncertain: self.uncertain,
                why,
            },
            Verdict::Exhausted if self.uncertain => After::Ambiguous { why },
            Verdict::Exhausted => After::Failed { why },
        }
    }
}

/// The longest pause that a destination is granted.
const LONGEST_WISH: Duration = Duration::from_secs(6 * 3600);

#[cfg(test)]
mod tests;

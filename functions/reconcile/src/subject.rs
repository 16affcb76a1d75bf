//! A subject is decided from all its members at once, under its own revision.
//!
//! Nothing is read from outside and nothing about it can fail to be found out but the store: whatever its members say,
//! there is a decision, and where its rules cannot decide, a person can.

use std::time::Duration;

use lastword_domain::effect::outbox::{Before, Followed, Mode, follow};
use lastword_domain::{Meaning, Revision, SubjectSignal};
use lastword_rules::{Meant, Member};
use lastword_store::{Committed, MemberCopy, StoreError, SubjectCommit};

use crate::reconciler::{MOST_RACES, Reconciler, Settled, jitter};

impl Reconciler {
    /// Decides a subject anew.
    ///
    /// # Errors
    /// When the store could not be used: repeating is safe.
    pub async fn settle_subject(&self, signal: &SubjectSignal) -> Result<Settled, StoreError> {
        let subject = &signal.subject;
        for race in 0..MOST_RACES {
            let held = self.state.load_subject(subject).await?;
            if held.members.is_empty() && held.revision == Revision::NONE {
                // Whoever spoke about it left before it was ever decided.
                return Ok(Settled::Done);
            }
            let members: Vec<_> = held.members.iter().map(seen).collect();
            let Meant {
                meaning,
                evidence,
                asked,
            } = self.rules.subject(subject, &members);
            let before = Before {
                first: held.revision == Revision::NONE,
                called: &held.called,
                kept: &held.effects,
            };
            let Followed { called, writes } = follow(Mode::of(&signal.cause), before, &asked);
            let commit = |next| SubjectCommit {
                subject,
                held: &held,
                next,
                evidence: &evidence,
                called: &called,
                effects: &writes,
                now: (self.clock)(),
            };
            let mut committed = self.state.commit_subject(&commit(&meaning)).await?;
            if matches!(committed, Committed::TooLarge | Committed::TooMuch) {
                let refused: Meaning = self.rules.too_large(&members);
                committed = self.state.commit_subject(&commit(&refused)).await?;
            }
            match committed {
                Committed::Done(_) => return Ok(Settled::Done),
                Committed::Lost => {}
                Committed::TooLarge | Committed::TooMuch => {
                    return Err(StoreError::Refused(
                        "not even the decision fits an item".to_owned(),
                    ));
                }
            }
            tokio::time::sleep(jitter(Duration::from_millis(20 << race))).await;
        }
        Ok(Settled::Unknown)
    }
}

fn seen(member: &MemberCopy) -> Member<'_> {
    Member {
        role: &member.role,
        resource: &member.resource,
        contents: &member.contents,
    }
}

//! A subject is decided from all its members at once, under its own revision.
//!
//! Nothing is read from outside and nothing about it can fail to be found out but the store: whatever its members say,
//! there is a decision, and where its rules cannot decide, a person can.

use std::collections::BTreeSet;
use std::time::Duration;

use lastword_domain::effect::outbox::{Before, Followed, Mode, follow};
use lastword_domain::{Meaning, Part, Rebuilt, Report, Revision, SubjectKey, SubjectSignal};
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
            let known = !held.members.is_empty() || held.revision != Revision::NONE;
            let rebuilding = match signal.cause.rebuild() {
                None => None,
                Some(run) => match self.rebuilding(subject, run, known).await? {
                    None => return Ok(Settled::Done),
                    going => going,
                },
            };
            if !known {
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
            let report = rebuilding.map(|going| going.settled(&held.meaning, &meaning));
            let commit = |next| SubjectCommit {
                subject,
                held: &held,
                next,
                evidence: &evidence,
                called: &called,
                effects: &writes,
                report: report.as_ref(),
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

    /// What is told of a rebuild, as far as that is known before it; `None` when it is told already, because nothing
    /// of it is configured or known.
    async fn rebuilding(
        &self,
        subject: &SubjectKey,
        run: &str,
        known: bool,
    ) -> Result<Option<Going>, StoreError> {
        let hash = subject.hash();
        let mut going = Going(Report {
            run: run.to_owned(),
            outcome: Rebuilt::Same,
            differs: BTreeSet::new(),
            why: None,
        });
        if self.config.subjects.contains_key(&subject.kind) && known {
            // It may be decided several times in one rebuild, as its members are.
            let reports = self.state.reports(std::slice::from_ref(&hash)).await?;
            let before = reports.get(&hash).filter(|kept| kept.report.run == run);
            let before = before.into_iter().flat_map(|kept| &kept.report.differs);
            going.0.differs.extend(before);
            return Ok(Some(going));
        }
        if known {
            going.0.outcome = Rebuilt::Unconfigured;
        } else {
            going.0.why = Some("nothing is known of it".to_owned());
        }
        let now = (self.clock)();
        self.state.report(&hash, &going.0, now).await?;
        Ok(None)
    }
}

/// What a rebuild tells so far.
struct Going(Report);

impl Going {
    /// The same, with what differs now.
    fn settled(mut self, held: &Meaning, next: &Meaning) -> Report {
        if held.verdict != next.verdict {
            self.0.differs.insert(Part::Verdict);
        }
        if held.reviews != next.reviews {
            self.0.differs.insert(Part::Reviews);
        }
        if !self.0.differs.is_empty() {
            self.0.outcome = Rebuilt::Changed;
        }
        self.0
    }
}

fn seen(member: &MemberCopy) -> Member<'_> {
    Member {
        role: &member.role,
        resource: &member.resource,
        contents: &member.contents,
    }
}

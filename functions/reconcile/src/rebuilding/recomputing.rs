//! What a resource is, from what all its events tell or from the source, by its strategy.

use lastword_domain::decide::{
    conclude_sequence, conclude_sequence_read, conclude_transition, conclude_versions,
};
use lastword_domain::{Conclusion, Projection, Reason, Rebuilt, Strategy};

use super::Work;
use super::weighing::{self, Weighed};
use crate::bodies::Proofs;
use crate::looking::Reading;
use crate::observe::Told;
use crate::reconciler::Reconciler;
use crate::strategies::{self, Looked};

/// What comes out.
// There is one at a time, and it is moved once.
#[allow(clippy::large_enum_variant)]
#[must_use]
pub(super) enum State {
    /// What is held.
    Same,
    /// This.
    Found(Projection),
    /// It could not be recomputed, for this reason.
    Kept(String),
    /// The source could not be read.
    Unread(String),
}

impl State {
    /// The outcome, why, and what the resource is from now on. `trouble` is why some fact is not known.
    pub(super) fn settled(
        self,
        held: &Projection,
        trouble: Option<&str>,
    ) -> (Rebuilt, Option<String>, Projection) {
        let (outcome, why, says) = match self {
            Self::Same => (Rebuilt::Same, None, None),
            Self::Found(next) => (Rebuilt::Same, None, Some(next)),
            Self::Kept(why) => (Rebuilt::Kept, Some(why), None),
            Self::Unread(why) => (Rebuilt::Unread, Some(why), None),
        };
        let says = says.unwrap_or_else(|| held.clone());
        match trouble {
            Some(trouble) if outcome != Rebuilt::Unread => {
                (Rebuilt::Unread, Some(trouble.to_owned()), says)
            }
            Some(_) | None => (outcome, why, says),
        }
    }
}

/// What the bodies alone come to.
// There is one at a time, and it is moved once.
#[allow(clippy::large_enum_variant)]
#[must_use]
enum Bodies {
    /// A state; or none.
    State(Option<Projection>),
    /// They leave it open, and the source can be asked.
    Open,
}

impl Reconciler {
    /// What a resource is.
    pub(super) async fn state_of(&self, work: &Work<'_>) -> State {
        match work.configured.resource.strategy {
            Strategy::Current => self.looked_at(work).await,
            Strategy::Fact if work.gathered.gone > 0 => State::Kept(gone(work)),
            Strategy::Fact => State::Same,
            Strategy::Version | Strategy::Transition | Strategy::Sequence => {
                self.by_bodies(work).await
            }
        }
    }

    async fn looked_at(&self, work: &Work<'_>) -> State {
        let reading = Reading {
            told: work.gathered.told.unwrap_or(Told::Nothing),
            proven: work.gathered.proven.as_ref(),
        };
        let looked = self
            .look(work.quiet(), work.configured, reading, Vec::new())
            .await;
        match of_look(looked) {
            Ok(state) => state,
            Err((Reason::DeletedFinal | Reason::ReadBehind, why)) => State::Kept(why),
            Err((_, why)) => State::Unread(why),
        }
    }

    /// What all bodies say; where that is not what is held, the source has the last word if it can be asked.
    async fn by_bodies(&self, work: &Work<'_>) -> State {
        let held = &work.loaded.projection;
        if work.gathered.gone > 0 {
            return State::Kept(gone(work));
        }
        let order = work.configured.resource.order.as_ref();
        let found = match self.told(work) {
            Bodies::Open => return self.asked(work).await,
            Bodies::State(None) if held.contents.is_none() => return State::Same,
            Bodies::State(None) => None,
            Bodies::State(Some(found)) => {
                let weighed = weighing::weigh(held, &found, order);
                match weighed {
                    Weighed::Same => return State::Same,
                    Weighed::Other | Weighed::Behind => Some((weighed, found)),
                }
            }
        };
        if work.configured.terms().can_read {
            return self.asked(work).await;
        }
        match found {
            None => State::Kept("its events tell no state".to_owned()),
            Some((Weighed::Behind, _)) => {
                State::Kept("its events tell an earlier state than is held".to_owned())
            }
            Some((Weighed::Same | Weighed::Other, found)) => {
                State::Found(weighing::onto(held, found))
            }
        }
    }

    fn told(&self, work: &Work<'_>) -> Bodies {
        let (gathered, terms) = (work.gathered, work.configured.terms());
        let nothing = Projection::unknown();
        let resource = work.configured.resource;
        let concluded = match (resource.strategy, &resource.order) {
            (Strategy::Version, _) => conclude_versions(&nothing, &gathered.snapshots, terms),
            (Strategy::Transition, Some(order)) => {
                conclude_transition(&nothing, &gathered.ranked, order, terms)
            }
            (Strategy::Sequence, _) => {
                let first = resource.rules.first();
                conclude_sequence(&nothing, &[], &gathered.changes, &first, terms).conclusion
            }
            (Strategy::Transition, None) | (Strategy::Current | Strategy::Fact, _) => {
                Conclusion::Quiet { marks: Vec::new() }
            }
        };
        match concluded {
            Conclusion::Change { next, .. } => Bodies::State(Some(next)),
            Conclusion::Quiet { .. } | Conclusion::LookAgain(_) => Bodies::State(None),
            Conclusion::Reread => Bodies::Open,
        }
    }

    /// What the source says, as any look at it is concluded.
    async fn asked(&self, work: &Work<'_>) -> State {
        let resource = work.configured.resource;
        let looked = match (resource.strategy, &resource.order) {
            (Strategy::Version, _) => {
                let proofs = Proofs {
                    snapshots: work.gathered.snapshots.clone(),
                    failed: Vec::new(),
                };
                let (told, proven) = strategies::greatest(&proofs);
                let reading = Reading { told, proven };
                self.look(work.quiet(), work.configured, reading, Vec::new())
                    .await
            }
            (Strategy::Transition, Some(order)) => {
                self.transition_read(work.quiet(), work.configured, order, &work.gathered.ranked)
                    .await
            }
            (Strategy::Sequence, _) => self.counted_on(work).await,
            (Strategy::Transition, None) | (Strategy::Current | Strategy::Fact, _) => {
                Conclusion::Quiet { marks: Vec::new() }.into()
            }
        };
        of_look(looked).unwrap_or_else(|(_, why)| State::Kept(why))
    }

    /// A read at a number, with the changes that come after it.
    async fn counted_on(&self, work: &Work<'_>) -> Looked {
        let (observation, trouble) = self
            .observed(work.quiet(), work.configured, Told::PerhapsDeleted)
            .await;
        let (held, changes) = (&work.loaded.projection, &work.gathered.changes);
        let first = work.configured.resource.rules.first();
        let terms = work.configured.terms();
        let log = conclude_sequence(&Projection::unknown(), &[], changes, &first, terms).log;
        let read = conclude_sequence_read(held, &[], &log, &first, observation, terms).conclusion;
        let concluded = match read {
            Conclusion::Change { next, marks } => {
                let on = conclude_sequence(&next, &log, changes, &first, terms).conclusion;
                match on {
                    on @ Conclusion::Change { .. } => on,
                    Conclusion::Quiet { .. } | Conclusion::Reread | Conclusion::LookAgain(_) => {
                        Conclusion::Change { next, marks }
                    }
                }
            }
            other @ (Conclusion::Quiet { .. } | Conclusion::Reread | Conclusion::LookAgain(_)) => {
                other
            }
        };
        Looked {
            concluded,
            trouble: Some(trouble),
            partly: false,
        }
    }
}

impl<'w> Work<'w> {
    /// A look for no signal.
    fn quiet(&self) -> strategies::Work<'w> {
        strategies::Work {
            signal: self.signal,
            loaded: self.loaded,
            pending: &[],
            left: false,
        }
    }
}

fn gone(work: &Work<'_>) -> String {
    let gone = work.gathered.gone;
    format!("{gone} of its events are not in the inbox any more")
}

/// What a look comes to, or why it came to nothing.
fn of_look(looked: Looked) -> Result<State, (Reason, String)> {
    match looked.concluded {
        Conclusion::Change { next, .. } => Ok(State::Found(next)),
        Conclusion::Quiet { .. } | Conclusion::Reread => Ok(State::Same),
        Conclusion::LookAgain(reason) => {
            let detail = looked.trouble.map(|trouble| trouble.detail);
            let detail = detail.filter(|detail| !detail.is_empty());
            let why = match detail {
                Some(detail) => format!("{reason}: {detail}"),
                None => reason.to_string(),
            };
            Err((reason, why))
        }
    }
}

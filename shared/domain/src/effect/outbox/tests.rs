use proptest::prelude::*;

use super::*;
use crate::name::EffectName;

fn rule() -> EffectRule {
    EffectRule {
        name: EffectName::parse("confirmation").unwrap(),
        version: 1,
    }
}

fn asked(called: Option<bool>, wanted: bool) -> BTreeMap<EffectRule, Asked> {
    let asked = Asked {
        called,
        wanted,
        data: None,
        settle: Duration::ZERO,
    };
    BTreeMap::from([(rule(), asked)])
}

fn live() -> Mode {
    Mode::of(&Cause::Webhook)
}

/// An owner that is decided again and again, with its effect as the store keeps it.
#[derive(Default)]
struct Model {
    known: bool,
    called: Called,
    kept: BTreeMap<EffectRule, EffectStatus>,
}

impl Model {
    fn decide(&mut self, mode: Mode, called: Option<bool>, wanted: bool) -> Vec<EffectWrite> {
        let before = Before {
            first: !self.known,
            called: &self.called,
            kept: &self.kept,
        };
        let Followed { called, writes } = follow(mode, before, &asked(called, wanted));
        self.known = true;
        self.called = called;
        for write in &writes {
            match write {
                EffectWrite::Create(_) | EffectWrite::Revive(_) => {
                    self.kept.insert(rule(), EffectStatus::Pending);
                }
                EffectWrite::Keep(_, seen) => assert_eq!(self.kept.get(&rule()), Some(seen)),
            }
        }
        writes
    }

    /// Whoever sends looks, and what was sent stays sent.
    fn dispatch(&mut self, wanted: bool) {
        let pending = |status: &&mut EffectStatus| **status == EffectStatus::Pending;
        if let Some(status) = self.kept.get_mut(&rule()).filter(pending) {
            *status = match wanted {
                true => EffectStatus::Done,
                false => EffectStatus::Superseded,
            };
        }
    }

    fn status(&self) -> Option<EffectStatus> {
        self.kept.get(&rule()).copied()
    }
}

#[test]
fn what_is_called_for_at_once_is_created_and_not_a_second_time() {
    let mut model = Model::default();
    assert!(matches!(
        model.decide(live(), Some(true), true)[..],
        [EffectWrite::Create(_)]
    ));
    model.dispatch(true);
    assert!(model.decide(live(), Some(true), true).is_empty());
    assert!(model.decide(live(), Some(false), false).is_empty());
    assert!(model.decide(live(), Some(true), true).is_empty());
    assert_eq!(model.status(), Some(EffectStatus::Done));
}

#[test]
fn a_rule_that_is_new_calls_for_nothing_by_what_was_so_before_it() {
    let mut model = Model {
        known: true,
        ..Model::default()
    };
    assert!(model.decide(live(), Some(true), true).is_empty());
    assert!(model.decide(live(), Some(true), true).is_empty());
    // But it calls for it when it begins to.
    assert!(model.decide(live(), Some(false), false).is_empty());
    assert_eq!(model.decide(live(), Some(true), true).len(), 1);
}

#[test]
fn what_could_not_be_decided_at_first_is_called_for_once_it_can() {
    let mut model = Model::default();
    assert!(model.decide(live(), None, false).is_empty());
    assert_eq!(model.decide(live(), Some(true), true).len(), 1);
}

#[test]
fn what_was_superseded_is_taken_up_when_it_is_wanted_again() {
    let mut model = Model::default();
    model.decide(live(), Some(true), false);
    model.dispatch(false);
    assert_eq!(model.status(), Some(EffectStatus::Superseded));
    assert!(matches!(
        model.decide(live(), Some(true), true)[..],
        [EffectWrite::Revive(_)]
    ));
}

#[test]
fn a_rebuild_leaves_what_it_finds_to_whoever_may_create_it() {
    let mut model = Model::default();
    model.decide(live(), Some(false), false);
    assert!(model.decide(Mode::Rebuild, Some(true), true).is_empty());
    // The signal that tells of it comes after: the same look, and yet it calls for it.
    assert_eq!(model.decide(live(), Some(true), true).len(), 1);
}

#[test]
fn what_is_built_anew_after_everything_was_lost_calls_for_nothing() {
    let mut model = Model::default();
    assert!(model.decide(Mode::Rebuild, Some(true), true).is_empty());
    assert!(model.decide(live(), Some(true), true).is_empty());
}

#[derive(Debug, Clone)]
enum Step {
    Decide(Option<bool>, bool),
    Rebuild(Option<bool>, bool),
    Dispatch,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (prop_oneof![Just(None), Just(Some(true)), Just(Some(false))], any::<bool>())
            .prop_map(|(called, wanted)| Step::Decide(called, wanted && called == Some(true))),
        1 => (prop_oneof![Just(None), Just(Some(true)), Just(Some(false))], any::<bool>())
            .prop_map(|(called, wanted)| Step::Rebuild(called, wanted && called == Some(true))),
        2 => Just(Step::Dispatch),
    ];
    proptest::collection::vec(step, 0..12)
}

proptest! {
    #[test]
    fn whoever_looked_in_between_what_is_wanted_in_the_end_is_sent_and_what_is_not_is_not_sent_then(
        steps in steps(), wanted in any::<bool>(),
    ) {
        let mut model = Model::default();
        let mut last = (Some(false), false);
        model.decide(live(), last.0, last.1);
        for step in steps {
            match step {
                Step::Decide(called, wanted) => { model.decide(live(), called, wanted); last = (called, wanted); }
                Step::Rebuild(called, wanted) => {
                    let before = model.kept.clone();
                    prop_assert!(model.decide(Mode::Rebuild, called, wanted).is_empty());
                    prop_assert_eq!(before, model.kept.clone());
                    last = (called, wanted);
                }
                Step::Dispatch => model.dispatch(last.1),
            }
        }
        let sent_before = model.status() == Some(EffectStatus::Done);
        model.decide(live(), Some(wanted), wanted);
        model.dispatch(wanted);
        if wanted {
            prop_assert_eq!(model.status(), Some(EffectStatus::Done));
        } else {
            prop_assert_eq!(model.status() == Some(EffectStatus::Done), sent_before);
        }
    }

    #[test]
    fn nothing_is_ever_taken_back_from_what_was_done_failed_or_ambiguous(
        status in prop_oneof![Just(EffectStatus::Done), Just(EffectStatus::Failed), Just(EffectStatus::Ambiguous)],
        steps in steps(),
    ) {
        let mut model = Model { known: true, kept: BTreeMap::from([(rule(), status)]), ..Model::default() };
        for step in steps {
            if let Step::Decide(called, wanted) | Step::Rebuild(called, wanted) = step {
                prop_assert!(model.decide(live(), called, wanted).is_empty());
            }
        }
        prop_assert_eq!(model.status(), Some(status));
    }
}

//! Law 5: reads are fenced. Two workers, every order of their steps.

use lastword_domain::Outcome;

use crate::world::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_read_of_an_older_state_is_thrown_away_and_read_again() {
    let machine = machine().await;
    let (slow, fast) = (machine.worker().unwrap(), machine.worker().unwrap());
    let path = "/v1/subscriptions/sub_1";
    show(&machine, "sub_1", "active");
    post(&machine, &slow, &about("sub_1", "evt_1")).await;
    machine.relay(&slow, 100).await.unwrap();
    let batch = machine.receive().await.unwrap().unwrap();
    let held = machine.standin.hold_next(path);
    let stalled = machine.handle(&slow, &batch);
    let meanwhile = async {
        held.reached().await;
        show(&machine, "sub_1", "canceled");
        post(&machine, &fast, &about("sub_1", "evt_2")).await;
        // The same message, seen by another worker because the first one stalls too long.
        assert!(machine.handle(&fast, &batch).await.unwrap().is_empty());
        held.release();
    };
    let (left, ()) = tokio::join!(stalled, meanwhile);
    assert!(left.unwrap().is_empty());
    assert_eq!(
        says(&story(&machine, &slow, &subscription("sub_1")).await),
        "canceled"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_source_moves_away_and_back_while_a_reader_stalls_and_an_unchanged_conclusion_spends_the_signal()
 {
    let machine = machine().await;
    let (slow, fast) = (machine.worker().unwrap(), machine.worker().unwrap());
    let path = "/v1/subscriptions/sub_1";
    // S1 is what we hold.
    show(&machine, "sub_1", "S1");
    post(&machine, &slow, &about("sub_1", "evt_1")).await;
    machine.settle(&slow).await.unwrap();
    // The source goes to S2; the slow worker reads that, and stalls.
    show(&machine, "sub_1", "S2");
    post(&machine, &slow, &about("sub_1", "evt_2")).await;
    machine.relay(&slow, 100).await.unwrap();
    let batch = machine.receive().await.unwrap().unwrap();
    let held = machine.standin.hold_next(path);
    let stalled = machine.handle(&slow, &batch);
    let meanwhile = async {
        held.reached().await;
        // The source is back at S1; the fast worker finds nothing changed and spends the signal.
        show(&machine, "sub_1", "S1");
        assert!(machine.handle(&fast, &batch).await.unwrap().is_empty());
        assert_eq!(
            says(&story(&machine, &fast, &subscription("sub_1")).await),
            "S1"
        );
        held.release();
    };
    let (left, ()) = tokio::join!(stalled, meanwhile);
    assert!(left.unwrap().is_empty());
    let story = story(&machine, &slow, &subscription("sub_1")).await;
    assert_eq!(says(&story), "S1", "{story:?}");
    assert!(outcomes(&story).contains(&Outcome::Unchanged));
}

mod model {
    //! The pure core under every schedule: two workers, a source that moves, crashes and stale reads.

    use lastword_domain::decide::{Observation, Terms, conclude_read};
    use lastword_domain::{Conclusion, Content, Contents, Digest, EventRef, Json, Projection};
    use proptest::prelude::*;

    /// A source that can be read, and where nothing comes back.
    const TERMS: Terms = Terms {
        can_read: true,
        comes_back: false,
    };

    /// One step of a schedule.
    #[derive(Debug, Clone, Copy)]
    enum Step {
        /// The source moves to this state, and a signal of it is stored.
        Move(u8),
        /// This worker does its next step: load, fetch, receive what was fetched, commit.
        Work(usize),
        /// This worker loses everything it had in hand.
        Crash(usize),
    }

    #[derive(Debug, Clone, Default)]
    enum Hand {
        #[default]
        Idle,
        Loaded {
            held: Projection,
            signals: Vec<EventRef>,
            commits: usize,
        },
        /// The answer is fixed here, however long it travels.
        Fetched {
            held: Projection,
            signals: Vec<EventRef>,
            commits: usize,
            state: u8,
            began: usize,
        },
    }

    struct Model {
        source: u8,
        stored: Projection,
        open: Vec<EventRef>,
        hands: [Hand; 2],
        clock: usize,
        last_commit: usize,
        commits: usize,
        lost: usize,
    }

    fn content(state: u8) -> Content {
        Content::Present(Json::parse(&state.to_string()).unwrap())
    }

    impl Model {
        fn new() -> Self {
            Self {
                source: 0,
                stored: Projection::unknown(),
                open: Vec::new(),
                hands: Default::default(),
                clock: 0,
                last_commit: 0,
                commits: 0,
                lost: 0,
            }
        }

        fn step(&mut self, step: Step) {
            self.clock += 1;
            match step {
                Step::Move(state) => {
                    self.source = state;
                    let signal = Digest::of(&self.clock.to_be_bytes()).to_text();
                    self.open.push(EventRef::parse(&signal).unwrap());
                }
                Step::Crash(worker) => self.hands[worker] = Hand::Idle,
                Step::Work(worker) => {
                    let hand = std::mem::take(&mut self.hands[worker]);
                    self.hands[worker] = self.work(hand);
                }
            }
        }

        fn work(&mut self, hand: Hand) -> Hand {
            match hand {
                Hand::Idle if self.open.is_empty() => Hand::Idle,
                Hand::Idle => Hand::Loaded {
                    held: self.stored.clone(),
                    signals: self.open.clone(),
                    commits: self.commits,
                },
                Hand::Loaded {
                    held,
                    signals,
                    commits,
                } => Hand::Fetched {
                    held,
                    signals,
                    commits,
                    state: self.source,
                    began: self.clock,
                },
                Hand::Fetched {
                    held,
                    signals,
                    commits,
                    state,
                    began,
                } => {
                    self.commit(&held, &signals, commits, state, began);
                    Hand::Idle
                }
            }
        }

        fn commit(
            &mut self,
            held: &Projection,
            signals: &[EventRef],
            commits: usize,
            state: u8,
            began: usize,
        ) {
            let seen = Observation::Seen {
                content: content(state),
                version: None,
                status: None,
                proof: None,
            };
            let next = match conclude_read(held, signals, None, seen, TERMS) {
                Conclusion::Change { next, .. } => next,
                Conclusion::Quiet { .. } => Projection {
                    revision: held.revision.next(),
                    ..held.clone()
                },
                Conclusion::Reread | Conclusion::LookAgain(_) => panic!("a conclusion"),
            };
            // The store's condition.
            if self.stored.revision != held.revision {
                self.lost += 1;
                return;
            }
            assert_eq!(
                commits, self.commits,
                "an accepted commit was loaded after the one before it"
            );
            assert!(
                began > self.last_commit,
                "a read that began before the last commit was committed"
            );
            self.stored = next;
            self.open.retain(|signal| !signals.contains(signal));
            self.commits += 1;
            self.last_commit = self.clock;
        }

        /// Whoever is left finishes.
        fn finish(&mut self) {
            while !self.open.is_empty() || self.hands.iter().any(|hand| !matches!(hand, Hand::Idle))
            {
                self.step(Step::Work(0));
                self.step(Step::Work(1));
            }
        }
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            2 => (0u8..3).prop_map(Step::Move),
            6 => (0usize..2).prop_map(Step::Work),
            1 => (0usize..2).prop_map(Step::Crash),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn any_schedule_of_two_workers_with_crashes_ends_at_the_source_s_state(schedule in proptest::collection::vec(step(), 1..60)) {
            let mut model = Model::new();
            for step in schedule {
                model.step(step);
            }
            model.finish();
            if model.commits > 0 {
                prop_assert_eq!(model.stored.contents, Some(Contents::one(content(model.source))));
            }
        }
    }

    #[test]
    fn every_schedule_of_eight_steps_of_two_workers_and_two_moves_ends_at_the_source_s_state() {
        let steps = [
            Step::Move(1),
            Step::Move(2),
            Step::Work(0),
            Step::Work(1),
            Step::Crash(0),
        ];
        let (mut schedules, mut raced) = (0u32, 0u32);
        for number in 0..5u32.pow(8) {
            let mut model = Model::new();
            let mut rest = number;
            for _ in 0..8 {
                model.step(steps[(rest % 5) as usize]);
                rest /= 5;
            }
            model.finish();
            if model.commits > 0 {
                assert_eq!(
                    model.stored.contents,
                    Some(Contents::one(content(model.source))),
                    "schedule {number}"
                );
            }
            schedules += 1;
            raced += u32::from(model.lost > 0);
        }
        assert_eq!(schedules, 390_625);
        // Not vacuous: in many of them somebody did lose a race.
        assert!(raced > 10_000, "{raced}");
    }

    #[test]
    fn in_the_model_a_stalled_read_loses_to_an_unchanged_conclusion() {
        // The interleaving of the design, by hand: hold S1; A loads and fetches S2; the source returns to
        // S1; B loads, fetches S1 and concludes "unchanged"; A commits.
        let mut model = Model::new();
        for step in [Step::Move(1), Step::Work(0), Step::Work(0), Step::Work(0)] {
            model.step(step);
        }
        for step in [
            Step::Move(2),
            Step::Work(0),
            Step::Work(0),
            Step::Move(1),
            Step::Work(1),
            Step::Work(1),
            Step::Work(1),
        ] {
            model.step(step);
        }
        let revision = model.stored.revision;
        model.step(Step::Work(0));
        assert_eq!((model.stored.revision, model.lost), (revision, 1));
        model.finish();
        assert_eq!(model.stored.contents, Some(Contents::one(content(1))));
    }
}

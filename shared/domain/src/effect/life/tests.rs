use proptest::prelude::*;

use super::*;

const POLICY: RetryPolicy = RetryPolicy {
    attempts: 4,
    first_delay: Duration::from_secs(1),
    longest_delay: Duration::from_secs(60),
};

fn sent() -> impl Strategy<Value = Sent> {
    let wish = || proptest::option::of((0u64..100_000).prop_map(Duration::from_secs));
    prop_oneof![
        Just(Sent::Done { told: "200".into() }),
        Just(Sent::Refused { why: "400".into() }),
        wish().prop_map(|retry_after| Sent::NotSent {
            why: "429".into(),
            retry_after
        }),
        wish().prop_map(|retry_after| Sent::Unknown {
            why: "500".into(),
            retry_after
        }),
    ]
}

fn means() -> impl Strategy<Value = Means> {
    (any::<bool>(), any::<bool>()).prop_map(|(knows_keys, answers)| Means {
        knows_keys,
        answers,
    })
}

fn wanted() -> impl Strategy<Value = Wanted> {
    prop_oneof![Just(Wanted::Yes), Just(Wanted::No), Just(Wanted::Undecided)]
}

/// What really happened at a destination, beside what was said of it.
#[derive(Debug, Clone)]
struct Happening {
    says: Sent,
    acted: bool,
    asked: Option<Found>,
    crash: bool,
    wanted: Wanted,
}

fn happening() -> impl Strategy<Value = Happening> {
    let asked = prop_oneof![
        Just(None),
        Just(Some(Found::Unknown {
            why: "500".into(),
            retry_after: None
        })),
    ];
    (sent(), any::<bool>(), asked, any::<bool>(), wanted()).prop_map(
        |(says, acted, asked, crash, wanted)| Happening {
            acted: match &says {
                Sent::Done { .. } => true,
                Sent::NotSent { .. } | Sent::Refused { .. } => false,
                Sent::Unknown { .. } => acted,
            },
            says,
            asked,
            crash,
            wanted,
        },
    )
}

/// A destination that acts as it says it does.
struct Destination {
    means: Means,
    actions: u32,
}

impl Destination {
    fn act(&mut self) {
        if !(self.means.knows_keys && self.actions > 0) {
            self.actions += 1;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn whatever_is_lost_and_whoever_dies_it_happens_once_at_most_and_what_is_said_of_it_is_true(
        means in means(),
        happenings in proptest::collection::vec(happening(), 1..10),
    ) {
        let mut destination = Destination { means, actions: 0 };
        let (mut status, mut uncertain, mut attempts) = (EffectStatus::Pending, false, 0);
        for happening in happenings {
            let Begin::Look { uncertain: doubt } = begin(status, uncertain, Lease::Over) else { break };
            uncertain = doubt;
            attempts += 1;
            let counted = |uncertain| Counted { uncertain, attempts, policy: &POLICY, jitter: Jitter(0) };
            let mut planned = plan(uncertain, happening.wanted, means);
            let mut after = None;
            if planned == Plan::Ask {
                let there = Found::There { told: "200".into() };
                let found = happening.asked.clone()
                    .unwrap_or(if destination.actions > 0 { there } else { Found::NotThere });
                let answer = after_asking(found, counted(uncertain));
                if answer == After::Certain {
                    uncertain = false;
                    planned = plan(false, happening.wanted, means);
                } else {
                    after = Some(answer);
                }
            }
            let after = match after {
                Some(after) => after,
                None => match planned {
                    Plan::Send => {
                        prop_assert_eq!(happening.wanted, Wanted::Yes);
                        if happening.acted { destination.act(); }
                        if happening.crash {
                            status = EffectStatus::Sending;
                            continue;
                        }
                        after_sending(happening.says, means, counted(uncertain))
                    }
                    Plan::Supersede => { status = EffectStatus::Superseded; break }
                    Plan::Fail => { status = EffectStatus::Failed; break }
                    Plan::GiveUp => { status = EffectStatus::Ambiguous; break }
                    Plan::Ask => unreachable!(),
                },
            };
            match after {
                After::Done { .. } => status = EffectStatus::Done,
                After::Again { uncertain: doubt, .. } => { status = EffectStatus::Pending; uncertain = doubt }
                After::Failed { .. } => status = EffectStatus::Failed,
                After::Ambiguous { .. } => status = EffectStatus::Ambiguous,
                After::Certain => unreachable!(),
            }
        }
        prop_assert!(destination.actions <= 1);
        match status {
            EffectStatus::Done => prop_assert_eq!(destination.actions, 1),
            EffectStatus::Failed | EffectStatus::Superseded => prop_assert_eq!(destination.actions, 0),
            EffectStatus::Pending if !uncertain => prop_assert_eq!(destination.actions, 0),
            EffectStatus::Pending | EffectStatus::Sending | EffectStatus::Ambiguous => {}
        }
    }

    #[test]
    fn what_is_certain_is_never_ambiguous_and_a_pause_is_bounded(
        sent in sent(), means in means(), attempts in 1u32..6, jitter in any::<u8>(),
    ) {
        let counted = Counted { uncertain: false, attempts, policy: &POLICY, jitter: Jitter(jitter) };
        let unknown = matches!(sent, Sent::Unknown { .. });
        match after_sending(sent, means, counted) {
            After::Ambiguous { .. } => prop_assert!(unknown),
            After::Again { pause, .. } => prop_assert!(pause <= LONGEST_WISH && attempts < POLICY.attempts),
            After::Done { .. } | After::Failed { .. } => {}
            After::Certain => prop_assert!(false),
        }
    }
}

#[test]
fn what_somebody_is_at_is_left_to_them_and_what_is_settled_stays() {
    let left = Duration::from_secs(3);
    let held = begin(EffectStatus::Sending, false, Lease::Held(left));
    assert_eq!(held, Begin::Later(left));
    for status in [
        EffectStatus::Done,
        EffectStatus::Failed,
        EffectStatus::Ambiguous,
        EffectStatus::Superseded,
    ] {
        assert_eq!(begin(status, true, Lease::Over), Begin::Nothing);
    }
}

#[test]
fn what_is_no_longer_wanted_and_may_have_been_done_is_not_called_superseded() {
    let neither = Means {
        knows_keys: false,
        answers: false,
    };
    let knows = Means {
        knows_keys: true,
        ..neither
    };
    for means in [neither, knows] {
        assert_eq!(plan(true, Wanted::No, means), Plan::GiveUp);
        assert_eq!(plan(true, Wanted::Undecided, means), Plan::GiveUp);
    }
}

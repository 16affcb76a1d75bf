//! Decides what follows a failed attempt; pure, so that every rule of the retries can be tested alone.

use std::ops::Range;

/// A part of a batch that is to be delivered, and how often its first record has failed alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Attempt {
    pub(super) range: Range<usize>,
    pub(super) tries: u32,
}

/// What the mapping was configured to do about failures.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policy {
    pub(super) bisect: bool,
    /// `None` retries for ever.
    pub(super) maximum_retries: Option<u32>,
}

/// What follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Deliver these, in this order.
    Deliver(Vec<Attempt>),
    /// Give these up, and go on behind them.
    GiveUp(Range<usize>),
}

/// What follows when `attempt` failed at the record `first_failed` and everything before it is done.
///
/// Everything from the failed record on is delivered again. With bisecting, a part that fails at its first
/// record is halved, so that a poisonous record ends up alone; neither halving nor cutting at a reported
/// record counts as a retry. Without bisecting, a part that runs out of retries takes its neighbours along,
/// as in the cloud. How the cloud combines halving with a report that names the first record is not
/// documented; it is treated here like any other failure of that part.
pub(super) fn after_failure(attempt: &Attempt, first_failed: usize, policy: Policy) -> Next {
    let rest = first_failed..attempt.range.end;
    let moved = first_failed > attempt.range.start;
    if policy.bisect && moved {
        return Next::Deliver(vec![Attempt {
            range: rest,
            tries: 0,
        }]);
    }
    if policy.bisect && rest.len() > 1 {
        let middle = rest.start + rest.len() / 2;
        let tries = attempt.tries;
        return Next::Deliver(vec![
            Attempt {
                range: rest.start..middle,
                tries,
            },
            Attempt {
                range: middle..rest.end,
                tries,
            },
        ]);
    }
    let tries = if moved { 1 } else { attempt.tries + 1 };
    if policy.maximum_retries.is_some_and(|most| tries > most) {
        return Next::GiveUp(rest);
    }
    Next::Deliver(vec![Attempt { range: rest, tries }])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(length: usize) -> Attempt {
        Attempt {
            range: 0..length,
            tries: 0,
        }
    }

    #[test]
    fn everything_from_the_failed_record_on_comes_again() {
        let policy = Policy {
            bisect: false,
            maximum_retries: None,
        };
        let next = after_failure(&whole(5), 2, policy);
        assert_eq!(
            next,
            Next::Deliver(vec![Attempt {
                range: 2..5,
                tries: 1
            }])
        );
    }

    #[test]
    fn a_part_that_fails_at_its_first_record_is_halved_without_using_up_a_retry() {
        let policy = Policy {
            bisect: true,
            maximum_retries: Some(0),
        };
        let halves = vec![
            Attempt {
                range: 0..2,
                tries: 0,
            },
            Attempt {
                range: 2..5,
                tries: 0,
            },
        ];
        assert_eq!(after_failure(&whole(5), 0, policy), Next::Deliver(halves));
    }

    #[test]
    fn a_record_alone_is_given_up_after_its_retries() {
        let policy = Policy {
            bisect: true,
            maximum_retries: Some(2),
        };
        let mut attempt = Attempt {
            range: 3..4,
            tries: 0,
        };
        let mut deliveries = 1;
        while let Next::Deliver(mut next) = after_failure(&attempt, 3, policy) {
            attempt = next.remove(0);
            deliveries += 1;
        }
        assert_eq!(deliveries, 3);
        assert_eq!(after_failure(&attempt, 3, policy), Next::GiveUp(3..4));
    }

    #[test]
    fn without_halving_a_poisonous_record_takes_those_behind_it_along() {
        let policy = Policy {
            bisect: false,
            maximum_retries: Some(0),
        };
        assert_eq!(after_failure(&whole(3), 0, policy), Next::GiveUp(0..3));
    }

    #[test]
    fn without_a_limit_nothing_is_ever_given_up() {
        let policy = Policy {
            bisect: true,
            maximum_retries: None,
        };
        let alone = Attempt {
            range: 0..1,
            tries: 9_999,
        };
        assert!(matches!(after_failure(&alone, 0, policy), Next::Deliver(_)));
    }
}

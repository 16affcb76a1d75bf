//! How often, and after how long, something that could not be found out is tried again.

use std::time::Duration;

/// The limits of trying again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// How many attempts in all, before the work is set aside as exhausted.
    pub attempts: u32,
    /// The pause after the first failed attempt; it doubles from there.
    pub first_delay: Duration,
    /// The longest pause.
    pub longest_delay: Duration,
}

/// What happens after a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// Try again after this long.
    Again(Duration),
    /// That was the last attempt.
    Exhausted,
}

/// A share of the pause between none and all of it: 0 to 255.
///
/// Chance comes from outside, so that the same inputs always give the same verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Jitter(pub u8);

impl RetryPolicy {
    /// After `failed` failed attempts (the first failure is 1). The pause is between half and all of
    /// the doubled delay, so that many resources that failed together do not come back together.
    pub fn verdict(&self, failed: u32, jitter: Jitter) -> Verdict {
        if failed >= self.attempts {
            return Verdict::Exhausted;
        }
        let doublings = failed.saturating_sub(1).min(20);
        let whole = self
            .first_delay
            .saturating_mul(1 << doublings)
            .min(self.longest_delay);
        let half = whole / 2;
        Verdict::Again(half + half * u32::from(jitter.0) / 255)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const POLICY: RetryPolicy = RetryPolicy {
        attempts: 20,
        first_delay: Duration::from_secs(1),
        longest_delay: Duration::from_secs(600),
    };

    #[test]
    fn the_last_allowed_attempt_exhausts() {
        assert!(matches!(POLICY.verdict(19, Jitter(0)), Verdict::Again(_)));
        assert_eq!(POLICY.verdict(20, Jitter(0)), Verdict::Exhausted);
        assert_eq!(POLICY.verdict(u32::MAX, Jitter(0)), Verdict::Exhausted);
    }

    proptest! {
        #[test]
        fn a_pause_is_never_longer_than_the_longest_nor_shorter_than_half_its_step(failed in 1u32..20, jitter in any::<u8>()) {
            let Verdict::Again(pause) = POLICY.verdict(failed, Jitter(jitter)) else { panic!("not the last") };
            let step = POLICY.first_delay.saturating_mul(1 << (failed - 1)).min(POLICY.longest_delay);
            prop_assert!(pause <= step && pause >= step / 2);
        }
    }
}

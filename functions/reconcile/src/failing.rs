//! What follows when something could not be found out: attempts are counted for each event, and the
//! ones that were tried as often as is allowed are set aside as exhausted.

use std::time::Duration;

use lastword_domain::Reason;
use lastword_domain::retry::{Jitter, RetryPolicy, Verdict};
use lastword_store::{Failure, LoadedEvent, Moment};

/// A failed attempt, before it is counted.
#[derive(Debug, Clone)]
pub struct Trouble {
    /// Why.
    pub reason: Reason,
    /// A few words more; never content.
    pub detail: String,
    /// How long the provider asks to be left alone.
    pub retry_after: Option<Duration>,
}

impl Default for Trouble {
    fn default() -> Self {
        Self {
            reason: Reason::Unreadable,
            detail: String::new(),
            retry_after: None,
        }
    }
}

/// What is recorded of a failed attempt, and when it is tried again.
#[derive(Debug)]
pub struct Plan {
    /// One for each event.
    pub failures: Vec<Failure>,
    /// The shortest pause of those that are tried again; `None` when none is.
    pub pause: Option<Duration>,
}

/// Counts a failed attempt against each event.
#[must_use]
pub fn plan(
    policy: &RetryPolicy,
    trouble: &Trouble,
    events: &[&LoadedEvent],
    jitter: Jitter,
    now: Moment,
) -> Plan {
    let mut plan = Plan {
        failures: Vec::with_capacity(events.len()),
        pause: None,
    };
    for event in events {
        let attempts = event.attempts.saturating_add(1);
        let pause = match policy.verdict(attempts, jitter) {
            Verdict::Exhausted => None,
            // The provider's own word counts, but not beyond our longest pause.
            Verdict::Again(pause) => Some(
                pause.max(
                    trouble
                        .retry_after
                        .unwrap_or_default()
                        .min(policy.longest_delay),
                ),
            ),
        };
        plan.failures.push(Failure {
            event: event.reference.clone(),
            attempts,
            reason: trouble.reason,
            detail: trouble.detail.clone(),
            next_attempt: pause.map(|pause| now.plus(pause)),
        });
        plan.pause = match (plan.pause, pause) {
            (Some(shortest), Some(pause)) => Some(shortest.min(pause)),
            (known, None) => known,
            (None, pause) => pause,
        };
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastword_domain::{Digest, EventRef};

    fn event(name: &str, attempts: u32) -> LoadedEvent {
        LoadedEvent {
            reference: EventRef::parse(&Digest::of(name.as_bytes()).to_text()).unwrap(),
            decided: None,
            on_record: attempts > 0,
            attempts,
            stored: None,
        }
    }

    #[test]
    fn an_old_event_is_set_aside_while_a_new_one_behind_it_is_tried_again() {
        let policy = RetryPolicy {
            attempts: 3,
            first_delay: Duration::from_secs(2),
            longest_delay: Duration::from_secs(60),
        };
        let trouble = Trouble {
            reason: Reason::Unreadable,
            detail: String::new(),
            retry_after: None,
        };
        let (old, new) = (event("old", 2), event("new", 0));
        let planned = plan(
            &policy,
            &trouble,
            &[&old, &new],
            Jitter(255),
            Moment::from_unix_ms(0),
        );
        let next: Vec<_> = planned
            .failures
            .iter()
            .map(|failure| failure.next_attempt.is_some())
            .collect();
        assert_eq!(next, [false, true]);
        assert_eq!(planned.pause, Some(Duration::from_secs(2)));
    }

    #[test]
    fn the_provider_s_pause_is_kept_but_not_beyond_our_longest() {
        let policy = RetryPolicy {
            attempts: 9,
            first_delay: Duration::from_secs(1),
            longest_delay: Duration::from_secs(60),
        };
        let asked = |seconds| Trouble {
            reason: Reason::Unreadable,
            detail: String::new(),
            retry_after: Some(Duration::from_secs(seconds)),
        };
        let fresh = event("e", 0);
        let pause = |seconds| {
            plan(
                &policy,
                &asked(seconds),
                &[&fresh],
                Jitter(0),
                Moment::from_unix_ms(0),
            )
            .pause
        };
        assert_eq!(pause(30), Some(Duration::from_secs(30)));
        assert_eq!(pause(86_400), Some(Duration::from_secs(60)));
    }
}

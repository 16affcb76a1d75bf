//! How long an invocation may still take.

use std::time::{Duration, SystemTime};

/// The time that is left until a deadline; `assumed` where it was over before the work began, for then it is none:
/// runners on a developer's machine give such.
#[must_use]
pub fn time_left(deadline: SystemTime, assumed: Duration) -> Duration {
    left(deadline, SystemTime::now(), assumed)
}

fn left(deadline: SystemTime, now: SystemTime, assumed: Duration) -> Duration {
    match deadline.duration_since(now) {
        Ok(left) if left > Duration::ZERO => left,
        Ok(_) | Err(_) => assumed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_that_was_over_before_the_work_began_is_none() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1000);
        let assumed = Duration::from_secs(20);
        let seven = Duration::from_secs(7);
        assert_eq!(left(now + seven, now, assumed), seven);
        assert_eq!(left(now, now, assumed), assumed);
        assert_eq!(left(SystemTime::UNIX_EPOCH, now, assumed), assumed);
    }
}

//! A point in time, for audit and lag only (law 4): it is written, and never compared to decide.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_smithy_types::DateTime;
use aws_smithy_types::date_time::Format;

/// Unix time in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(u64);

impl Moment {
    /// From Unix milliseconds.
    #[must_use]
    pub const fn from_unix_ms(ms: u64) -> Self {
        Self(ms)
    }

    /// Now, by this machine's clock.
    #[must_use]
    pub fn now() -> Self {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }

    /// Unix milliseconds.
    #[must_use]
    pub fn unix_ms(self) -> u64 {
        self.0
    }

    /// How long after the other, if it is.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// Unix time in whole seconds.
    #[must_use]
    pub fn unix_seconds(self) -> u64 {
        self.0 / 1000
    }

    /// This much later.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(
            self.0
                .saturating_add(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)),
        )
    }

    /// `2026-11-30T19:01:02.345Z`: sorts as text, always with milliseconds.
    #[must_use]
    pub fn to_text(self) -> String {
        let seconds = DateTime::from_secs(i64::try_from(self.unix_seconds()).unwrap_or(i64::MAX));
        let mut text = seconds.fmt(Format::DateTime).unwrap_or_default();
        text.truncate(text.trim_end_matches('Z').len());
        text.push_str(&format!(".{:03}Z", self.0 % 1000));
        text
    }

    /// `2026-11-30T19:01`: the minute, as the inbox's index is divided.
    #[must_use]
    pub fn minute(self) -> String {
        self.to_text().chars().take(16).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_reads_as_a_date_and_sorts_as_text() {
        let moment = Moment::from_unix_ms(1_796_065_262_000);
        assert_eq!(moment.to_text(), "2026-11-30T19:01:02.000Z");
        assert_eq!(moment.minute(), "2026-11-30T19:01");
        assert!(moment.to_text() < moment.plus(Duration::from_millis(1)).to_text());
    }
}

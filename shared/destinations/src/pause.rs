//! How long a destination asks to be left alone.

use std::time::{Duration, SystemTime};

use http::HeaderMap;
use http::header::RETRY_AFTER;

/// A longer pause is taken for this one: whoever asks for more is looked at every day all the same.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// `Retry-After` in seconds or as a date (RFC 9110, 10.2.3); what is neither asks for nothing.
pub(crate) fn pause(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let asked = if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than a number has: long.
        text.parse().map_or(LONGEST, Duration::from_secs)
    } else {
        let until = httpdate::parse_http_date(text).ok()?;
        // A date that has passed asks for no more.
        until.duration_since(now).unwrap_or_default()
    };
    Some(asked.min(LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Option<Duration> {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, text.parse().unwrap());
        pause(&headers, now)
    }

    #[test]
    fn seconds_and_dates_are_read_and_nothing_else() {
        for (text, seconds) in [
            ("0", Some(0)),
            (" 120 ", Some(120)),
            ("99999999999999999999999", Some(24 * 3600)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(0)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", Some(60)),
            ("Sunday, 06-Nov-94 08:50:37 GMT", Some(60)),
            ("Sun Nov  6 08:50:37 1994", Some(60)),
            ("Sun, 06 Nov 1994 08:40:37 GMT", Some(0)),
            ("Fri, 31 Dec 9999 23:59:59 GMT", Some(24 * 3600)),
            ("-1", None),
            ("1.5", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(read(text), seconds.map(Duration::from_secs), "{text}");
        }
        assert_eq!(pause(&HeaderMap::new(), SystemTime::UNIX_EPOCH), None);
    }

    proptest! {
        #[test]
        fn no_text_breaks_it_or_asks_for_more_than_a_day(text in "[ -~]{0,40}") {
            prop_assert!(read(&text).unwrap_or_default() <= LONGEST);
        }
    }
}

//! What became of an attempt to send something outward, and what a destination says when it is asked.
//!
//! Law 10: an effect happens once for each business key, or says that it does not know. So the one thing that
//! matters about an attempt is whether it may have been acted on. Nothing here carries text of an answer's body
//! (law 14): statuses and kinds of failure only.

use std::time::Duration;

/// What became of one attempt to send.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Sent {
    /// The destination took it.
    Done {
        /// The answer in words for people: `answered 201`.
        told: String,
    },
    /// It certainly did not arrive, or was certainly not acted on: it may be sent again, whoever the destination is.
    NotSent {
        /// Status or kind of failure, and nothing that the destination wrote.
        why: String,
        /// How long the destination asks to be left alone.
        retry_after: Option<Duration>,
    },
    /// It may have been acted on.
    Unknown {
        /// Status or kind of failure, and nothing that the destination wrote.
        why: String,
        /// How long the destination asks to be left alone.
        retry_after: Option<Duration>,
    },
    /// The destination refused it, and will refuse it again; or it can never be sent as it is.
    Refused {
        /// Status or kind of failure, and nothing that the destination wrote.
        why: String,
    },
}

/// What a destination says when it is asked about a key.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Found {
    /// It acted on the key.
    There {
        /// The answer in words for people: `answered 200`.
        told: String,
    },
    /// It knows nothing of the key.
    NotThere,
    /// It did not say.
    Unknown {
        /// Status or kind of failure, and nothing that the destination wrote.
        why: String,
        /// How long the destination asks to be left alone.
        retry_after: Option<Duration>,
    },
}

/// What the status of a whole answer says about the attempt.
///
/// | status | means | because |
/// |---|---|---|
/// | 2xx | done | the destination says so (RFC 9110, 15.3) |
/// | 3xx | refused | redirects are not followed: key and secret would travel to where nobody configured them |
/// | 408, 425 | unknown | a proxy says them too, of a request that it had handed on |
/// | 429 | not sent | a limit is applied before anything is done (RFC 6585, 4) |
/// | 5xx | unknown | it may break after it has acted; also 503: a proxy says it when the answer behind it was lost |
/// | 409 and other 4xx | refused | the request is at fault and stays the same |
/// | 4xx named in `also_retried` | unknown | the user's word that it passes; not that nothing was done |
/// | other | unknown | not a final answer, or none that HTTP knows |
///
/// 429 stays *not sent* where `also_retried` names it.
pub fn answered(status: u16, retry_after: Option<Duration>, also_retried: &[u16]) -> Sent {
    let why = format!("answered {status}");
    match status {
        200..=299 => Sent::Done { told: why },
        429 => Sent::NotSent { why, retry_after },
        408 | 425 | 500..=599 => Sent::Unknown { why, retry_after },
        400..=499 if also_retried.contains(&status) => Sent::Unknown { why, retry_after },
        300..=499 => Sent::Refused { why },
        0..=199 | 600..=u16::MAX => Sent::Unknown { why, retry_after },
    }
}

/// What the status of a whole answer to the question says. `body` is asked only when the status is 200, and says
/// whether the body shows it; `Err` says why that cannot be told.
///
/// | status | means | because |
/// |---|---|---|
/// | 200, body shows it | there | |
/// | 200, body shows nothing | not there | lists answer 200 when nothing is found |
/// | 404, 410 | not there | the user's word: a destination with a look-up knows every key that it acted on |
/// | all others | unknown | not being let in, a redirect or a failure say nothing about the key |
pub fn asked(
    status: u16,
    retry_after: Option<Duration>,
    body: impl FnOnce() -> Result<bool, &'static str>,
) -> Found {
    let told = format!("answered {status}");
    match status {
        200 => match body() {
            Ok(true) => Found::There { told },
            Ok(false) => Found::NotThere,
            Err(why) => Found::Unknown {
                why: format!("{told}, but {why}"),
                retry_after: None,
            },
        },
        404 | 410 => Found::NotThere,
        0..=199 | 201..=403 | 405..=409 | 411..=u16::MAX => Found::Unknown {
            why: told,
            retry_after,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PAUSE: Option<Duration> = Some(Duration::from_secs(7));

    fn kind(sent: &Sent) -> &'static str {
        match sent {
            Sent::Done { .. } => "done",
            Sent::NotSent { .. } => "not sent",
            Sent::Unknown { .. } => "unknown",
            Sent::Refused { .. } => "refused",
        }
    }

    #[test]
    fn each_status_means_what_the_table_says() {
        for (statuses, expected) in [
            (&[200, 201, 202, 204, 299][..], "done"),
            (&[300, 301, 302, 304, 307, 308, 399], "refused"),
            (&[429], "not sent"),
            (&[408, 425, 500, 502, 503, 504, 599], "unknown"),
            (
                &[400, 401, 403, 404, 409, 410, 413, 422, 451, 499],
                "refused",
            ),
            (&[0, 100, 101, 199, 600, 999, u16::MAX], "unknown"),
        ] {
            for status in statuses {
                let sent = answered(*status, PAUSE, &[]);
                assert_eq!(kind(&sent), expected, "{status}");
            }
        }
    }

    #[test]
    fn a_pause_that_is_asked_for_is_handed_on() {
        for (status, also) in [(429, &[][..]), (503, &[]), (409, &[409])] {
            match answered(status, PAUSE, also) {
                Sent::NotSent { retry_after, .. } | Sent::Unknown { retry_after, .. } => {
                    assert_eq!(retry_after, PAUSE);
                }
                other @ (Sent::Done { .. } | Sent::Refused { .. }) => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn a_question_is_answered_by_a_whole_answer_only() {
        let found = |status, shown| asked(status, PAUSE, || shown);
        assert!(matches!(found(200, Ok(true)), Found::There { .. }));
        assert_eq!(found(200, Ok(false)), Found::NotThere);
        assert!(matches!(
            found(200, Err("it is no JSON")),
            Found::Unknown { .. }
        ));
        for status in [404, 410] {
            assert_eq!(found(status, Ok(true)), Found::NotThere);
        }
        for status in [
            100, 201, 204, 206, 301, 400, 401, 403, 405, 408, 409, 429, 500, 503,
        ] {
            let expected = Found::Unknown {
                why: format!("answered {status}"),
                retry_after: PAUSE,
            };
            assert_eq!(found(status, Ok(true)), expected);
        }
    }

    proptest! {
        /// Law 10: sending again without the destination's help needs certainty, and nobody's word gives it.
        #[test]
        fn no_list_of_statuses_makes_certain_what_is_not(status: u16, also in prop::collection::vec(400u16..600, 0..20)) {
            let sent = answered(status, None, &also);
            prop_assert_eq!(kind(&sent) == "not sent", status == 429);
            prop_assert_eq!(kind(&sent) == "done", (200..300).contains(&status));
            if also.contains(&status) {
                prop_assert_ne!(kind(&sent), "refused");
            }
        }

        #[test]
        fn nothing_but_404_410_and_a_body_says_that_a_key_is_not_there(status: u16) {
            let found = asked(status, None, || Ok(true));
            prop_assert_eq!(found == Found::NotThere, status == 404 || status == 410);
        }
    }
}

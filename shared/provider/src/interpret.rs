//! What a status, headers and a body say. A plain function of them and the contract; law 7 is here.
//!
//! | status | says |
//! |---|---|
//! | 200 | the object, if the contract finds in the body the one that was asked for |
//! | 401, 403 | refused; 403 that names a time is a limit, and busy |
//! | 429, 5xx | busy |
//! | 3xx that points elsewhere | unreadable |
//! | another 4xx | what the contract lists it as; unlisted 404 and 410 prove nothing |
//! | anything else, other 2xx among it | unreadable |
//!
//! A contract cannot list a refusal, a limit or an outage as absence: that order is law 7's.

use std::time::Duration;

use http::header::{CONTENT_ENCODING, RETRY_AFTER};
use http::{HeaderMap, StatusCode};
use lastword_contracts::evidence::seen::Seen;
use lastword_contracts::{Absence, Api, NoEvidence, ResourceRules};
use lastword_domain::name::ResourceId;

use crate::answer::{Answer, Unreadable};

/// What an answer says of the resource that was asked for.
pub fn interpret(
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
    api: &Api,
    rules: &ResourceRules,
    id: &ResourceId,
) -> Answer {
    match read(status, headers, body, api, |body| rules.seen(id, body)) {
        Ok(Seen {
            content,
            version,
            status,
        }) => Answer::Seen {
            content,
            version,
            status,
        },
        Err(other) => other,
    }
}

/// What a success holds, or what else the answer says.
pub(crate) fn read<T>(
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
    api: &Api,
    understood: impl FnOnce(&[u8]) -> Result<T, NoEvidence>,
) -> Result<T, Answer> {
    let number = status.as_u16();
    let busy = |retry_after| Answer::Busy {
        status: number,
        retry_after,
    };
    Err(match number {
        200 => return success(headers, body, understood).map_err(Answer::from),
        301 | 302 | 303 | 307 | 308 => Unreadable::Redirected(number).into(),
        401 => Answer::Refused { status: number },
        403 => match retry_after(headers) {
            None => Answer::Refused { status: number },
            pause @ Some(_) => busy(pause),
        },
        429 | 500..=599 => busy(retry_after(headers)),
        400..=499 => match api.absent.get(status.as_str()) {
            Some(absence) => Answer::Absent(*absence),
            None if number == 404 || number == 410 => Answer::Absent(Absence::ProvesNothing),
            None => Unreadable::Status(number).into(),
        },
        _ => Unreadable::Status(number).into(),
    })
}

fn success<T>(
    headers: &HeaderMap,
    body: &[u8],
    understood: impl FnOnce(&[u8]) -> Result<T, NoEvidence>,
) -> Result<T, Unreadable> {
    let encoded = headers
        .get_all(CONTENT_ENCODING)
        .iter()
        .any(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity"));
    if encoded {
        return Err(Unreadable::Encoded);
    }
    if body.is_empty() {
        return Err(Unreadable::Empty);
    }
    understood(body).map_err(Unreadable::NotUnderstood)
}

/// Whole seconds only: digits without a sign, as RFC 9110 writes them.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok().map(Duration::from_secs)
}

#[cfg(test)]
mod tests;

//! What an error of the SDK says about whether its call was acted on.
//!
//! The clients here send once, so an error is about one attempt. What is not certain is unknown.

use std::error::Error;

use aws_sdk_sqs::error::{ProvideErrorMetadata, SdkError};
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use hyper_util::client::legacy;
use lastword_domain::Sent;

/// What became of a call that failed, and the service's own code for it.
pub(crate) fn failed<E>(error: &SdkError<E, HttpResponse>) -> (Sent, Option<String>)
where
    E: ProvideErrorMetadata + Error + 'static,
{
    let unknown = |why: &str| Sent::Unknown {
        why: why.to_owned(),
        retry_after: None,
    };
    let not_sent = |why: &str| Sent::NotSent {
        why: why.to_owned(),
        retry_after: None,
    };
    let told = if let SdkError::ServiceError(service) = error {
        let code = service.err().code();
        let sent = refused(code.unwrap_or_default(), service.raw().status().as_u16());
        return (sent, code.map(str::to_owned));
    } else if matches!(error, SdkError::ConstructionFailure(_)) {
        not_sent("the request could not be made")
    } else if matches!(error, SdkError::TimeoutError(_)) {
        unknown("no answer in time")
    } else if let SdkError::DispatchFailure(failure) = error {
        match failure.as_connector_error() {
            Some(error) if never_connected(error) => not_sent("no connection"),
            Some(_) | None => unknown("the connection was lost before the answer"),
        }
    } else {
        unknown("the answer could not be read")
    };
    (told, None)
}

/// What a service's code says.
///
/// | code | means | because |
/// |---|---|---|
/// | throttling, 429 | not sent | limits are applied before anything is done |
/// | expired credentials or time | not sent | nobody was let in; the next process has newer ones |
/// | 408, 5xx, or none that HTTP knows | unknown | it may have broken after it had acted |
/// | other | refused | access, a queue that is not there, contents: the same next time |
pub(crate) fn refused(code: &str, status: u16) -> Sent {
    let name = code.rsplit('.').next().unwrap_or(code);
    let why = if name.is_empty() {
        format!("answered {status}")
    } else {
        // A code is a word of the service's own; what else may stand there is not repeated.
        name.chars()
            .filter(char::is_ascii_alphanumeric)
            .take(64)
            .collect()
    };
    let retry_after = None;
    let lower = name.to_ascii_lowercase();
    let throttled = status == 429
        || lower.contains("throttl")
        || matches!(
            name,
            "TooManyRequestsException" | "RequestLimitExceeded" | "SlowDown"
        );
    let expired = lower.contains("expired") || name == "RequestTimeTooSkewed";
    if throttled || expired {
        Sent::NotSent { why, retry_after }
    } else if lower.contains("timeout") || status == 408 || !(400..500).contains(&status) {
        Sent::Unknown { why, retry_after }
    } else {
        Sent::Refused { why }
    }
}

fn never_connected(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(client) = error.downcast_ref::<legacy::Error>() {
            return client.is_connect();
        }
        next = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kind(sent: &Sent) -> &'static str {
        match sent {
            Sent::Done { .. } => "done",
            Sent::NotSent { .. } => "not sent",
            Sent::Unknown { .. } => "unknown",
            Sent::Refused { .. } => "refused",
        }
    }

    #[test]
    fn each_code_means_what_the_table_says() {
        for (code, status, expected) in [
            ("ThrottlingException", 400, "not sent"),
            ("RequestThrottled", 403, "not sent"),
            ("AWS.SimpleQueueService.RequestThrottled", 503, "not sent"),
            ("KmsThrottled", 400, "not sent"),
            ("TooManyRequestsException", 400, "not sent"),
            ("", 429, "not sent"),
            ("ExpiredTokenException", 403, "not sent"),
            ("RequestExpired", 400, "not sent"),
            ("InternalFailure", 500, "unknown"),
            ("ServiceUnavailable", 503, "unknown"),
            ("RequestTimeout", 400, "unknown"),
            ("", 408, "unknown"),
            ("", 502, "unknown"),
            ("", 302, "unknown"),
            ("AccessDeniedException", 400, "refused"),
            ("AWS.SimpleQueueService.NonExistentQueue", 400, "refused"),
            ("QueueDoesNotExist", 400, "refused"),
            ("InvalidMessageContents", 400, "refused"),
            ("KmsAccessDenied", 400, "refused"),
            ("ValidationException", 400, "refused"),
            ("", 403, "refused"),
        ] {
            assert_eq!(kind(&refused(code, status)), expected, "{code} {status}");
        }
    }

    proptest! {
        /// Law 10: an answer from behind the door is never proof that nothing was done.
        #[test]
        fn no_failure_of_the_service_is_certain_unless_it_is_a_limit(code in "[A-Za-z.]{0,30}", status in 500u16..600) {
            let sent = refused(&code, status);
            let lower = code.to_ascii_lowercase();
            let limit = ["throttl", "expired", "toomany", "requestl", "slowdown", "requesttimetoo"];
            if !limit.iter().any(|word| lower.contains(word)) {
                prop_assert_eq!(kind(&sent), "unknown");
            }
            prop_assert_ne!(kind(&sent), "done");
        }
    }
}

//! What went wrong with the store, as what a caller can do about it. The one place that reads SDK errors.

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;

/// Why the store could not be used. Its variants are what the caller can do.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Throttled, in conflict, slow or unreachable: the same request may succeed later. Whether it was
    /// done may be unknown; every request of this crate may safely be repeated.
    #[error("the store is busy: {0}")]
    Busy(String),
    /// The store refuses the request as such: somebody must look (permissions, table, size).
    #[error("the store refused: {0}")]
    Refused(String),
    /// What is stored is not what this version writes: somebody must look.
    #[error("the stored item {item} is corrupt: {attribute}: {why}")]
    Corrupt {
        /// Which item, as its kind.
        item: &'static str,
        /// Which attribute.
        attribute: &'static str,
        /// What is wrong with it.
        why: String,
    },
}

/// Whether a write's condition held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    /// It did not: somebody else was first.
    Failed,
    /// Something else went wrong for now.
    Conflict,
}

const BUSY: [&str; 9] = [
    "ThrottlingException",
    "ThrottlingError",
    "ProvisionedThroughputExceededException",
    "ProvisionedThroughputExceeded",
    "RequestLimitExceeded",
    "TransactionConflictException",
    "TransactionConflict",
    "TransactionInProgressException",
    "InternalServerError",
];

/// Reads any operation's error.
pub(crate) fn read<E, R>(error: &SdkError<E, R>) -> StoreError
where
    E: ProvideErrorMetadata,
{
    let Some(service) = error.as_service_error() else {
        // Not answered, not understood or not sent: a lost response is among these.
        return StoreError::Busy(kind(error).to_owned());
    };
    let code = service.code().unwrap_or("an error without a code");
    if BUSY.contains(&code) || code.contains("Throttl") || code.contains("Unavailable") {
        StoreError::Busy(code.to_owned())
    } else {
        StoreError::Refused(format!("{code}: {}", service.message().unwrap_or_default()))
    }
}

fn kind<E, R>(error: &SdkError<E, R>) -> &'static str {
    match error {
        SdkError::TimeoutError(_) => "no answer in time",
        SdkError::DispatchFailure(_) => "not reachable, or the answer was lost",
        SdkError::ResponseError(_) => "an answer that is not understood",
        SdkError::ConstructionFailure(_) => "the request could not be made",
        SdkError::ServiceError(_) => "an error",
        other => {
            // The SDK's enum may grow; an unknown kind is not an answer.
            let _: &SdkError<E, R> = other;
            "an unknown failure"
        }
    }
}

/// Whether this is a single write in conflict with a running transaction.
pub(crate) fn is_conflict(error: &StoreError) -> bool {
    matches!(error, StoreError::Busy(code) if code.starts_with("TransactionConflict"))
}

/// Reads a transaction's cancellation: every reason, not only the first.
///
/// A failed condition among them means that somebody else was first, whatever else there is: load again.
/// Only conflicts and throttles: the same request may be sent again. Anything else is refused.
pub(crate) fn read_cancellation<R>(
    error: &SdkError<TransactWriteItemsError, R>,
) -> Result<Condition, StoreError> {
    let Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) =
        error.as_service_error()
    else {
        return match read(error) {
            busy if is_conflict(&busy) => Ok(Condition::Conflict),
            other => Err(other),
        };
    };
    let codes = || {
        cancelled
            .cancellation_reasons()
            .iter()
            .filter_map(|reason| reason.code())
            .filter(|code| *code != "None")
    };
    if codes().any(|code| code == "ConditionalCheckFailed") {
        return Ok(Condition::Failed);
    }
    if codes().any(|code| code == "TransactionConflict") && codes().all(|code| BUSY.contains(&code))
    {
        return Ok(Condition::Conflict);
    }
    let all = codes().collect::<Vec<_>>().join(", ");
    if !all.is_empty() && codes().all(|code| BUSY.contains(&code)) {
        return Err(StoreError::Busy(all));
    }
    Err(StoreError::Refused(format!("transaction cancelled: {all}")))
}

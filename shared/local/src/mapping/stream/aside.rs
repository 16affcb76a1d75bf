//! Gives records up: tells the failure destination where they are, never what they say.

use serde_json::json;

use super::{OnFailure, Shared, wire::Entry};
use crate::{
    function::{function_arn, request_id},
    mapping::Note,
};

/// Tells the failure destination where the given-up records are, and goes on behind them.
pub(super) async fn set_aside(shared: &Shared, shard: &str, entries: &[Entry], reason: &str) {
    let (Some(first), Some(last)) = (entries.first(), entries.last()) else {
        return;
    };
    let pointer = json!({
        "requestContext": {
            "requestId": request_id(),
            "functionArn": function_arn(shared.function.name()),
            "condition": "RetryAttemptsExhausted",
        },
        "responseContext": { "statusCode": 200, "functionError": reason },
        "version": "1.0",
        "DDBStreamBatchInfo": {
            "shardId": shard,
            "startSequenceNumber": first.sequence,
            "endSequenceNumber": last.sequence,
            "approximateArrivalOfFirstRecord": first.created,
            "approximateArrivalOfLastRecord": last.created,
            "batchSize": entries.len(),
            "streamArn": shared.config.stream_arn,
        },
    })
    .to_string();
    shared.counters.set_aside(entries.len());
    shared.note(Note::SetAside {
        mapping: &shared.config.name,
        pointer: &pointer,
    });
    match &shared.config.on_failure {
        OnFailure::Discard => {}
        OnFailure::Call(tell) => tell(pointer),
        OnFailure::Queue { client, url } => {
            let sent = client
                .send_message()
                .queue_url(url)
                .message_body(pointer)
                .send()
                .await;
            if let Err(error) = sent {
                let reason = aws_sdk_sqs::error::DisplayErrorContext(error).to_string();
                shared.trouble(&format!("the failure destination refused: {reason}"));
            }
        }
    }
    shared.advance(shard, &last.sequence);
}

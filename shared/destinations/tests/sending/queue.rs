//! What became of an attempt through the SDK, however the service breaks: for a queue, and for the bus.

use std::sync::Arc;
use std::time::Duration;

use lastword_config::{Channel, Destination};
use lastword_destinations::{DestinationOverrides, Sender};
use lastword_domain::Sent;
use lastword_domain::name::DestinationName;
use lastword_runtime::Vault;

use crate::bench::{
    MESSAGE, PRIVATE, SECRET, Server, Then, answer, clients, clients_within, destination, secrets,
};

fn queue() -> Destination {
    destination("queue = \"https://sqs.us-east-1.amazonaws.com/123456789012/receipts.fifo\"")
}

fn bus() -> Destination {
    Destination {
        name: DestinationName::parse("bus").unwrap(),
        channel: Channel::Bus,
    }
}

async fn send(attempt: Duration, endpoint: &str, destination: &Destination) -> Sent {
    let vault = Arc::new(Vault::fixed(secrets(SECRET)));
    let overrides = DestinationOverrides::none();
    let sender = Sender::new(&clients_within(attempt, endpoint), "bus", vault, overrides).unwrap();
    sender.send(destination, &MESSAGE).await
}

impl Then {
    /// Short for what never ends by itself.
    fn patience(&self) -> Duration {
        match self {
            Self::WriteAndHang(_) => Duration::from_millis(500),
            Self::Write(_) | Self::Close => Duration::from_secs(20),
        }
    }
}

fn kind(sent: &Sent) -> &'static str {
    let shown = format!("{sent:?}");
    assert!(!shown.contains(PRIVATE), "law 14: {shown}");
    match sent {
        Sent::Done { .. } => "done",
        Sent::NotSent { .. } => "not sent",
        Sent::Unknown { .. } => "unknown",
        Sent::Refused { .. } => "refused",
    }
}

fn code(status: u16, code: &str) -> Then {
    let body = format!(r#"{{"__type":"{code}","message":"{PRIVATE}"}}"#);
    answer(
        status,
        "content-type: application/x-amz-json-1.0\r\n",
        body.as_bytes(),
    )
}

#[tokio::test]
async fn each_way_in_which_a_service_fails_means_what_the_table_says_and_is_met_once() {
    for (then, expected) in [
        (code(400, "ThrottlingException"), "not sent"),
        (code(403, "RequestThrottled"), "not sent"),
        (code(400, "ExpiredTokenException"), "not sent"),
        (code(400, "AccessDeniedException"), "refused"),
        (code(400, "com.amazonaws.sqs#QueueDoesNotExist"), "refused"),
        (
            code(400, "AWS.SimpleQueueService.NonExistentQueue"),
            "refused",
        ),
        (code(400, "InvalidMessageContents"), "refused"),
        (code(500, "InternalFailure"), "unknown"),
        (code(503, "ServiceUnavailable"), "unknown"),
        (answer(502, "", PRIVATE.as_bytes()), "unknown"),
        (answer(200, "", b"{}"), "unknown"),
        (answer(200, "", PRIVATE.as_bytes()), "unknown"),
        (
            Then::Write(b"HTTP/1.1 200 x\r\ncontent-length: 9\r\n\r\n{".to_vec()),
            "unknown",
        ),
        (Then::Write(b"SSH-2.0\r\n".to_vec()), "unknown"),
        (Then::Close, "unknown"),
        (Then::WriteAndHang(Vec::new()), "unknown"),
    ] {
        for destination in [queue(), bus()] {
            let server = Server::start(then.clone()).await;
            let sent = send(then.patience(), &server.url(), &destination).await;
            assert_eq!(kind(&sent), expected, "{then:?} {sent:?}");
            assert_eq!(server.requests().len(), 1, "hidden repetition: {then:?}");
        }
    }
}

#[tokio::test]
async fn a_service_that_cannot_be_reached_leaves_the_effect_unsent() {
    for destination in [queue(), bus()] {
        let sent = send(Duration::from_secs(20), "http://127.0.0.1:1", &destination).await;
        assert_eq!(kind(&sent), "not sent", "{sent:?}");
    }
}

#[tokio::test]
async fn a_queue_s_message_is_ascii_and_is_known_by_owner_and_key() {
    let server = Server::start(answer(200, "", br#"{"MessageId":"1"}"#)).await;
    let vault = Arc::new(Vault::fixed(secrets(SECRET)));
    let overrides = DestinationOverrides::none();
    let sender = Sender::new(&clients(&server.url()), "bus", vault, overrides).unwrap();
    let message = lastword_destinations::Message {
        data: "{\"name\":\"Zoë 😊 \u{ffff}\"}",
        ..MESSAGE
    };
    assert_eq!(kind(&sender.send(&queue(), &message).await), "done");
    let request = server.requests().concat();
    let (_, body) = request.split_once("\r\n\r\n").unwrap();
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["MessageGroupId"], MESSAGE.group);
    assert_eq!(body["MessageDeduplicationId"], MESSAGE.key);
    let sent = body["MessageBody"].as_str().unwrap();
    assert!(sent.is_ascii(), "{sent}");
    let sent: serde_json::Value = serde_json::from_str(sent).unwrap();
    assert_eq!(sent["data"]["name"], "Zoë 😊 \u{ffff}");
    assert_eq!(sent["key"], MESSAGE.key);
}

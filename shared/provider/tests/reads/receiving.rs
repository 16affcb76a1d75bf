//! What comes of the answer, and of none.

use std::time::Duration;

use lastword_contracts::Absence;
use lastword_domain::Content;
use lastword_provider::{Answer, MOST_BYTES, Unreadable};
use tokio::net::TcpListener;

use crate::server::{Reply, Server};
use crate::{KEY, OBJECT, PATIENCE, answered, client, read, subscription};

/// Short enough to wait for.
const IMPATIENT: Duration = Duration::from_millis(200);

fn unreadable(cause: Unreadable) -> Answer {
    Answer::Unreadable(cause)
}

#[tokio::test]
async fn an_object_is_seen_byte_for_byte() {
    let (answer, _) = answered(Reply::plain("200 OK", "", OBJECT)).await;
    let Answer::Seen {
        content: Content::Present(json),
        version: None,
        status: None,
    } = answer
    else {
        panic!("{answer}")
    };
    assert_eq!(json.as_str(), OBJECT);
}

#[tokio::test]
async fn a_page_where_an_object_should_be_is_not_understood() {
    let page = "<!doctype html><title>Maintenance</title>";
    let (answer, _) = answered(Reply::plain("200 OK", "", page)).await;
    assert!(matches!(
        answer,
        Answer::Unreadable(Unreadable::NotUnderstood(_))
    ));
}

#[tokio::test]
async fn another_object_than_the_one_asked_for_is_not_understood() {
    let other = OBJECT.replace("sub_1", "sub_2");
    let (answer, _) = answered(Reply::plain("200 OK", "", &other)).await;
    assert!(matches!(
        answer,
        Answer::Unreadable(Unreadable::NotUnderstood(_))
    ));
}

#[tokio::test]
async fn a_limit_is_busy_for_as_long_as_it_says() {
    let reply = Reply::plain("429 Too Many Requests", "retry-after: 17\r\n", "");
    let (answer, _) = answered(reply).await;
    let busy = Answer::Busy {
        status: 429,
        retry_after: Some(Duration::from_secs(17)),
    };
    assert_eq!(answer, busy);
}

#[tokio::test]
async fn a_refusal_and_an_absence_are_told_apart() {
    let (refused, _) = answered(Reply::plain("401 Unauthorized", "", OBJECT)).await;
    assert_eq!(refused, Answer::Refused { status: 401 });
    let (absent, _) = answered(Reply::plain("404 Not Found", "", OBJECT)).await;
    assert_eq!(absent, Answer::Absent(Absence::DeletedIfTold));
}

#[tokio::test]
async fn a_success_without_a_body_is_unreadable() {
    let (empty, _) = answered(Reply::plain("200 OK", "", "")).await;
    assert_eq!(empty, unreadable(Unreadable::Empty));
    let none = Reply::Answer(b"HTTP/1.1 204 No Content\r\n\r\n".to_vec());
    let (none, _) = answered(none).await;
    assert_eq!(none, unreadable(Unreadable::Status(204)));
}

#[tokio::test]
async fn a_body_cut_short_is_lost_and_not_read_as_far_as_it_goes() {
    let mut bytes = Reply::bytes("200 OK", "", OBJECT.as_bytes());
    bytes.truncate(bytes.len() - 1);
    let (answer, server) = answered(Reply::Last(bytes)).await;
    assert_eq!(answer, unreadable(Unreadable::Lost));
    assert_eq!(server.lines().len(), 1, "what began is not repeated");
}

#[tokio::test]
async fn a_cut_body_of_no_stated_length_is_not_an_object_either() {
    let bytes = format!(
        "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{}",
        &OBJECT[..20]
    );
    let (answer, _) = answered(Reply::Last(bytes.into_bytes())).await;
    assert!(matches!(
        answer,
        Answer::Unreadable(Unreadable::NotUnderstood(_))
    ));
}

#[tokio::test]
async fn a_body_that_is_too_long_is_not_read_whether_it_says_so_or_not() {
    let long = format!("{{\"x\":\"{}\"}}", "y".repeat(10_000_000));
    let stated = Reply::Last(Reply::bytes("200 OK", "", long.as_bytes()));
    let unstated = format!("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{long}");
    for reply in [stated, Reply::Last(unstated.into_bytes())] {
        let (answer, _) = answered(reply).await;
        assert_eq!(answer, unreadable(Unreadable::TooLarge));
    }
}

#[tokio::test]
async fn a_body_of_just_the_most_bytes_is_read() {
    let frame = "{\"id\":\"sub_1\",\"x\":\"\"}".len();
    let filling = "y".repeat(MOST_BYTES - frame);
    let most = format!("{{\"id\":\"sub_1\",\"x\":\"{filling}\"}}");
    let (answer, _) = answered(Reply::plain("200 OK", "", &most)).await;
    assert!(matches!(answer, Answer::Seen { .. }), "{answer}");
}

#[tokio::test]
async fn an_error_with_an_endless_body_is_answered_by_its_status() {
    let stalled = b"HTTP/1.1 503 Down\r\ncontent-length: 1000\r\n\r\nwait".to_vec();
    let (answer, _) = answered(Reply::Stall(stalled)).await;
    let busy = Answer::Busy {
        status: 503,
        retry_after: None,
    };
    assert_eq!(answer, busy);
}

#[tokio::test]
async fn silence_ends_with_the_callers_patience_wherever_it_begins() {
    let half = Reply::bytes("200 OK", "", OBJECT.as_bytes())[..60].to_vec();
    for begun in [Vec::new(), b"HTTP/1.1 200 O".to_vec(), half] {
        let server = Server::start([Reply::Stall(begun)]).await;
        let client = client(server.address());
        let answer = read(&client, &subscription("acct_1", "sub_1"), IMPATIENT).await;
        assert_eq!(answer, unreadable(Unreadable::Timeout));
        assert_eq!(server.lines().len(), 1);
    }
}

#[tokio::test]
async fn nobody_listening_is_a_failed_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let answer = read(&client(address), &subscription("acct_1", "sub_1"), PATIENCE).await;
    let refused = std::io::ErrorKind::ConnectionRefused;
    assert_eq!(answer, unreadable(Unreadable::Connect(refused)));
}

#[tokio::test]
async fn an_answer_that_is_no_http_is_not_asked_for_twice() {
    let (answer, server) =
        answered(Reply::Last(b"220 mail.example.com ESMTP\r\n\r\n".to_vec())).await;
    assert_eq!(answer, unreadable(Unreadable::NotHttp));
    assert_eq!(server.lines().len(), 1);
}

#[tokio::test]
async fn a_connection_closed_while_idle_does_not_spoil_the_next_read() {
    let last = Reply::Last(Reply::bytes("200 OK", "", OBJECT.as_bytes()));
    let server = Server::start([last.clone(), last.clone(), last]).await;
    let client = client(server.address());
    for _ in 0..3 {
        let answer = read(&client, &subscription("acct_1", "sub_1"), PATIENCE).await;
        assert!(matches!(answer, Answer::Seen { .. }), "{answer}");
    }
    assert_eq!(server.lines().len(), 3);
}

#[tokio::test]
async fn a_connection_that_dies_under_a_read_is_replaced_once_and_only_once() {
    let object = Reply::plain("200 OK", "", OBJECT);
    let server = Server::start([object.clone(), Reply::Close, object]).await;
    let client = client(server.address());
    for _ in 0..2 {
        let answer = read(&client, &subscription("acct_1", "sub_1"), PATIENCE).await;
        assert!(matches!(answer, Answer::Seen { .. }), "{answer}");
    }
    assert_eq!(server.lines().len(), 3);
    let answer = read(&client, &subscription("acct_1", "sub_1"), PATIENCE).await;
    assert_eq!(answer, unreadable(Unreadable::Lost));
    assert_eq!(server.lines().len(), 5);
}

#[tokio::test]
async fn no_answer_shows_the_key_or_the_object_when_printed() {
    for reply in [
        Reply::plain("200 OK", "", OBJECT),
        Reply::plain("200 OK", "", "active <html>"),
        Reply::plain("302 Found", "location: http://active\r\n", "active"),
        Reply::plain("403 Forbidden", "x: active\r\n", "active"),
        Reply::Close,
    ] {
        let (answer, _) = answered(reply).await;
        let printed = format!("{answer} {answer:?}");
        assert!(
            !printed.contains("active") && !printed.contains(KEY),
            "{printed}"
        );
    }
}

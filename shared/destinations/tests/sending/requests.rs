//! What goes over the wire: everything that was configured, once, and nothing that was not.

use std::env::VarError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use lastword_config::SecretRef;
use lastword_destinations::Message;
use lastword_domain::Sent;
use lastword_runtime::{SecretSource, Vault};

use crate::bench::{
    KEY, MESSAGE, SECRET, Server, clients, destination, hasty, plain, secrets, sender, sender_with,
    status,
};

async fn request(more: &str) -> String {
    let server = Server::start(status(200, "")).await;
    let sent = sender().send(&plain(&server.url(), more), &MESSAGE).await;
    assert!(matches!(sent, Sent::Done { .. }), "{sent:?}");
    let host = format!("127.0.0.1:{}", server.port);
    server.requests().concat().replace(&host, "HOST")
}

#[tokio::test]
async fn a_request_is_a_post_with_the_key_and_the_body_to_the_digit() {
    let request = request("").await;
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let expected = format!(
        r#"{{"version":1,"key":"{KEY}","effect":"receipt","about":{{"id":"in_1"}},"data":{{"amount":1.10}}}}"#
    );
    assert_eq!(body, expected);
    let mut lines: Vec<_> = head.lines().collect();
    assert_eq!(lines.remove(0), "POST /messages?a=b HTTP/1.1");
    lines.sort_unstable();
    let length = format!("content-length: {}", body.len());
    let key = format!("idempotency-key: {KEY}");
    let agent = concat!("user-agent: lastword/", env!("CARGO_PKG_VERSION"));
    let expected = [
        "accept-encoding: identity",
        "accept: application/json",
        "connection: close",
        &length,
        "content-type: application/json",
        "host: HOST",
        &key,
        agent,
    ];
    assert_eq!(lines, expected);
}

#[tokio::test]
async fn a_secret_travels_as_it_is_said_beside_the_fixed_headers() {
    let bearer = request("secret = \"env:MAIL\"\nheaders = { X-Team = \"a b\" }").await;
    assert!(
        bearer.contains(&format!("authorization: Bearer {SECRET}\r\n")),
        "{bearer}"
    );
    assert!(bearer.contains("x-team: a b\r\n"), "{bearer}");
    let bare = request("secret = \"env:MAIL\"\nsecret_header = \"X-Api-Key\"").await;
    assert!(bare.contains(&format!("x-api-key: {SECRET}\r\n")), "{bare}");
    assert!(!bare.contains("authorization"), "{bare}");
}

#[tokio::test]
async fn without_its_secret_nothing_is_sent() {
    let server = Server::start(status(200, "")).await;
    let mail = plain(&server.url(), "secret = \"env:OTHER\"");
    let absent = sender().send(&mail, &MESSAGE).await;
    assert!(matches!(absent, Sent::NotSent { .. }), "{absent:?}");
    let mail = plain(&server.url(), "secret = \"env:MAIL\"");
    for unfit in ["two\nlines", "umläut"] {
        let sender = sender_with(Vault::fixed(secrets(unfit)), "");
        let sent = sender.send(&mail, &MESSAGE).await;
        assert!(matches!(sent, Sent::NotSent { .. }), "{sent:?}");
        assert!(!format!("{sent:?}").contains(unfit), "{sent:?}");
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_secret_that_was_rolled_is_read_again_and_its_refusal_settles_nothing() {
    static READ: AtomicUsize = AtomicUsize::new(0);
    let lookup = |_: &str| -> Result<String, VarError> {
        // Rolled once.
        Ok(format!(
            "secret-{}",
            READ.fetch_add(1, Ordering::SeqCst).min(1)
        ))
    };
    let source = SecretSource::new(lookup, clients("http://127.0.0.1:1"));
    let reference = SecretRef::parse("env:MAIL").unwrap();
    let sender = sender_with(Vault::open(source, vec![reference]).await.unwrap(), "");
    let server = Server::start(status(401, "")).await;
    let mail = plain(&server.url(), "secret = \"env:MAIL\"");
    let first = sender.send(&mail, &MESSAGE).await;
    assert!(matches!(first, Sent::NotSent { .. }), "{first:?}");
    let second = sender.send(&mail, &MESSAGE).await;
    assert!(matches!(second, Sent::Refused { .. }), "{second:?}");
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert!(requests[0].contains("Bearer secret-0") && requests[1].contains("Bearer secret-1"));
}

#[tokio::test]
async fn a_message_that_cannot_be_written_is_refused_and_not_sent() {
    let server = Server::start(status(200, "")).await;
    let mail = plain(&server.url(), "");
    for message in [
        Message {
            key: "short",
            ..MESSAGE
        },
        Message {
            data: "{",
            ..MESSAGE
        },
        Message {
            about: "",
            ..MESSAGE
        },
    ] {
        let sent = sender().send(&mail, &message).await;
        assert!(matches!(sent, Sent::Refused { .. }), "{sent:?}");
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn an_override_leads_here_with_the_same_path() {
    let server = Server::start(status(200, "")).await;
    let here = format!("mail={}", server.url());
    let sender = sender_with(Vault::fixed(secrets(SECRET)), &here);
    let mail = destination(
        "url = \"https://mail.example.com/v1/messages?x=y\"\n\
         lookup = { url = \"https://mail.example.com/v1/{key}\" }",
    );
    let sent = sender.send(&mail, &MESSAGE).await;
    assert!(matches!(sent, Sent::Done { .. }), "{sent:?}");
    let found = sender.ask(&mail, KEY).await;
    assert!(
        matches!(found, lastword_domain::Found::There { .. }),
        "{found:?}"
    );
    let requests = server.requests();
    assert!(
        requests[0].starts_with("POST /v1/messages?x=y HTTP/1.1\r\n"),
        "{}",
        requests[0]
    );
    assert!(
        requests[1].starts_with(&format!("GET /v1/{KEY} HTTP/1.1\r\n")),
        "{}",
        requests[1]
    );
}

#[tokio::test]
async fn an_attempt_that_is_given_up_ends_its_connection() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut all = Vec::new();
        // Ends when the other side does.
        tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut all)
            .await
            .map(|_| all)
    });
    let sent = sender().send(&hasty(&url, ""), &MESSAGE).await;
    assert!(matches!(sent, Sent::Unknown { .. }), "{sent:?}");
    let ended = tokio::time::timeout(Duration::from_secs(20), server).await;
    ended.expect("the connection stayed open").unwrap().ok();
}

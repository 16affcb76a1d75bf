//! What became of an attempt over HTTP, however it ends.

use std::sync::Arc;
use std::time::Duration;

use lastword_domain::Sent;
use proptest::prelude::*;
use tokio::net::TcpListener;

use crate::bench::{MESSAGE, PRIVATE, Server, Then, plain, sender, status};

/// The outcome in a word, after a look at what it says.
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

/// One attempt, and how many requests came of it.
async fn attempt(then: Then, more: &str) -> (Sent, usize) {
    let server = Server::start(then.clone()).await;
    let mail = then.destination(&server.url(), more);
    let sent = sender().send(&mail, &MESSAGE).await;
    (sent, server.requests().len())
}

#[tokio::test]
async fn each_status_means_what_the_table_says_and_is_asked_for_once() {
    for (statuses, more, expected) in [
        (&[200, 201, 202, 204, 226][..], "", "done"),
        (&[300, 301, 302, 303, 304, 307, 308], "", "refused"),
        (&[429], "", "not sent"),
        (&[429], "retry_on = [429]", "not sent"),
        (&[408, 425, 500, 501, 502, 503, 504], "", "unknown"),
        (
            &[400, 401, 402, 403, 404, 405, 409, 410, 413, 422],
            "",
            "refused",
        ),
        (&[409, 423], "retry_on = [409, 423]", "unknown"),
        (&[400], "retry_on = [409, 423]", "refused"),
        (&[101, 999], "", "unknown"),
    ] {
        for number in statuses {
            let (sent, requests) = attempt(status(*number, ""), more).await;
            assert_eq!((kind(&sent), requests), (expected, 1), "{number} {sent:?}");
        }
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_with_key_and_secret() {
    let other = Server::start(status(200, "")).await;
    let to = format!("location: {}/\r\n", other.url());
    let (sent, _) = attempt(status(307, &to), "secret = \"env:MAIL\"").await;
    assert_eq!(kind(&sent), "refused");
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn a_pause_is_handed_on_in_either_form() {
    let (sent, _) = attempt(status(429, "retry-after: 120\r\n"), "").await;
    let expected = Sent::NotSent {
        why: "answered 429".to_owned(),
        retry_after: Some(Duration::from_secs(120)),
    };
    assert_eq!(sent, expected);
    let date = "retry-after: Fri, 31 Dec 9999 23:59:59 GMT\r\n";
    let (sent, _) = attempt(status(503, date), "").await;
    let expected = Sent::Unknown {
        why: "answered 503".to_owned(),
        retry_after: Some(Duration::from_secs(24 * 3600)),
    };
    assert_eq!(sent, expected);
}

#[tokio::test]
async fn an_answer_s_head_is_enough_and_its_body_is_not_waited_for() {
    let head = b"HTTP/1.1 201 x\r\ncontent-length: 1000000\r\n\r\nmail of".to_vec();
    for then in [Then::WriteAndHang(head.clone()), Then::Write(head)] {
        let (sent, _) = attempt(then, "").await;
        assert_eq!(kind(&sent), "done", "{sent:?}");
    }
}

#[tokio::test]
async fn what_was_read_and_not_answered_is_unknown_and_is_not_sent_again() {
    for then in [
        Then::Close,
        Then::WriteAndHang(Vec::new()),
        Then::Write(b"HTTP/1.1 20".to_vec()),
        Then::WriteAndHang(b"HTTP/1.1 201 x\r\nx-a: b\r\n".to_vec()),
        Then::WriteAndHang(b"HTTP/1.1 100 Continue\r\n\r\n".to_vec()),
        Then::Write(b"SSH-2.0-mail of a customer\r\n".to_vec()),
        Then::Write(b"HTTP/1.1 mail of a customer\r\n\r\n".to_vec()),
        Then::Write(b"HTTP/1.1 200 x\r\ncontent-length: -1\r\n\r\n".to_vec()),
        Then::Write(vec![b'x'; 1_000_000]),
    ] {
        let shown = format!("{then:?}");
        let (sent, requests) = attempt(then, "").await;
        assert_eq!(
            (kind(&sent), requests),
            ("unknown", 1),
            "{:.60} {sent:?}",
            shown
        );
    }
}

#[tokio::test]
async fn a_connection_that_nobody_takes_leaves_the_effect_unsent() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let sent = sender().send(&plain(&url, ""), &MESSAGE).await;
    let expected = Sent::NotSent {
        why: "no connection: connection refused".to_owned(),
        retry_after: None,
    };
    assert_eq!(sent, expected);
}

#[tokio::test]
async fn a_tls_handshake_that_fails_or_never_ends_leaves_the_effect_unsent() {
    for then in [
        Then::Close,
        Then::Write(b"HTTP/1.1 200 x\r\n\r\n".to_vec()),
        Then::WriteAndHang(Vec::new()),
    ] {
        let server = Server::start_deaf(then.clone()).await;
        let url = format!("https://127.0.0.1:{}", server.port);
        let mail = then.destination(&url, "");
        let sent = sender().send(&mail, &MESSAGE).await;
        assert_eq!(kind(&sent), "not sent", "{then:?} {sent:?}");
        // What came is a handshake, and nothing of ours.
        let came = server.requests().concat();
        assert!(!came.is_empty() && !came.contains("receipt"), "{came}");
    }
}

#[tokio::test]
async fn nothing_is_sent_to_a_server_whose_certificate_nobody_vouches_for() {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = made.signing_key.serialize_der();
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![made.cert.der().clone()],
            rustls_pki_types::PrivateKeyDer::try_from(key).unwrap(),
        );
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config.unwrap()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let handshake = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        acceptor.accept(stream).await.map(drop)
    });
    let url = format!("https://localhost:{port}");
    let sent = sender().send(&plain(&url, ""), &MESSAGE).await;
    assert_eq!(kind(&sent), "not sent", "{sent:?}");
    assert!(handshake.await.unwrap().is_err(), "the server was believed");
}

#[tokio::test]
async fn each_attempt_has_a_connection_of_its_own_so_that_none_can_have_died_unseen() {
    let answer = b"HTTP/1.1 200 x\r\ncontent-length: 0\r\n\r\n".to_vec();
    let server = Server::start(Then::WriteAndHang(answer)).await;
    let (sender, mail) = (sender(), plain(&server.url(), ""));
    for _ in 0..2 {
        assert_eq!(kind(&sender.send(&mail, &MESSAGE).await), "done");
    }
    // The server answers one request for each connection.
    assert_eq!(server.requests().len(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Law 10: whatever a server says after it has read a request, nothing but 429 makes it certain that it did nothing.
    #[test]
    fn no_answer_makes_an_effect_unsent_that_was_read(bytes in prop_oneof![
        prop::collection::vec(any::<u8>(), 0..80),
        "HTTP/1.[01] [0-9]{0,4} ?[a-z]{0,4}(\r\n)?([a-z-]{1,8}: ?[a-z0-9]{0,8}\r\n){0,3}(\r\n)?".prop_map(String::into_bytes),
    ]) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (sent, _) = runtime.block_on(attempt(Then::Write(bytes), ""));
        if let Sent::NotSent { why, .. } = &sent {
            prop_assert_eq!(why, "answered 429");
        }
    }
}

//! What a destination's answer says about a key.

use std::time::Duration;

use lastword_domain::Found;

use crate::bench::{KEY, PRIVATE, SECRET, Server, Then, answer, plain, sender, status};

/// The answer in a word, after a look at what it says.
fn kind(found: &Found) -> &'static str {
    let shown = format!("{found:?}");
    assert!(!shown.contains(PRIVATE), "law 14: {shown}");
    match found {
        Found::There { .. } => "there",
        Found::NotThere => "not there",
        Found::Unknown { .. } => "unknown",
    }
}

async fn ask(then: Then, pointer: &str) -> Found {
    let server = Server::start(then.clone()).await;
    let url = server.url();
    let lookup = format!("lookup = {{ url = \"{url}/find?key={{key}}\"{pointer} }}");
    let found = sender().ask(&then.destination(&url, &lookup), KEY).await;
    assert_eq!(server.requests().len(), 1, "asked once");
    found
}

const POINTER: &str = ", found = \"/data/0\"";

#[tokio::test]
async fn each_status_means_what_the_table_says() {
    for (statuses, expected) in [
        (&[200][..], "there"),
        (&[404, 410], "not there"),
        (
            &[
                201, 204, 206, 301, 302, 307, 400, 401, 403, 405, 408, 409, 422, 429, 500, 502, 503,
            ],
            "unknown",
        ),
    ] {
        for number in statuses {
            let found = ask(status(*number, ""), "").await;
            assert_eq!(kind(&found), expected, "{number} {found:?}");
        }
    }
}

#[tokio::test]
async fn a_pointer_decides_what_a_200_shows() {
    for (body, expected) in [
        (r#"{"data":[{"id":"mail of a customer"}]}"#, "there"),
        (r#"{"data":[]}"#, "not there"),
        (r#"{"data":[null]}"#, "not there"),
        (r#"{"data":[{}]}"#, "not there"),
        (PRIVATE, "unknown"),
        ("", "unknown"),
    ] {
        let found = ask(answer(200, "", body.as_bytes()), POINTER).await;
        assert_eq!(kind(&found), expected, "{body} {found:?}");
    }
    // A body is not asked where the status says all.
    assert_eq!(kind(&ask(status(404, ""), POINTER).await), "not there");
}

#[tokio::test]
async fn a_body_that_does_not_come_whole_and_plain_shows_nothing() {
    let large = format!(r#"{{"data":["{}"]}}"#, "x".repeat(70_000));
    let cut = b"HTTP/1.1 200 x\r\ncontent-length: 100\r\n\r\n{\"data\":[]".to_vec();
    for then in [
        answer(200, "", large.as_bytes()),
        answer(200, "content-encoding: gzip\r\n", br#"{"data":[]}"#),
        Then::Write(cut.clone()),
        Then::WriteAndHang(cut),
        Then::Close,
        Then::WriteAndHang(Vec::new()),
        Then::Write(b"SSH-2.0-mail of a customer\r\n".to_vec()),
    ] {
        let shown = format!("{then:?}");
        let found = ask(then, POINTER).await;
        assert_eq!(kind(&found), "unknown", "{:.60} {found:?}", shown);
    }
}

#[tokio::test]
async fn a_pause_is_handed_on() {
    let expected = Found::Unknown {
        why: "answered 429".to_owned(),
        retry_after: Some(Duration::from_secs(9)),
    };
    assert_eq!(ask(status(429, "retry-after: 9\r\n"), "").await, expected);
}

#[tokio::test]
async fn the_question_names_the_key_and_comes_with_the_secret() {
    let server = Server::start(status(404, "")).await;
    let url = server.url();
    let settings =
        format!("secret = \"env:MAIL\"\nlookup = {{ url = \"{url}/find/{{key}}?a=b\" }}");
    let mail = plain(&url, &settings);
    assert_eq!(sender().ask(&mail, KEY).await, Found::NotThere);
    let request = server.requests().concat();
    assert!(
        request.starts_with(&format!("GET /find/{KEY}?a=b HTTP/1.1\r\n")),
        "{request}"
    );
    assert!(
        request.contains(&format!("authorization: Bearer {SECRET}\r\n")),
        "{request}"
    );
    for wrong in ["", "../../admin", &"a/".repeat(21)] {
        assert_eq!(kind(&sender().ask(&mail, wrong).await), "unknown");
    }
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn what_cannot_be_asked_or_reached_does_not_say_that_it_is_not_there() {
    let mail = plain("http://127.0.0.1:1", "");
    assert_eq!(kind(&sender().ask(&mail, KEY).await), "unknown");
    let mail = plain(
        "http://127.0.0.1:1",
        "lookup = { url = \"http://127.0.0.1:1/{key}\" }",
    );
    assert_eq!(kind(&sender().ask(&mail, KEY).await), "unknown");
}

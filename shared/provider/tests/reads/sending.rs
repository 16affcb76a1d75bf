//! What leaves, and what does not.

use lastword_provider::{Answer, HostOverrides, PathError, ProviderClient, Unreadable};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::server::{Reply, Server};
use crate::{
    KEY, OBJECT, PATIENCE, answered, client, integration, issue, read, secret, subscription,
};

fn object() -> Reply {
    Reply::plain("200 OK", "", OBJECT)
}

#[tokio::test]
async fn a_read_is_one_get_with_the_key_and_the_defaults() {
    let (answer, server) = answered(object()).await;
    assert!(matches!(answer, Answer::Seen { .. }), "{answer}");
    assert_eq!(server.lines(), ["GET /v1/subscriptions/sub_1 HTTP/1.1"]);
    let agent = format!("lastword/{}", env!("CARGO_PKG_VERSION"));
    for (name, value) in [
        ("authorization", format!("Bearer {KEY}").as_str()),
        ("user-agent", &agent),
        ("accept", "application/json"),
        ("accept-encoding", "identity"),
        ("host", &server.address().to_string()),
    ] {
        assert_eq!(server.header(0, name), [value], "{name}");
    }
}

#[tokio::test]
async fn the_contracts_own_headers_replace_the_defaults() {
    let server = Server::start([object()]).await;
    let answer = read(&client(server.address()), &issue("10", "12/7"), PATIENCE).await;
    assert!(matches!(answer, Answer::Seen { .. }), "{answer}");
    assert_eq!(server.lines(), ["GET /repositories/12/issues/7 HTTP/1.1"]);
    assert_eq!(server.header(0, "accept"), ["application/vnd.github+json"]);
    assert_eq!(server.header(0, "x-github-api-version"), ["2022-11-28"]);
}

#[tokio::test]
async fn an_id_of_any_characters_arrives_as_one_encoded_segment() {
    let odd = "a b/ü?x=1#y%2F\r\nHost: evil\0";
    let shown = r#"{"id":"a b/ü?x=1#y%2F\r\nHost: evil\u0000"}"#;
    let server = Server::start([Reply::plain("200 OK", "", shown)]).await;
    let answer = read(
        &client(server.address()),
        &subscription("acct_1", odd),
        PATIENCE,
    )
    .await;
    assert!(matches!(answer, Answer::Seen { .. }), "{answer}");
    assert_eq!(
        server.lines(),
        ["GET /v1/subscriptions/a%20b%2F%C3%BC%3Fx%3D1%23y%252F%0D%0AHost%3A%20evil%00 HTTP/1.1"]
    );
}

#[tokio::test]
async fn another_account_is_named_only_where_it_is_another() {
    let server = Server::start([object(), object(), object()]).await;
    let client = client(server.address());
    for resource in [
        subscription("acct_1", "sub_1"),
        subscription("acct_2", "sub_1"),
        issue("11", "12/7"),
    ] {
        let answer = read(&client, &resource, PATIENCE).await;
        assert!(matches!(answer, Answer::Seen { .. }), "{answer}");
    }
    assert!(server.header(0, "stripe-account").is_empty());
    assert_eq!(server.header(1, "stripe-account"), ["acct_2"]);
    assert!(server.header(2, "stripe-account").is_empty());
}

#[tokio::test]
async fn each_account_is_read_with_the_key_that_is_configured_for_it() {
    let server = Server::start([object(), object()]).await;
    let client = client(server.address());
    let code = integration("code");
    for (account, expected) in [("10", "Bearer OWN_KEY"), ("11", "Bearer OTHER_KEY")] {
        let resource = issue(account, "12/7");
        // The reference's name stands in for the value.
        let key = secret(code.api_keys[&resource.account].name());
        let answer = client.read(&code, Some(&key), &resource, PATIENCE).await;
        assert!(matches!(answer, Answer::Seen { .. }), "{answer}");
        let last = server.heads().len() - 1;
        assert_eq!(server.header(last, "authorization"), [expected]);
    }
}

#[tokio::test]
async fn what_cannot_be_sent_exactly_is_not_sent_at_all() {
    let server = Server::start([]).await;
    let client = client(server.address());
    let billing = integration("billing");
    let key = secret(KEY);
    let own = subscription("acct_1", "sub_1");
    let mut foreign = own.clone();
    foreign.environment = lastword_domain::name::Environment::parse("live").unwrap();
    let mut unkept = own.clone();
    unkept.kind = lastword_domain::name::ResourceType::parse("dispute").unwrap();
    let odd = secret("sk\r\nX-Evil: 1");
    let cases = [
        (own.clone(), None, Unreadable::NoSecret),
        (own.clone(), Some(&odd), Unreadable::UnfitSecret),
        (
            subscription(" acct_2", "s"),
            Some(&key),
            Unreadable::UnfitAccount,
        ),
        (
            subscription("acct\n2", "s"),
            Some(&key),
            Unreadable::UnfitAccount,
        ),
        (
            subscription("acct_1", ".."),
            Some(&key),
            PathError::Dots.into(),
        ),
        (issue("10", "12/7"), Some(&key), Unreadable::NotConfigured),
        (foreign, Some(&key), Unreadable::NotConfigured),
        (unkept, Some(&key), Unreadable::NotConfigured),
    ];
    for (resource, key, cause) in cases {
        let answer = client.read(&billing, key, &resource, PATIENCE).await;
        assert_eq!(answer, Answer::Unreadable(cause));
    }
    let answer = read(&client, &issue("10", "12"), PATIENCE).await;
    let parts = PathError::Parts {
        found: 1,
        wanted: 2,
    };
    assert_eq!(answer, Answer::Unreadable(parts.into()));
    assert!(server.lines().is_empty());
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_the_key_stays_here() {
    let elsewhere = Server::start([object()]).await;
    for status in [301u16, 302, 303, 307, 308] {
        let location = format!("location: http://{}/x\r\n", elsewhere.address());
        let reply = Reply::plain(&format!("{status} Moved"), &location, OBJECT);
        let (answer, server) = answered(reply).await;
        assert_eq!(answer, Answer::Unreadable(Unreadable::Redirected(status)));
        assert_eq!(server.lines().len(), 1);
    }
    assert!(elsewhere.heads().is_empty());
}

#[tokio::test]
async fn a_host_that_does_not_speak_tls_never_gets_the_key_nor_the_path() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut billing = integration("billing");
    billing.contract.api.as_mut().unwrap().host = Some(format!("https://{address}"));
    let client = ProviderClient::new(HostOverrides::none()).unwrap();
    let key = secret(KEY);
    let resource = subscription("acct_1", "sub_1");
    let seen = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut bytes = vec![0; 4096];
        let length = stream.read(&mut bytes).await.unwrap();
        let reply = Reply::bytes("200 OK", "", OBJECT.as_bytes());
        stream.write_all(&reply).await.unwrap();
        bytes.truncate(length);
        bytes
    };
    let (answer, bytes) =
        tokio::join!(client.read(&billing, Some(&key), &resource, PATIENCE), seen);
    let connect = Unreadable::Connect(std::io::ErrorKind::InvalidData);
    assert_eq!(answer, Answer::Unreadable(connect));
    let text = String::from_utf8_lossy(&bytes);
    assert!(!text.contains(KEY) && !text.contains("subscriptions"));
    assert_eq!(bytes.first(), Some(&0x16), "a TLS handshake");
}

#[tokio::test]
async fn a_contract_whose_host_is_plain_http_is_not_read() {
    let server = Server::start([object()]).await;
    let mut billing = integration("billing");
    billing.contract.api.as_mut().unwrap().host = Some(format!("http://{}", server.address()));
    let client = ProviderClient::new(HostOverrides::none()).unwrap();
    let resource = subscription("acct_1", "sub_1");
    let answer = client
        .read(&billing, Some(&secret(KEY)), &resource, PATIENCE)
        .await;
    assert!(matches!(
        answer,
        Answer::Unreadable(Unreadable::BadContract(_))
    ));
    assert!(server.heads().is_empty());
}

use std::time::Duration;

use proptest::prelude::*;

use crate::{Channel, Config, Destination, HttpDestination};

const INTEGRATION: &str = r#"
[integrations.erp]
contract = "generic-hmac"
account = "main"
environment = "live"
signing_secrets = ["env:ERP"]
[integrations.erp.define.order]
events = ["order.*"]
id = "body:/order/id"
version = "/order/version"
snapshot = "/order"
strategies = ["version"]
"#;

const MAIL: &str = r#"[destinations.mail]
url = "https://mail.example.com/messages"
secret = "ssm:/mail"
secret_header = "X-Api-Key"
headers = { X-Team = "billing" }
timeout_seconds = 7
idempotent = true
remembers_hours = 48
lookup = { url = "https://mail.example.com/messages?key={key}", wait_seconds = 30, found = "/data/0" }
retry_on = [409, 423]
"#;

fn parse(destinations: &str) -> Result<Config, String> {
    let text = format!("{destinations}{INTEGRATION}");
    Config::parse("lastword.toml", &text).map_err(|error| error.to_string())
}

fn one(destinations: &str, name: &str) -> Destination {
    let config = parse(destinations).unwrap();
    let mut all = config.destinations.into_values();
    all.find(|one| one.name.as_str() == name).unwrap()
}

fn http(destination: &Destination) -> &HttpDestination {
    match &destination.channel {
        Channel::Http(http) => http,
        other @ (Channel::Bus | Channel::Queue(_)) => panic!("{other:?}"),
    }
}

fn told(destinations: &str) -> String {
    parse(destinations).expect_err("it was taken")
}

#[test]
fn a_destination_is_what_is_written_of_it() {
    let mail = one(MAIL, "mail");
    let http = http(&mail);
    let credential = http.credential.as_ref().unwrap();
    assert_eq!(credential.secret.to_string(), "ssm:/mail");
    assert_eq!(credential.header.as_deref(), Some("x-api-key"));
    assert_eq!(http.headers["x-team"], "billing");
    assert_eq!(http.timeout, Duration::from_secs(7));
    assert_eq!(http.retry_on, [409, 423]);
    assert_eq!(mail.remembers(), Some(Duration::from_secs(48 * 3600)));
    let lookup = mail.lookup().unwrap();
    assert_eq!(lookup.wait, Duration::from_secs(30));
    assert_eq!(lookup.about("K"), "https://mail.example.com/messages?key=K");
    assert_eq!(parse(MAIL).unwrap().destination_secrets().len(), 1);
}

#[test]
fn what_is_not_said_promises_nothing() {
    let mail = one(
        "[destinations.mail]\nurl = \"https://a.example/x\"\n",
        "mail",
    );
    let http = http(&mail);
    assert_eq!(http.timeout, Duration::from_secs(5));
    assert_eq!((mail.remembers(), mail.lookup()), (None, None));
    assert!(http.credential.is_none() && http.headers.is_empty() && http.retry_on.is_empty());
    let short = "[destinations.mail]\nurl = \"https://a.example/x\"\nidempotent = true\n\
                 lookup = { url = \"https://a.example/{key}\" }\n";
    let mail = one(short, "mail");
    assert_eq!(mail.remembers(), Some(Duration::from_secs(24 * 3600)));
    assert_eq!(mail.lookup().unwrap().wait, Duration::from_secs(10));
    let no = short.replace("= true", "= false");
    assert_eq!(one(&no, "mail").remembers(), None);
}

#[test]
fn the_bus_is_there_without_a_word_and_its_name_is_taken() {
    let bus = one("", "bus");
    assert_eq!(bus.channel, Channel::Bus);
    assert_eq!(bus.remembers(), Some(Duration::MAX));
    let own = told("[destinations.bus]\nurl = \"https://a.example\"\n");
    assert!(
        own.contains("lastword.toml:1: destinations.bus: found \"bus\""),
        "{own}"
    );
}

#[test]
fn a_queue_is_known_by_its_url_and_has_nothing_else() {
    for (url, fifo) in [
        (
            "https://sqs.eu-central-1.amazonaws.com/123456789012/receipts.fifo",
            true,
        ),
        (
            "https://sqs.cn-north-1.amazonaws.com.cn/123456789012/receipts",
            false,
        ),
        ("http://127.0.0.1:9324/000000000000/receipts.fifo", true),
    ] {
        let queue = one(&format!("[destinations.q]\nqueue = {url:?}\n"), "q");
        let Channel::Queue(found) = &queue.channel else {
            panic!("{queue:?}")
        };
        assert_eq!((found.url.as_str(), found.is_fifo()), (url, fifo));
        assert_eq!(queue.remembers(), Some(Duration::MAX));
    }
    for wrong in [
        "http://sqs.eu-central-1.amazonaws.com/123456789012/receipts",
        "https://sqs.eu-central-1.amazonaws.com.evil.example/123456789012/receipts",
        "https://sqs..amazonaws.com/123456789012/receipts",
        "https://sqs.eu-central-1.amazonaws.com/12345/receipts",
        "https://sqs.eu-central-1.amazonaws.com/123456789012/",
        "https://sqs.eu-central-1.amazonaws.com/123456789012/.fifo",
        "https://sqs.eu-central-1.amazonaws.com/123456789012/a/b",
        "https://sqs.eu-central-1.amazonaws.com/123456789012/a?b",
        "arn:aws:sqs:eu-central-1:123456789012:receipts",
    ] {
        let told = told(&format!("[destinations.q]\nqueue = {wrong:?}\n"));
        assert!(
            told.contains("lastword.toml:2: destinations.q.queue: found"),
            "{told}"
        );
        assert!(told.contains("expected https://sqs."), "{told}");
    }
    let http = MAIL.replace(
        "url = \"https://mail.example.com/messages\"",
        "queue = \"http://127.0.0.1/000000000000/q\"",
    );
    let told = told(&http);
    for name in [
        "secret",
        "secret_header",
        "headers",
        "timeout_seconds",
        "idempotent",
        "remembers_hours",
        "lookup",
        "retry_on",
    ] {
        assert!(
            told.contains(&format!("destinations.mail.{name}: found with `queue`")),
            "{told}"
        );
    }
}

#[test]
fn each_mistake_is_told_with_its_line_what_was_found_and_what_is_expected() {
    for (from, to, expected) in [
        (
            "mail]",
            "MAIL]",
            "lastword.toml:1: destinations.MAIL: found \"MAIL\"",
        ),
        (
            "url = \"https://mail.example.com/messages\"\n",
            "",
            "lastword.toml:1: destinations.mail: found neither",
        ),
        (
            "[destinations.mail]",
            "[destinations.mail]\nqueue = \"x\"",
            "lastword.toml:2: destinations.mail: found both",
        ),
        (
            "ssm:/mail",
            "hunter2",
            "lastword.toml:3: destinations.mail.secret: \"(not shown)\" is not a secret reference",
        ),
        (
            "secret = \"ssm:/mail\"\n",
            "",
            "destinations.mail.secret_header: found without `secret`",
        ),
        (
            "X-Api-Key",
            "X Api Key",
            "lastword.toml:4: destinations.mail.secret_header: found \"X Api Key\"; expected a header's name",
        ),
        (
            "X-Api-Key",
            "Idempotency-Key",
            "found \"Idempotency-Key\", which every request has already",
        ),
        (
            "X-Api-Key",
            "x-team",
            "found \"x-team\", which is among `headers` too",
        ),
        (
            "X-Team",
            "Authorization",
            "lastword.toml:5: destinations.mail.headers.Authorization: found \"Authorization\", which",
        ),
        (
            "X-Team",
            "Content-Length",
            "headers.Content-Length: found \"Content-Length\", which",
        ),
        (
            "X-Team = \"billing\"",
            "X-Team = \"billing\", x-team = \"b\"",
            "found \"x-team\" twice",
        ),
        (
            "\"billing\"",
            "\"billing \"",
            "found a value that a header does not carry exactly",
        ),
        (
            "seconds = 7",
            "seconds = 0",
            "lastword.toml:6: destinations.mail.timeout_seconds: found 0; expected 1 to 20 seconds",
        ),
        (
            "seconds = 7",
            "seconds = 21",
            "found 21; expected 1 to 20 seconds",
        ),
        (
            "seconds = 7",
            "seconds = -9223372036854775808",
            "expected 1 to 20 seconds",
        ),
        (
            "idempotent = true",
            "idempotent = false",
            "lastword.toml:8: destinations.mail.remembers_hours: found without `idempotent = true`",
        ),
        (
            "hours = 48",
            "hours = 721",
            "found 721; expected 1 to 720 hours",
        ),
        (
            "seconds = 30",
            "seconds = 601",
            "lastword.toml:9: destinations.mail.lookup.wait_seconds: found 601; expected 0 to 600",
        ),
        (
            "/data/0",
            "data",
            "destinations.mail.lookup.found: found \"data\"; expected a JSON pointer",
        ),
        ("/data/0", "/a~2", "found \"/a~2\"; expected a JSON pointer"),
        (
            "key={key}",
            "key=",
            "lastword.toml:9: destinations.mail.lookup.url: found \"https://mail.example.com/messages?key=\": it has {key} 0 times",
        ),
        (
            "key={key}",
            "key={key}{key}",
            "it has {key} 2 times, not once",
        ),
        (
            "key={key}",
            "key={key}&of={id}",
            "it has another place in braces",
        ),
        (
            "mail.example.com/messages?",
            "{key}.example.com/messages?",
            "it has {key} 2 times",
        ),
        (
            "mail.example.com/messages?key={key}",
            "{key}.example.com/",
            "the key stands in its host",
        ),
        (
            "[409, 423]",
            "[409, 399]",
            "lastword.toml:10: destinations.mail.retry_on: found 399; expected a status from 400 to 599",
        ),
        ("[409, 423]", "[70000]", "found 70000; expected a status"),
        ("retry_on", "retry_om", "unknown field `retry_om`"),
    ] {
        assert!(MAIL.contains(from), "{from}");
        let told = told(&MAIL.replacen(from, to, 1));
        assert!(told.contains(expected), "{to}\n{told}");
        assert!(!told.contains("hunter2"), "{told}");
    }
}

#[test]
fn a_secret_is_sent_over_tls_or_stays_on_this_machine() {
    let url = |url: &str| parse(&format!("[destinations.mail]\nurl = {url:?}\n"));
    for good in [
        "https://mail.example.com",
        "https://mail.example.com:8443/a/b?c=d",
        "https://[2001:db8::1]/x",
        "http://127.0.0.1:8421/messages",
        "http://[::1]:1/",
        "http://localhost/",
    ] {
        assert!(url(good).is_ok(), "{good}");
    }
    for wrong in [
        "http://mail.example.com/messages",
        "http://localhost.example.com/",
        "http://127.0.0.1.example.com/",
        "http://10.0.0.1/",
        "https://user:hunter2@mail.example.com/",
        "https://mail.example.com/#a",
        "https://mail.example.com:99999/",
        "https://mail.example.com:/",
        "https://mail example.com/",
        "https://mäil.example.com/",
        "https:///x",
        "ftp://mail.example.com/",
        "mail.example.com/messages",
        "/messages",
        "",
    ] {
        let told = url(wrong).expect_err(wrong);
        assert!(
            told.contains("lastword.toml:2: destinations.mail.url: found"),
            "{wrong}: {told}"
        );
        assert!(!told.contains("hunter2"), "{told}");
    }
}

proptest! {
    #[test]
    fn no_url_that_is_taken_leads_off_this_machine_without_tls(text in "(https?://)?[a-z0-9.:@/\\[\\]#?%]{0,24}|\\PC{0,12}") {
        if crate::url::whole(&text).is_ok() {
            let uri: http::Uri = text.parse().unwrap();
            let host = uri.host().unwrap();
            let here = host == "[::1]" || host == "localhost" || host.starts_with("127.");
            prop_assert!(uri.scheme_str() == Some("https") || here, "{}", text);
            prop_assert!(!uri.authority().unwrap().as_str().contains('@'));
        }
    }
}

#[test]
fn what_may_be_a_secret_is_not_shown() {
    let text = MAIL.replace("com/messages\"", "com/messages?token=hunter2\"");
    let shown = format!("{:?}", one(&text.replace("billing", "hunter2"), "mail"));
    assert!(!shown.contains("hunter2"), "{shown}");
}

//! What the tests share: a server written by hand, a sender, a message; asserts nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lastword_config::{Config, Destination, SecretRef, SecretValue};
use lastword_destinations::{DestinationOverrides, Message, Sender};
use lastword_runtime::{ClientSettings, Clients, Endpoints, Patience, Secrets, Vault};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub(crate) const KEY: &str = "0123456789012345678901234567890123456789-_a";
pub(crate) const SECRET: &str = "hunter2";
/// What a destination writes, and nobody repeats.
pub(crate) const PRIVATE: &str = "mail of a customer";

pub(crate) const MESSAGE: Message<'static> = Message {
    key: KEY,
    effect: "receipt",
    group: "9876543210987654321098765432109876543210-_b",
    about: r#"{"id":"in_1"}"#,
    wording: None,
    data: r#"{"amount":1.10}"#,
    detail_type: "effect.receipt",
};

/// What the server does with a connection once a request has come.
#[derive(Clone, Debug)]
pub(crate) enum Then {
    /// Writes this and closes.
    Write(Vec<u8>),
    /// Writes this and says nothing more, ever.
    WriteAndHang(Vec<u8>),
    /// Closes without a word.
    Close,
}

/// A whole answer with a body that nobody repeats.
pub(crate) fn status(status: u16, headers: &str) -> Then {
    answer(status, headers, PRIVATE.as_bytes())
}

pub(crate) fn answer(status: u16, headers: &str, body: &[u8]) -> Then {
    let length = body.len();
    let head = format!("HTTP/1.1 {status} x\r\ncontent-length: {length}\r\n{headers}\r\n");
    Then::Write([head.as_bytes(), body].concat())
}

/// A server that does the same with every request, each on its own connection.
pub(crate) struct Server {
    pub(crate) port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) async fn start(then: Then) -> Self {
        Self::start_hearing(then, true).await
    }

    /// One that takes the first bytes for a request, whatever they are: nothing in TLS ends like HTTP.
    pub(crate) async fn start_deaf(then: Then) -> Self {
        Self::start_hearing(then, false).await
    }

    async fn start_hearing(then: Then, http: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(stream, http, then.clone(), Arc::clone(&seen)));
            }
        });
        Self { port, requests }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Each request as it came.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

async fn serve(mut stream: TcpStream, http: bool, then: Then, seen: Arc<Mutex<Vec<String>>>) {
    let Some(request) = read(&mut stream, http).await else {
        return;
    };
    seen.lock().unwrap().push(request);
    match then {
        Then::Write(bytes) => stream.write_all(&bytes).await.unwrap_or(()),
        Then::WriteAndHang(bytes) => {
            stream.write_all(&bytes).await.unwrap_or(());
            std::future::pending().await
        }
        Then::Close => {}
    }
}

async fn read(stream: &mut TcpStream, http: bool) -> Option<String> {
    let mut text = String::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer).await.ok()?;
        if count == 0 {
            return None;
        }
        text += &String::from_utf8_lossy(&buffer[..count]);
        if !http {
            return Some(text);
        }
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("content-length")
                .then(|| value.parse::<usize>().unwrap())
        });
        if body.len() >= length.unwrap_or(0) {
            return Some(text);
        }
    }
}

/// A destination as it would be written, and checked.
pub(crate) fn destination(settings: &str) -> Destination {
    let text = format!(
        "[destinations.mail]\n{settings}\n[integrations.erp]\ncontract = \"generic-hmac\"\n\
         account = \"main\"\nenvironment = \"live\"\nsigning_secrets = [\"env:ERP\"]\n\
         [integrations.erp.define.order]\nevents = [\"order.*\"]\nid = \"body:/order/id\"\n\
         version = \"/order/version\"\nsnapshot = \"/order\"\nstrategies = [\"version\"]\n"
    );
    let config = Config::parse("lastword.toml", &text).unwrap_or_else(|error| panic!("{error}"));
    let mut all = config.destinations.into_values();
    all.find(|one| one.name.as_str() == "mail").unwrap()
}

/// Plain HTTP with time enough for a machine that is busy.
pub(crate) fn plain(url: &str, more: &str) -> Destination {
    with_timeout(20, url, more)
}

/// The same with the shortest timeout, for what never ends by itself.
pub(crate) fn hasty(url: &str, more: &str) -> Destination {
    with_timeout(1, url, more)
}

fn with_timeout(seconds: u32, url: &str, more: &str) -> Destination {
    destination(&format!(
        "url = \"{url}/messages?a=b\"\ntimeout_seconds = {seconds}\n{more}"
    ))
}

impl Then {
    /// What it is met with.
    pub(crate) fn destination(&self, url: &str, more: &str) -> Destination {
        match self {
            Self::WriteAndHang(_) => hasty(url, more),
            Self::Write(_) | Self::Close => plain(url, more),
        }
    }
}

pub(crate) fn secrets(value: &str) -> Secrets {
    let reference = SecretRef::parse("env:MAIL").unwrap();
    let value = SecretValue::accept(value.to_owned().into()).unwrap();
    Arc::new(BTreeMap::from([(reference, value)]))
}

pub(crate) fn clients(endpoint: &str) -> Clients {
    clients_within(Duration::from_secs(20), endpoint)
}

pub(crate) fn clients_within(attempt: Duration, endpoint: &str) -> Clients {
    let endpoints = Endpoints {
        sqs: Some(endpoint.to_owned()),
        eventbridge: Some(endpoint.to_owned()),
        ..Endpoints::default()
    };
    let patience = Patience {
        attempt,
        operation: Duration::from_secs(60),
    };
    Clients::new(ClientSettings::local(endpoints, patience))
}

pub(crate) fn sender_with(vault: Vault, overrides: &str) -> Sender {
    let overrides = DestinationOverrides::parse(overrides).unwrap();
    Sender::new(
        &clients("http://127.0.0.1:1"),
        "bus",
        Arc::new(vault),
        overrides,
    )
    .unwrap()
}

pub(crate) fn sender() -> Sender {
    sender_with(Vault::fixed(secrets(SECRET)), "")
}

//! The clients against a server written by hand, which closes connections the way a freeze does.

use std::collections::HashMap;
use std::env::VarError;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;

use super::*;

/// What the server does with a request it has read.
#[derive(Debug, Clone, Copy)]
enum Then {
    /// Answers, and keeps the connection.
    Answer,
    /// Answers, then closes the connection, as an idle timeout does.
    AnswerAndClose,
    /// Closes without a word: the connection looked alive until it was used.
    Close,
}

struct Server {
    url: String,
    /// One number per request: the connection it came on.
    requests: mpsc::Receiver<usize>,
    /// One message per connection closed.
    closed: mpsc::Receiver<()>,
}

/// Serves the plan, one step per request, one connection at a time.
fn serve(plan: &'static [Then]) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (request, requests) = mpsc::channel();
    let (close, closed) = mpsc::channel();
    // Ends with the plan, or when the test no longer listens.
    thread::spawn(move || {
        let mut steps = plan.iter();
        for (connection, stream) in listener.incoming().enumerate() {
            let mut stream = BufReader::new(stream.unwrap());
            while read_request(&mut stream) {
                if request.send(connection).is_err() {
                    return;
                }
                let step = *steps.next().expect("a request more than planned");
                if !matches!(step, Then::Close) {
                    answer(stream.get_mut());
                }
                if !matches!(step, Then::Answer) {
                    break;
                }
            }
            drop(stream);
            if close.send(()).is_err() {
                return;
            }
        }
    });
    Server {
        url,
        requests,
        closed,
    }
}

fn read_request(stream: &mut BufReader<TcpStream>) -> bool {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).unwrap_or(0) == 0 {
            return false;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            return stream.read_exact(&mut vec![0; length]).is_ok();
        }
    }
}

fn answer(stream: &mut TcpStream) {
    const ANSWER: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/x-amz-json-1.0\r\ncontent-length: 17\r\n\r\n{\"TableNames\":[]}";
    stream.write_all(ANSWER.as_bytes()).unwrap();
}

fn clients(server: &Server) -> Clients {
    let endpoints = Endpoints {
        dynamodb: Some(server.url.clone()),
        ..Endpoints::default()
    };
    Clients::new(ClientSettings::local(endpoints, Patience::background()))
}

fn environment(set: &[(&str, &str)]) -> impl Fn(&str) -> Result<String, VarError> {
    let set: HashMap<String, String> = set
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    move |name| set.get(name).cloned().ok_or(VarError::NotPresent)
}

const COMPLETE: &[(&str, &str)] = &[
    ("AWS_REGION", "eu-west-1"),
    ("AWS_ACCESS_KEY_ID", "AKID"),
    ("AWS_SECRET_ACCESS_KEY", "hush"),
];

fn without(name: &str) -> Vec<(&'static str, &'static str)> {
    COMPLETE
        .iter()
        .copied()
        .filter(|(set, _)| *set != name)
        .collect()
}

#[tokio::test]
async fn a_connection_is_used_again_by_every_client_of_the_process() {
    let server = serve(&[Then::Answer, Then::Answer]);
    let clients = clients(&server);
    clients.dynamodb().list_tables().send().await.unwrap();
    clients
        .with_patience(Patience::ingest())
        .dynamodb()
        .list_tables()
        .send()
        .await
        .unwrap();
    assert_eq!(
        (
            server.requests.recv().unwrap(),
            server.requests.recv().unwrap()
        ),
        (0, 0)
    );
}

#[tokio::test]
async fn a_connection_closed_while_idle_is_replaced_without_the_caller_noticing() {
    let server = serve(&[Then::AnswerAndClose, Then::Answer]);
    let dynamodb = clients(&server).dynamodb();
    dynamodb.list_tables().send().await.unwrap();
    server.closed.recv().unwrap();
    dynamodb.list_tables().send().await.unwrap();
    assert_eq!(server.requests.try_iter().collect::<Vec<_>>(), [0, 1]);
}

#[tokio::test]
async fn a_connection_that_dies_under_a_request_is_retried_once_on_a_new_one() {
    let server = serve(&[Then::Answer, Then::Close, Then::Answer]);
    let dynamodb = clients(&server).dynamodb();
    dynamodb.list_tables().send().await.unwrap();
    dynamodb.list_tables().send().await.unwrap();
    assert_eq!(server.requests.try_iter().collect::<Vec<_>>(), [0, 0, 1]);
}

#[tokio::test]
async fn a_service_that_never_answers_is_tried_three_times() {
    let server = serve(&[Then::Close, Then::Close, Then::Close]);
    clients(&server)
        .dynamodb()
        .list_tables()
        .send()
        .await
        .unwrap_err();
    assert_eq!(server.requests.try_iter().count(), 3);
}

#[tokio::test]
async fn what_is_sent_without_retries_is_sent_once_whatever_the_patience() {
    let server = serve(&[Then::Close, Then::Close]);
    let once = clients(&server).without_retries();
    for clients in [&once, &once.with_patience(Patience::ingest())] {
        clients.dynamodb().list_tables().send().await.unwrap_err();
    }
    assert_eq!(server.requests.try_iter().count(), 2);
}

#[test]
fn a_missing_credential_or_region_is_named() {
    for name in ["AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] {
        let error = ClientSettings::from_lookup(&environment(&without(name)), Patience::ingest())
            .unwrap_err();
        assert!(matches!(error, StartError::Missing { .. }), "{error}");
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test]
fn the_older_name_of_the_region_is_read_too() {
    let mut set = without("AWS_REGION");
    set.push(("AWS_DEFAULT_REGION", "eu-north-1"));
    let settings = ClientSettings::from_lookup(&environment(&set), Patience::ingest()).unwrap();
    assert_eq!(settings.region, "eu-north-1");
}

#[test]
fn an_address_for_one_service_goes_before_the_address_for_all() {
    let mut set = COMPLETE.to_vec();
    set.extend([
        ("AWS_ENDPOINT_URL", "http://all"),
        ("AWS_ENDPOINT_URL_SQS", "http://queues"),
        ("AWS_ENDPOINT_URL_EVENTBRIDGE", "http://bus"),
    ]);
    let endpoints = ClientSettings::from_lookup(&environment(&set), Patience::ingest())
        .unwrap()
        .endpoints;
    assert_eq!(endpoints.dynamodb.as_deref(), Some("http://all"));
    assert_eq!(endpoints.sqs.as_deref(), Some("http://queues"));
    assert_eq!(endpoints.ssm.as_deref(), Some("http://all"));
    assert_eq!(endpoints.eventbridge.as_deref(), Some("http://bus"));
}

#[test]
fn an_address_or_bundle_that_cannot_work_stops_the_start() {
    for (name, value) in [
        ("AWS_ENDPOINT_URL_SSM", "localhost:4566"),
        ("AWS_CA_BUNDLE", "no-such-file.pem"),
    ] {
        let mut set = COMPLETE.to_vec();
        set.push((name, value));
        let message = ClientSettings::from_lookup(&environment(&set), Patience::ingest())
            .unwrap_err()
            .to_string();
        assert!(
            message.contains(name) && message.contains(value),
            "{message}"
        );
    }
}

#[test]
fn neither_settings_nor_clients_print_a_credential() {
    let settings = ClientSettings::from_lookup(&environment(COMPLETE), Patience::ingest()).unwrap();
    assert!(!format!("{settings:?}").contains("hush"));
    assert!(!format!("{:?}", Clients::new(settings)).contains("hush"));
}

//! A provider on this machine that answers what it is told to, byte by byte, in the order of the requests.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What the server does with a request.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// Answers, and keeps the connection.
    Answer(Vec<u8>),
    /// Answers as if it kept the connection, and closes it.
    Last(Vec<u8>),
    /// Closes the connection without a word.
    Close,
    /// Answers this much, and then nothing more for ever.
    Stall(Vec<u8>),
}

impl Reply {
    /// An answer with its length, to be kept or cut.
    pub(crate) fn bytes(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n");
        [head.as_bytes(), body].concat()
    }

    pub(crate) fn plain(status: &str, headers: &str, body: &str) -> Self {
        Self::Answer(Self::bytes(status, headers, body.as_bytes()))
    }
}

/// What the server got.
#[derive(Debug, Default)]
struct Log {
    replies: VecDeque<Reply>,
    heads: Vec<String>,
}

/// Runs until the test's runtime ends.
#[derive(Debug)]
pub(crate) struct Server {
    address: SocketAddr,
    log: Arc<Mutex<Log>>,
}

impl Server {
    pub(crate) async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let log = Arc::new(Mutex::new(Log {
            replies: replies.into_iter().collect(),
            heads: Vec::new(),
        }));
        let server = Self {
            address: listener.local_addr().unwrap(),
            log: Arc::clone(&log),
        };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&log)));
            }
        });
        server
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap()
    }

    /// The heads of the requests so far, as they came.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.log().heads.clone()
    }

    /// The first line of each request.
    pub(crate) fn lines(&self) -> Vec<String> {
        let first = |head: &String| head.lines().next().unwrap_or_default().to_owned();
        self.log().heads.iter().map(first).collect()
    }

    /// The values of a header in the request of this number.
    pub(crate) fn header(&self, request: usize, name: &str) -> Vec<String> {
        self.log().heads[request]
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once(": "))
            .filter(|(held, _)| held.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.to_owned())
            .collect()
    }
}

/// Ends, and with it the connection, when the client is gone or the reply says so.
async fn serve(mut stream: TcpStream, log: Arc<Mutex<Log>>) {
    while let Some(head) = read_head(&mut stream).await {
        let reply = {
            let mut log = log.lock().unwrap();
            log.heads.push(head);
            log.replies.pop_front().unwrap_or(Reply::Close)
        };
        let (bytes, then) = match &reply {
            Reply::Answer(bytes) | Reply::Last(bytes) | Reply::Stall(bytes) => (bytes, &reply),
            Reply::Close => return,
        };
        // A client that has read enough hangs up while we still write.
        if stream.write_all(bytes).await.is_err() || matches!(then, Reply::Last(_)) {
            return;
        }
        if matches!(then, Reply::Stall(_)) {
            std::future::pending::<()>().await;
        }
    }
}

async fn read_head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    Some(String::from_utf8(head).unwrap())
}

//! Where effects go: what a deployment says of each destination, and what that says about sending twice.
//!
//! The two questions that the effect's life asks are [`Destination::remembers`], for how long a repetition is
//! harmless, and [`Destination::lookup`], how to find out what became of an attempt. A destination may answer both,
//! and one that answers neither leaves an unknown outcome to a person.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use http::uri::Authority;
use lastword_domain::name::DestinationName;

use crate::secret::SecretRef;
use crate::url;

/// The name under which the event bus is built in.
pub const BUS: &str = "bus";

/// Where the key stands in the URL of a look-up.
pub const KEY_PLACE: &str = "{key}";

/// Reads `http://127.0.0.1:8421`: an address of this machine and nothing behind it, for what is sent to a local stack
/// instead of its own destination.
///
/// # Errors
/// Says what is wrong with it.
pub fn of_this_machine(text: &str) -> Result<Authority, &'static str> {
    url::of_this_machine(text)
}

/// One place that effects go to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// As effects name it.
    pub name: DestinationName,
    /// How it is reached.
    pub channel: Channel,
}

/// How a destination is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Channel {
    /// The deployment's event bus.
    Bus,
    /// A queue in SQS, in the deployment's region.
    Queue(QueueDestination),
    /// An HTTP API.
    Http(Box<HttpDestination>),
}

/// A queue in SQS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueDestination {
    /// Its URL.
    pub url: String,
}

impl QueueDestination {
    /// Whether it keeps groups in order and drops what it saw within five minutes.
    #[must_use]
    pub fn is_fifo(&self) -> bool {
        self.url.ends_with(".fifo")
    }
}

/// An HTTP API that takes a `POST`.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpDestination {
    /// A whole URL: https, or http to this machine; without user, password or fragment.
    pub url: String,
    /// What it knows us by.
    pub credential: Option<Credential>,
    /// Sent with every request as they stand.
    pub headers: BTreeMap<String, String>,
    /// The most time for one attempt, from resolving its name to the answer's head.
    pub timeout: Duration,
    /// For how long it honours `Idempotency-Key`; none: it does not.
    pub remembers: Option<Duration>,
    /// How it is asked about a key.
    pub lookup: Option<LookUp>,
    /// Statuses that are tried again besides those that always are.
    pub retry_on: Vec<u16>,
}

/// A secret, and the header that carries it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credential {
    /// Where the secret is kept.
    pub secret: SecretRef,
    /// The header that carries it bare; none: `Authorization: Bearer`.
    pub header: Option<String>,
}

/// How a destination is asked whether it acted on a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LookUp {
    /// A whole URL with [`KEY_PLACE`] once, in its path or query.
    pub url: String,
    /// Not asked sooner than so long after the last attempt: what it shows may be behind what it did.
    pub wait: Duration,
    /// A JSON pointer (RFC 6901) to what a 200 shows when it acted; none: every 200 says that it did.
    pub found: Option<String>,
}

impl LookUp {
    /// The URL that asks about a key.
    #[must_use]
    pub fn about(&self, key: &str) -> String {
        self.url.replace(KEY_PLACE, key)
    }
}

impl Destination {
    /// For how long a repetition with the same key is harmless; none: it never is.
    ///
    /// The bus and queues repeat by themselves whatever we do (both deliver at least once), so their consumers have
    /// to know keys anyway: for ever.
    #[must_use]
    pub fn remembers(&self) -> Option<Duration> {
        match &self.channel {
            Channel::Bus | Channel::Queue(_) => Some(Duration::MAX),
            Channel::Http(http) => http.remembers,
        }
    }

    /// How it can be asked what became of a key, if it can.
    #[must_use]
    pub fn lookup(&self) -> Option<&LookUp> {
        match &self.channel {
            Channel::Bus | Channel::Queue(_) => None,
            Channel::Http(http) => http.lookup.as_ref(),
        }
    }

    /// The secret that it needs.
    #[must_use]
    pub fn secret(&self) -> Option<&SecretRef> {
        match &self.channel {
            Channel::Bus | Channel::Queue(_) => None,
            Channel::Http(http) => http.credential.as_ref().map(|one| &one.secret),
        }
    }
}

impl fmt::Debug for HttpDestination {
    /// Without the values of headers and what stands behind a `?`: somebody may have put a secret there.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<_> = self.headers.keys().collect();
        f.debug_struct("HttpDestination")
            .field("url", &self.url.split('?').next())
            .field("credential", &self.credential)
            .field("headers", &headers)
            .field("timeout", &self.timeout)
            .field("remembers", &self.remembers)
            .field("lookup", &self.lookup.as_ref().map(|one| one.wait))
            .field("retry_on", &self.retry_on)
            .finish()
    }
}

//! One attempt, by whichever channel the destination is reached.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use lastword_config::{Channel, Destination, HttpDestination, LookUp, SecretRef};
use lastword_domain::name::DestinationName;
use lastword_domain::sending::{answered, asked};
use lastword_domain::{Found, Sent};
use lastword_runtime::{Clients, Secrets, Vault};

use crate::bus::{Bus, Event};
use crate::exchange::{Body, Exchanged, NoTls, Wire};
use crate::lookup::shows;
use crate::message::{Message, is_hash};
use crate::overrides::DestinationOverrides;
use crate::pause::pause;
use crate::queue;
use crate::request::Way;

/// The most bytes that are read of an answer to a question.
const MOST_BYTES: usize = 64 * 1024;

/// Sends to destinations and asks them. Made once per process.
pub struct Sender {
    wire: Wire,
    overrides: DestinationOverrides,
    vault: Arc<Vault>,
    sqs: aws_sdk_sqs::Client,
    bus: Bus,
}

impl Sender {
    /// Opens nothing before the first attempt. `clients` may be any: what is sent through them here is sent once.
    /// `vault` holds what [`lastword_config::Config::destination_secrets`] names; `bus` is the bus's name or ARN.
    ///
    /// # Errors
    /// When the TLS library that was built in supports none of its own versions.
    pub fn new(
        clients: &Clients,
        bus: impl Into<String>,
        vault: Arc<Vault>,
        overrides: DestinationOverrides,
    ) -> Result<Self, NoTls> {
        let once = clients.without_retries();
        Ok(Self {
            wire: Wire::new()?,
            overrides,
            vault,
            sqs: once.sqs(),
            bus: Bus::new(once.eventbridge(), bus),
        })
    }

    /// Makes one attempt, and never a second one.
    ///
    /// An HTTP attempt takes at most the destination's timeout; one to a queue or the bus the patience of the clients.
    pub async fn send(&self, destination: &Destination, message: &Message<'_>) -> Sent {
        match &destination.channel {
            Channel::Http(http) => self.post(&destination.name, http, message).await,
            Channel::Queue(queue) => queue::send(&self.sqs, queue, message).await,
            Channel::Bus => match message.body() {
                Ok(detail) => {
                    let event = Event {
                        detail_type: message.detail_type.to_owned(),
                        detail,
                        resources: Vec::new(),
                    };
                    self.bus.send(&event).await
                }
                Err(why) => Sent::Refused {
                    why: why.to_owned(),
                },
            },
        }
    }

    /// Asks a destination once whether it acted on a key, in at most its timeout.
    pub async fn ask(&self, destination: &Destination, key: &str) -> Found {
        let unknown = |why: &str| Found::Unknown {
            why: why.to_owned(),
            retry_after: None,
        };
        let (Channel::Http(http), Some(lookup)) = (&destination.channel, destination.lookup())
        else {
            return unknown("it cannot be asked");
        };
        if !is_hash(key) {
            return unknown("the key is not 43 characters of base64url");
        }
        self.get(&destination.name, http, lookup, key).await
    }

    async fn post(
        &self,
        name: &DestinationName,
        http: &HttpDestination,
        message: &Message<'_>,
    ) -> Sent {
        let body = match message.body() {
            Ok(body) => body,
            Err(why) => {
                return Sent::Refused {
                    why: why.to_owned(),
                };
            }
        };
        let not_sent = |why| Sent::NotSent {
            why,
            retry_after: None,
        };
        let secrets = self.vault.secrets();
        let ready = match self.way(name, http, &secrets).post(message.key, body) {
            Ok(ready) => ready,
            // What is missing is ours, and may be there next time.
            Err(why) => return not_sent(why.to_owned()),
        };
        match self
            .wire
            .exchange(ready.to, ready.request, http.timeout, None)
            .await
        {
            Exchanged::NotBegun(why) => not_sent(why),
            Exchanged::Lost(why) => Sent::Unknown {
                why,
                retry_after: None,
            },
            Exchanged::Answered(head, _) => {
                let status = head.status.as_u16();
                if matches!(status, 401 | 403) && self.was_rolled(http, &secrets).await {
                    return not_sent(format!("answered {status} to a secret that was rolled"));
                }
                let pause = pause(&head.headers, SystemTime::now());
                answered(status, pause, &http.retry_on)
            }
        }
    }

    async fn get(
        &self,
        name: &DestinationName,
        http: &HttpDestination,
        lookup: &LookUp,
        key: &str,
    ) -> Found {
        let unknown = |why| Found::Unknown {
            why,
            retry_after: None,
        };
        let secrets = self.vault.secrets();
        let ready = match self.way(name, http, &secrets).get(&lookup.about(key)) {
            Ok(ready) => ready,
            Err(why) => return unknown(why.to_owned()),
        };
        let most = lookup.found.as_ref().map(|_| MOST_BYTES);
        match self
            .wire
            .exchange(ready.to, ready.request, http.timeout, most)
            .await
        {
            Exchanged::NotBegun(why) | Exchanged::Lost(why) => unknown(why),
            Exchanged::Answered(head, body) => {
                let status = head.status.as_u16();
                if matches!(status, 401 | 403) && self.was_rolled(http, &secrets).await {
                    return unknown(format!("answered {status} to a secret that was rolled"));
                }
                let pause = pause(&head.headers, SystemTime::now());
                asked(status, pause, || shown(lookup, &head.headers, &body))
            }
        }
    }

    fn way<'d>(
        &'d self,
        name: &DestinationName,
        http: &'d HttpDestination,
        secrets: &'d Secrets,
    ) -> Way<'d> {
        Way {
            http,
            secret: reference(http).and_then(|reference| secrets.get(reference)),
            instead: self.overrides.of(name),
        }
    }

    /// Whether the secret that was refused is not the newest. Who is not let in has not been heard, so the effect may
    /// be sent again, with the new one.
    async fn was_rolled(&self, http: &HttpDestination, used: &Secrets) -> bool {
        let Some(reference) = reference(http) else {
            return false;
        };
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = since.map_or(0, |since| since.as_secs());
        // Another attempt may have renewed them just now; then the ones held are the newest.
        let newest = match self.vault.renewed(now).await {
            Some(newest) => newest,
            None => self.vault.secrets(),
        };
        match (used.get(reference), newest.get(reference)) {
            (Some(used), Some(newest)) => used.expose() != newest.expose(),
            (None, Some(_)) => true,
            (Some(_) | None, None) => false,
        }
    }
}

fn reference(http: &HttpDestination) -> Option<&SecretRef> {
    http.credential
        .as_ref()
        .map(|credential| &credential.secret)
}

fn shown(lookup: &LookUp, headers: &HeaderMap, body: &Body) -> Result<bool, &'static str> {
    let Some(pointer) = &lookup.found else {
        return Ok(true);
    };
    let plain = |value: &http::HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"identity");
    if !headers.get_all(CONTENT_ENCODING).iter().all(plain) {
        return Err("its body is encoded");
    }
    match body {
        Body::Whole(body) => shows(body, pointer),
        Body::TooLarge => Err("its body has more than 64 KB"),
        Body::Cut => Err("its body did not come whole"),
        Body::NotRead => Err("its body was not read"),
    }
}

/// Without connections and secrets.
impl std::fmt::Debug for Sender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sender")
            .field("overrides", &self.overrides)
            .finish_non_exhaustive()
    }
}

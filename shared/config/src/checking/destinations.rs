//! Where effects go: what is written of each destination, checked before anything is sent there.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use lastword_domain::name::DestinationName;
use toml::Spanned;

use super::Checker;
use crate::destination::{
    BUS, Channel, Credential, Destination, HttpDestination, LookUp, QueueDestination,
};
use crate::raw::{RawDestination, RawLookUp};
use crate::url;

/// Seconds that one attempt may take. The longest leaves a function time to write down what became of it.
const TIMEOUT: RangeInclusive<i64> = 1..=20;
const DEFAULT_TIMEOUT: i64 = 5;
/// Hours that a destination may say to remember a key.
const REMEMBERS: RangeInclusive<i64> = 1..=720;
const DEFAULT_REMEMBERS: i64 = 24;
/// Seconds between the last attempt and the question.
const WAIT: RangeInclusive<i64> = 0..=600;
const DEFAULT_WAIT: i64 = 10;
/// Statuses that may be named in `retry_on`.
const STATUSES: RangeInclusive<i64> = 400..=599;

/// Headers that the request itself is made of; a second one would make it another request.
const FRAMING: [&str; 16] = [
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "idempotency-key",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
];

impl Checker<'_> {
    /// All destinations by their names, the built-in bus among them.
    pub(super) fn destinations(
        &mut self,
        raw: &BTreeMap<Spanned<String>, Spanned<RawDestination>>,
    ) -> BTreeMap<DestinationName, Destination> {
        let mut all = BTreeMap::new();
        let bus = DestinationName::parse(BUS).ok().map(|name| Destination {
            name,
            channel: Channel::Bus,
        });
        all.extend(bus.map(|bus| (bus.name.clone(), bus)));
        for (name, raw) in raw {
            let setting = format!("destinations.{}", name.get_ref());
            let parsed = self.name(name, &setting, DestinationName::parse);
            if name.get_ref() == BUS {
                let message = format!(
                    "found {BUS:?}; that is the event bus, which is there already; expected another name"
                );
                self.report(name.span().start, &setting, message);
            }
            let channel = self.channel(&setting, raw.span().start, raw.get_ref());
            if let (Some(name), Some(channel)) = (parsed, channel) {
                all.insert(name.clone(), Destination { name, channel });
            }
        }
        all
    }

    fn channel(&mut self, setting: &str, at: usize, raw: &RawDestination) -> Option<Channel> {
        match (&raw.url, &raw.queue) {
            (Some(url), None) => {
                let http = self.http(setting, raw, url);
                Some(Channel::Http(Box::new(http?)))
            }
            (None, Some(queue)) => {
                for (name, at) in raw.of_http() {
                    let message = "found with `queue`; only a destination with `url` has it";
                    self.report(at, &format!("{setting}.{name}"), message);
                }
                let setting = format!("{setting}.queue");
                let url = self.told(queue, &setting, url::queue)?;
                Some(Channel::Queue(QueueDestination { url }))
            }
            (Some(_), Some(queue)) => {
                let message = "found both `url` and `queue`; expected one of them";
                self.report(queue.span().start, setting, message);
                None
            }
            (None, None) => {
                let message = "found neither `url` nor `queue`; expected one of them, such as \
                               url = \"https://mail.example.com/messages\"";
                self.report(at, setting, message);
                None
            }
        }
    }

    fn http(
        &mut self,
        setting: &str,
        raw: &RawDestination,
        url: &Spanned<String>,
    ) -> Option<HttpDestination> {
        let url = self.told(url, &format!("{setting}.url"), url::whole);
        let headers = self.fixed_headers(setting, raw);
        let credential = self.credential(setting, raw);
        let timeout = format!("{setting}.timeout_seconds");
        let timeout = self.seconds(&raw.timeout_seconds, &timeout, TIMEOUT, DEFAULT_TIMEOUT);
        let remembers = self.remembers(setting, raw);
        let lookup = match &raw.lookup {
            None => None,
            Some(raw) => Some(self.lookup(&format!("{setting}.lookup"), raw)?),
        };
        let retry_on = self.retry_on(setting, raw);
        Some(HttpDestination {
            url: url?,
            credential,
            headers,
            timeout,
            remembers,
            lookup,
            retry_on,
        })
    }

    fn credential(&mut self, setting: &str, raw: &RawDestination) -> Option<Credential> {
        let header = raw.secret_header.as_ref();
        if let (Some(header), None) = (header, &raw.secret) {
            let message = "found without `secret`; expected a secret reference beside it";
            let setting = format!("{setting}.secret_header");
            self.report(header.span().start, &setting, message);
        }
        let carried = header.map(|name| {
            let setting = format!("{setting}.secret_header");
            let lower = self.header_name(name, &setting, &FRAMING);
            let double = |fixed: &Spanned<String>| fixed.get_ref().to_ascii_lowercase() == lower;
            if raw.headers.keys().any(double) {
                let message =
                    format!("found {lower:?}, which is among `headers` too; expected one");
                self.report(name.span().start, &setting, message);
            }
            lower
        });
        let secret = self.secret(raw.secret.as_ref()?, &format!("{setting}.secret"))?;
        Some(Credential {
            secret,
            header: carried,
        })
    }

    fn fixed_headers(&mut self, setting: &str, raw: &RawDestination) -> BTreeMap<String, String> {
        let mut reserved = FRAMING.to_vec();
        reserved.push("authorization");
        let mut headers = BTreeMap::new();
        for (name, value) in &raw.headers {
            let setting = format!("{setting}.headers.{}", name.get_ref());
            let lower = self.header_name(name, &setting, &reserved);
            let text = value.get_ref();
            let exact = text.bytes().all(|b| b == b' ' || b.is_ascii_graphic());
            if !exact || text.trim() != text || HeaderValue::from_str(text).is_err() {
                // The value is not repeated: it may be a secret.
                let message = "found a value that a header does not carry exactly; expected printable ASCII \
                               without spaces at its ends";
                self.report(value.span().start, &setting, message);
            }
            if headers.insert(lower.clone(), text.clone()).is_some() {
                let message = format!("found {lower:?} twice; expected it once");
                self.report(name.span().start, &setting, message);
            }
        }
        headers
    }

    /// The header's name in lower case.
    fn header_name(&mut self, name: &Spanned<String>, setting: &str, reserved: &[&str]) -> String {
        let text = name.get_ref();
        let lower = text.to_ascii_lowercase();
        if HeaderName::from_bytes(text.as_bytes()).is_err() {
            let message = format!("found {text:?}; expected a header's name such as \"x-api-key\"");
            self.report(name.span().start, setting, message);
        } else if reserved.contains(&lower.as_str()) {
            let message =
                format!("found {text:?}, which every request has already; expected another header");
            self.report(name.span().start, setting, message);
        }
        lower
    }

    fn remembers(&mut self, setting: &str, raw: &RawDestination) -> Option<Duration> {
        let hours = &raw.remembers_hours;
        let setting = format!("{setting}.remembers_hours");
        let idempotent = raw.idempotent.as_ref().is_some_and(|one| *one.get_ref());
        if let Some(hours) = hours.as_ref().filter(|_| !idempotent) {
            let message = "found without `idempotent = true`; what does not honour a key does not remember it";
            self.report(hours.span().start, &setting, message);
        }
        let hours = self.number(hours, &setting, REMEMBERS, DEFAULT_REMEMBERS, " hours");
        idempotent.then(|| Duration::from_secs(hours.saturating_mul(3600)))
    }

    fn lookup(&mut self, setting: &str, raw: &RawLookUp) -> Option<LookUp> {
        let url = self.told(&raw.url, &format!("{setting}.url"), url::with_key);
        let wait = format!("{setting}.wait_seconds");
        let wait = self.seconds(&raw.wait_seconds, &wait, WAIT, DEFAULT_WAIT);
        let found = raw.found.as_ref();
        let found = found.map(|text| self.told(text, &format!("{setting}.found"), url::pointer));
        Some(LookUp {
            url: url?,
            wait,
            found: match found {
                None => None,
                Some(pointer) => Some(pointer?),
            },
        })
    }

    fn retry_on(&mut self, setting: &str, raw: &RawDestination) -> Vec<u16> {
        let setting = format!("{setting}.retry_on");
        let mut all = Vec::new();
        for status in raw.retry_on.iter().flatten() {
            let found = *status.get_ref();
            match u16::try_from(found) {
                Ok(small) if STATUSES.contains(&found) => all.push(small),
                Ok(_) | Err(_) => {
                    let message = format!("found {found}; expected a status from 400 to 599");
                    self.report(status.span().start, &setting, message);
                }
            }
        }
        all
    }

    fn seconds(
        &mut self,
        given: &Option<Spanned<i64>>,
        setting: &str,
        allowed: RangeInclusive<i64>,
        default: i64,
    ) -> Duration {
        Duration::from_secs(self.number(given, setting, allowed, default, " seconds"))
    }

    pub(super) fn number(
        &mut self,
        given: &Option<Spanned<i64>>,
        setting: &str,
        allowed: RangeInclusive<i64>,
        default: i64,
        unit: &str,
    ) -> u64 {
        let found = given.as_ref().map_or(default, |given| *given.get_ref());
        if let Some(given) = given.as_ref().filter(|_| !allowed.contains(&found)) {
            let (least, most) = (allowed.start(), allowed.end());
            let message = format!("found {found}; expected {least} to {most}{unit}");
            self.report(given.span().start, setting, message);
        }
        found.unsigned_abs()
    }

    /// What `read` makes of a text, or what it says against it.
    fn told(
        &mut self,
        text: &Spanned<String>,
        setting: &str,
        read: impl Fn(&str) -> Result<(), String>,
    ) -> Option<String> {
        match read(text.get_ref()) {
            Ok(()) => Some(text.get_ref().clone()),
            Err(why) => {
                self.report(text.span().start, setting, why);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests;

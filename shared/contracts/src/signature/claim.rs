//! What stands where a signature should: the grammar of the value, and the signed time.

use std::borrow::Cow;

use super::error::SignatureError;
use super::scheme::{Encoding, List, Scheme, TimeUnit};
use crate::source::Source;
use crate::template::Scope;

/// What one value says.
pub(super) struct Claim<'h> {
    pub(super) timestamp: Option<Cow<'h, str>>,
    /// Decoded; what cannot be decoded matches nothing and is left out.
    pub(super) signatures: Vec<Vec<u8>>,
}

impl Scheme {
    /// What stands between several signatures of one value.
    pub(super) fn separator(&self) -> &str {
        self.list.as_ref().map_or(",", |list| &list.separator)
    }

    pub(super) fn malformed(&self, what: &'static str) -> SignatureError {
        SignatureError::Malformed {
            place: self.place(),
            what,
        }
    }

    /// Where the signature stands, for people.
    pub(super) fn place(&self) -> String {
        match self.at.as_ref().and_then(|at| at.as_slice().last()) {
            Some(source) => source.to_string(),
            None => "the signature".to_owned(),
        }
    }

    /// The values that stand where a signature should: those of the first place that has any.
    pub(super) fn values<'s>(&self, scope: &Scope<'s>) -> Vec<Cow<'s, str>> {
        let places = self.at.as_ref().map(|at| at.as_slice()).unwrap_or_default();
        for place in places {
            let found: Vec<Cow<'s, str>> = match place {
                Source::Header(name) => match name.strip_suffix('*') {
                    None => scope.request.headers.all(name).map(Cow::Borrowed).collect(),
                    Some(start) => {
                        let all = scope.request.headers.starting(start);
                        all.map(Cow::Borrowed).collect()
                    }
                },
                Source::Query(_)
                | Source::Form(_)
                | Source::Body(_)
                | Source::Item(_)
                | Source::Digest
                | Source::Const(_) => scope.place(place).into_iter().collect(),
            };
            if found.iter().any(|value| !value.is_empty()) {
                return found;
            }
        }
        Vec::new()
    }

    /// Reads one value.
    pub(super) fn claim<'h>(
        &self,
        value: &'h str,
        scope: &Scope<'h>,
    ) -> Result<Claim<'h>, SignatureError> {
        let mut claim = Claim {
            timestamp: match &self.timestamp {
                Some(place) => scope.place(place),
                None => None,
            },
            signatures: Vec::new(),
        };
        match &self.list {
            Some(list) => self.listed(list, value, &mut claim)?,
            // Some gateways join a repeated header's values with commas.
            None => {
                for item in value.split(',').map(str::trim) {
                    let item = match &self.prefix {
                        None => item,
                        Some(prefix) => item
                            .strip_prefix(prefix.as_str())
                            .ok_or_else(|| self.malformed("another prefix than expected"))?,
                    };
                    let signature = self.decode(item);
                    claim
                        .signatures
                        .push(signature.ok_or_else(|| self.malformed("not an encoded signature"))?);
                }
            }
        }
        if claim.signatures.is_empty() {
            return Err(self.malformed("no signature of the expected scheme"));
        }
        Ok(claim)
    }

    fn listed<'h>(
        &self,
        list: &List,
        value: &'h str,
        claim: &mut Claim<'h>,
    ) -> Result<(), SignatureError> {
        let mut timed = false;
        let items = value.split(list.separator.as_str()).map(str::trim);
        for (at, item) in items.filter(|item| !item.is_empty()).enumerate() {
            let Some(joint) = &list.joint else {
                if at == 0 && list.timestamp.is_some() {
                    claim.timestamp = Some(Cow::Borrowed(item));
                } else {
                    claim.signatures.extend(self.decode(item));
                }
                continue;
            };
            let (label, text) = item
                .split_once(joint.as_str())
                .ok_or_else(|| self.malformed("an item without its label"))?;
            if list.timestamp.as_deref() == Some(label) {
                if timed {
                    return Err(self.malformed("two timestamps"));
                }
                timed = true;
                claim.timestamp = Some(Cow::Borrowed(text));
            } else if list.label.as_deref().is_none_or(|wanted| wanted == label) {
                claim.signatures.extend(self.decode(text));
            }
        }
        Ok(())
    }

    fn decode(&self, text: &str) -> Option<Vec<u8>> {
        use base64::Engine as _;
        match self.encoding {
            Encoding::Hex => hex::decode(text).ok(),
            Encoding::Base64 => base64::engine::general_purpose::STANDARD.decode(text).ok(),
        }
        .filter(|signature| self.algorithm.may_be(signature.len()))
    }

    /// The signed time in Unix seconds, where this scheme has one; a scheme with a tolerance must have one.
    pub(super) fn time(&self, timestamp: Option<&str>) -> Result<Option<u64>, SignatureError> {
        let Some(text) = timestamp else {
            return match self.tolerance_seconds {
                Some(_) => Err(self.malformed("no timestamp")),
                None => Ok(None),
            };
        };
        self.time_unit
            .seconds(text)
            .map(Some)
            .ok_or_else(|| self.malformed("a timestamp that is no time"))
    }

    /// Whether the signed time is within the window. `tolerance` replaces the scheme's own.
    pub(super) fn within(
        &self,
        time: Option<u64>,
        now: u64,
        tolerance: Option<u64>,
    ) -> Result<(), SignatureError> {
        let tolerance = self.tolerance_seconds.map(|own| tolerance.unwrap_or(own));
        let (Some(time), Some(tolerance)) = (time, tolerance) else {
            return Ok(());
        };
        if now.saturating_sub(time) > tolerance {
            return Err(SignatureError::TooOld {
                seconds: now.saturating_sub(time),
                tolerance,
            });
        }
        if time.saturating_sub(now) > tolerance {
            return Err(SignatureError::InFuture {
                seconds: time.saturating_sub(now),
                tolerance,
            });
        }
        Ok(())
    }
}

impl TimeUnit {
    fn seconds(self, text: &str) -> Option<u64> {
        let number = || {
            // What a number's reader would forgive, a sign before it, would be signed as it stands.
            let plain = text.bytes().all(|byte| byte.is_ascii_digit());
            plain.then(|| text.parse::<u64>().ok()).flatten()
        };
        match self {
            Self::Seconds => number(),
            Self::Milliseconds => number().map(|milliseconds| milliseconds / 1000),
            Self::Auto => number().map(|number| {
                if number > 100_000_000_000 {
                    number / 1000
                } else {
                    number
                }
            }),
            Self::Rfc3339 => {
                let time: jiff::Timestamp = text.parse().ok()?;
                u64::try_from(time.as_second()).ok()
            }
        }
    }

    /// A time as a sender writes it; `now` is Unix time in seconds.
    pub(super) fn text(self, now: u64) -> String {
        match self {
            Self::Seconds | Self::Auto => now.to_string(),
            Self::Milliseconds => now.saturating_mul(1000).to_string(),
            Self::Rfc3339 => {
                let second = i64::try_from(now).unwrap_or(i64::MAX);
                jiff::Timestamp::from_second(second)
                    .unwrap_or(jiff::Timestamp::UNIX_EPOCH)
                    .to_string()
            }
        }
    }
}

//! Requests that are no events: a provider tries an endpoint before it sends, or now and then.
//!
//! An answer is made of what the request itself holds and of the integration's own settings; it never shows
//! a secret, only a MAC under one over what the contract names.

use std::collections::BTreeMap;

use serde::Deserialize;
use subtle::ConstantTimeEq as _;

use crate::contract::Certainty;
use crate::request::{Request, Wanted, wanted};
use crate::signature::{Challenge, Schemes, SigningKey};
use crate::source::Source;
use crate::template::{Scope, Template};

/// One kind of such a request.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Handshake {
    /// Its name in reports.
    pub name: String,
    /// How it is sent.
    #[serde(default = "post")]
    pub method: String,
    /// Whether its signature is checked first.
    #[serde(default = "yes")]
    pub signed: bool,
    /// What tells it from others.
    #[serde(default, deserialize_with = "wanted")]
    pub(crate) when: BTreeMap<String, Wanted>,
    /// What must equal the integration's handshake token.
    pub token: Option<Source>,
    /// How what it wants a MAC of is written.
    #[serde(default)]
    challenge: Challenge,
    /// Only requests without any signature.
    #[serde(default)]
    pub unless_signed: bool,
    /// What it is answered with.
    answer: AnswerRules,
    /// Where this is known from.
    #[serde(default)]
    pub source: String,
    /// How sure it is.
    #[serde(default)]
    pub certainty: Certainty,
}

fn post() -> String {
    "POST".to_owned()
}

const fn yes() -> bool {
    true
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerRules {
    #[serde(default = "ok")]
    status: u16,
    text: Option<Template>,
    json: Option<BTreeMap<String, Member>>,
    #[serde(default)]
    headers: BTreeMap<String, Template>,
}

const fn ok() -> u16 {
    200
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Member {
    Text(Template),
    Number(i64),
    Flag(bool),
}

/// A handshake's answer.
#[derive(Clone, PartialEq, Eq)]
pub struct HandshakeAnswer {
    /// The handshake's name.
    pub name: String,
    /// The HTTP status.
    pub status: u16,
    /// `text/plain` or `application/json`; none without a body.
    pub media_type: Option<&'static str>,
    /// Further headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

/// Law 14: what is repeated to the sender is not shown.
impl std::fmt::Debug for HandshakeAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HandshakeAnswer({} {})", self.name, self.status)
    }
}

/// Why a handshake is not answered as it wishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HandshakeError {
    /// The token is not the integration's, or the integration has none.
    #[error("the handshake's token is not this integration's `handshake_token`")]
    WrongToken,
    /// It does not hold what has to be answered.
    #[error("the handshake does not hold what has to be answered")]
    Incomplete,
}

/// The most bytes of a request that an answer repeats.
const MOST_REPEATED: usize = 1024;

impl Handshake {
    /// Whether this request is one. Those that are signed are only asked once the signature was checked.
    #[must_use]
    pub fn is(&self, request: &Request<'_>, schemes: &Schemes) -> bool {
        request.method == self.method
            && request.holds(&self.when)
            && !(self.unless_signed && schemes.is_signed(request))
    }

    /// The integration's parameters that its answer needs.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &str> {
        self.templates().flat_map(|template| template.parameters())
    }

    /// Of what it gives a MAC to whoever asks.
    pub(crate) fn gives_macs_of(&self) -> Option<Challenge> {
        let mut templates = self.templates();
        let gives = templates.any(|template| template.macs().next().is_some());
        (gives && !self.signed).then_some(self.challenge)
    }

    /// Everything that its answer is made of.
    fn templates(&self) -> impl Iterator<Item = &Template> {
        let members = self.answer.json.iter().flatten();
        let members = members.filter_map(|(_, member)| match member {
            Member::Text(template) => Some(template),
            Member::Number(_) | Member::Flag(_) => None,
        });
        let headers = self.answer.headers.values();
        self.answer.text.iter().chain(members).chain(headers)
    }

    /// What a person has to know it by.
    pub fn signs(&self) -> impl Iterator<Item = (&str, &str)> {
        let wanted = self.when.iter();
        wanted.map(|(place, wanted)| (place.as_str(), wanted.value.as_str()))
    }

    /// Its answer. `key` is the one that its signature was made with, or the integration's first.
    ///
    /// # Errors
    /// When its token is wrong, or it lacks what is to be answered.
    pub fn answer(
        &self,
        request: &Request<'_>,
        key: Option<&SigningKey>,
        token: Option<&str>,
    ) -> Result<HandshakeAnswer, HandshakeError> {
        if let Some(place) = &self.token {
            let given = request.text(place).unwrap_or_default();
            let own = token.filter(|own| !own.is_empty());
            let own = own.ok_or(HandshakeError::WrongToken)?;
            if !bool::from(own.as_bytes().ct_eq(given.as_bytes())) {
                return Err(HandshakeError::WrongToken);
            }
        }
        // Whoever may ask without a signature chooses the text: one that could be signed as a delivery is not.
        let may = |value: &[u8]| self.signed || self.challenge.is_one(value);
        let mac = |value: &[u8]| {
            let key = key.filter(|_| may(value));
            key.and_then(|key| key.hex_mac(value))
        };
        let scope = Scope {
            mac: Some(&mac),
            ..Scope::of(request)
        };
        let filled = |template: &Template| fill(template, &scope);
        let rules = &self.answer;
        let (media_type, body) = match (&rules.text, &rules.json) {
            (Some(text), _) => (Some("text/plain; charset=utf-8"), filled(text)?),
            (None, Some(members)) => {
                let member = |(name, member): (&String, &Member)| {
                    let value = match member {
                        Member::Text(text) => serde_json::Value::String(filled(text)?),
                        Member::Number(number) => (*number).into(),
                        Member::Flag(flag) => (*flag).into(),
                    };
                    Ok((name.clone(), value))
                };
                let members = members.iter().map(member).collect::<Result<_, _>>()?;
                let text = serde_json::Value::Object(members).to_string();
                (Some("application/json"), text)
            }
            (None, None) => (None, String::new()),
        };
        let header = |(name, value): (&String, &Template)| {
            let value = filled(value)?;
            let plain = value.bytes().all(|byte| (0x20..0x7f).contains(&byte));
            plain
                .then_some((name.clone(), value))
                .ok_or(HandshakeError::Incomplete)
        };
        Ok(HandshakeAnswer {
            name: self.name.clone(),
            status: rules.status,
            media_type,
            headers: rules.headers.iter().map(header).collect::<Result<_, _>>()?,
            body,
        })
    }
}

fn fill(template: &Template, scope: &Scope<'_>) -> Result<String, HandshakeError> {
    let missing = |place: &Source| {
        let value = scope.place(place).unwrap_or_default();
        value.is_empty() || value.len() > MOST_REPEATED
    };
    if template.places().any(missing) {
        return Err(HandshakeError::Incomplete);
    }
    if template.macs().any(|place| {
        scope
            .place(place)
            .and_then(|value| scope.mac?(value.as_bytes()))
            .is_none()
    }) {
        return Err(HandshakeError::Incomplete);
    }
    template.string(scope).ok_or(HandshakeError::Incomplete)
}

#[cfg(test)]
mod tests;

//! A file as a delivery of its provider: everything that has to stand beside it, signed; sends nothing.

use std::{
    fs,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use lastword_config::{Config, Integration, SecretValue};
use lastword_contracts::{
    Contract, FetchedKeys, Headers, Keys, Request, SignatureError,
    signature::{Scheme, Signed},
};

use super::given::Given;
use crate::{
    command::{
        cli::{DIRECTORY, Signing},
        configuration::Source,
        dev::secrets,
    },
    machine::Failure,
};

/// A body and what makes it authentic.
pub(in crate::command) struct Delivery {
    /// The scheme that signs.
    pub(in crate::command) scheme: String,
    /// In the order in which they were made; each name once.
    pub(in crate::command) headers: Vec<(String, String)>,
    /// The file, to the byte.
    pub(in crate::command) body: Vec<u8>,
    /// Where in the body a signature belongs, and the signature.
    pub(in crate::command) in_body: Option<(String, String)>,
    /// What a person should know besides.
    pub(in crate::command) remark: Option<String>,
    authentic: bool,
}

impl Delivery {
    /// Reads the file and signs it. `query` is that of the URL it will be posted to.
    pub(in crate::command) fn prepare(asked: &Signing, query: &str) -> Result<Self, Failure> {
        let source = Source::found(asked.config.as_deref())?;
        let config = source.parse()?;
        let integration = integration(&config, asked, &source.name())?;
        can_be_signed(&integration.contract, &integration.schemes)?;
        let secret = secret(integration, asked)?;
        let keys = integration.keys([secret.expose()])?;
        let body =
            fs::read(&asked.file).map_err(|error| format!("{}: {error}", asked.file.display()))?;
        let scheme = scheme(integration, &secret)?;
        let now = asked.now.unwrap_or_else(now);
        let mut given = Given::of(&asked.headers);
        given.media_type(&integration.contract.media_types, &body);
        given.event(&integration.contract)?;
        let sealed = Sealed {
            integration,
            keys: &keys,
            query,
            body: &body,
            now,
        };
        let own = sealed.sign(&given.headers())?;
        given.signed(scheme, &own.headers);
        let signed = sealed.sign(&given.headers())?;
        given.add(&signed.headers)?;
        let checked = sealed.check(&given.headers());
        let authentic = checked.is_ok();
        let in_body = signed.in_body;
        Ok(Self {
            scheme: scheme.name.clone(),
            remark: remark(checked.err(), in_body.is_some())?,
            headers: given.all(),
            in_body: in_body.map(|(place, value)| (place.to_string(), value)),
            body,
            authentic,
        })
    }

    /// Whether the file can be sent as it is: a signature that stands in the body must already be there.
    pub(in crate::command) fn sendable(&self) -> Result<(), Failure> {
        match &self.in_body {
            Some((place, value)) if !self.authentic => Err(format!(
                "the signature belongs into the file and is not there: {place}: {value}"
            )
            .into()),
            Some(_) | None => Ok(()),
        }
    }
}

/// A request but for its headers, and what it is signed with.
struct Sealed<'s> {
    integration: &'s Integration,
    keys: &'s Keys,
    query: &'s str,
    body: &'s [u8],
    now: u64,
}

impl<'s> Sealed<'s> {
    fn request(&self, headers: &'s Headers) -> Request<'s> {
        self.integration
            .request("POST", self.query, headers, self.body)
    }

    fn sign(&self, headers: &Headers) -> Result<Signed, Failure> {
        let schemes = &self.integration.contract.signature;
        Ok(schemes.sign(&self.request(headers), self.keys, self.now)?)
    }

    /// Whether the receiver would believe it.
    fn check(&self, headers: &Headers) -> Result<(), SignatureError> {
        let schemes = &self.integration.contract.signature;
        let tolerance = self.integration.tolerance_seconds;
        let request = self.request(headers);
        let none = FetchedKeys::new();
        let verified = schemes.verify(&request, self.keys, &none, self.now, tolerance);
        verified.map(|_| ())
    }
}

/// What the receiver would say, where that is no reason not to show the signature.
fn remark(refused: Option<SignatureError>, in_body: bool) -> Result<Option<String>, Failure> {
    let Some(error) = refused else {
        return Ok(None);
    };
    let timed = matches!(
        error,
        SignatureError::TooOld { .. } | SignatureError::InFuture { .. }
    );
    if timed {
        return Ok(Some(format!(
            "signed, and yet it would be refused: {error}"
        )));
    }
    if in_body {
        return Ok(Some("the file does not hold this signature yet".to_owned()));
    }
    Err(format!("it cannot be signed so that it is taken: {error}").into())
}

fn integration<'c>(
    config: &'c Config,
    asked: &Signing,
    source: &str,
) -> Result<&'c Integration, Failure> {
    config.integration(&asked.integration).ok_or_else(|| {
        let known: Vec<_> = config
            .integrations
            .keys()
            .map(|name| name.as_str())
            .collect();
        let known = known.join(", ");
        format!(
            "no integration {:?}; {source} has {known}",
            asked.integration
        )
        .into()
    })
}

fn can_be_signed(contract: &Contract, accepted: &Keys) -> Result<(), Failure> {
    let title = &contract.title;
    if contract.by_queue() {
        return Err(format!("{title} does not post: its events come through a queue").into());
    }
    let schemes = contract.signature.iter().enumerate();
    let mut accepted = schemes.filter(|(at, _)| accepted.accepts(*at));
    if accepted.any(|(_, scheme)| scheme.algorithm.is_symmetric()) {
        return Ok(());
    }
    Err(format!(
        "{title} signs with a private key that only {title} has: what is held here can check a signature \
         and not make one"
    )
    .into())
}

/// The signing secret that was given, or the integration's first.
fn secret(integration: &Integration, asked: &Signing) -> Result<SecretValue, Failure> {
    if let Some(secret) = &asked.secret {
        let taken = SecretValue::accept(secret.clone().into());
        return taken.map_err(|why| format!("--secret: {why}").into());
    }
    let reference = integration.signing.first();
    let reference =
        reference.ok_or("the integration names no signing secret; give one with --secret")?;
    let directory = asked.dir.as_deref().unwrap_or(Path::new(DIRECTORY));
    let found = secrets::look_up(reference, directory, |name| std::env::var(name))?;
    let value = found.ok_or_else(|| {
        format!(
            "{reference} is not set here: `lastword dev` makes one up in {}, or give it with --secret",
            directory.display()
        )
    })?;
    SecretValue::accept(value.into()).map_err(|why| format!("{reference}: {why}").into())
}

/// The scheme that will sign: the first accepted one that the secret is a key of.
fn scheme<'i>(integration: &'i Integration, secret: &SecretValue) -> Result<&'i Scheme, Failure> {
    let schemes = integration.contract.signature.iter().enumerate();
    let mut accepted = schemes
        .filter(|(at, _)| integration.schemes.accepts(*at))
        .map(|(_, scheme)| scheme);
    let fits =
        |scheme: &&Scheme| scheme.algorithm.is_symmetric() && scheme.key(secret.expose()).is_ok();
    let scheme = accepted.find(fits);
    scheme.ok_or_else(|| "the secret is no key of a scheme that could sign here".into())
}

/// The query of a URL, without its question mark.
pub(in crate::command) fn query_of(url: &str) -> &str {
    let before_fragment = url.split('#').next().unwrap_or_default();
    before_fragment
        .split_once('?')
        .map_or("", |(_, query)| query)
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

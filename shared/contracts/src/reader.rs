//! What a verified body is about, as the contract says: identity, account, type, resources.
//!
//! One delivery is one event, or as many as its body has items: each then is kept by itself, to the byte.
//!
//! Law 2's second half stands here: the integration chooses account and environment. An account named
//! in a signed body must be on the integration's list, and an unsigned header can name neither.

mod arranged;
mod place;
mod tenant;
mod whole;

use std::borrow::Cow;
use std::collections::BTreeMap;

use lastword_domain::name::{Account, EventId, EventType, NameError, ResourceId, ResourceType};
use lastword_domain::{Digest, EventIdentity, ResourceKey};

use crate::contract::Contract;
use crate::items::Items;
use crate::payload::{self, PayloadRules};
use crate::request::Request;
use crate::signature::Verified;
use arranged::{Arranged, Look, Routed};
use place::Unreadable;
pub use tenant::Tenant;
use whole::{One, Whole};

/// What an accepted event is.
#[derive(Clone, PartialEq, Eq)]
pub struct Event<'b> {
    /// What makes it the same event.
    pub identity: EventIdentity,
    /// What the provider calls it.
    pub kind: EventType,
    /// What it is about; never empty.
    pub resources: Vec<ResourceKey>,
    /// Its exact bytes: the whole body, its own item of it, or the field that is signed.
    pub body: Cow<'b, [u8]>,
}

/// Law 14: without its body.
impl std::fmt::Debug for Event<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Event")
            .field("identity", &self.identity)
            .field("kind", &self.kind)
            .field("resources", &self.resources)
            .finish_non_exhaustive()
    }
}

/// What reading a verified request leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Reading<'b> {
    /// To be stored; never empty.
    Concerns(Vec<Event<'b>>),
    /// To be stored, and then refused: beside these events it holds some of an account that is not on the list.
    /// Those cannot be acknowledged, and the others must not be lost with them.
    Partly(Vec<Event<'b>>),
    /// Well signed, but nothing configured is about this type.
    Unrouted(Option<EventType>),
    /// Well signed, but about the provider's other world, which some providers send to every endpoint.
    OtherEnvironment,
    /// It names an account that is not on the list.
    ForeignAccount,
    /// An id that cannot be kept exactly.
    Refused(NameError),
}

/// The type of the resource that an unreadable event is kept under: the event itself.
pub const UNREADABLE: &str = "unreadable-event";

/// The most bytes of all an event's resources: they stand in one row with what else is known of it.
const MOST_RESOURCE_BYTES: usize = 200_000;

/// A contract's rules for one endpoint, arranged for speed: made once, used for every request.
#[derive(Debug, Clone)]
pub struct Reader {
    tenant: Tenant,
    payload: Option<PayloadRules>,
    items: Option<Items>,
    arranged: Arranged,
}

impl Reader {
    /// Arranges a contract's rules for one endpoint, with what it defines itself.
    #[must_use]
    pub fn new(
        tenant: Tenant,
        contract: &Contract,
        resources: &BTreeMap<ResourceType, crate::contract::ResourceRules>,
    ) -> Self {
        Self {
            tenant,
            payload: contract.payload.clone(),
            items: contract.event.items.clone(),
            arranged: Arranged::of(&contract.event, resources),
        }
    }

    /// Whose data this endpoint may speak of.
    #[must_use]
    pub fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// What this request is about. `request` is the one whose body was verified.
    pub fn read<'b>(&self, request: &Request<'b>, body: Verified<'b>) -> Reading<'b> {
        let bytes = body.bytes();
        match payload::json(self.payload.as_ref(), request) {
            Ok(Cow::Borrowed(text)) => {
                self.read_text(request, text, &Cow::Borrowed(bytes), |item| {
                    Cow::Borrowed(item.as_bytes())
                })
            }
            Ok(Cow::Owned(text)) => {
                let kept = self.kept(request, bytes);
                self.read_text(request, &text, &kept, |_| kept.clone())
            }
            Err(_) => self.unreadable(request, &self.kept(request, bytes)),
        }
    }

    /// Of a form of which one field is signed, that field: what stands beside it, anybody could add.
    fn kept<'b>(&self, request: &Request<'b>, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        let place = self.payload.as_ref().and_then(|rules| rules.from.as_ref());
        match place.and_then(|place| request.text(place)) {
            Some(Cow::Borrowed(text)) => Cow::Borrowed(text.as_bytes()),
            Some(Cow::Owned(text)) => Cow::Owned(text.into_bytes()),
            None => Cow::Borrowed(bytes),
        }
    }

    /// `own` gives the bytes that an item is kept as.
    fn read_text<'t, 'b>(
        &self,
        request: &Request<'_>,
        text: &'t str,
        bytes: &Cow<'b, [u8]>,
        own: impl Fn(&'t str) -> Cow<'b, [u8]>,
    ) -> Reading<'b> {
        let items = match &self.items {
            None => None,
            Some(items) => match items.of(text) {
                Ok(items) => items,
                Err(_) => return self.unreadable(request, bytes),
            },
        };
        let Some(body) = self.arranged.body(text) else {
            return self.unreadable(request, bytes);
        };
        let Some(items) = items else {
            let look = self.arranged.look(request, &body, text, bytes);
            return match look.map(|look| self.read_one(&look, bytes)) {
                Some(Ok(one)) => one.alone(),
                Some(Err(Unreadable::Name(error))) => Reading::Refused(error),
                Some(Err(Unreadable::Body)) | None => self.unreadable(request, bytes),
            };
        };
        let mut whole = Whole::default();
        for item in items {
            let kept = own(item);
            let look = self.arranged.look(request, &body, item, &kept);
            match look.map(|look| self.read_one(&look, &kept)) {
                Some(Ok(one)) => whole.add(one),
                // What cannot be read or named exactly is kept about itself; its neighbours are not refused.
                Some(Err(Unreadable::Body | Unreadable::Name(_))) | None => {
                    match self.unreadable_event(None, &kept) {
                        Ok(event) => whole.events.push(event),
                        Err(error) => return Reading::Refused(error),
                    }
                }
            }
        }
        whole.reading()
    }

    /// One event.
    fn read_one<'b>(&self, look: &Look<'_>, bytes: &Cow<'b, [u8]>) -> Result<One<'b>, Unreadable> {
        if let Some(environment) = self.arranged.environment(look)?
            && *environment != self.tenant.environment
        {
            return Ok(One::OtherEnvironment);
        }
        // What is not signed chooses nothing, and is refused when it names another.
        if let Some(hint) = self.arranged.account_hint(look)?
            && !self.tenant.accounts().any(|own| own.as_str() == hint)
        {
            return Ok(One::ForeignAccount);
        }
        let account = match self.arranged.account(look)? {
            None => self.tenant.account.clone(),
            Some(named) => Account::parse(&named)?,
        };
        if !self.tenant.accounts().any(|own| *own == account) {
            return Ok(One::ForeignAccount);
        }
        let kind = self.arranged.kind(look)?;
        let Routed { found, incomplete } = self.arranged.route(&kind, look)?;
        match (found.is_empty(), incomplete) {
            (true, false) => return Ok(One::Unrouted(kind)),
            (true, true) => return Err(Unreadable::Body),
            (false, _) => {}
        }
        let mut resources: Vec<_> = found
            .into_iter()
            .map(|(kind, id)| self.resource(&account, kind.clone(), id))
            .collect();
        let bytes_of =
            |resource: &ResourceKey| resource.kind.as_str().len() + resource.id.as_str().len();
        if resources.iter().map(bytes_of).sum::<usize>() > MOST_RESOURCE_BYTES {
            return Err(Unreadable::Body);
        }
        let id = self.arranged.id(look)?;
        if incomplete {
            // What was not found in it must end in a decision too.
            resources.push(self.itself(&account, &id)?);
        }
        Ok(One::Concerns(Event {
            identity: self.identity(account, id),
            kind,
            resources,
            body: bytes.clone(),
        }))
    }

    fn unreadable<'b>(&self, request: &Request<'_>, bytes: &Cow<'b, [u8]>) -> Reading<'b> {
        let event = self.unreadable_event(self.arranged.header_id(request), bytes);
        event.map_or_else(Reading::Refused, |event| Reading::Concerns(vec![event]))
    }

    /// A body that cannot be read as the contract says is kept all the same, about itself: it ends in a
    /// decision that can be looked up, and its body stays as long as any. Its identity is the header's where
    /// the contract has it there, else the body's own digest.
    fn unreadable_event<'b>(
        &self,
        named: Option<EventId>,
        bytes: &Cow<'b, [u8]>,
    ) -> Result<Event<'b>, NameError> {
        let id = match named {
            Some(id) => id,
            None => EventId::parse(&Digest::of(bytes).to_text())?,
        };
        let resource = self.itself(&self.tenant.account, &id)?;
        Ok(Event {
            identity: self.identity(self.tenant.account.clone(), id),
            kind: EventType::parse(UNREADABLE)?,
            resources: vec![resource],
            body: bytes.clone(),
        })
    }

    /// The resource that an event is kept under, as far as it cannot be read.
    fn itself(&self, account: &Account, id: &EventId) -> Result<ResourceKey, NameError> {
        let kind = ResourceType::parse(UNREADABLE)?;
        Ok(self.resource(account, kind, ResourceId::parse(id.as_str())?))
    }

    fn identity(&self, account: Account, id: EventId) -> EventIdentity {
        EventIdentity {
            provider: self.tenant.provider.clone(),
            account,
            environment: self.tenant.environment.clone(),
            id,
        }
    }

    fn resource(&self, account: &Account, kind: ResourceType, id: ResourceId) -> ResourceKey {
        ResourceKey {
            provider: self.tenant.provider.clone(),
            account: account.clone(),
            environment: self.tenant.environment.clone(),
            kind,
            id,
        }
    }
}

#[cfg(test)]
mod tests;

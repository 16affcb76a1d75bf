//! What the senders put on the wire, and what the source shows: the least that a body of theirs has.

use lastword_config::{Config, Integration};
use lastword_domain::name::{EventId, ResourceId, ResourceType};
use lastword_domain::{EventIdentity, EventRef, ResourceKey};
use serde_json::{Value, json};

use super::history::{History, Sender};
use crate::machine::Failure;

/// Ten o'clock of the demo's day, in Unix seconds.
const TEN: u64 = 1_796_032_800;
/// The clock that signatures are made and checked with: a little after the last event.
pub(super) const NOW: u64 = TEN + 360;

impl Sender {
    /// The endpoint it posts to, as `lastword.toml` names it.
    pub(super) fn integration(self) -> &'static str {
        match self {
            Self::Billing => "billing",
            Self::Erp => "erp",
        }
    }

    fn resource_type(self) -> &'static str {
        match self {
            Self::Billing => "subscription",
            Self::Erp => "order",
        }
    }

    /// Where a body has the snapshot of the object.
    pub(super) fn snapshot(self) -> &'static str {
        match self {
            Self::Billing => "/data/object",
            Self::Erp => "/order",
        }
    }

    /// Where a snapshot has the state.
    pub(super) fn state(self) -> &'static str {
        match self {
            Self::Billing | Self::Erp => "/status",
        }
    }

    /// Its integration in this configuration.
    pub(super) fn configured(self, config: &Config) -> Result<&Integration, Failure> {
        let name = self.integration();
        let found = config.integration(name);
        found.ok_or_else(|| format!("lastword.toml has no integration {name}").into())
    }
}

impl History {
    /// The object as it was after this event.
    pub(super) fn object(&self, event: usize) -> Value {
        let (id, happening) = (self.resource_id(), self.sender.happening(event));
        match self.sender {
            Sender::Billing => json!({
                "id": id,
                "object": "subscription",
                "customer": format!("cus_{:04}", self.number),
                "status": happening.state,
            }),
            Sender::Erp => json!({"id": id, "version": event + 1, "status": happening.state}),
        }
    }

    /// The body of this event's delivery.
    pub(super) fn body(&self, event: usize) -> String {
        let (id, happening) = (self.event_id(event), self.sender.happening(event));
        let body = match self.sender {
            Sender::Billing => json!({
                "id": id,
                "object": "event",
                "created": TEN + if self.tie { 0 } else { happening.after },
                "livemode": false,
                "type": happening.kind,
                "data": {"object": self.object(event)},
            }),
            Sender::Erp => json!({
                "id": id,
                "type": happening.kind,
                "order": self.object(event),
            }),
        };
        body.to_string()
    }

    /// Where the read API has the object.
    pub(super) fn path(&self) -> String {
        format!("/v1/subscriptions/{}", self.resource_id())
    }

    /// The resource.
    pub(super) fn resource(&self, config: &Config) -> Result<ResourceKey, Failure> {
        let integration = self.sender.configured(config)?;
        Ok(ResourceKey {
            provider: integration.contract.name.clone(),
            account: integration.account.clone(),
            environment: integration.environment.clone(),
            kind: ResourceType::parse(self.sender.resource_type())?,
            id: ResourceId::parse(&self.resource_id())?,
        })
    }

    /// The event as the Inbox knows it.
    pub(super) fn reference(&self, config: &Config, event: usize) -> Result<EventRef, Failure> {
        let integration = self.sender.configured(config)?;
        let identity = EventIdentity {
            provider: integration.contract.name.clone(),
            account: integration.account.clone(),
            environment: integration.environment.clone(),
            id: EventId::parse(&self.event_id(event))?,
        };
        Ok(EventRef::first(&identity.hash()))
    }
}

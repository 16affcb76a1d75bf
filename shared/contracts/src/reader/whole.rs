//! What the events of one body are together.

use lastword_domain::name::EventType;

use super::{Event, Reading};

/// What one event is.
pub(super) enum One<'b> {
    Concerns(Event<'b>),
    Unrouted(EventType),
    OtherEnvironment,
    ForeignAccount,
}

impl<'b> One<'b> {
    pub(super) fn alone(self) -> Reading<'b> {
        match self {
            Self::Concerns(event) => Reading::Concerns(vec![event]),
            Self::Unrouted(kind) => Reading::Unrouted(Some(kind)),
            Self::OtherEnvironment => Reading::OtherEnvironment,
            Self::ForeignAccount => Reading::ForeignAccount,
        }
    }
}

/// What the events of one body are together.
#[derive(Default)]
pub(super) struct Whole<'b> {
    pub(super) events: Vec<Event<'b>>,
    unrouted: Option<EventType>,
    elsewhere: bool,
    foreign: bool,
}

impl<'b> Whole<'b> {
    pub(super) fn add(&mut self, one: One<'b>) {
        match one {
            One::Concerns(event) => self.events.push(event),
            One::Unrouted(kind) => {
                self.unrouted.get_or_insert(kind);
            }
            One::OtherEnvironment => self.elsewhere = true,
            One::ForeignAccount => self.foreign = true,
        }
    }

    pub(super) fn reading(self) -> Reading<'b> {
        if self.foreign {
            match self.events.is_empty() {
                true => Reading::ForeignAccount,
                false => Reading::Partly(self.events),
            }
        } else if !self.events.is_empty() {
            Reading::Concerns(self.events)
        } else if self.elsewhere && self.unrouted.is_none() {
            Reading::OtherEnvironment
        } else {
            Reading::Unrouted(self.unrouted)
        }
    }
}

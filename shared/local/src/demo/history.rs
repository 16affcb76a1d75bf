//! Every history that is played: what happened at the sender, in which order it arrives here, how often,
//! at how many workers, and what the source shows meanwhile. Plain data, enumerated and not drawn.

/// One thing that happened at the sender, and the event that tells of it.
pub(super) struct Happening {
    /// What people call it.
    pub(super) word: &'static str,
    /// The event's type.
    pub(super) kind: &'static str,
    /// The state after it.
    pub(super) state: &'static str,
    /// Seconds after 10:00.
    pub(super) after: u64,
}

/// Who sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sender {
    /// Stripe, about a subscription: it promises no order, so the source is read.
    Billing,
    /// Our own ERP, about an order: it counts the versions.
    Erp,
}

const SUBSCRIPTION: [Happening; 3] = [
    Happening {
        word: "created",
        kind: "customer.subscription.created",
        state: "active",
        after: 0,
    },
    Happening {
        word: "updated",
        kind: "customer.subscription.updated",
        state: "past_due",
        after: 180,
    },
    Happening {
        word: "cancelled",
        kind: "customer.subscription.deleted",
        state: "canceled",
        after: 300,
    },
];

const ORDER: [Happening; 3] = [
    Happening {
        word: "created",
        kind: "order.created",
        state: "created",
        after: 0,
    },
    Happening {
        word: "paid",
        kind: "order.paid",
        state: "paid",
        after: 180,
    },
    Happening {
        word: "cancelled",
        kind: "order.cancelled",
        state: "cancelled",
        after: 300,
    },
];

impl Sender {
    /// What happened, in the order in which it did.
    pub(super) fn happenings(self) -> &'static [Happening; 3] {
        match self {
            Self::Billing => &SUBSCRIPTION,
            Self::Erp => &ORDER,
        }
    }

    /// One of them; past the last, the last.
    pub(super) fn happening(self, at: usize) -> &'static Happening {
        let [.., last] = self.happenings();
        self.happenings().get(at).unwrap_or(last)
    }
}

/// The place of what happened last.
pub(super) const LAST: usize = 2;

/// The places of what happened, in order of arrival.
pub(super) type Order = [usize; 3];

/// Every order of arrival.
pub(super) const ORDERS: [Order; 6] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
];

/// What is delivered again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    /// Nothing.
    Nothing,
    /// The event that arrived first, after all the others.
    First,
    /// Everything, in the same order.
    All,
}

/// How the events are worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Through the queue.
    Queue {
        /// Two workers share the batches, and every batch is handed to both at once.
        two_workers: bool,
        /// When the source is read.
        reading: Reading,
    },
    /// A worker's read is held back until another worker has settled what came after it.
    SlowRead {
        /// Whose read: the place in the order of arrival.
        held: usize,
        /// The other worker also takes the event whose read is held back, as after a message was shown
        /// again; else only what came later.
        takes_all: bool,
    },
}

/// When the source is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// After each delivery; the source has long come to its last state.
    Settled,
    /// After each delivery; the source is no further than what was delivered.
    Moving,
    /// Once, after all deliveries.
    Together,
}

/// One history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct History {
    /// Makes its ids its own.
    pub(super) number: usize,
    /// Who sends.
    pub(super) sender: Sender,
    /// The order of arrival.
    pub(super) order: Order,
    /// All events bear the same second.
    pub(super) tie: bool,
    /// What is delivered again.
    pub(super) again: Again,
    /// How it is worked on.
    pub(super) way: Way,
}

impl History {
    /// The deliveries in order of arrival, by steps: what is in one step is answered together.
    pub(super) fn steps(&self) -> Vec<Vec<usize>> {
        let repeated = match self.again {
            Again::Nothing => Vec::new(),
            Again::First => self.order.into_iter().take(1).collect(),
            Again::All => self.order.to_vec(),
        };
        let each = self.order.into_iter().map(|event| vec![event]);
        let steps: Vec<Vec<usize>> = each
            .chain((!repeated.is_empty()).then_some(repeated))
            .collect();
        match self.way {
            Way::Queue {
                reading: Reading::Together,
                ..
            } => vec![steps.concat()],
            Way::Queue { .. } | Way::SlowRead { .. } => steps,
        }
    }

    /// The provider's id of the object.
    pub(super) fn resource_id(&self) -> String {
        match self.sender {
            Sender::Billing => format!("sub_{:04}", self.number),
            Sender::Erp => format!("order-{:04}", self.number),
        }
    }

    /// The provider's id of an event.
    pub(super) fn event_id(&self, event: usize) -> String {
        match self.sender {
            Sender::Billing => format!("evt_{:04}_{event}", self.number),
            Sender::Erp => format!("erp-{:04}-{event}", self.number),
        }
    }

    /// In words, for a history that went wrong.
    pub(super) fn describe(&self) -> String {
        let words = self.order.map(|at| self.sender.happening(at).word);
        let again = match self.again {
            Again::Nothing => "",
            Again::First => ", the first again",
            Again::All => ", all again",
        };
        let tie = if self.tie { ", in one second" } else { "" };
        let (id, words) = (self.resource_id(), words.join(", "));
        format!("{id}: {words}{again}{tie}, {:?}", self.way)
    }
}

const READINGS: [Reading; 3] = [Reading::Settled, Reading::Moving, Reading::Together];

/// One worker, and each event answered before the next, over a source that is no further.
pub(super) const PLAIN: Way = Way::Queue {
    two_workers: false,
    reading: Reading::Moving,
};

/// Every history, each once.
pub(super) fn all() -> Vec<History> {
    let mut all = Vec::new();
    for order in ORDERS {
        let mut add = |sender, tie, again, way| {
            all.push(History {
                number: all.len() + 1,
                sender,
                order,
                tie,
                again,
                way,
            });
        };
        for again in [Again::Nothing, Again::First, Again::All] {
            add(Sender::Billing, false, again, PLAIN);
            add(Sender::Billing, true, again, PLAIN);
            add(Sender::Erp, false, again, PLAIN);
        }
        for (again, way) in pairs(&[Again::Nothing, Again::All], &harder()) {
            add(Sender::Billing, false, again, way);
            // Nothing is read of the ERP: over a settled source it is the same history.
            if !over_settled_source(way) {
                add(Sender::Erp, false, again, way);
            }
        }
        for (held, takes_all) in pairs(&[0, 1], &[false, true]) {
            let way = Way::SlowRead { held, takes_all };
            add(Sender::Billing, false, Again::Nothing, way);
        }
    }
    all
}

/// Every way through the queue but the plain one.
fn harder() -> Vec<Way> {
    let all = pairs(&[false, true], &READINGS).into_iter();
    all.map(|(two_workers, reading)| Way::Queue {
        two_workers,
        reading,
    })
    .filter(|way| *way != PLAIN)
    .collect()
}

/// Whether the source has come to its last state before the first delivery.
pub(super) fn over_settled_source(way: Way) -> bool {
    match way {
        Way::Queue { reading, .. } => reading == Reading::Settled,
        Way::SlowRead { .. } => false,
    }
}

fn pairs<A: Copy, B: Copy>(these: &[A], those: &[B]) -> Vec<(A, B)> {
    these
        .iter()
        .flat_map(|this| those.iter().map(|that| (*this, *that)))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_histories_are_as_many_as_is_claimed_and_each_is_played_once() {
        let all = all();
        let of = |sender, tie, slow| {
            let this = |history: &&History| {
                let slowly = matches!(history.way, Way::SlowRead { .. });
                (history.sender, history.tie, slowly) == (sender, tie, slow)
            };
            all.iter().filter(this).count()
        };
        // Orders; plainly with three repetitions, in each harder way with two.
        assert_eq!(of(Sender::Billing, false, false), 6 * (3 + 5 * 2));
        assert_eq!(of(Sender::Erp, false, false), 6 * (3 + 3 * 2));
        assert_eq!(of(Sender::Billing, true, false), 6 * 3);
        // Orders, whose read is slow, what the other worker takes.
        assert_eq!(of(Sender::Billing, false, true), 6 * 2 * 2);
        assert_eq!(all.len(), 174);
        let unlike = |history: &History| History {
            number: 0,
            ..*history
        };
        let described: BTreeSet<_> = all.iter().map(|h| unlike(h).describe()).collect();
        assert_eq!(described.len(), all.len());
        let ids: BTreeSet<_> = all.iter().map(History::resource_id).collect();
        assert_eq!(ids.len(), all.len());
        let orders: BTreeSet<_> = ORDERS.into_iter().collect();
        assert_eq!(orders.len(), 6);
    }
}

//! What happened in each story, at its senders and in their time. Plain data.

/// Something that a sender tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Thing {
    /// A subscription at Stripe that was cancelled at once.
    FirstSubscription,
    /// The same customer's next one.
    SecondSubscription,
    /// An invoice at Stripe.
    Invoice,
    /// A payment at Stripe.
    Payment,
    /// An order in the ERP.
    Order,
    /// A parcel at the carrier.
    Parcel,
}

/// One thing that happened, and the event that tells of it.
#[derive(Debug)]
pub(super) struct Happening {
    /// When, by the sender's clock.
    pub(super) at: &'static str,
    /// To what.
    pub(super) thing: Thing,
    /// The event's type.
    pub(super) kind: &'static str,
    /// The thing's status after it.
    pub(super) status: &'static str,
    /// In a few words.
    pub(super) word: &'static str,
}

/// A story.
#[derive(Debug)]
pub(super) struct Plot {
    /// For programs, and to make its ids its own.
    pub(super) name: &'static str,
    /// What people read above it.
    pub(super) heading: &'static str,
    /// What happened, in that order.
    pub(super) happenings: &'static [Happening],
    /// Whose state is shown, with its heading.
    pub(super) shown: &'static [(Thing, &'static str)],
    /// Whether there are facts to be shown.
    pub(super) facts: bool,
    /// The subject's kind.
    pub(super) subject: &'static str,
    /// What its rules allow or not.
    pub(super) action: &'static str,
    /// The orders of arrival that are shown step by step.
    pub(super) told: &'static [&'static [usize]],
}

const fn happening(
    at: &'static str,
    thing: Thing,
    kind: &'static str,
    status: &'static str,
    word: &'static str,
) -> Happening {
    Happening {
        at,
        thing,
        kind,
        status,
        word,
    }
}

const CANCELLED_AT_ONCE: Plot = Plot {
    name: "cancelled at once",
    heading: "\
A customer pays, cancels at once, and later subscribes again.
Access is a rule over what was read, and a customer's subscriptions are decided together: \"active\",
coming late, restores nothing, and \"canceled\", coming late, takes nothing from the next one.",
    happenings: &[
        happening(
            "10:00",
            Thing::FirstSubscription,
            "customer.subscription.created",
            "active",
            "first active",
        ),
        happening(
            "10:02",
            Thing::Invoice,
            "invoice.paid",
            "paid",
            "invoice paid",
        ),
        happening(
            "10:05",
            Thing::FirstSubscription,
            "customer.subscription.deleted",
            "canceled",
            "first cancelled",
        ),
        happening(
            "10:09",
            Thing::SecondSubscription,
            "customer.subscription.created",
            "active",
            "second active",
        ),
    ],
    shown: &[
        (Thing::FirstSubscription, "first"),
        (Thing::SecondSubscription, "second"),
    ],
    facts: true,
    subject: "customer",
    action: "access",
    told: &[&[2, 0, 1, 3], &[3, 0, 1, 2]],
};

const SHOP: Plot = Plot {
    name: "the shop",
    heading: "\
An order is paid at Stripe, confirmed by the ERP, handed to a carrier, and then cancelled.
Three senders, and each decides its own. Confirmation needs a payment that is known and an order
that is confirmed; paid and cancelled contradict each other, so a person has to look.",
    happenings: &[
        happening(
            "10:00",
            Thing::Order,
            "order.created",
            "created",
            "order created",
        ),
        happening(
            "10:01",
            Thing::Payment,
            "payment_intent.succeeded",
            "succeeded",
            "payment made",
        ),
        happening(
            "10:02",
            Thing::Order,
            "order.confirmed",
            "confirmed",
            "order confirmed",
        ),
        happening(
            "10:04",
            Thing::Parcel,
            "parcel.collected",
            "collected",
            "parcel collected",
        ),
        happening(
            "10:05",
            Thing::Order,
            "order.cancelled",
            "cancelled",
            "order cancelled",
        ),
    ],
    shown: &[
        (Thing::Payment, "payment"),
        (Thing::Order, "order"),
        (Thing::Parcel, "parcel"),
    ],
    facts: false,
    subject: "order",
    action: "confirmation",
    told: &[&[4, 1, 2, 3, 0], &[3, 1, 2, 4, 0]],
};

/// Every story.
pub(super) const ALL: [&Plot; 2] = [&CANCELLED_AT_ONCE, &SHOP];

impl Plot {
    /// The things it is about, each once, with what was told of them up to here: the last of it, by the
    /// sender's own order.
    pub(super) fn known(&self, delivered: &[usize]) -> Vec<(Thing, usize)> {
        let mut known: Vec<(Thing, usize)> = Vec::new();
        for (at, happening) in self.happenings.iter().enumerate() {
            if !delivered.contains(&at) {
                continue;
            }
            known.retain(|(thing, _)| *thing != happening.thing);
            known.push((happening.thing, at));
        }
        known.sort_unstable();
        known
    }

    /// Every order of arrival.
    pub(super) fn orders(&self) -> Vec<Vec<usize>> {
        let mut orders = vec![Vec::new()];
        for _ in self.happenings {
            let longer = |order: &Vec<usize>| {
                let rest = (0..self.happenings.len()).filter(|event| !order.contains(event));
                let more = |event| [order.as_slice(), &[event]].concat();
                rest.map(more).collect::<Vec<_>>()
            };
            orders = orders.iter().flat_map(longer).collect();
        }
        orders
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_order_of_arrival_is_there_once_and_those_that_are_shown_are_among_them() {
        for (plot, expected) in ALL.into_iter().zip([24, 120]) {
            let orders = plot.orders();
            let each: BTreeSet<_> = orders.iter().cloned().collect();
            assert_eq!((orders.len(), each.len()), (expected, expected));
            for told in plot.told {
                assert!(each.contains(*told), "{told:?}");
            }
        }
    }

    #[test]
    fn what_is_known_of_a_thing_is_the_last_of_what_was_told_whatever_came_last() {
        assert_eq!(
            SHOP.known(&[4, 1, 0]),
            [(Thing::Payment, 1), (Thing::Order, 4)]
        );
    }
}

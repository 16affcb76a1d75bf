//! Statuses and the declared order between them: from where one leads to where.
//!
//! The order is partial: `sent` leads to `delivered` and to `failed`, and neither of these to the other. It has no
//! cycle, which is checked when it is made, so that "further" means something: of two statuses that are
//! comparable the further one is what is true, in whatever order they were told. What is not comparable is nobody's
//! to decide here.

use std::collections::BTreeMap;

/// A status as the provider writes it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Status(Box<str>);

/// A text that is no status.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a status has 1 to {} bytes", Status::MOST_BYTES)]
pub struct NoStatus;

impl Status {
    /// The most bytes.
    pub const MOST_BYTES: usize = 128;

    /// From its text, kept exactly.
    ///
    /// # Errors
    /// When it is empty or too long.
    pub fn parse(text: &str) -> Result<Self, NoStatus> {
        if text.is_empty() || text.len() > Self::MOST_BYTES {
            return Err(NoStatus);
        }
        Ok(Self(text.into()))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The declared order of one kind of resource's statuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusOrder {
    names: Vec<Box<str>>,
    /// For each status, those that it leads to, near or far, as bits.
    further: Vec<u64>,
}

/// How one status stands to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Relation {
    /// It is the same.
    Same,
    /// It is further: the other leads to it.
    Further,
    /// It is behind: it leads to the other.
    Behind,
    /// Neither leads to the other.
    Apart,
    /// It, or the other, is not declared.
    Undeclared,
}

/// Why there is no such order.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoOrder {
    /// Nothing leads anywhere.
    #[error("no status leads to another")]
    Empty,
    /// More than an order may have.
    #[error("{found} statuses; {most} are the most", most = StatusOrder::MOST)]
    TooMany {
        /// How many there are.
        found: usize,
    },
    /// A status leads back to itself.
    #[error("the statuses lead in a circle: {}", .0.join(" to "))]
    Circle(Vec<String>),
}

impl StatusOrder {
    /// The most statuses.
    pub const MOST: usize = 64;

    /// From what each status leads to directly.
    ///
    /// # Errors
    /// When a status leads back to itself, near or far, or there are none or too many.
    pub fn parse(leads: &BTreeMap<String, Vec<String>>) -> Result<Self, NoOrder> {
        let mut names: Vec<Box<str>> = leads
            .iter()
            .flat_map(|(from, to)| std::iter::once(from).chain(to))
            .map(|name| name.as_str().into())
            .collect();
        names.sort();
        names.dedup();
        if leads.values().all(Vec::is_empty) {
            return Err(NoOrder::Empty);
        }
        if names.len() > Self::MOST {
            return Err(NoOrder::TooMany { found: names.len() });
        }
        let at = |name: &str| {
            names
                .binary_search_by(|held| (**held).cmp(name))
                .unwrap_or_default()
        };
        let mut near = vec![0_u64; names.len()];
        for (from, to) in leads {
            if let Some(near) = near.get_mut(at(from)) {
                *near |= to
                    .iter()
                    .map(|name| 1 << at(name))
                    .fold(0, |all, bit| all | bit);
            }
        }
        let order = Self {
            further: closure(&near),
            names,
        };
        match order.circle(&near) {
            Some(path) => Err(NoOrder::Circle(path)),
            None => Ok(order),
        }
    }

    /// How the first stands to the second.
    pub fn compare(&self, one: &str, other: &str) -> Relation {
        let (Some(one), Some(other)) = (self.at(one), self.at(other)) else {
            return Relation::Undeclared;
        };
        if one == other {
            Relation::Same
        } else if self.leads(other, one) {
            Relation::Further
        } else if self.leads(one, other) {
            Relation::Behind
        } else {
            Relation::Apart
        }
    }

    /// Whether this status is declared.
    #[must_use]
    pub fn declares(&self, name: &str) -> bool {
        self.at(name).is_some()
    }

    fn at(&self, name: &str) -> Option<usize> {
        self.names.binary_search_by(|held| (**held).cmp(name)).ok()
    }

    fn leads(&self, from: usize, to: usize) -> bool {
        self.further
            .get(from)
            .is_some_and(|further| further & (1 << to) != 0)
    }

    /// A way from a status back to itself.
    fn circle(&self, near: &[u64]) -> Option<Vec<String>> {
        let start = (0..self.names.len()).find(|status| self.leads(*status, *status))?;
        let name = |status: usize| {
            self.names
                .get(status)
                .map(ToString::to_string)
                .unwrap_or_default()
        };
        let mut path = vec![name(start)];
        let mut now = start;
        // Every step goes on to a status that still leads back, so it ends there.
        for _ in 0..self.names.len() {
            let direct = near.get(now).copied().unwrap_or_default();
            let next = (0..self.names.len())
                .filter(|status| direct & (1 << status) != 0)
                .find(|status| *status == start || self.leads(*status, start))?;
            path.push(name(next));
            if next == start {
                return Some(path);
            }
            now = next;
        }
        Some(path)
    }
}

/// What is led to, near or far.
fn closure(near: &[u64]) -> Vec<u64> {
    let mut further = near.to_vec();
    for middle in 0..near.len() {
        let beyond = further.get(middle).copied().unwrap_or_default();
        for reach in &mut further {
            if *reach & (1 << middle) != 0 {
                *reach |= beyond;
            }
        }
    }
    further
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn order(leads: &[(&str, &[&str])]) -> Result<StatusOrder, NoOrder> {
        let leads = leads.iter().map(|(from, to)| {
            let to = to.iter().map(|name| (*name).to_owned()).collect();
            ((*from).to_owned(), to)
        });
        StatusOrder::parse(&leads.collect())
    }

    fn delivery() -> StatusOrder {
        order(&[
            ("sent", &["delivered", "failed"]),
            ("delivered", &["read"]),
            ("draft", &["sent"]),
        ])
        .unwrap()
    }

    #[test]
    fn further_behind_and_apart_are_told_near_and_far() {
        let order = delivery();
        for (one, other, standing) in [
            ("read", "draft", Relation::Further),
            ("draft", "read", Relation::Behind),
            ("failed", "read", Relation::Apart),
            ("sent", "sent", Relation::Same),
            ("lost", "sent", Relation::Undeclared),
            ("sent", "lost", Relation::Undeclared),
        ] {
            assert_eq!(order.compare(one, other), standing, "{one} {other}");
        }
    }

    #[test]
    fn a_circle_is_refused_and_shown() {
        let error = order(&[("a", &["b"]), ("b", &["c", "d"]), ("d", &["b"])]).unwrap_err();
        assert_eq!(
            error,
            NoOrder::Circle(vec!["b".into(), "d".into(), "b".into()])
        );
        assert_eq!(
            error.to_string(),
            "the statuses lead in a circle: b to d to b"
        );
        let own = order(&[("a", &["a"])]).unwrap_err();
        assert_eq!(own, NoOrder::Circle(vec!["a".into(), "a".into()]));
    }

    #[test]
    fn nothing_and_too_much_are_no_order() {
        assert_eq!(order(&[]), Err(NoOrder::Empty));
        assert_eq!(order(&[("a", &[])]), Err(NoOrder::Empty));
        let names: Vec<_> = (0..=StatusOrder::MOST)
            .map(|number| format!("s{number}"))
            .collect();
        let leads = names
            .windows(2)
            .map(|pair| (pair[0].clone(), vec![pair[1].clone()]));
        let found = names.len();
        assert_eq!(
            StatusOrder::parse(&leads.collect()),
            Err(NoOrder::TooMany { found })
        );
    }

    proptest! {
        /// Edges only from lower to higher numbers have no circle; the names hide the numbers.
        #[test]
        fn an_order_without_a_circle_is_a_strict_partial_order(
            edges in proptest::collection::vec((0usize..12, 0usize..12), 1..40)
        ) {
            let name = |number: usize| format!("{}", (number * 7) % 12 + 100);
            let mut leads: BTreeMap<String, Vec<String>> = BTreeMap::new();
            for (one, other) in edges.into_iter().filter(|(one, other)| one != other) {
                leads.entry(name(one.min(other))).or_default().push(name(one.max(other)));
            }
            prop_assume!(!leads.is_empty());
            let order = StatusOrder::parse(&leads).unwrap();
            let all: Vec<_> = (0..12).map(name).filter(|name| order.declares(name)).collect();
            for a in &all {
                prop_assert_eq!(order.compare(a, a), Relation::Same);
                for b in &all {
                    let mirrored = match order.compare(a, b) {
                        Relation::Further => Relation::Behind,
                        Relation::Behind => Relation::Further,
                        same @ (Relation::Same | Relation::Apart | Relation::Undeclared) => same,
                    };
                    prop_assert_eq!(order.compare(b, a), mirrored);
                    for c in &all {
                        let further = |x, y| order.compare(x, y) == Relation::Further;
                        prop_assert!(!(further(a, b) && further(b, c)) || further(a, c));
                    }
                }
            }
        }

        #[test]
        fn one_way_back_along_any_way_makes_a_circle(length in 2usize..20, from in 1usize..20, to in 0usize..20) {
            let (from, to) = (from % length, to % length);
            prop_assume!(to <= from);
            let name = |number: usize| format!("s{number:02}");
            let mut leads: BTreeMap<String, Vec<String>> =
                (1..length).map(|number| (name(number - 1), vec![name(number)])).collect();
            prop_assert!(StatusOrder::parse(&leads).is_ok());
            leads.entry(name(from)).or_default().push(name(to));
            let circle = StatusOrder::parse(&leads).unwrap_err();
            prop_assert!(matches!(circle, NoOrder::Circle(_)), "{circle}");
            let NoOrder::Circle(path) = circle else { unreachable!() };
            prop_assert_eq!(path.first(), path.last());
            prop_assert_eq!(path.len(), from - to + 2);
        }
    }
}

//! Plays every order of arrival, many side by side on one machine, and collects in what they end.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use futures_util::{StreamExt as _, stream};
use lastword_config::BUILT_IN;
use lastword_dispatch::Settled;
use lastword_domain::name::{SubjectId, SubjectKind};
use lastword_domain::{Digest, EventRef, Json, SubjectKey};
use lastword_local::machine::{Machine, Worker};
use lastword_local::stores::Place;
use lastword_store::{KeptEffect, Review};

use super::end::{Ends, decided, of_resource, of_subject, opened};
use super::tale::{Numbered, Told, subjects};
use crate::world::NOW;

/// How many histories are played side by side.
const SIDE_BY_SIDE: usize = 360;
/// How many requests are under way at once.
const AT_ONCE: usize = 16;
/// How many batches are handled at once.
const BATCHES: usize = 8;

/// How histories are played.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ways {
    /// Every order; what arrived first comes again at the end; everything is settled after each delivery.
    SettledAfterEach,
    /// Besides, each event again at the end, and everything settled once, after all deliveries.
    All,
}

/// One history.
struct History {
    ids: Numbered,
    /// What arrives, by what is settled together.
    steps: Vec<Vec<usize>>,
}

fn orders(length: usize) -> Vec<Vec<usize>> {
    let mut orders = vec![Vec::new()];
    for _ in 0..length {
        let longer = |order: &Vec<usize>| {
            let rest = (0..length).filter(|event| !order.contains(event));
            let more = |event| [order.as_slice(), &[event]].concat();
            rest.map(more).collect::<Vec<_>>()
        };
        orders = orders.iter().flat_map(longer).collect();
    }
    orders
}

fn histories(length: usize, ways: Ways) -> Vec<History> {
    let mut all = Vec::new();
    for order in orders(length) {
        let again = match ways {
            Ways::SettledAfterEach => 1,
            Ways::All => length,
        };
        for event in &order[..again] {
            let arrivals = [order.as_slice(), &[*event]].concat();
            all.push(arrivals.iter().map(|event| vec![*event]).collect());
            if ways == Ways::All {
                all.push(vec![arrivals]);
            }
        }
    }
    let numbered = all.into_iter().enumerate();
    numbered
        .map(|(number, steps)| History {
            ids: Numbered(number),
            steps,
        })
        .collect()
}

/// The example as it is delivered, on a machine of its own.
pub async fn play(tale: &[Told], ways: Ways) -> Ends {
    let began = Instant::now();
    let machine = Machine::start(Place::Temporary, BUILT_IN, NOW)
        .await
        .unwrap();
    let worker = machine.worker().unwrap();
    let stage = Stage {
        machine: &machine,
        worker: &worker,
        tale,
    };
    let all = histories(tale.len(), ways);
    for some in all.chunks(SIDE_BY_SIDE) {
        let longest = some.iter().map(|history| history.steps.len()).max();
        for step in 0..longest.unwrap() {
            let deliveries = some.iter().map(|history| stage.deliver(history, step));
            each(deliveries).await;
            stage.settle().await;
        }
    }
    // Every effect is due by now, and what each is about has come to rest.
    machine.go_on(Duration::from_secs(61));
    let mut ends = BTreeMap::new();
    for (history, end) in all
        .iter()
        .zip(each(all.iter().map(|one| stage.end(one))).await)
    {
        ends.entry(end)
            .or_insert_with(|| format!("{:?}", history.steps));
    }
    let deliveries: usize = all.iter().flat_map(|one| &one.steps).map(Vec::len).sum();
    let took = began.elapsed().as_secs_f64();
    println!(
        "{} histories, {deliveries} deliveries, {took:.1} s",
        all.len()
    );
    Ends(ends)
}

async fn each<T>(acts: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    stream::iter(acts.collect::<Vec<_>>())
        .buffered(AT_ONCE)
        .collect()
        .await
}

struct Stage<'s> {
    machine: &'s Machine,
    worker: &'s Worker,
    tale: &'s [Told],
}

impl Stage<'_> {
    /// The source has come at least to what was delivered, whatever the order.
    async fn deliver(&self, history: &History, step: usize) {
        let Some(events) = history.steps.get(step) else {
            return;
        };
        let arrived: BTreeSet<_> = history.steps[..=step].concat().into_iter().collect();
        // In the order in which it happened, so that the last is shown.
        for at in arrived {
            if let Some((path, object)) = history.ids.shown(&self.tale[at]) {
                self.machine.standin.show(&path, object);
            }
        }
        for at in events {
            let told = &self.tale[*at];
            let body = history.ids.body(told, *at);
            let reply = self
                .machine
                .deliver(self.worker, told.integration, &[], &body);
            let reply = reply.await.unwrap();
            assert_eq!(reply.status_code, 200, "{}", reply.body);
        }
    }

    /// Moves everything on, many batches at once, until nothing is left to do.
    async fn settle(&self) {
        loop {
            while self.machine.relay(self.worker, 1000).await.unwrap() > 0 {}
            let mut batches = Vec::new();
            while batches.len() < BATCHES
                && let Some(batch) = self.machine.receive().await.unwrap()
            {
                batches.push(batch);
            }
            if batches.is_empty() {
                return;
            }
            let reconcile = |batch| self.machine.reconcile(self.worker, batch);
            let left = try_join_all(batches.iter().map(reconcile)).await.unwrap();
            assert_eq!(left.iter().sum::<usize>(), 0, "a message was left");
        }
    }

    /// All that is known at the end, as text, without the history's own number.
    async fn end(&self, history: &History) -> String {
        let mut lines = BTreeSet::new();
        let config = self.machine.config();
        let mut resources: BTreeMap<_, Vec<EventRef>> = BTreeMap::new();
        for (at, told) in self.tale.iter().enumerate() {
            let event = history.ids.event(config, told, at);
            let name = format!("{} {}", told.kind, told.id);
            let key = (name, history.ids.resource(config, told));
            resources.entry(key).or_default().push(event);
        }
        for ((name, resource), events) in &resources {
            let story = self.worker.state.story(resource).await.unwrap();
            self.act(&story.effects).await;
            let story = self.worker.state.story(resource).await.unwrap();
            for event in events {
                assert!(decided(&story, event), "{name} in {:?}", history.steps);
            }
            lines.extend(of_resource(name, &story));
        }
        for (kind, id) in subjects(self.tale) {
            let subject = SubjectKey {
                kind: SubjectKind::parse(kind).unwrap(),
                id: SubjectId::parse(&history.ids.id(&id)).unwrap(),
            };
            let story = self.worker.state.subject_story(&subject).await.unwrap();
            self.act(&story.effects).await;
            let story = self.worker.state.subject_story(&subject).await.unwrap();
            lines.extend(of_subject(&format!("{kind} {id}"), &story));
            let verdict = story.loaded.meaning.verdict.iter();
            lines.extend(verdict.map(|verdict| format!("{kind} {id}: {}", verdict.as_str())));
            let evidence = |review: &Review| self.evidence(history, review);
            let open = opened(&story.loaded.meaning.reviews, &story.reviews);
            lines.extend(open.map(|review| format!("{kind} {id}: open {}", evidence(review))));
        }
        let lines: Vec<_> = lines.iter().map(|line| history.ids.plain(line)).collect();
        lines.join("\n")
    }

    /// Whoever sends gets to work; nothing is left over.
    async fn act(&self, effects: &[KeptEffect]) {
        let settled = self.machine.dispatch_these(self.worker, effects).await;
        for settled in settled.unwrap() {
            assert!(matches!(settled, Settled::At(_)), "{settled:?}");
        }
    }

    /// A subject's review in words that do not depend on the history's ids; only what its evidence should be has any.
    fn evidence(&self, history: &History, review: &Review) -> String {
        let rule = review.key.rule.as_str();
        let config = self.machine.config();
        let ids: Vec<_> = self
            .tale
            .iter()
            .map(|told| history.ids.id(told.id))
            .collect();
        for (one, other) in ids
            .iter()
            .flat_map(|one| ids.iter().map(move |other| (one, other)))
        {
            let both = Json::parse(&format!(r#"["{one}","{other}"]"#)).unwrap();
            if both.meaning() == review.key.evidence {
                // What a person is shown is the same too.
                let shown: Vec<_> = review
                    .identifiers
                    .iter()
                    .map(|shown| Json::parse(shown).unwrap())
                    .collect();
                assert_eq!(shown, [both]);
                return format!("{rule} {one}+{other}");
            }
        }
        let payments = self
            .tale
            .iter()
            .filter(|told| told.kind == "payment_intent");
        let mut payments: Vec<_> = payments
            .map(|told| history.ids.resource(config, told))
            .collect();
        payments.sort();
        payments.dedup();
        let hashes: Vec<_> = payments.iter().map(|key| key.hash().to_string()).collect();
        let hashes = hashes.iter().map(String::as_str);
        let parts: Vec<_> = std::iter::once("payment").chain(hashes).collect();
        assert_eq!(Digest::of_parts(&parts), review.key.evidence, "{rule}");
        let shown: Vec<_> = payments
            .iter()
            .map(|key| format!("payment {key}"))
            .collect();
        assert_eq!(review.identifiers, shown);
        format!("{rule} payment")
    }
}

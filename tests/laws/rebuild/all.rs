//! Everything is recomputed after a long history: nothing is sent, and everything stored is what it was.

use std::collections::BTreeSet;
use std::time::Instant;

use futures_util::future::try_join_all;
use futures_util::{StreamExt as _, stream};
use lastword_domain::name::{Environment, Provider, ResourceType, SubjectKind};
use lastword_domain::{Owner, Part, Rebuilt};
use lastword_local::machine::{Machine, Worker};
use lastword_store::Census;

use super::world::*;
use crate::effects;
use crate::shop::told;

/// How many events there are of each resource, and how many resources.
const EVENTS: usize = 10;
const BILLS: usize = 400;
const ORDERS: usize = 300;
/// How many requests are under way at once.
const AT_ONCE: usize = 16;
/// How many batches are handled at once.
const BATCHES: usize = 8;

/// The events of a resource, in an order that is nobody's: each number says what comes and what is late.
fn bodies(at: usize) -> Vec<String> {
    let versions = (0..EVENTS).map(|number| 1 + (number * 7 + at) % EVENTS);
    let body = |(number, version): (usize, usize)| {
        let event = format!("e{at}-{number}");
        let object = |kind: &str, id: &str, status: &str, more: &str| {
            told(
                &event,
                kind,
                &format!(
                    r#"{{"id":"{id}","version":{version},"status":"{status}","amount":{at}{more}}}"#
                ),
            )
        };
        if at < BILLS {
            let id = format!("b{at}");
            let (kind, status) = match version {
                1..=3 => ("bill.changed", "open"),
                4 => ("bill.changed", "overdue"),
                5 => ("bill.paid", "paid"),
                _ => ("bill.settled", "paid"),
            };
            return object(kind, &id, status, "");
        }
        let order = (at - BILLS) / 2;
        let more = format!(r#","order":"o{order}""#);
        match (at - BILLS).is_multiple_of(2) {
            true => {
                let status = if version > 4 { "paid" } else { "open" };
                object("payment.changed", &format!("p{order}"), status, &more)
            }
            false => {
                let status = ["packed", "cancelled"][usize::from(order.is_multiple_of(5))];
                object("shipment.changed", &format!("s{order}"), status, &more)
            }
        }
    };
    versions.enumerate().map(body).collect()
}

/// Moves everything on, many batches at once.
async fn settle(machine: &Machine, worker: &Worker, most: usize) -> usize {
    let mut handled = 0;
    loop {
        while machine.relay(worker, 1000).await.unwrap() > 0 {}
        let mut batches = Vec::new();
        while batches.len() < BATCHES
            && handled + batches.len() < most
            && let Some(batch) = machine.receive().await.unwrap()
        {
            batches.push(batch);
        }
        handled += batches.len();
        if batches.is_empty() {
            return handled;
        }
        let reconcile = |batch| machine.reconcile(worker, batch);
        let left = try_join_all(batches.iter().map(reconcile)).await.unwrap();
        if left.iter().sum::<usize>() > 0 {
            // The store was slow: they are shown again at once.
            machine.give_back().await;
        }
    }
}

/// Effects too, many at once.
async fn settle_all(machine: &Machine, worker: &Worker) {
    loop {
        settle(machine, worker, usize::MAX).await;
        let mut batches = Vec::new();
        while batches.len() < BATCHES
            && let Some(batch) = machine.receive_effects().await.unwrap()
        {
            batches.push(batch);
        }
        if batches.is_empty() {
            return;
        }
        let dispatch = |batch| machine.dispatch(worker, batch);
        try_join_all(batches.iter().map(dispatch)).await.unwrap();
    }
}

async fn history(machine: &Machine, worker: &Worker) {
    let all: Vec<_> = (0..BILLS + 2 * ORDERS).map(bodies).collect();
    // Two rounds, so that some events meet what was concluded from others.
    for round in 0..2 {
        let half = EVENTS / 2;
        let some = all.iter().flat_map(|own| &own[round * half..][..half]);
        let sends: Vec<_> = some.map(|body| send(machine, worker, body)).collect();
        stream::iter(sends)
            .buffer_unordered(AT_ONCE)
            .collect::<Vec<_>>()
            .await;
        settle(machine, worker, usize::MAX).await;
    }
    // Late repetitions of other events: these marks go to pages.
    for again in 0..12 {
        let late = |at: usize| {
            let object = format!(r#"{{"id":"b{at}","version":1,"status":"open","amount":{at}}}"#);
            told(&format!("late{at}-{again}"), "bill.changed", &object)
        };
        for at in 0..5 {
            send(machine, worker, &late(at)).await;
        }
        settle(machine, worker, usize::MAX).await;
    }
    settle_all(machine, worker).await;
}

fn everything() -> [Census; 4] {
    let resources = |kind: &str| {
        Census::Resources(
            Provider::parse("generic-hmac").unwrap(),
            Environment::parse("live").unwrap(),
            ResourceType::parse(kind).unwrap(),
        )
    };
    let order = SubjectKind::parse("order").unwrap();
    [
        resources("bill"),
        resources("payment"),
        resources("shipment"),
        Census::Subjects(order),
    ]
}

/// What of these this run has not done yet.
async fn left(worker: &Worker, owners: &[Owner], run: &str) -> Vec<Owner> {
    let hashes: Vec<_> = owners.iter().map(Owner::hash).collect();
    let reports = worker.state.reports(&hashes).await.unwrap();
    let done = |owner: &&Owner| {
        let report = reports.get(&owner.hash());
        report.is_some_and(|kept| kept.report.run == run)
    };
    owners.iter().filter(|it| !done(it)).cloned().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn after_ten_thousand_events_everything_is_rebuilt_and_nothing_is_sent_or_changed() {
    let began = Instant::now();
    let machine = effects::shop().await;
    let worker = machine.worker().unwrap();
    history(&machine, &worker).await;
    println!(
        "{:.1} s: the history is settled",
        began.elapsed().as_secs_f64()
    );
    let (before, sent) = (stored(&machine).await, sends(&machine));
    let count = |prefix: &str| {
        before
            .keys()
            .filter(|key| key.1.starts_with(prefix))
            .count()
    };
    assert_eq!(count("projection"), BILLS + 2 * ORDERS);
    assert!(count("effect#") > 500 && count("fact#") > BILLS && count("decisions#") > 0);
    assert!(sent.0 > 500, "{sent:?}");

    let owners = listed(&worker, &everything()).await;
    assert_eq!(owners.len(), BILLS + 3 * ORDERS);
    assert_eq!(owners.iter().collect::<BTreeSet<_>>().len(), owners.len());
    // Interrupted in the middle, while messages are still in the queue; then resumed under the same name.
    ask(&machine, "shop", &owners[..700], "one").await;
    settle(&machine, &worker, 30).await;
    let rest = left(&worker, &owners, "one").await;
    assert!(rest.len() < owners.len() && rest.len() > 300);
    assert_same(&stored(&machine).await, &before);
    ask(&machine, "shop", &rest, "one").await;
    settle_all(&machine, &worker).await;
    assert_eq!(left(&worker, &owners, "one").await, []);
    println!("{:.1} s: rebuilt once", began.elapsed().as_secs_f64());
    for run in ["one", "two"] {
        if run == "two" {
            ask(&machine, "shop", &owners, run).await;
            settle_all(&machine, &worker).await;
        }
        let hashes: Vec<_> = owners.iter().map(Owner::hash).collect();
        let reports = worker.state.reports(&hashes).await.unwrap();
        for (_, kept) in reports {
            assert_eq!(kept.report.run, run);
            assert_eq!(came_to(&kept.report), (Rebuilt::Same, Vec::<Part>::new()));
        }
        assert_same(&stored(&machine).await, &before);
        assert_eq!(sends(&machine), sent, "{run}");
    }
    println!("{:.1} s: rebuilt twice", began.elapsed().as_secs_f64());
}

//! The budget of the design, counted from what the store reports.

use lastword_local::machine::{Machine, Worker};

use crate::faults::Faults;
use crate::world::*;

/// What one event cost from receipt to decision.
#[derive(Debug)]
struct Cost {
    write_units: f64,
    requests: usize,
}

async fn cost(machine: &Machine, worker: &Worker, faults: &Faults, body: &str) -> Cost {
    let units = || worker.inbox.meter.read().units + worker.state.writes.read().units;
    let (before, seen) = (units(), faults.seen().len());
    assert_eq!(post(machine, worker, body).await.status_code, 200);
    machine.settle(worker).await.unwrap();
    let cost = Cost {
        write_units: units() - before,
        requests: faults.seen().len() - seen,
    };
    println!("{cost:?}");
    cost
}

/// An event of 1 KB, and a state that changes with it.
fn event(number: usize) -> String {
    let body = about("sub_1", &format!("evt_{number}"));
    let filler: String = (0..1024 - body.len() - 12)
        .map(|i| char::from(b'a' + ((i * i + number) % 26) as u8))
        .collect();
    let body = body.replacen('{', &format!("{{\"filler\":\"{filler}\","), 1);
    assert_eq!(body.len(), 1024);
    body
}

#[tokio::test]
async fn an_event_costs_what_the_design_allows() {
    let machine = machine().await;
    let faults = Faults::none();
    let worker = machine.worker_over(Some(faults.client())).unwrap();
    show(&machine, "sub_1", "active");
    let first = cost(&machine, &worker, &faults, &event(1)).await;
    // Put, send, load and commit; and others are told of what changed.
    assert!(first.write_units <= 7.0 && first.requests <= 5, "{first:?}");
    show(&machine, "sub_1", "past_due");
    let changing = cost(&machine, &worker, &faults, &event(2)).await;
    assert!(
        changing.write_units <= 7.0 && changing.requests <= 5,
        "{changing:?}"
    );
    let duplicate = cost(&machine, &worker, &faults, &event(2)).await;
    assert!(
        duplicate.write_units <= 2.0 && duplicate.requests <= 1,
        "{duplicate:?}"
    );
}

#[tokio::test]
async fn an_event_whose_read_changed_nothing_costs_at_most_five_however_many_there_were() {
    const EVENTS: usize = 45;
    let machine = machine().await;
    let faults = Faults::none();
    let worker = machine.worker_over(Some(faults.client())).unwrap();
    show(&machine, "sub_1", "active");
    cost(&machine, &worker, &faults, &event(0)).await;
    let mut requests = 0;
    for number in 1..=EVENTS {
        let unchanged = cost(&machine, &worker, &faults, &event(number)).await;
        // The fifth is the page that eight events' marks share.
        assert!(
            unchanged.requests <= 5 && unchanged.write_units <= 5.0,
            "{unchanged:?}"
        );
        requests += unchanged.requests;
    }
    println!("{requests} requests for {EVENTS} events");
    assert!(requests <= 4 * EVENTS + EVENTS / 8, "{requests}");
    let story = story(&machine, &worker, &subscription("sub_1")).await;
    assert_eq!(
        outcomes(&story).len(),
        EVENTS + 1,
        "every one can be looked up"
    );
}

#[tokio::test]
async fn a_thousand_signals_for_one_resource_at_once_take_at_most_twenty_reads() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    show(&machine, "sub_1", "active");
    for number in 0..1000 {
        assert_eq!(
            post(&machine, &worker, &about("sub_1", &format!("evt_{number}")))
                .await
                .status_code,
            200
        );
    }
    machine.settle(&worker).await.unwrap();
    let reads = machine.standin.reads();
    println!("{reads} reads");
    assert!(reads <= 20, "{reads}");
    let story = story(&machine, &worker, &subscription("sub_1")).await;
    assert_eq!(outcomes(&story).len(), 1000);
    assert_eq!(says(&story), "active");
}

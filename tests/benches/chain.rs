//! Events per second through the whole package on one machine: real handlers, real SDK calls, embedded
//! stores. Says what the code and the embedded stores take together; it says nothing about the cloud's stores.
//!
//! * `whole`: N events about N resources are delivered, relayed and reconciled.
//! * `reconcile`: only the last of the three; the messages are already in the queue.
//!
//! `read` follows every signal with one read of the provider's stand-in, `version` decides from the bodies.
#![allow(
    clippy::expect_used,
    missing_docs,
    reason = "a bench that cannot be set up has nothing to measure"
)]

use std::sync::atomic::{AtomicU64, Ordering};

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use lastword_local::machine::{Machine, Worker};
use lastword_local::stores::Place;
use lastword_runtime::Level;
use lastword_runtime::telemetry::capture;
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

/// How many resources, with one event each.
const RESOURCES: [u64; 3] = [1, 10, 100];

fn main() {
    divan::main();
}

/// How a signal is answered.
#[derive(Clone, Copy)]
enum Kind {
    Read,
    Version,
}

struct Bench {
    runtime: Runtime,
    machine: Machine,
    worker: Worker,
    kind: Kind,
    /// No event and no resource comes twice.
    next: AtomicU64,
}

impl Bench {
    fn new(kind: Kind) -> Self {
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a runtime");
        let start = Machine::start(Place::Temporary, lastword_config::BUILT_IN, 1_796_065_200);
        let machine = runtime.block_on(start).expect("a machine");
        let worker = machine.worker().expect("a worker");
        Self {
            runtime,
            machine,
            worker,
            kind,
            next: AtomicU64::new(0),
        }
    }

    /// Deliveries of one event for each of so many new resources.
    fn deliveries(&self, count: u64) -> Vec<String> {
        (0..count).map(|_| self.delivery()).collect()
    }

    fn delivery(&self) -> String {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (endpoint, body) = match self.kind {
            Kind::Read => {
                let state = json!({
                    "id": format!("sub_{number}"),
                    "object": "subscription",
                    "status": "active",
                    "items": [{ "id": format!("si_{number}"), "quantity": number % 9 }],
                });
                let path = format!("/v1/subscriptions/sub_{number}");
                self.machine.standin.show(&path, state.to_string());
                let body = json!({
                    "id": format!("evt_{number}"),
                    "type": "customer.subscription.updated",
                    "livemode": false,
                    "data": { "object": state },
                });
                ("billing", body)
            }
            Kind::Version => {
                let body = json!({
                    "id": format!("e-{number}"),
                    "type": "order.changed",
                    "order": { "id": format!("o-{number}"), "version": 1, "status": "paid" },
                });
                ("erp", body)
            }
        };
        self.machine
            .signed(endpoint, &[], &body.to_string())
            .expect("a signed delivery")
    }

    async fn deliver(&self, deliveries: &[String]) {
        for delivery in deliveries {
            let reply = self.worker.ingest.handle_text(delivery).await;
            assert_eq!(reply.status_code, 200, "{}", reply.body);
        }
    }

    async fn relay(&self) {
        while self
            .machine
            .relay(&self.worker, 100)
            .await
            .expect("relayed")
            > 0
        {}
    }

    /// Reconciles until the queue shows nothing; says how many batches that took.
    async fn reconcile(&self) -> usize {
        let mut batches = 0;
        while let Some(batch) = self.machine.receive().await.expect("received") {
            let left = self.machine.reconcile(&self.worker, &batch).await;
            assert_eq!(left.expect("reconciled"), 0, "nothing fails here");
            batches += 1;
        }
        batches
    }

    fn whole(&self, bencher: Bencher<'_, '_>, count: u64) {
        let _quiet = capture(Level::Info);
        bencher
            .counter(ItemsCount::new(count))
            .with_inputs(|| self.deliveries(count))
            .bench_local_values(|deliveries| {
                self.runtime.block_on(async {
                    self.deliver(black_box(&deliveries)).await;
                    self.relay().await;
                    self.reconcile().await
                })
            });
    }

    fn reconcile_only(&self, bencher: Bencher<'_, '_>, count: u64) {
        let _quiet = capture(Level::Info);
        bencher
            .counter(ItemsCount::new(count))
            .with_inputs(|| {
                let deliveries = self.deliveries(count);
                self.runtime.block_on(async {
                    self.deliver(&deliveries).await;
                    self.relay().await;
                });
            })
            .bench_local_values(|()| self.runtime.block_on(self.reconcile()));
    }
}

#[divan::bench_group(sample_count = 10, sample_size = 1)]
mod whole {
    use super::{Bench, Bencher, Kind, RESOURCES};

    #[divan::bench(args = RESOURCES)]
    fn read(bencher: Bencher<'_, '_>, resources: u64) {
        Bench::new(Kind::Read).whole(bencher, resources);
    }

    #[divan::bench(args = RESOURCES)]
    fn version(bencher: Bencher<'_, '_>, resources: u64) {
        Bench::new(Kind::Version).whole(bencher, resources);
    }
}

#[divan::bench_group(sample_count = 10, sample_size = 1)]
mod reconcile {
    use super::{Bench, Bencher, Kind, RESOURCES};

    #[divan::bench(args = RESOURCES)]
    fn read(bencher: Bencher<'_, '_>, resources: u64) {
        Bench::new(Kind::Read).reconcile_only(bencher, resources);
    }

    #[divan::bench(args = RESOURCES)]
    fn version(bencher: Bencher<'_, '_>, resources: u64) {
        Bench::new(Kind::Version).reconcile_only(bencher, resources);
    }
}

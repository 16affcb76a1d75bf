//! Short ways of rebuilding, and of saying what is stored and what was sent.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::types::AttributeValue;
use lastword_domain::name::IntegrationName;
use lastword_domain::{
    AnySignal, Cause, Owner, Part, Rebuilt, Report, ResourceKey, Signal, SubjectKey, SubjectSignal,
};
use lastword_local::machine::{Machine, STATE_TABLE, Worker};
use lastword_queue::{OutgoingMessage, Queue};
use lastword_store::Census;

/// Items by their keys, each by its attributes.
pub type Stored = BTreeMap<(String, String), BTreeMap<String, String>>;

pub type Item = std::collections::HashMap<String, AttributeValue>;

/// What every conclusion writes anew, whatever it concludes.
const ALWAYS: [&str; 4] = ["revision", "observed_at", "decided_at", "quiet"];

fn signal(integration: &str, owner: &Owner, run: &str) -> AnySignal {
    let cause = Cause::Rebuild(run.to_owned());
    match owner {
        Owner::Resource(resource) => AnySignal::Resource(Signal {
            integration: IntegrationName::parse(integration).unwrap(),
            resource: resource.clone(),
            events: Vec::new(),
            cause,
        }),
        Owner::Subject(subject) => AnySignal::Subject(SubjectSignal {
            subject: subject.clone(),
            changes: Vec::new(),
            cause,
        }),
    }
}

/// Puts the signals of a rebuild into the queue.
pub async fn ask(machine: &Machine, integration: &str, owners: &[Owner], run: &str) {
    let queue = Queue::new(machine.stores.sqs(), &machine.queue.url);
    let messages: Vec<_> = owners
        .iter()
        .map(|owner| OutgoingMessage::new(&signal(integration, owner, run)).unwrap())
        .collect();
    for sent in queue.send(&messages).await {
        sent.unwrap();
    }
}

/// Delivers to the shop as its provider does: until it is taken.
pub async fn send(machine: &Machine, worker: &Worker, body: &str) {
    let mut tries = 0;
    loop {
        let reply = machine.deliver(worker, "shop", &[], body).await.unwrap();
        match reply.status_code {
            200 => return,
            503 => tries += 1,
            other => panic!("{other}: {}", reply.body),
        }
        assert!(tries < 20, "{}", reply.body);
    }
}

/// Settles again and again until so much went out; a destination that was slow is tried again.
pub async fn until_sent(machine: &Machine, worker: &Worker, bodies: usize) {
    for _ in 0..500 {
        machine.settle_all(worker).await.unwrap();
        if sends(machine).0 == bodies {
            return;
        }
        machine.give_back().await;
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("{:?} and not {bodies} went out", sends(machine));
}

/// Rebuilds a resource of the shop, and says what it came to.
pub async fn rebuild(
    machine: &Machine,
    worker: &Worker,
    resource: &ResourceKey,
    run: &str,
) -> Report {
    rebuild_of(machine, worker, "shop", resource, run).await
}

pub async fn rebuild_of(
    machine: &Machine,
    worker: &Worker,
    integration: &str,
    resource: &ResourceKey,
    run: &str,
) -> Report {
    let owner = Owner::Resource(resource.clone());
    ask(machine, integration, std::slice::from_ref(&owner), run).await;
    until_reported(machine, worker, &owner, run).await
}

/// Settles again and again: a message of the same group may be hidden for a while, and the queue keeps the order.
async fn until_reported(machine: &Machine, worker: &Worker, owner: &Owner, run: &str) -> Report {
    for _ in 0..500 {
        machine.settle(worker).await.unwrap();
        let reports = worker.state.reports(&[owner.hash()]).await.unwrap();
        let kept = reports.get(&owner.hash());
        if let Some(kept) = kept.filter(|kept| kept.report.run == run) {
            return kept.report.clone();
        }
        machine.give_back().await;
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("nothing was reported of {owner}");
}

pub async fn rebuild_subject(
    machine: &Machine,
    worker: &Worker,
    subject: &SubjectKey,
    run: &str,
) -> Report {
    let owner = Owner::Subject(subject.clone());
    ask(machine, "shop", std::slice::from_ref(&owner), run).await;
    until_reported(machine, worker, &owner, run).await
}

/// What the last rebuild came to.
pub async fn reported(worker: &Worker, owner: &Owner) -> Report {
    let reports = worker.state.reports(&[owner.hash()]).await.unwrap();
    let kept = reports.get(&owner.hash());
    let kept = kept.unwrap_or_else(|| panic!("nothing was reported of {owner}"));
    kept.report.clone()
}

/// An outcome with what differed.
pub fn came_to(report: &Report) -> (Rebuilt, Vec<Part>) {
    (report.outcome, report.differs.iter().copied().collect())
}

/// Everything of these kinds, by the census.
pub async fn listed(worker: &Worker, kinds: &[Census]) -> Vec<Owner> {
    let mut owners = Vec::new();
    for kind in kinds {
        let mut from = None;
        loop {
            let page = worker.state.census(kind, from).await.unwrap();
            owners.extend(page.listed.into_iter().map(|listed| listed.owner));
            from = page.next;
            if from.is_none() {
                break;
            }
        }
    }
    owners
}

/// All that is stored in State, but the reports and what every conclusion writes anew.
pub async fn stored(machine: &Machine) -> Stored {
    let mut all = BTreeMap::new();
    let client = machine.stores.dynamodb();
    let mut start = None;
    loop {
        let request = client.scan().table_name(STATE_TABLE);
        let page = request.set_exclusive_start_key(start).send().await.unwrap();
        for item in page.items.unwrap_or_default() {
            let text = |name: &str| item[name].as_s().unwrap().clone();
            let key = (text("pk"), text("sk"));
            if key.1 == "rebuild" {
                continue;
            }
            let kept = item.into_iter();
            let kept = kept.filter(|(name, value)| !is_nothing(name, value));
            all.insert(
                key,
                kept.map(|(name, value)| (name, shown(&value))).collect(),
            );
        }
        start = page.last_evaluated_key;
        if start.is_none() {
            return all;
        }
    }
}

/// What is stored when nothing hidden comes back any more. A change that waits keeps what is behind it in its group
/// until its patience is over; that is here at once.
pub async fn at_rest(machine: &Machine, worker: &Worker) -> Stored {
    let (mut before, mut same) = (Stored::new(), 0);
    for _ in 0..100 {
        machine.go_on(std::time::Duration::from_secs(60));
        machine.give_back().await;
        machine.settle(worker).await.unwrap();
        let now = stored(machine).await;
        same = if now == before { same + 1 } else { 0 };
        if same == 2 {
            return now;
        }
        before = now;
    }
    panic!("it never comes to rest");
}

/// Fails with what differs, and nothing else.
pub fn assert_same(after: &Stored, before: &Stored) {
    let keys = before.keys().chain(after.keys());
    let mut differs = keys.filter(|key| before.get(*key) != after.get(*key));
    if let Some(key) = differs.next() {
        panic!(
            "{key:?}\nwas {:?}\nis  {:?}",
            before.get(key),
            after.get(key)
        );
    }
}

/// What every conclusion writes, and what says the same when it is not there.
fn is_nothing(name: &str, value: &AttributeValue) -> bool {
    let empty = match name {
        "paged" => value.as_bool() == Ok(&false),
        "recent" => value.as_l().is_ok_and(Vec::is_empty),
        _ => false,
    };
    empty || ALWAYS.contains(&name)
}

/// The same text for the same value: maps have no order of their own.
fn shown(value: &AttributeValue) -> String {
    let Ok(map) = value.as_m() else {
        return format!("{value:?}");
    };
    let sorted: BTreeMap<_, _> = map
        .iter()
        .map(|(name, value)| (name, shown(value)))
        .collect();
    format!("{sorted:?}")
}

/// How much went out: what every destination saw, and what others were told on the bus.
pub fn sends(machine: &Machine) -> (usize, usize) {
    let names = ["mail", "desk", "plain"];
    let seen = names.map(|name| machine.destination(name).map_or(0, |it| it.bodies().len()));
    (seen.iter().sum(), machine.bus.entries().len())
}

/// Writes an item as nobody should: changed by this.
pub async fn spoil(machine: &Machine, pk: &str, sk: &str, change: impl FnOnce(&mut Item)) {
    let client = machine.stores.dynamodb();
    let key = |name: &str, text: &str| (name.to_owned(), AttributeValue::S(text.to_owned()));
    let item = client
        .get_item()
        .table_name(STATE_TABLE)
        .set_key(Some(Item::from([key("pk", pk), key("sk", sk)])))
        .send()
        .await
        .unwrap()
        .item;
    let mut item = item.unwrap_or_else(|| panic!("there is no {sk}"));
    change(&mut item);
    let put = client.put_item().table_name(STATE_TABLE);
    put.set_item(Some(item)).send().await.unwrap();
}

/// Removes items of a partition whose sort keys begin so, as nobody should; says how many.
pub async fn remove(machine: &Machine, table: &str, pk: &str, prefix: &str) -> usize {
    let client = machine.stores.dynamodb();
    let text = |text: &str| AttributeValue::S(text.to_owned());
    let query = client.query().table_name(table);
    let found = query
        .key_condition_expression("pk = :pk AND begins_with(sk, :sk)")
        .expression_attribute_values(":pk", text(pk))
        .expression_attribute_values(":sk", text(prefix))
        .send()
        .await
        .unwrap();
    for item in found.items() {
        let delete = client.delete_item().table_name(table);
        let delete = delete.key("pk", item["pk"].clone());
        let delete = delete.key("sk", item["sk"].clone());
        delete.send().await.unwrap();
    }
    found.items().len()
}

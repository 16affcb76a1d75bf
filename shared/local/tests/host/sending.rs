//! Effects on their way to the stand-ins and to the embedded queues: what was acted on, and what is said of it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use aws_sdk_sqs::types::MessageSystemAttributeName as Attribute;
use lastword_config::{Channel, Destination, HttpDestination, LookUp, QueueDestination};
use lastword_destinations::{Bus, BusError, DestinationOverrides, Event, Message, Sender, bus};
use lastword_domain::{Found, Sent, name::DestinationName};
use lastword_local::{
    bus::Bus as LocalBus,
    destination::{Destination as StandIn, Kind, Next},
    stores::QueueGauge,
};
use lastword_runtime::{ClientSettings, Clients, Endpoints, Patience, Vault};

use crate::bench::{eventually, stores};

const KEY: &str = "0123456789012345678901234567890123456789-_a";
const OTHER: &str = "0123456789012345678901234567890123456789-_b";
const OWNER: &str = "9876543210987654321098765432109876543210-_c";

const MESSAGE: Message<'static> = Message {
    key: KEY,
    effect: "receipt",
    group: OWNER,
    about: r#"{"id":"in_1"}"#,
    wording: None,
    data: r#"{"name":"Zoë"}"#,
    detail_type: "effect.receipt",
};

fn clients(sqs: Option<String>, eventbridge: Option<String>) -> Clients {
    let endpoints = Endpoints {
        sqs,
        eventbridge,
        ..Endpoints::default()
    };
    Clients::new(ClientSettings::local(endpoints, Patience::background()))
}

fn sender(clients: &Clients) -> Sender {
    let vault = Arc::new(Vault::fixed(Arc::new(BTreeMap::new())));
    Sender::new(clients, "bus", vault, DestinationOverrides::none()).unwrap()
}

fn over_http() -> Sender {
    sender(&clients(None, None))
}

fn named(name: &str, channel: Channel) -> Destination {
    Destination {
        name: DestinationName::parse(name).unwrap(),
        channel,
    }
}

fn mail(stand_in: &StandIn, timeout: Duration) -> Destination {
    let url = stand_in.url();
    let http = HttpDestination {
        url: format!("{url}/messages"),
        credential: None,
        headers: BTreeMap::new(),
        timeout,
        remembers: None,
        lookup: Some(LookUp {
            url: format!("{url}/search?key={{key}}"),
            wait: Duration::ZERO,
            found: Some("/data/0".to_owned()),
        }),
        retry_on: Vec::new(),
    };
    named("mail", Channel::Http(Box::new(http)))
}

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_secs(1);

fn acted(count: u32) -> BTreeMap<String, u32> {
    BTreeMap::from([(KEY.to_owned(), count)])
}

#[tokio::test]
async fn a_lost_response_is_unknown_though_it_was_acted_on_once() {
    for (kind, after_both) in [(Kind::Idempotent, 1), (Kind::LookUp, 2), (Kind::Plain, 2)] {
        let stand_in = StandIn::start(kind).await.unwrap();
        let (sender, mail) = (over_http(), mail(&stand_in, LONG));
        stand_in.next(Next::ActAndDrop);
        let sent = sender.send(&mail, &MESSAGE).await;
        assert!(matches!(sent, Sent::Unknown { .. }), "{sent:?}");
        assert_eq!(stand_in.actions(), acted(1), "{kind:?}");
        // What a blind repetition would do is the destination's matter.
        let again = sender.send(&mail, &MESSAGE).await;
        assert!(matches!(again, Sent::Done { .. }), "{again:?}");
        assert_eq!(stand_in.actions(), acted(after_both), "{kind:?}");
        let bodies = stand_in.bodies();
        assert_eq!(bodies[0], bodies[1]);
    }
}

#[tokio::test]
async fn a_connection_lost_before_or_after_acting_looks_the_same_and_the_question_tells_them_apart()
{
    for (next, is_there) in [(Next::Drop, false), (Next::ActAndDrop, true)] {
        let stand_in = StandIn::start(Kind::LookUp).await.unwrap();
        let (sender, mail) = (over_http(), mail(&stand_in, LONG));
        stand_in.next(next);
        let expected = Sent::Unknown {
            why: "the connection was lost before the answer".to_owned(),
            retry_after: None,
        };
        assert_eq!(sender.send(&mail, &MESSAGE).await, expected);
        let found = sender.ask(&mail, KEY).await;
        assert_eq!(matches!(found, Found::There { .. }), is_there, "{found:?}");
        assert_eq!(found == Found::NotThere, !is_there, "{found:?}");
        assert_eq!(sender.ask(&mail, OTHER).await, Found::NotThere);
    }
}

#[tokio::test]
async fn a_status_does_not_say_whether_it_was_acted_on() {
    let stand_in = StandIn::start(Kind::Plain).await.unwrap();
    let (sender, mail) = (over_http(), mail(&stand_in, LONG));
    stand_in.retry_after("3");
    for (next, actions) in [
        (Next::Answer(503), 0),
        (Next::ActAndAnswer(503), 1),
        (Next::Answer(500), 1),
    ] {
        stand_in.next(next);
        let sent = sender.send(&mail, &MESSAGE).await;
        let asked = Some(Duration::from_secs(3));
        assert!(
            matches!(&sent, Sent::Unknown { retry_after, .. } if *retry_after == asked),
            "{sent:?}"
        );
        let acted: u32 = stand_in.actions().values().sum();
        assert_eq!(acted, actions);
    }
}

#[tokio::test]
async fn who_answers_too_late_may_still_act_after_we_gave_up() {
    let stand_in = StandIn::start(Kind::LookUp).await.unwrap();
    let (sender, mail) = (over_http(), mail(&stand_in, SHORT));
    let held = stand_in.hold_next_before_acting();
    let sent = sender.send(&mail, &MESSAGE).await;
    assert!(matches!(sent, Sent::Unknown { .. }), "{sent:?}");
    held.reached().await;
    assert!(stand_in.actions().is_empty());
    held.release();
    eventually("the stand-in acts", async || stand_in.actions() == acted(1)).await;
}

#[tokio::test]
async fn an_answer_that_is_held_back_belongs_to_what_was_done() {
    let stand_in = StandIn::start(Kind::LookUp).await.unwrap();
    let (sender, mail) = (over_http(), mail(&stand_in, LONG));
    let held = stand_in.hold_next();
    let meanwhile = async {
        held.reached().await;
        assert_eq!(stand_in.actions(), acted(1));
        let found = sender.ask(&mail, KEY).await;
        assert!(matches!(found, Found::There { .. }), "{found:?}");
        held.release();
    };
    let (sent, ()) = tokio::join!(sender.send(&mail, &MESSAGE), meanwhile);
    assert!(matches!(sent, Sent::Done { .. }), "{sent:?}");
}

#[tokio::test]
async fn a_slow_destination_is_not_waited_for_longer_than_was_said() {
    let stand_in = StandIn::start(Kind::Plain).await.unwrap();
    stand_in.take_time(Duration::from_secs(3600));
    let sent = over_http().send(&mail(&stand_in, SHORT), &MESSAGE).await;
    let expected = Sent::Unknown {
        why: "no answer in time".to_owned(),
        retry_after: None,
    };
    assert_eq!(sent, expected);
    assert_eq!(stand_in.actions(), acted(1));
}

#[tokio::test]
async fn a_look_up_that_is_behind_or_broken_is_the_destination_s_own_word() {
    let stand_in = StandIn::start(Kind::LookUp).await.unwrap();
    let (sender, mail) = (over_http(), mail(&stand_in, LONG));
    let sent = sender.send(&mail, &MESSAGE).await;
    assert!(matches!(sent, Sent::Done { .. }), "{sent:?}");
    stand_in.next_look_up(503);
    let found = sender.ask(&mail, KEY).await;
    assert!(matches!(found, Found::Unknown { .. }), "{found:?}");
    stand_in.be_behind(true);
    assert_eq!(sender.ask(&mail, KEY).await, Found::NotThere);
    stand_in.be_behind(false);
    let found = sender.ask(&mail, KEY).await;
    assert!(matches!(found, Found::There { .. }), "{found:?}");
}

#[tokio::test]
async fn a_fifo_queue_keeps_an_effect_once_and_an_owner_in_order() {
    let stores = stores().await;
    let sqs = stores.sqs();
    for (name, messages) in [("effects.fifo", 2), ("effects", 3)] {
        let fifo = name.ends_with(".fifo");
        let create = sqs.create_queue().queue_name(name);
        let create = if fifo {
            create.attributes(aws_sdk_sqs::types::QueueAttributeName::FifoQueue, "true")
        } else {
            create
        };
        let url = create.send().await.unwrap().queue_url.unwrap();
        let queue = named("q", Channel::Queue(QueueDestination { url: url.clone() }));
        let sender = sender(&clients(Some(stores.sqs_url()), None));
        for key in [KEY, KEY, OTHER] {
            let sent = sender.send(&queue, &Message { key, ..MESSAGE }).await;
            assert!(matches!(sent, Sent::Done { .. }), "{sent:?}");
        }
        let depth = QueueGauge::new(sqs.clone(), &url).depth().await.unwrap();
        assert_eq!(depth.visible, messages, "{name}");
        let received = sqs
            .receive_message()
            .queue_url(&url)
            .message_system_attribute_names(Attribute::All)
            .send()
            .await
            .unwrap();
        let message = received.messages().first().unwrap();
        let body = message.body().unwrap();
        assert!(body.is_ascii() && body.contains("Zo\\u00eb"), "{body}");
        let attributes = message.attributes().unwrap();
        let group = attributes.get(&Attribute::MessageGroupId);
        assert_eq!(group.map(String::as_str), fifo.then_some(OWNER));
    }
}

#[tokio::test]
async fn a_queue_that_is_not_there_refuses_and_one_that_cannot_be_reached_took_nothing() {
    let stores = stores().await;
    let url = format!("{}/000000000000/nothing", stores.sqs_url());
    let queue = named("q", Channel::Queue(QueueDestination { url }));
    let sender = sender(&clients(Some(stores.sqs_url()), None));
    let sent = sender.send(&queue, &MESSAGE).await;
    assert!(matches!(sent, Sent::Refused { .. }), "{sent:?}");
    stores.shutdown().await;
    let sent = sender.send(&queue, &MESSAGE).await;
    assert!(
        !matches!(sent, Sent::Done { .. } | Sent::Refused { .. }),
        "{sent:?}"
    );
}

#[tokio::test]
async fn an_effect_on_the_bus_is_done_when_its_own_entry_was_taken() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hearer = Arc::clone(&heard);
    let local = LocalBus::start_heard_by(move |entry| hearer.lock().unwrap().push(entry.clone()));
    let local = local.await.unwrap();
    let sender = sender(&clients(None, Some(local.url())));
    let bus = named("bus", Channel::Bus);
    for (code, expected) in [
        ("ThrottlingException", "NotSent"),
        ("InternalFailure", "Unknown"),
        ("AccessDeniedException", "Refused"),
    ] {
        local.fail_next(1, code);
        let sent = format!("{:?}", sender.send(&bus, &MESSAGE).await);
        assert!(sent.starts_with(expected), "{code}: {sent}");
    }
    assert_eq!(local.calls(), [1, 1, 1], "none of them was sent again");
    let sent = sender.send(&bus, &MESSAGE).await;
    assert!(matches!(sent, Sent::Done { .. }), "{sent:?}");
    let entries = local.entries();
    assert_eq!(*heard.lock().unwrap(), entries);
    assert_eq!(entries.len(), 1);
    assert_eq!(
        (entries[0].source.as_str(), entries[0].detail_type.as_str()),
        ("lastword", "effect.receipt")
    );
    let detail: serde_json::Value = serde_json::from_str(&entries[0].detail).unwrap();
    assert_eq!(
        (&detail["key"], &detail["data"]["name"]),
        (&KEY.into(), &"Zoë".into())
    );
    let long = "x".repeat(bus::MOST_TYPE + 1);
    let dropped = Message {
        detail_type: &long,
        ..MESSAGE
    };
    let sent = sender.send(&named("bus", Channel::Bus), &dropped).await;
    assert!(
        matches!(sent, Sent::Refused { .. }),
        "the bus would drop it: {sent:?}"
    );
    assert_eq!(local.calls().len(), 4);
}

fn events(count: usize) -> Vec<Event> {
    let event = |number| Event {
        detail_type: format!("change.{number}"),
        detail: format!("{{\"number\":{number}}}"),
        resources: Vec::new(),
    };
    (0..count).map(event).collect()
}

#[tokio::test]
async fn events_are_published_in_order_and_each_has_its_own_outcome() {
    let local = LocalBus::start().await.unwrap();
    let bus = Bus::new(clients(None, Some(local.url())).eventbridge(), "bus");
    local.fail_next(2, "InternalFailure");
    let mut events = events(23);
    events[5].detail = "x".repeat(bus::MOST_BYTES + 1);
    events[7].detail = "no JSON".to_owned();
    events[20].detail_type = String::new();
    let outcomes = bus.publish(&events).await;
    assert_eq!(outcomes.len(), 23);
    for (at, outcome) in outcomes.iter().enumerate() {
        match at {
            0 | 1 => assert!(
                matches!(outcome, Err(BusError::Failed(_))),
                "{at} {outcome:?}"
            ),
            5 | 7 | 20 => assert!(
                matches!(outcome, Err(BusError::Refused(_))),
                "{at} {outcome:?}"
            ),
            _ => assert_eq!(*outcome, Ok(()), "{at}"),
        }
    }
    let taken: Vec<_> = local
        .entries()
        .into_iter()
        .map(|entry| entry.detail_type)
        .collect();
    let expected: Vec<_> = (2..23)
        .filter(|at| ![5, 7, 20].contains(at))
        .map(|at| format!("change.{at}"))
        .collect();
    assert_eq!(taken, expected);
    assert_eq!(local.calls(), [10, 10, 1]);
}

#[tokio::test]
async fn an_event_that_fails_its_neighbours_request_fails_alone() {
    let local = LocalBus::start().await.unwrap();
    let bus = Bus::new(clients(None, Some(local.url())).eventbridge(), "bus");
    local.refuse_next(400, "ValidationException");
    let outcomes = bus.publish(&events(3)).await;
    assert_eq!(outcomes, [Ok(()), Ok(()), Ok(())]);
    assert_eq!(local.calls(), [3, 1, 1, 1]);
    // No permission is about all of them.
    local.refuse_next(400, "AccessDeniedException");
    let outcomes = bus.publish(&events(3)).await;
    assert!(
        outcomes
            .iter()
            .all(|one| matches!(one, Err(BusError::Refused(_)))),
        "{outcomes:?}"
    );
    assert_eq!(local.calls().len(), 5);
}

#[tokio::test]
async fn a_publisher_whose_consumers_know_repetitions_may_try_again_by_itself() {
    let local = LocalBus::start().await.unwrap();
    let bus = Bus::new(clients(None, Some(local.url())).eventbridge(), "bus");
    local.refuse_next(500, "InternalFailure");
    assert_eq!(bus.publish(&events(2)).await, [Ok(()), Ok(())]);
    assert_eq!(local.calls(), [2, 2]);
    local.shutdown().await;
    let outcomes = bus.publish(&events(1)).await;
    assert!(
        matches!(outcomes[..], [Err(BusError::Failed(_))]),
        "{outcomes:?}"
    );
    assert!(bus.publish(&[]).await.is_empty());
}

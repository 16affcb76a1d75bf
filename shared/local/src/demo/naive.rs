//! The receiver that Lastword is there to replace: it checks signatures, knows the events that it has
//! seen, and applies what arrives.

use std::collections::HashSet;

use lastword_config::Config;
use lastword_contracts::{FetchedKeys, Headers};
use serde_json::Value;

use super::history::{History, LAST, Sender};
use super::played::{Decided, Played};
use super::sender::NOW;
use crate::machine::{Failure, made_up_secrets};

/// One signed request.
struct Delivery {
    event: usize,
    headers: Headers,
    body: String,
}

/// What the receiver did with a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Done {
    Applied,
    SeenBefore,
    Refused,
}

/// All of the receiver: what it did with each delivery, and the object as it then has it.
fn receive(
    sender: Sender,
    deliveries: &[Delivery],
    authentic: impl Fn(&Delivery) -> bool,
) -> (Vec<Done>, Option<Value>) {
    let (mut seen, mut object) = (HashSet::new(), None);
    let mut take = |delivery: &Delivery| {
        if !authentic(delivery) {
            return Done::Refused;
        }
        let Ok(body) = serde_json::from_str::<Value>(&delivery.body) else {
            return Done::Refused;
        };
        let Some(id) = body.pointer("/id").and_then(Value::as_str) else {
            return Done::Refused;
        };
        if !seen.insert(id.to_owned()) {
            return Done::SeenBefore;
        }
        object = body.pointer(sender.snapshot()).cloned();
        Done::Applied
    };
    let done = deliveries.iter().map(&mut take).collect();
    (done, object)
}

/// Plays the same histories, one delivery after the other, which is the best that can happen to it.
pub(super) fn play(config: &Config, histories: &[History]) -> Result<Vec<Played>, Failure> {
    let secrets = made_up_secrets(config)?;
    let play = |history: &History| {
        let integration = history.sender.configured(config)?;
        let secret = integration
            .signing
            .first()
            .and_then(|name| secrets.get(name));
        let keys = integration.keys([secret.ok_or("no secret")?.expose()])?;
        let sign = |event| {
            let body = history.body(event);
            let signed = integration.sign(&keys, &Headers::default(), body.as_bytes(), NOW)?;
            let headers = signed.headers.iter();
            Ok::<_, Failure>(Delivery {
                event,
                headers: headers
                    .map(|(name, value)| (name.as_str(), value.as_str()))
                    .collect(),
                body,
            })
        };
        let events = history.steps().concat();
        let deliveries: Vec<_> = events.into_iter().map(sign).collect::<Result<_, _>>()?;
        let (done, object) = receive(history.sender, &deliveries, |delivery| {
            let body = delivery.body.as_bytes();
            let request = integration.request("POST", "", &delivery.headers, body);
            let schemes = &integration.contract.signature;
            schemes
                .verify(&request, &keys, &FetchedKeys::new(), NOW, None)
                .is_ok()
        });
        Ok(judge(history, &deliveries, &done, object.as_ref()))
    };
    histories.iter().map(play).collect()
}

fn judge(
    history: &History,
    deliveries: &[Delivery],
    done: &[Done],
    object: Option<&Value>,
) -> Played {
    let decided = |(delivery, done): (&Delivery, &Done)| {
        let (outcome, reason, explained) = match done {
            Done::Applied => (
                "applied",
                "arrived",
                "its id is new, so its body is applied",
            ),
            Done::SeenBefore => ("skipped", "seen", "its id was seen before"),
            Done::Refused => ("refused", "refused", "it is not authentic, or says nothing"),
        };
        Decided {
            event: delivery.event,
            outcome,
            reason,
            explained,
        }
    };
    let state = object
        .and_then(|object| object.pointer(history.sender.state()))
        .and_then(Value::as_str)
        .unwrap_or("unknown");
    let expected = history.sender.happening(LAST).state;
    let right = object == Some(&history.object(LAST));
    Played {
        history: *history,
        decisions: deliveries.iter().zip(done).take(3).map(decided).collect(),
        ends: state.to_owned(),
        reads: 0,
        wrong: (!right).then(|| format!("{state} where the source says {expected}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::history::{Again, all};

    fn played() -> Vec<Played> {
        let config = Config::parse("lastword.toml", crate::demo::CONFIG).unwrap();
        play(&config, &all()).unwrap()
    }

    #[test]
    fn it_is_right_exactly_when_the_last_event_arrives_last() {
        for played in played() {
            let [.., last] = played.history.order;
            assert_eq!(
                played.wrong.is_none(),
                last == LAST,
                "{}",
                played.history.describe()
            );
        }
    }

    #[test]
    fn its_signature_check_and_its_memory_work_and_do_not_help() {
        let played = played();
        let applied = |played: &&Played| played.decisions.iter().all(|d| d.outcome == "applied");
        assert_eq!(played.iter().filter(applied).count(), played.len());
        let repeated = played.iter().filter(|p| p.history.again == Again::All);
        assert!(repeated.filter(|p| p.wrong.is_some()).count() > 0);
        let forged = Delivery {
            event: 0,
            headers: Headers::default(),
            body: played[0].history.body(0),
        };
        let (done, object) = receive(Sender::Billing, &[forged], |_| false);
        assert_eq!((done, object), (vec![Done::Refused], None));
    }
}

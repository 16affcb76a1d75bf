//! From the event bus to draft, as the rule of the template says: what is to be worded, and nothing else.

use std::time::Duration;

use serde_json::{json, value::RawValue};
use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::JoinHandle,
};

use super::parts;
use crate::{
    bus::{Bus, BusEntry},
    function::Function,
    machine::Failure,
};

/// What the rule lets through.
const WANTED: &str = "Lastword Draft Wanted";
/// How often an event is handed over, as Lambda does with what comes by itself.
const ATTEMPTS: u32 = 3;
const PAUSE: Duration = Duration::from_secs(1);

/// Events on their way from the bus.
pub(super) struct Heard(UnboundedReceiver<BusEntry>);

/// A bus, and what is heard on it.
pub(super) async fn listen() -> Result<(Bus, Heard), Failure> {
    let (sender, receiver): (UnboundedSender<BusEntry>, _) = unbounded_channel();
    let hear = move |entry: &BusEntry| {
        if entry.detail_type == WANTED {
            // Nobody listens any more: the stack ends.
            drop(sender.send(entry.clone()));
        }
    };
    Ok((Bus::start_heard_by(hear).await?, Heard(receiver)))
}

impl Heard {
    /// Hands each to draft, one after the other.
    pub(super) fn hand_to(mut self, draft: Function) -> JoinHandle<()> {
        tokio::spawn(async move {
            while let Some(entry) = self.0.recv().await {
                let Ok(event) = event(&entry) else { continue };
                for _ in 0..ATTEMPTS {
                    match draft.invoke(event.clone(), parts::DRAFT_TIMEOUT).await {
                        Ok(_) => break,
                        Err(_) => tokio::time::sleep(PAUSE).await,
                    }
                }
            }
        })
    }
}

/// The event as the bus hands it over.
fn event(entry: &BusEntry) -> serde_json::Result<String> {
    let detail: &RawValue = serde_json::from_str(&entry.detail)?;
    let head = json!({
        "version": "0",
        "id": "local",
        "detail-type": entry.detail_type,
        "source": entry.source,
        "account": crate::clients::ACCOUNT,
        "region": crate::clients::REGION,
        "resources": [],
    })
    .to_string();
    // Put together as text, so that numbers keep their digits.
    let head = head.trim_end_matches('}');
    Ok(format!("{head},\"detail\":{}}}", detail.get()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_keeps_the_digits_of_its_detail() {
        let entry = BusEntry {
            source: "lastword".to_owned(),
            detail_type: WANTED.to_owned(),
            detail: r#"{"data":{"total":12345678901234567890.10}}"#.to_owned(),
        };
        let event = event(&entry).unwrap();
        assert!(event.contains("12345678901234567890.10"), "{event}");
        let value: serde_json::Value = serde_json::from_str(&event).unwrap();
        assert_eq!(value["detail-type"], WANTED);
    }
}

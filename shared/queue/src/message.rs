//! A signal as a message: its body, its group, and what makes it this message.

use lastword_domain::digest::Digest;
use lastword_domain::{AnySignal, Cause};

use crate::ascii;

/// A signal ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutgoingMessage {
    /// The signal, as JSON in ASCII.
    pub body: String,
    /// The hash of the resource's or subject's key: 43 characters that every group id may hold, whatever the id.
    pub group: String,
    /// What makes it this message.
    ///
    /// A FIFO queue silently drops a message whose id it saw within five minutes, also when the first was
    /// consumed since. So the id is never the resource alone: it covers every event or change the message is about
    /// and the cause with its run. The same id then means the same news: whoever took the first message
    /// looked after all these events were stored.
    pub deduplication: String,
}

/// A body that is no signal.
#[derive(Debug, thiserror::Error)]
#[error("not a signal: {0}")]
pub struct MessageError(#[from] serde_json::Error);

impl OutgoingMessage {
    /// Makes a message of a signal.
    ///
    /// # Errors
    /// When the signal cannot be written as JSON.
    pub fn new(signal: &AnySignal) -> Result<Self, MessageError> {
        let group = signal.group();
        let (whose, mut news): (&str, Vec<String>) = match signal {
            AnySignal::Resource(signal) => (
                signal.integration.as_str(),
                signal.events.iter().map(ToString::to_string).collect(),
            ),
            // No integration has an empty name.
            AnySignal::Subject(signal) => ("", signal.changes.clone()),
        };
        news.sort_unstable();
        news.dedup();
        let (cause, run) = match signal.cause() {
            Cause::Webhook => ("webhook", ""),
            Cause::Sweep(run) => ("sweep", run.as_str()),
            Cause::Redrive(run) => ("redrive", run.as_str()),
            Cause::Rebuild(run) => ("rebuild", run.as_str()),
        };
        let mut parts = vec![whose, group.as_str(), cause, run];
        parts.extend(news.iter().map(String::as_str));
        Ok(Self {
            body: ascii::to_string(signal)?,
            deduplication: Digest::of_parts(&parts).to_text(),
            group: group.as_str().to_owned(),
        })
    }
}

/// Reads a message's body.
///
/// # Errors
/// When it is not a signal of this version.
pub fn parse(body: &str) -> Result<AnySignal, MessageError> {
    Ok(serde_json::from_str(body)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastword_domain::name::{
        Account, Environment, IntegrationName, Provider, ResourceId, ResourceType,
    };
    use lastword_domain::name::{SubjectId, SubjectKind};
    use lastword_domain::{EventRef, ResourceKey, Signal, SubjectKey, SubjectSignal};
    use proptest::prelude::*;

    fn signal(id: &str, events: &[u8], cause: Cause) -> AnySignal {
        AnySignal::Resource(Signal {
            integration: IntegrationName::parse("billing").unwrap(),
            resource: ResourceKey {
                provider: Provider::parse("stripe").unwrap(),
                account: Account::parse("a").unwrap(),
                environment: Environment::parse("live").unwrap(),
                kind: ResourceType::parse("invoice").unwrap(),
                id: ResourceId::parse(id).unwrap(),
            },
            events: events
                .iter()
                .map(|e| EventRef::parse(&Digest::of(&[*e]).to_text()).unwrap())
                .collect(),
            cause,
        })
    }

    fn about_order(id: &str, changes: &[&str]) -> AnySignal {
        AnySignal::Subject(SubjectSignal {
            subject: SubjectKey {
                kind: SubjectKind::parse("order").unwrap(),
                id: SubjectId::parse(id).unwrap(),
            },
            changes: changes.iter().map(|change| (*change).to_owned()).collect(),
            cause: Cause::Webhook,
        })
    }

    #[test]
    fn a_subject_s_message_is_known_by_its_changes_and_comes_back() {
        let message =
            |id, changes: &[&str]| OutgoingMessage::new(&about_order(id, changes)).unwrap();
        let one = message("7 😊", &["a", "b"]);
        assert_eq!(parse(&one.body).unwrap(), about_order("7 😊", &["a", "b"]));
        assert_eq!(
            one.deduplication,
            message("7 😊", &["b", "a", "a"]).deduplication
        );
        for other in [message("7 😊", &["a"]), message("8", &["a", "b"])] {
            assert_ne!(one.deduplication, other.deduplication);
        }
        assert_ne!(one.group, message("8", &["a", "b"]).group);
    }

    fn deduplication(events: &[u8], cause: Cause) -> String {
        OutgoingMessage::new(&signal("in_1", events, cause))
            .unwrap()
            .deduplication
    }

    #[test]
    fn the_same_news_has_one_id_and_other_news_about_the_same_resource_another() {
        let news = deduplication(&[1, 2], Cause::Webhook);
        assert_eq!(news, deduplication(&[2, 1], Cause::Webhook));
        for other in [
            deduplication(&[1], Cause::Webhook),
            deduplication(&[1, 2, 3], Cause::Webhook),
            deduplication(&[1, 2], Cause::Sweep("7".into())),
            deduplication(&[1, 2], Cause::Sweep("8".into())),
            deduplication(&[1, 2], Cause::Redrive("7".into())),
            deduplication(&[1, 2], Cause::Rebuild("7".into())),
            deduplication(&[], Cause::Webhook),
        ] {
            assert_ne!(news, other);
        }
    }

    proptest! {
        #[test]
        fn any_id_makes_a_message_that_the_queue_takes_and_comes_back_exact(
            id in "\\PC{1,60}|[\\x00-\\x1f\u{7f}\u{fffe}\u{ffff}#/ 😊\"\\\\]{1,40}|[x]{1024}"
        ) {
            let signal = signal(&id, &[1, 2], Cause::Webhook);
            let message = OutgoingMessage::new(&signal).unwrap();
            prop_assert!(message.body.bytes().all(|b| (0x20..0x7f).contains(&b)), "{}", message.body);
            for text in [&message.group, &message.deduplication] {
                prop_assert!(text.len() <= 100 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'));
            }
            prop_assert_eq!(parse(&message.body).unwrap(), signal);
        }
    }

    #[test]
    fn what_is_no_signal_is_refused() {
        for body in ["", "{}", "[]", "null", "{\"integration\":\"x\"}"] {
            assert!(parse(body).is_err(), "{body}");
        }
    }
}

//! A read that becomes old on its way. Worker A reads the source, and its answer is held back; the
//! source moves on to its last state, the other events arrive, and worker B settles them. Only then is A
//! answered. What A was told must not be kept.
//!
//! The queue keeps a resource's messages apart as long as nothing goes wrong, so here they are handed to
//! the workers past it. The queue's own messages come afterwards, and must find everything decided.

use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _, future, stream};
use lastword_domain::name::IntegrationName;
use lastword_domain::{Cause, ResourceKey, Signal};
use lastword_queue::OutgoingMessage;
use serde_json::json;
use tokio::time::timeout;

use super::history::{History, LAST, Way};
use super::play::AT_ONCE;
use super::played::{Played, differs, judge};
use super::stage::Stage;
use crate::machine::{Failure, Worker};

/// How long a held read may take to come.
const PATIENCE: Duration = Duration::from_secs(10);

/// A history on its way.
struct Race<'s> {
    stage: &'s Stage<'s>,
    history: &'s History,
    resource: ResourceKey,
    held: usize,
    takes_all: bool,
}

/// Plays them, then lets the queue's own messages come.
pub(super) async fn play(
    stage: &Stage<'_>,
    histories: &[&History],
) -> Result<Vec<Played>, Failure> {
    let mut races = Vec::with_capacity(histories.len());
    for history in histories {
        let (held, takes_all) = match history.way {
            Way::SlowRead { held, takes_all } => (held, takes_all),
            Way::Queue { .. } => return Err("this history has no slow read".into()),
        };
        races.push(Race {
            stage,
            history,
            resource: history.resource(stage.machine.config())?,
            held,
            takes_all,
        });
    }
    let wrongs: Vec<Option<String>> = stream::iter(races.iter().map(Race::run).collect::<Vec<_>>())
        .buffered(AT_ONCE)
        .try_collect()
        .await?;
    stage.settle(true).await?;
    let mut played = Vec::with_capacity(races.len());
    for (race, wrong) in races.iter().zip(wrongs) {
        played.push(race.judge(wrong).await?);
    }
    Ok(played)
}

impl Race<'_> {
    async fn run(&self) -> Result<Option<String>, Failure> {
        let (first, second) = (&self.stage.first, &self.stage.second);
        let (before, rest) = self.history.order.split_at(self.held);
        let (slow, later) = rest.split_at(1);
        let mut furthest = 0;
        for event in before.iter().chain(slow) {
            furthest = furthest.max(*event);
            self.stage.show(self.history, furthest);
            self.stage.deliver(self.history, *event).await?;
            if before.contains(event) {
                self.hand(first, &[*event]).await?;
            }
        }
        let held = self.stage.machine.standin.hold_next(&self.history.path());
        let meanwhile = async {
            timeout(PATIENCE, held.reached()).await?;
            self.stage.show(self.history, LAST);
            for event in later {
                self.stage.deliver(self.history, *event).await?;
            }
            self.hand(second, if self.takes_all { rest } else { later })
                .await?;
            let wrong = self.wrong("before the slow answer").await?;
            held.release();
            Ok::<_, Failure>(wrong)
        };
        let ((), wrong) = future::try_join(self.hand(first, slow), meanwhile).await?;
        match wrong {
            Some(wrong) => Ok(Some(wrong)),
            None => self.wrong("after the slow answer").await,
        }
    }

    async fn wrong(&self, when: &str) -> Result<Option<String>, Failure> {
        let story = self.stage.story(&self.resource).await?;
        let wrong = differs(self.history, LAST, story.projection.as_ref())?;
        Ok(wrong.map(|wrong| format!("{when}: {wrong}")))
    }

    /// Hands a worker a batch of these events' signals.
    async fn hand(&self, worker: &Worker, events: &[usize]) -> Result<(), Failure> {
        let config = self.stage.machine.config();
        let mut records = Vec::with_capacity(events.len());
        for event in events {
            let signal = Signal {
                integration: IntegrationName::parse(self.history.sender.integration())?,
                resource: self.resource.clone(),
                events: vec![self.history.reference(config, *event)?],
                cause: Cause::Webhook,
            };
            let message = OutgoingMessage::new(&signal.into())?;
            records.push(json!({
                "messageId": self.history.event_id(*event),
                "receiptHandle": "by hand",
                "body": message.body,
                "attributes": {"MessageGroupId": message.group},
            }));
        }
        let batch = json!({"Records": records}).to_string();
        let time = Duration::from_secs(20);
        let reply = worker.reconcile.handle_text(&batch, time).await?;
        if reply.batch_item_failures.is_empty() {
            return Ok(());
        }
        Err("a signal that was handed past the queue was not decided".into())
    }

    async fn judge(&self, wrong: Option<String>) -> Result<Played, Failure> {
        let story = self.stage.story(&self.resource).await?;
        let reads = self.stage.reads(self.history);
        // Those before, the slow one, and B's; and A's second, unless B has answered A's event too.
        let expected = self.held as u64 + if self.takes_all { 2 } else { 3 };
        let unread = (reads != expected)
            .then(|| format!("the source was read {reads} times instead of {expected}"));
        judge(
            self.stage.machine.config(),
            self.history,
            &story,
            reads,
            wrong.or(unread),
        )
    }
}

//! One attempt at an effect, under a lease: sent, or its destination asked.
//!
//! What is told is fixed in the claim before the first attempt that may be acted on, and stays as it is until it is
//! certain that none was: a destination that knows the key gets the same again.

use std::time::Duration;

use lastword_config::Destination;
use lastword_destinations::Message;
use lastword_domain::effect::life::{After, Counted, after_asking, after_sending};
use lastword_domain::retry::Jitter;
use lastword_domain::{Json, Owner};
use lastword_rules::Wanted;
use lastword_store::{Claim, KeptEffect, Moment, Recorded, StoreError, Written};

use crate::dispatcher::{Dispatcher, Turn, holder};
use crate::looking::{Look, timeout};

/// A request arrives within this time after whoever sent it has given up, or not at all.
const IN_FLIGHT: Duration = Duration::from_secs(30);

/// What an effect is called on the bus.
const EFFECT: &str = "Lastword Effect";
/// What one is called that is to be worded first.
const DRAFT_WANTED: &str = "Lastword Draft Wanted";

/// An effect that is held.
struct Held {
    effect: KeptEffect,
    until: Moment,
}

impl Dispatcher {
    /// Sends it, perhaps again.
    pub(crate) async fn send(
        &self,
        effect: &KeptEffect,
        look: &Look<'_>,
        uncertain: bool,
    ) -> Result<Turn, StoreError> {
        let (Some(to), Wanted::Yes(data)) = (look.to, &look.says) else {
            let error = "its destination is not configured";
            return self.record(effect, Recorded::Failed { error }).await;
        };
        let fixed = effect.data.as_ref().filter(|_| uncertain);
        let data = fixed.unwrap_or(data);
        let Some(held) = self.hold(effect, to, Some(data), uncertain).await? else {
            return Ok(Turn::Again);
        };
        if (self.clock)().plus(timeout(to)) >= held.until {
            // It took too long to come here: somebody else may be at it before the request arrives.
            let error = "the lease was nearly over before it was sent";
            return self
                .record(&held.effect, Recorded::Again { uncertain, error })
                .await;
        }
        let sent = self.hand_over(&held.effect, to, look, data).await;
        let after = after_sending(sent, look.means, self.counted(&held.effect, uncertain));
        self.follow(&held.effect, after).await
    }

    /// Asks its destination whether it acted. What is certain then is looked at anew.
    pub(crate) async fn ask(
        &self,
        effect: &KeptEffect,
        look: &Look<'_>,
        now: Moment,
    ) -> Result<Turn, StoreError> {
        let Some(to) = look.to else {
            let error = "its destination is not configured";
            return self.record(effect, Recorded::Ambiguous { error }).await;
        };
        let wait = to.lookup().map(|lookup| lookup.wait);
        let from = effect
            .tried_at
            .map(|tried| tried.plus(wait.unwrap_or_default()));
        if let Some(from) = from.filter(|from| *from > now) {
            return Ok(Turn::Later(from.since(now)));
        }
        let Some(held) = self.hold(effect, to, None, true).await? else {
            return Ok(Turn::Again);
        };
        let key = held.effect.key.business_key(&held.effect.owner.hash());
        let found = self.sender.ask(to, key.as_str()).await;
        let after = after_asking(found, self.counted(&held.effect, true));
        self.follow(&held.effect, after).await
    }

    /// Takes it, for as long as an attempt may last; `None` when somebody else was first.
    async fn hold(
        &self,
        effect: &KeptEffect,
        to: &Destination,
        data: Option<&Json>,
        uncertain: bool,
    ) -> Result<Option<Held>, StoreError> {
        let holder = holder();
        let writer = self.writer(&holder);
        let until = writer.now.plus(timeout(to) + IN_FLIGHT);
        let claim = Claim {
            lease_until: until,
            data,
            uncertain,
        };
        Ok(
            match self.state.claim_effect(effect, &claim, writer).await? {
                Written::Lost => None,
                Written::Done(claims) => Some(Held {
                    effect: KeptEffect {
                        claims,
                        attempts: effect.attempts.saturating_add(1),
                        ..effect.clone()
                    },
                    until,
                }),
            },
        )
    }

    async fn hand_over(
        &self,
        effect: &KeptEffect,
        to: &Destination,
        look: &Look<'_>,
        data: &Json,
    ) -> lastword_domain::Sent {
        let owner = effect.owner.hash();
        let key = effect.key.business_key(&owner);
        let about = about(effect);
        let message = Message {
            key: key.as_str(),
            group: owner.as_str(),
            effect: effect.key.rule.name.as_str(),
            about: &about,
            data: data.as_str(),
            wording: look.wording.map(|wording| wording.as_str()),
            detail_type: match look.wording {
                None => EFFECT,
                Some(_) => DRAFT_WANTED,
            },
        };
        self.sender.send(to, &message).await
    }

    fn counted(&self, effect: &KeptEffect, uncertain: bool) -> Counted<'_> {
        Counted {
            uncertain,
            attempts: effect.attempts,
            policy: &self.config.retry,
            jitter: Jitter(fastrand::u8(..)),
        }
    }

    async fn follow(&self, effect: &KeptEffect, after: After) -> Result<Turn, StoreError> {
        let (recorded, pause) = match &after {
            After::Done { told } => (Recorded::Done { told }, None),
            After::Failed { why } => (Recorded::Failed { error: why }, None),
            After::Ambiguous { why } => (Recorded::Ambiguous { error: why }, None),
            After::Certain => {
                let error = "the destination was asked, and had not acted";
                let uncertain = false;
                (Recorded::Again { uncertain, error }, None)
            }
            After::Again {
                pause,
                uncertain,
                why,
            } => {
                let (uncertain, error) = (*uncertain, why.as_str());
                (Recorded::Again { uncertain, error }, Some(*pause))
            }
        };
        let turn = self.record(effect, recorded).await?;
        Ok(match (turn, pause) {
            (Turn::Again, Some(pause)) => Turn::Later(pause),
            (turn, _) => turn,
        })
    }
}

/// What it is about, as JSON: pointers.
fn about(effect: &KeptEffect) -> String {
    let mut about = match &effect.owner {
        Owner::Resource(resource) => serde_json::json!({ "resource": resource }),
        Owner::Subject(subject) => serde_json::json!({ "subject": subject }),
    };
    if let (Some(fact), Some(about)) = (&effect.fact, about.as_object_mut()) {
        let fact = serde_json::json!({ "kind": fact.kind.as_str(), "id": fact.id.as_str() });
        about.insert("fact".to_owned(), fact);
    }
    about.to_string()
}

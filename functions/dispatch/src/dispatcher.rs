//! One effect and a message about it: look, decide, claim, send or ask, write down.

use std::sync::Arc;
use std::time::Duration;

use lastword_config::{Config, ConfigError};
use lastword_destinations::Sender;
use lastword_domain::EffectStatus;
use lastword_domain::effect::life::{self, Begin, Lease, Plan};
use lastword_queue::EffectSignal;
use lastword_rules::Declared;
use lastword_store::{KeptEffect, LoadedEffect, Moment, Recorded, State, StoreError, Written};

use tokio::time::Instant;

use crate::looking::Look;

/// Where time comes from: leases, and when something is due.
pub type Clock = Arc<dyn Fn() -> Moment + Send + Sync>;

/// How often a lost race is run again before the message is left for later.
const MOST_TURNS: u32 = 8;
/// For the store, before and after an attempt.
const RESERVE: Duration = Duration::from_secs(5);
/// The pause when others keep being first.
const BUSY_PAUSE: Duration = Duration::from_secs(1);

/// Everything that lives as long as the process.
#[derive(Clone)]
pub struct Dispatcher {
    pub(crate) config: Arc<Config>,
    pub(crate) rules: Arc<Declared>,
    pub(crate) state: State,
    pub(crate) sender: Arc<Sender>,
    pub(crate) clock: Clock,
}

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Settled {
    /// The effect is there now; nothing follows by itself.
    At(EffectStatus),
    /// It is looked at again after so long.
    Later(Duration),
    /// There is no such effect, or the message is about an earlier time: nothing follows.
    Gone,
}

/// One turn.
pub(crate) enum Turn {
    /// Nothing follows by itself.
    Settled(EffectStatus),
    /// It is looked at again after so long.
    Later(Duration),
    /// Somebody else was first, or something is known now that was not: at once.
    Again,
}

impl Dispatcher {
    /// Puts the parts together, and compiles the rules.
    ///
    /// # Errors
    /// When a rule cannot be compiled: says where and why.
    pub fn new(
        config: Arc<Config>,
        state: State,
        sender: Sender,
        clock: Clock,
    ) -> Result<Self, ConfigError> {
        Ok(Self {
            rules: Arc::new(Declared::compile(&config)?),
            config,
            state,
            sender: Arc::new(sender),
            clock,
        })
    }

    /// The State table it works on.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Settles what a message says is to be sent, or says when to come back. Nothing is begun that might not end before
    /// `until`: what is cut off is uncertain.
    ///
    /// # Errors
    /// When the store could not be used: repeating is safe.
    pub async fn settle(
        &self,
        signal: &EffectSignal,
        until: Instant,
    ) -> Result<Settled, StoreError> {
        for _ in 0..MOST_TURNS {
            let loaded = self
                .state
                .load_effect(&signal.owner, &signal.effect)
                .await?;
            let Some(loaded) = loaded.filter(|loaded| loaded.effect.turn <= signal.turn) else {
                return Ok(Settled::Gone);
            };
            match self.turn(&loaded, until).await? {
                Turn::Settled(status) => return Ok(Settled::At(status)),
                Turn::Later(pause) => return Ok(Settled::Later(pause)),
                Turn::Again => {}
            }
        }
        Ok(Settled::Later(BUSY_PAUSE))
    }

    async fn turn(&self, loaded: &LoadedEffect, until: Instant) -> Result<Turn, StoreError> {
        let (effect, now) = (&loaded.effect, (self.clock)());
        if effect.status == EffectStatus::Pending && effect.due_at > now {
            return Ok(Turn::Later(effect.due_at.since(now)));
        }
        let uncertain = match life::begin(effect.status, effect.uncertain, lease(effect, now)) {
            Begin::Nothing => return Ok(Turn::Settled(effect.status)),
            Begin::Later(left) => return Ok(Turn::Later(left)),
            Begin::Look { uncertain } => uncertain,
        };
        let look = self.look(loaded, now);
        let left = until.saturating_duration_since(Instant::now());
        if left < look.longest() + RESERVE {
            return Ok(Turn::Later(Duration::ZERO));
        }
        match life::plan(uncertain, look.wanted(), look.means) {
            Plan::Send => self.send(effect, &look, uncertain).await,
            Plan::Ask => self.ask(effect, &look, now).await,
            Plan::Supersede => self.supersede(loaded, &look).await,
            Plan::Fail => {
                let error = look.why();
                self.record(effect, Recorded::Failed { error }).await
            }
            Plan::GiveUp => {
                let error = look.doubt();
                let error = error.as_str();
                self.record(effect, Recorded::Ambiguous { error }).await
            }
        }
    }

    async fn supersede(&self, loaded: &LoadedEffect, look: &Look<'_>) -> Result<Turn, StoreError> {
        let holder = holder();
        let writer = self.writer(&holder);
        let superseded = self.state.supersede_effect(loaded, look.why(), writer);
        Ok(match superseded.await? {
            Written::Done(_) => Turn::Settled(EffectStatus::Superseded),
            Written::Lost => Turn::Again,
        })
    }

    /// Writes down what became of it; whoever else wrote meanwhile is looked at first.
    pub(crate) async fn record(
        &self,
        effect: &KeptEffect,
        recorded: Recorded<'_>,
    ) -> Result<Turn, StoreError> {
        let holder = holder();
        let writer = self.writer(&holder);
        let written = self.state.record_effect(effect, recorded, writer).await?;
        Ok(match (written, recorded) {
            (Written::Lost, _) | (Written::Done(_), Recorded::Again { .. }) => Turn::Again,
            (Written::Done(_), Recorded::Done { .. }) => Turn::Settled(EffectStatus::Done),
            (Written::Done(_), Recorded::Failed { .. }) => Turn::Settled(EffectStatus::Failed),
            (Written::Done(_), Recorded::Ambiguous { .. }) => {
                Turn::Settled(EffectStatus::Ambiguous)
            }
        })
    }

    pub(crate) fn writer<'h>(&self, holder: &'h str) -> lastword_store::Writer<'h> {
        lastword_store::Writer {
            holder,
            now: (self.clock)(),
        }
    }
}

/// Another name for every write, so that its own repetition is known.
pub(crate) fn holder() -> String {
    format!("{:016x}", fastrand::u64(..))
}

fn lease(effect: &KeptEffect, now: Moment) -> Lease {
    match effect.lease_until {
        Some(until) if until > now => Lease::Held(until.since(now)),
        Some(_) | None => Lease::Over,
    }
}

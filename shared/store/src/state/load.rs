//! Everything a conclusion needs, in one request: the projection, the decisions already made for these
//! events, and the events themselves. Consistent reads throughout.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{KeysAndAttributes, ReturnConsumedCapacity};
use lastword_domain::{
    EffectKey, EffectRule, EffectStatus, EventRef, Outcome, Projection, ResourceKey,
};

use super::decision::{self, Decision};
use super::projection::Beside;
use super::{Pauses, State, effect, projection};
use crate::error::{self, StoreError};
use crate::inbox::{StoredEvent, event};
use crate::item::Item;

/// The most keys of one request.
const MOST_KEYS: usize = 100;
/// The most actions that a state may call for: their effects are loaded with it.
pub const MOST_ACTIONS: usize = 20;

/// A resource with the signals about it.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// What is held of it.
    pub projection: Projection,
    /// What stands with it that nothing decides by.
    pub beside: Beside,
    /// The signalled events, in the order asked for, each once.
    pub events: Vec<LoadedEvent>,
    /// Where the effects are that its state calls for, of the actions that were asked for.
    pub effects: BTreeMap<EffectRule, EffectStatus>,
}

/// One signalled event.
#[derive(Debug, Clone)]
pub struct LoadedEvent {
    /// Which.
    pub reference: EventRef,
    /// What became of it already.
    pub decided: Option<Outcome>,
    /// Whether its decision, or its failed attempts, have an item of their own.
    pub on_record: bool,
    /// Failed attempts so far.
    pub attempts: u32,
    /// Its row, while the inbox keeps it.
    pub stored: Option<StoredEvent>,
}

/// Whether the events' bodies are loaded with them. They may be large; most strategies need none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bodies {
    /// They are.
    With,
    /// They are left where they are.
    Without,
}

impl State {
    /// Loads a resource and the signals about it.
    ///
    /// Decisions on pages are not looked up: one that was made and is made again says the same. Whoever
    /// records a failure looks there first ([`State::paged_marks`]).
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn load(
        &self,
        resource: &ResourceKey,
        events: &[EventRef],
        bodies: Bodies,
        actions: &[EffectRule],
    ) -> Result<Loaded, StoreError> {
        let mut unique: Vec<&EventRef> = Vec::with_capacity(events.len());
        for event in events {
            if !unique.contains(&event) {
                unique.push(event);
            }
        }
        let mut found = Found::default();
        let hash = resource.hash();
        let effect =
            |rule: &EffectRule| effect::item_key(&hash, &EffectKey::of_state(rule.clone()));
        let mut first: Vec<Item> = actions.iter().take(MOST_ACTIONS).map(effect).collect();
        first.push(projection::key(resource));
        let others = first.len();
        // Two keys for each event, and the others in the first request.
        let mut chunks = unique.chunks((MOST_KEYS - others) / 2);
        loop {
            let chunk = chunks.next().unwrap_or_default();
            let state = chunk
                .iter()
                .map(|event| decision::key(resource, event))
                .chain(std::mem::take(&mut first))
                .collect();
            let inbox = chunk.iter().map(|event| event::key(event)).collect();
            self.get(state, inbox, bodies, &mut found).await?;
            if chunks.len() == 0 {
                break;
            }
        }
        let (projection, beside) = match found.projection {
            Some(item) => projection::decode(&item)?,
            None => (Projection::unknown(), Beside::default()),
        };
        let events = unique.into_iter().map(|reference| {
            let decision = found.decisions.remove(reference);
            let recent = projection
                .recent
                .iter()
                .find(|mark| mark.event == *reference)
                .map(|mark| mark.outcome);
            LoadedEvent {
                reference: reference.clone(),
                decided: decision
                    .as_ref()
                    .and_then(|decision| decision.outcome)
                    .or(recent),
                on_record: decision.is_some(),
                attempts: decision.map_or(0, |decision| decision.attempts),
                stored: found.events.remove(reference),
            }
        });
        Ok(Loaded {
            events: events.collect(),
            projection,
            beside,
            effects: found.effects,
        })
    }

    async fn get(
        &self,
        state: Vec<Item>,
        inbox: Vec<Item>,
        bodies: Bodies,
        found: &mut Found,
    ) -> Result<(), StoreError> {
        let refused = |error: BuildError| StoreError::Refused(error.to_string());
        let keys = |keys| {
            KeysAndAttributes::builder()
                .set_keys(Some(keys))
                .consistent_read(true)
        };
        let mut asked =
            HashMap::from([(self.table.clone(), keys(state).build().map_err(refused)?)]);
        if !inbox.is_empty() {
            let mut rows = keys(inbox);
            if bodies == Bodies::Without {
                let (expression, names) = event::without_body();
                rows = rows
                    .projection_expression(expression)
                    .set_expression_attribute_names(Some(names));
            }
            asked.insert(self.inbox_table.clone(), rows.build().map_err(refused)?);
        }
        let mut pauses = Pauses::default();
        while !asked.is_empty() {
            for (table, items) in self.get_batch(&mut asked).await? {
                for item in items {
                    found.take(table == self.table, item)?;
                }
            }
            if !asked.is_empty() && !pauses.pause().await {
                return Err(StoreError::Busy("keys were left unread".into()));
            }
        }
        Ok(())
    }
}

impl State {
    /// The items of one table under these keys.
    pub(super) async fn get_all(
        &self,
        table: &str,
        keys: KeysAndAttributes,
    ) -> Result<Vec<Item>, StoreError> {
        let mut asked = HashMap::from([(table.to_owned(), keys)]);
        let mut items = Vec::new();
        let mut pauses = Pauses::default();
        while !asked.is_empty() {
            for (_, found) in self.get_batch(&mut asked).await? {
                items.extend(found);
            }
            if !asked.is_empty() && !pauses.pause().await {
                return Err(StoreError::Busy("keys were left unread".into()));
            }
        }
        Ok(items)
    }

    /// One request; what it left unread is asked for next.
    async fn get_batch(
        &self,
        asked: &mut HashMap<String, KeysAndAttributes>,
    ) -> Result<HashMap<String, Vec<Item>>, StoreError> {
        let output = self
            .client
            .batch_get_item()
            .set_request_items(Some(std::mem::take(asked)))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await
            .map_err(|error| error::read(&error))?;
        self.reads.count(output.consumed_capacity());
        *asked = output.unprocessed_keys.unwrap_or_default();
        Ok(output.responses.unwrap_or_default())
    }
}

#[derive(Default)]
struct Found {
    projection: Option<Item>,
    decisions: HashMap<EventRef, Decision>,
    events: HashMap<EventRef, StoredEvent>,
    effects: BTreeMap<EffectRule, EffectStatus>,
}

impl Found {
    fn take(&mut self, of_state: bool, item: Item) -> Result<(), StoreError> {
        if !of_state {
            let (reference, event) = event::decode(&item)?;
            self.events.insert(reference, event);
        } else if decision::is_one(&item) {
            let decision = decision::decode(&item)?;
            self.decisions.insert(decision.event.clone(), decision);
        } else if effect::is_one(&item) {
            self.effects.extend(effect::of_state(&item)?);
        } else {
            self.projection = Some(item);
        }
        Ok(())
    }
}

//! Walks what there is, page by page: the projections of a type, or the subjects of a kind. Keys only, never a state.
//!
//! The index is behind the table by a moment: what is new while somebody walks may be missing, and is new.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{KeysAndAttributes, ReturnConsumedCapacity};
use lastword_domain::name::{Environment, Provider, ResourceType, SubjectKind};
use lastword_domain::{KeyHash, Owner};

use super::rebuild::{self, KeptReport};
use super::{State, projection, subject};
use crate::error::{self, StoreError};
use crate::item::{self, Item};

/// The most keys of one request: half of what the store takes, because each has two items.
const MOST: i32 = 50;

/// What is walked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Census {
    /// Every projection of a type in one world of a provider.
    Resources(Provider, Environment, ResourceType),
    /// Every subject of a kind.
    Subjects(SubjectKind),
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Which.
    pub owner: Owner,
    /// What the last rebuild of it came to, if there ever was one.
    pub rebuilt: Option<KeptReport>,
}

/// Some of them, and where to go on.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// Some; there may be none although there are more.
    pub listed: Vec<Listed>,
    /// Where to go on; `None` at the end.
    pub next: Option<Cursor>,
}

/// Where a walk is.
#[derive(Debug, Clone)]
pub struct Cursor {
    shard: u8,
    start: Option<Item>,
}

impl Census {
    fn partition(&self, shard: u8) -> String {
        let census = match self {
            Self::Resources(provider, environment, kind) => {
                projection::census(provider, environment, kind)
            }
            Self::Subjects(kind) => subject::census(kind),
        };
        format!("{census}#{shard}")
    }

    fn shards(&self) -> u8 {
        match self {
            Self::Resources(..) => projection::SHARDS,
            Self::Subjects(_) => subject::SHARDS,
        }
    }

    /// The attributes that the readable key is made of.
    fn attributes(&self) -> &'static [&'static str] {
        match self {
            Self::Resources(..) => &[
                "pk",
                "sk",
                "provider",
                "account",
                "environment",
                "type",
                "id",
                "run",
                "outcome",
                "differs",
                "why",
                "at",
            ],
            Self::Subjects(_) => &[
                "pk",
                "sk",
                "kind",
                "subject_id",
                "run",
                "outcome",
                "differs",
                "why",
                "at",
            ],
        }
    }

    fn owner(&self, item: &Item) -> Result<Owner, StoreError> {
        match self {
            Self::Resources(..) => projection::decode_key(item).map(Owner::Resource),
            Self::Subjects(_) => subject::decode_key(item).map(Owner::Subject),
        }
    }
}

impl State {
    /// Some of what there is, from the beginning or from where the page before ended.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn census(&self, of: &Census, from: Option<Cursor>) -> Result<Page, StoreError> {
        let Cursor { shard, start } = from.unwrap_or(Cursor {
            shard: 0,
            start: None,
        });
        let output = self
            .client
            .query()
            .table_name(&self.table)
            .index_name("census")
            .key_condition_expression("census = :census")
            .expression_attribute_values(":census", item::text(of.partition(shard)))
            .limit(MOST)
            .set_exclusive_start_key(start)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await
            .map_err(|error| error::read(&error))?;
        self.reads.count(output.consumed_capacity());
        let keys = output.items.unwrap_or_default();
        let next = match output.last_evaluated_key {
            Some(start) => Some(Cursor {
                shard,
                start: Some(start),
            }),
            None => (shard + 1 < of.shards()).then_some(Cursor {
                shard: shard + 1,
                start: None,
            }),
        };
        Ok(Page {
            listed: self.listed(of, &keys).await?,
            next,
        })
    }

    /// Their readable keys, and the reports that stand beside them.
    async fn listed(&self, of: &Census, keys: &[Item]) -> Result<Vec<Listed>, StoreError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let part = |key: &Item, name: &str| Some((name.to_owned(), key.get(name)?.clone()));
        let own = |key: &Item| Item::from_iter(part(key, "pk").into_iter().chain(part(key, "sk")));
        let beside = |key: &Item| {
            let sort = ("sk".to_owned(), item::text(rebuild::SORT));
            Item::from_iter(part(key, "pk").into_iter().chain([sort]))
        };
        let all = keys.iter().map(own).chain(keys.iter().map(beside));
        let (expression, names) = item::only(of.attributes());
        let asked = KeysAndAttributes::builder()
            .set_keys(Some(all.collect()))
            .consistent_read(true)
            .set_projection_expression(expression)
            .set_expression_attribute_names(names)
            .build()
            .map_err(|error| StoreError::Refused(error.to_string()))?;
        let (mut owners, mut reports) = (Vec::new(), HashMap::new());
        for item in self.get_all(&self.table, asked).await? {
            if rebuild::is_one(&item) {
                let hash = item.get("pk").and_then(|pk| pk.as_s().ok()).cloned();
                reports.insert(hash.unwrap_or_default(), rebuild::decode(&item)?);
            } else {
                owners.push(of.owner(&item)?);
            }
        }
        let listed = owners.into_iter().map(|owner| Listed {
            rebuilt: reports.remove(hash_of(&owner).as_str()),
            owner,
        });
        Ok(listed.collect())
    }
}

fn hash_of(owner: &Owner) -> KeyHash {
    owner.hash()
}

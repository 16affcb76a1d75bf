//! | attribute | type | meaning | written by |
//! |---|---|---|---|
//! | `pk`, `sk` | S, S | hash of the resource's or subject's key, `rebuild` | reconcile |
//! | `run` | S | the rebuild that wrote it | reconcile |
//! | `outcome` | S | `same`, `changed`, `kept`, `unread`, `unconfigured` or `failed` | reconcile |
//! | `differs` | L of S | what differed: `contents`, `version`, `verdict`, `links`, `reviews`, `facts`, `members` | reconcile |
//! | `why` | S | why it was kept, not read or not done; no content | reconcile |
//! | `at` | S | for people | reconcile |
//!
//! What the last rebuild came to, one for each partition; the next one writes over it. It is written in the transaction
//! of the rebuild's own conclusion, so that whoever reads it knows that this is done. No index holds it.

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::types::{AttributeValue, KeysAndAttributes, ReturnConsumedCapacity};
use lastword_domain::{KeyHash, Part, Rebuilt, Report};

use super::{Pauses, State};
use crate::error::{self, StoreError};
use crate::item::{self, Item, Reading};
use crate::moment::Moment;

const KIND: &str = "report of a rebuild";
pub(crate) const SORT: &str = "rebuild";
/// The most keys of one request.
const MOST_KEYS: usize = 100;
/// The longest reason that is kept, in characters.
const MOST_WHY: usize = 300;

/// A report as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptReport {
    /// What it tells.
    pub report: Report,
    /// When it was written, as text.
    pub at: String,
}

pub(crate) fn key(hash: &KeyHash) -> Item {
    Item::from([
        ("pk".into(), item::text(hash.as_str())),
        ("sk".into(), item::text(SORT)),
    ])
}

pub(crate) fn encode(hash: &KeyHash, report: &Report, now: Moment) -> Item {
    let mut item = key(hash);
    let mut put = |name: &str, value| item.insert(name.to_owned(), value);
    put("run", item::text(&report.run));
    put("outcome", item::text(report.outcome.as_str()));
    put("at", item::text(now.to_text()));
    if !report.differs.is_empty() {
        let words = report.differs.iter().map(|part| item::text(part.as_str()));
        put("differs", AttributeValue::L(words.collect()));
    }
    if let Some(why) = &report.why {
        let why: String = why.chars().take(MOST_WHY).collect();
        put("why", item::text(why));
    }
    item
}

pub(crate) fn is_one(item: &Item) -> bool {
    matches!(item.get("sk"), Some(AttributeValue::S(sort)) if sort == SORT)
}

pub(crate) fn decode(item: &Item) -> Result<KeptReport, StoreError> {
    let reading = Reading { kind: KIND, item };
    let word = |value: &AttributeValue| {
        let part = value.as_s().ok().and_then(|word| Part::parse(word));
        part.ok_or_else(|| reading.corrupt("differs", "holds something else than parts"))
    };
    let differs: Result<BTreeSet<_>, _> = reading.list("differs")?.iter().map(word).collect();
    Ok(KeptReport {
        report: Report {
            run: reading.text("run")?.to_owned(),
            outcome: reading.name("outcome", |word| Rebuilt::parse(word).ok_or("is unknown"))?,
            differs: differs?,
            why: reading.optional_text("why")?.map(str::to_owned),
        },
        at: reading.text("at")?.to_owned(),
    })
}

impl State {
    /// What the last rebuild came to, of each of these partitions that ever had one.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn reports(
        &self,
        partitions: &[KeyHash],
    ) -> Result<BTreeMap<KeyHash, KeptReport>, StoreError> {
        let mut reports = BTreeMap::new();
        for chunk in partitions.chunks(MOST_KEYS) {
            let keys = KeysAndAttributes::builder()
                .set_keys(Some(chunk.iter().map(key).collect()))
                .consistent_read(true)
                .build()
                .map_err(|error| StoreError::Refused(error.to_string()))?;
            for item in self.get_all(&self.table, keys).await? {
                let own = item.get("pk").and_then(|pk| pk.as_s().ok());
                let own = chunk
                    .iter()
                    .find(|hash| Some(hash.as_str()) == own.map(String::as_str));
                if let Some(hash) = own {
                    reports.insert(hash.clone(), decode(&item)?);
                }
            }
        }
        Ok(reports)
    }

    /// Reports what nothing else is committed with. A report of the same run that says that it is done stays.
    ///
    /// # Errors
    /// When it is unknown whether it was done; repeating is safe.
    pub async fn report(
        &self,
        partition: &KeyHash,
        report: &Report,
        now: Moment,
    ) -> Result<(), StoreError> {
        let mut pauses = Pauses::default();
        loop {
            let sent = self
                .client
                .put_item()
                .table_name(&self.table)
                .set_item(Some(encode(partition, report, now)))
                .condition_expression(
                    "attribute_not_exists(pk) OR #run <> :run OR #outcome IN (:unread, :failed)",
                )
                .expression_attribute_names("#run", "run")
                .expression_attribute_names("#outcome", "outcome")
                .expression_attribute_values(":run", item::text(&report.run))
                .expression_attribute_values(":unread", item::text(Rebuilt::Unread.as_str()))
                .expression_attribute_values(":failed", item::text(Rebuilt::Failed.as_str()))
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send()
                .await;
            let failed = match sent {
                Ok(output) => {
                    self.writes.count(output.consumed_capacity());
                    return Ok(());
                }
                Err(failed) => failed,
            };
            let stays = matches!(
                failed.as_service_error(),
                Some(PutItemError::ConditionalCheckFailedException(_))
            );
            if stays {
                return Ok(());
            }
            let error = error::read(&failed);
            if !(error::is_conflict(&error) && pauses.pause().await) {
                return Err(error);
            }
        }
    }
}

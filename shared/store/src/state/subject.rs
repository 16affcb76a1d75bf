//! | attribute | type | meaning | written by |
//! |---|---|---|---|
//! | `pk`, `sk` | S, S | hash of the subject's key, `subject` | reconcile |
//! | `kind`, `subject_id` | S, S | the key's readable parts | reconcile |
//! | `revision` | N | how many decisions it has behind it; every commit is conditional on it | reconcile |
//! | `verdict` | S | what its rules conclude, as JSON | reconcile |
//! | `reviews` | L of S | the reviews that its members call for | reconcile |
//! | `members` | N | how many members it was decided from | reconcile |
//! | `basis` | B | digest of those members and their revisions | reconcile |
//! | `decided_at` | S | for people | reconcile |
//! | `called` | M of BOOL | each action that it may call for, and whether it did | reconcile |
//! | `census` | S | index `census`: kind and shard | reconcile |
//!
//! A thing of our own business. It owns no data and is decided from its members, all at once, under its own revision.
//! A decision that says the same as before advances the revision all the same: otherwise a slower worker could still
//! commit what an earlier set of members said.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::types::{Put, ReturnConsumedCapacity, TransactWriteItem};
use lastword_domain::effect::outbox::{Called, EffectWrite};
use lastword_domain::name::{SubjectId, SubjectKind};
use lastword_domain::{
    Digest, EffectRule, EffectStatus, Evidence, Meaning, Owner, Report, Revision, SubjectKey,
};

use super::effect::{self, KeptEffect};
use super::member::{self, MemberCopy};
use super::rebuild::{self, KeptReport};
use super::review::{self, Holder, Review};
use super::{Committed, Pauses, State, meaning};
use crate::error::{self, StoreError};
use crate::item::{self, Item, Reading};
use crate::moment::Moment;

const KIND: &str = "subject";
const SORT: &str = "subject";
/// How many partitions one kind of the census is spread over.
pub(crate) const SHARDS: u8 = 4;

/// A subject with its members, as loaded for a decision.
#[derive(Debug, Clone)]
pub struct LoadedSubject {
    /// How many decisions it has behind it.
    pub revision: Revision,
    /// What was concluded last.
    pub meaning: Meaning,
    /// Who speaks about it now, in the order of their keys, which is nobody's order of arrival.
    pub members: Vec<MemberCopy>,
    /// Which actions it called for.
    pub called: Called,
    /// Where the effects are that it calls for.
    pub effects: BTreeMap<EffectRule, EffectStatus>,
}

/// A subject as people look at it.
#[derive(Debug, Clone)]
pub struct SubjectStory {
    /// The decision.
    pub loaded: LoadedSubject,
    /// When it was decided, as text.
    pub decided_at: Option<String>,
    /// Its reviews, whatever became of them.
    pub reviews: Vec<Review>,
    /// Its effects, whatever became of them.
    pub effects: Vec<KeptEffect>,
    /// What the last rebuild came to, if there ever was one.
    pub rebuilt: Option<KeptReport>,
}

/// What a decision about a subject commits.
#[derive(Debug, Clone, Copy)]
pub struct SubjectCommit<'c> {
    /// Which.
    pub subject: &'c SubjectKey,
    /// What was loaded before it was decided.
    pub held: &'c LoadedSubject,
    /// What is concluded.
    pub next: &'c Meaning,
    /// What a person is shown of reviews that it opens.
    pub evidence: &'c Evidence,
    /// Which actions it calls for now.
    pub called: &'c Called,
    /// What is written of effects.
    pub effects: &'c [EffectWrite],
    /// What a rebuild tells of itself, if one decides.
    pub report: Option<&'c Report>,
    /// For people.
    pub now: Moment,
}

/// How the partitions of the census begin in which a kind's subjects are.
pub(crate) fn census(kind: &SubjectKind) -> String {
    format!("subject/{kind}")
}

pub(crate) fn key(subject: &SubjectKey) -> Item {
    Item::from([
        ("pk".into(), item::text(subject.hash().as_str())),
        ("sk".into(), item::text(SORT)),
    ])
}

fn encode(commit: &SubjectCommit<'_>) -> Item {
    let SubjectCommit {
        subject,
        held,
        next,
        evidence: _,
        called,
        effects: _,
        report: _,
        now,
    } = *commit;
    let mut item = key(subject);
    let shard = subject.hash().as_str().bytes().next().unwrap_or_default() % SHARDS;
    let basis: Vec<String> = held
        .members
        .iter()
        .map(|member| {
            format!(
                "{} {} {}",
                member.role,
                member.resource.hash(),
                member.revision
            )
        })
        .collect();
    let basis = Digest::of_parts(&basis.iter().map(String::as_str).collect::<Vec<_>>());
    let mut put = |name: &str, value| item.insert(name.to_owned(), value);
    put("kind", item::text(subject.kind.as_str()));
    put("subject_id", item::text(subject.id.as_str()));
    put("revision", item::number(held.revision.next()));
    put("members", item::number(held.members.len()));
    put("basis", item::bytes(basis.as_bytes().as_slice()));
    put("decided_at", item::text(now.to_text()));
    put(
        "census",
        item::text(format!("{}#{shard}", census(&subject.kind))),
    );
    meaning::encode(next, &mut item);
    effect::encode_called(called, &mut item);
    item
}

fn condition(held: Revision, values: &mut Item) -> &'static str {
    if held == Revision::NONE {
        return "attribute_not_exists(pk)";
    }
    values.insert(":held".into(), item::number(held));
    "revision = :held"
}

impl State {
    /// Loads a subject and its members.
    ///
    /// The subject's own item first: what its revision is compared with when the decision is committed must be older
    /// than every member that was looked at.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn load_subject(&self, subject: &SubjectKey) -> Result<LoadedSubject, StoreError> {
        let output = self
            .client
            .get_item()
            .table_name(&self.table)
            .set_key(Some(key(subject)))
            .consistent_read(true)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await
            .map_err(|error| error::read(&error))?;
        self.reads.count(output.consumed_capacity());
        let mut loaded = match &output.item {
            None => LoadedSubject::unknown(),
            Some(item) => decode(item)?,
        };
        // Effects and members stand next to each other, and nothing else does between them.
        let items = self
            .range(&subject.hash(), effect::PREFIX, "member$")
            .await?;
        for item in &items {
            if effect::is_one(item) {
                loaded.effects.extend(effect::of_state(item)?);
            } else {
                loaded.members.extend(member::decode(item)?);
            }
        }
        Ok(loaded)
    }

    /// Everything about a subject.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn subject_story(&self, subject: &SubjectKey) -> Result<SubjectStory, StoreError> {
        let mut story = SubjectStory {
            loaded: LoadedSubject::unknown(),
            decided_at: None,
            reviews: Vec::new(),
            effects: Vec::new(),
            rebuilt: None,
        };
        for item in self.partition(&subject.hash(), "").await? {
            if member::is_one(&item) {
                story.loaded.members.extend(member::decode(&item)?);
            } else if review::is_one(&item) {
                story.reviews.push(review::decode(&item)?);
            } else if effect::is_one(&item) {
                story.effects.push(effect::decode(&item)?);
            } else if rebuild::is_one(&item) {
                story.rebuilt = Some(rebuild::decode(&item)?);
            } else if item
                .get("sk")
                .and_then(|sort| sort.as_s().ok())
                .map(String::as_str)
                == Some(SORT)
            {
                let decided = decode(&item)?;
                let members = std::mem::take(&mut story.loaded.members);
                story.loaded = LoadedSubject { members, ..decided };
                let reading = Reading {
                    kind: KIND,
                    item: &item,
                };
                story.decided_at = reading.optional_text("decided_at")?.map(str::to_owned);
            }
        }
        Ok(story)
    }

    /// Commits a decision about a subject, with the reviews that it opens or withdraws.
    ///
    /// # Errors
    /// When it is unknown whether it was done; repeating the whole decision is safe.
    pub async fn commit_subject(
        &self,
        commit: &SubjectCommit<'_>,
    ) -> Result<Committed, StoreError> {
        let item = encode(commit);
        if item::size(&item) > item::MOST_BYTES {
            return Ok(Committed::TooLarge);
        }
        let members = commit.held.members.iter();
        let identifiers: Vec<String> = members
            .map(|member| format!("{} {}", member.role, member.resource))
            .take(MOST_IDENTIFIERS)
            .collect();
        let holder = Holder {
            hash: commit.subject.hash(),
            about: format!("subject {}", commit.subject),
            identifiers: &identifiers,
            evidence: commit.evidence,
        };
        let reviews = self
            .review_writes(&holder, &commit.held.meaning, commit.next, commit.now)
            .await?;
        let done = Committed::Done(commit.held.revision.next());
        let mut values = Item::new();
        let condition = condition(commit.held.revision, &mut values);
        let values = (!values.is_empty()).then_some(values);
        let owner = Owner::Subject(commit.subject.clone());
        let effects = self.effect_writes(&owner, commit.effects, commit.now)?;
        if reviews.is_empty() && effects.is_empty() && commit.report.is_none() {
            let put = self.put_subject(item, condition, values).await?;
            return Ok(if put { done } else { Committed::Lost });
        }
        let put = Put::builder()
            .table_name(&self.table)
            .set_item(Some(item))
            .condition_expression(condition)
            .set_expression_attribute_values(values)
            .build()
            .map_err(|error| StoreError::Refused(error.to_string()))?;
        let mut writes = vec![TransactWriteItem::builder().put(put).build()];
        writes.extend(reviews);
        writes.extend(effects);
        if let Some(report) = commit.report {
            let report = rebuild::encode(&commit.subject.hash(), report, commit.now);
            writes.push(self.put_write(report)?);
        }
        Ok(if self.transact(writes).await? {
            done
        } else {
            Committed::Lost
        })
    }

    async fn put_subject(
        &self,
        item: Item,
        condition: &str,
        values: Option<Item>,
    ) -> Result<bool, StoreError> {
        let mut pauses = Pauses::default();
        loop {
            let sent = self
                .client
                .put_item()
                .table_name(&self.table)
                .set_item(Some(item.clone()))
                .condition_expression(condition)
                .set_expression_attribute_values(values.clone())
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send()
                .await;
            let failed = match sent {
                Ok(output) => {
                    self.writes.count(output.consumed_capacity());
                    return Ok(true);
                }
                Err(failed) => failed,
            };
            // Also when our own write's answer was lost and the SDK wrote again: the next load shows it.
            let refused = matches!(
                failed.as_service_error(),
                Some(PutItemError::ConditionalCheckFailedException(_))
            );
            if refused {
                return Ok(false);
            }
            let error = error::read(&failed);
            if !(error::is_conflict(&error) && pauses.pause().await) {
                return Err(error);
            }
        }
    }
}

/// The most members that a review names.
const MOST_IDENTIFIERS: usize = 50;

impl LoadedSubject {
    fn unknown() -> Self {
        Self {
            revision: Revision::NONE,
            meaning: Meaning::default(),
            members: Vec::new(),
            called: Called::new(),
            effects: BTreeMap::new(),
        }
    }
}

/// The key from its readable parts.
pub(crate) fn decode_key(item: &Item) -> Result<SubjectKey, StoreError> {
    let reading = Reading { kind: KIND, item };
    Ok(SubjectKey {
        kind: reading.name("kind", SubjectKind::parse)?,
        id: reading.name("subject_id", SubjectId::parse)?,
    })
}

/// The subject's own item.
fn decode(item: &Item) -> Result<LoadedSubject, StoreError> {
    let reading = Reading { kind: KIND, item };
    let revision = reading
        .optional_number("revision")?
        .map(Revision::from_number)
        .ok_or_else(|| reading.corrupt("revision", "is missing"))?;
    Ok(LoadedSubject {
        revision,
        meaning: meaning::decode(reading)?,
        called: effect::decode_called(reading)?,
        ..LoadedSubject::unknown()
    })
}

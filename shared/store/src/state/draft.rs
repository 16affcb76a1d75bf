//! | attribute | type | meaning | written by |
//! |---|---|---|---|
//! | `pk`, `sk` | S, S | `draft#<hash of the owner's key>`, `draft#<the effect's business key>` | draft |
//! | `about` | S | the resource or subject, readable | draft |
//! | `effect`, `wording` | S, S | their names | draft |
//! | `text` | S | what a person may send | draft |
//! | `source` | S | `model` or `template` | draft |
//! | `why` | S | why a model's text was not taken, in one word of [`NotTaken`] | draft |
//! | `status` | S | `waiting` | draft |
//! | `created_at` | S | for people | draft |
//!
//! Law 13: a text waits for a person and decides nothing. Drafts have partitions of their own, so that who writes them
//! can be kept from everything else by the name of the partition. Whoever comes first stays; nothing here is written
//! twice, and no draft is in an index.

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::types::ReturnConsumedCapacity;
use lastword_domain::name::{EffectName, WordingName};
use lastword_domain::{Digest, KeyHash, Owner};

use crate::error::{self, StoreError};
use crate::item::{self, Item, Reading};
use crate::meter::Meter;

const KIND: &str = "draft";
/// How a draft's partition and sort key begin.
pub const PREFIX: &str = "draft#";
const WAITING: &str = "waiting";

/// Why a model's text was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NotTaken {
    /// There is no model.
    Off,
    /// It could not be reached, or its answer is none.
    Down,
    /// It did not answer in time.
    Slow,
    /// It answered that it does not, or not now.
    Refused,
    /// It said nothing.
    Empty,
    /// It said more than is allowed, or was cut off.
    TooLong,
    /// A number or an identifier in it was not given.
    NotGiven,
    /// A value that must be mentioned is not.
    NotMentioned,
    /// It holds a word that no text may hold.
    ForbiddenWord,
    /// It holds markup.
    Markup,
    /// It holds an address that was not given.
    Address,
    /// It reads like an instruction to a model.
    Instruction,
    /// It holds characters that plain text does not need.
    StrangeCharacters,
}

impl NotTaken {
    /// Each of them.
    pub const ALL: [Self; 13] = [
        Self::Off,
        Self::Down,
        Self::Slow,
        Self::Refused,
        Self::Empty,
        Self::TooLong,
        Self::NotGiven,
        Self::NotMentioned,
        Self::ForbiddenWord,
        Self::Markup,
        Self::Address,
        Self::Instruction,
        Self::StrangeCharacters,
    ];

    /// As it is stored and logged.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Down => "down",
            Self::Slow => "slow",
            Self::Refused => "refused",
            Self::Empty => "empty",
            Self::TooLong => "too-long",
            Self::NotGiven => "not-given",
            Self::NotMentioned => "not-mentioned",
            Self::ForbiddenWord => "forbidden-word",
            Self::Markup => "markup",
            Self::Address => "address",
            Self::Instruction => "instruction",
            Self::StrangeCharacters => "strange-characters",
        }
    }

    /// From what is stored.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|why| why.as_str() == word)
    }
}

/// Where a text is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A model wrote it.
    Model,
    /// It is the approved text.
    Template(NotTaken),
}

impl Source {
    /// As it is stored and logged.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Template(_) => "template",
        }
    }

    /// Why a model's text was not taken.
    #[must_use]
    pub fn why(self) -> Option<NotTaken> {
        match self {
            Self::Model => None,
            Self::Template(why) => Some(why),
        }
    }
}

/// A text that waits for a person.
#[derive(Clone, PartialEq, Eq)]
pub struct Draft {
    /// The effect's business key.
    pub key: Digest,
    /// The resource or subject, readable.
    pub about: String,
    /// Which effect wanted wording.
    pub effect: EffectName,
    /// How it was to be worded.
    pub wording: WordingName,
    /// The text.
    pub text: String,
    /// Where the text is from.
    pub source: Source,
    /// When it was made, as text.
    pub created_at: String,
}

/// Without what a customer would read in it.
impl std::fmt::Debug for Draft {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Draft")
            .field("effect", &self.effect)
            .field("wording", &self.wording)
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

/// What became of putting a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Put {
    /// It is there now.
    Done,
    /// There was one already, and it stays.
    ThereAlready,
}

/// The drafts, and no other part of the State table.
#[derive(Debug, Clone)]
pub struct Drafts {
    client: Client,
    table: String,
    /// Counts write units.
    pub writes: Meter,
}

fn partition(owner: &KeyHash) -> String {
    format!("{PREFIX}{owner}")
}

fn encode(owner: &KeyHash, draft: &Draft) -> Item {
    let mut item = Item::from([
        ("pk".into(), item::text(partition(owner))),
        (
            "sk".into(),
            item::text(format!("{PREFIX}{}", draft.key.to_text())),
        ),
        ("about".into(), item::text(&draft.about)),
        ("effect".into(), item::text(draft.effect.as_str())),
        ("wording".into(), item::text(draft.wording.as_str())),
        ("text".into(), item::text(&draft.text)),
        ("source".into(), item::text(draft.source.as_str())),
        ("status".into(), item::text(WAITING)),
        ("created_at".into(), item::text(&draft.created_at)),
    ]);
    if let Some(why) = draft.source.why() {
        item.insert("why".into(), item::text(why.as_str()));
    }
    item
}

fn decode(item: &Item) -> Result<Draft, StoreError> {
    let reading = Reading { kind: KIND, item };
    let why = match reading.optional_text("why")? {
        None => None,
        Some(word) => {
            Some(NotTaken::parse(word).ok_or_else(|| reading.corrupt("why", "is unknown"))?)
        }
    };
    let source = match (reading.text("source")?, why) {
        ("model", None) => Source::Model,
        ("template", Some(why)) => Source::Template(why),
        (_, _) => return Err(reading.corrupt("source", "is unknown")),
    };
    Ok(Draft {
        key: reading.name("sk", |sort| {
            let key = sort.strip_prefix(PREFIX).and_then(Digest::from_text);
            key.ok_or("is no draft's")
        })?,
        about: reading.text("about")?.to_owned(),
        effect: reading.name("effect", EffectName::parse)?,
        wording: reading.name("wording", WordingName::parse)?,
        text: reading.text("text")?.to_owned(),
        source,
        created_at: reading.text("created_at")?.to_owned(),
    })
}

impl Drafts {
    /// Works on this State table.
    #[must_use]
    pub fn new(client: Client, table: impl Into<String>) -> Self {
        Self {
            client,
            table: table.into(),
            writes: Meter::default(),
        }
    }

    /// Puts a draft, unless its key has one.
    ///
    /// # Errors
    /// When it is unknown whether it was put; repeating is safe. When it is too large for the store.
    pub async fn put(&self, owner: &Owner, draft: &Draft) -> Result<Put, StoreError> {
        let item = encode(&owner.hash(), draft);
        if item::size(&item) > item::MOST_BYTES {
            let message = format!("a draft of more than {} bytes", item::MOST_BYTES);
            return Err(StoreError::Refused(message));
        }
        let sent = self
            .client
            .put_item()
            .table_name(&self.table)
            .set_item(Some(item))
            .condition_expression("attribute_not_exists(pk)")
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await;
        let failed = match sent {
            Ok(output) => {
                self.writes.count(output.consumed_capacity());
                return Ok(Put::Done);
            }
            Err(failed) => failed,
        };
        match failed.as_service_error() {
            Some(PutItemError::ConditionalCheckFailedException(_)) => Ok(Put::ThereAlready),
            Some(_) | None => Err(error::read(&failed)),
        }
    }

    /// The drafts of what is kept under this key, in the order of their keys. Who only puts them may not ask this.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn of(&self, owner: &KeyHash) -> Result<Vec<Draft>, StoreError> {
        let mut drafts = Vec::new();
        let mut start = None;
        loop {
            let page = self
                .client
                .query()
                .table_name(&self.table)
                .key_condition_expression("pk = :pk")
                .expression_attribute_values(":pk", item::text(partition(owner)))
                .consistent_read(true)
                .set_exclusive_start_key(start)
                .send()
                .await
                .map_err(|error| error::read(&error))?;
            for item in page.items() {
                drafts.push(decode(item)?);
            }
            start = page.last_evaluated_key;
            if start.is_none() {
                return Ok(drafts);
            }
        }
    }
}

//! | attribute | type | meaning | written by |
//! |---|---|---|---|
//! | `pk`, `sk` | S, S | hash of the subject's key, `member#<role>#<hash of the resource's key>` | reconcile |
//! | `subject_kind`, `subject_id` | S, S | the subject's readable parts, for the relay | reconcile |
//! | `provider`, `account`, `environment`, `type`, `id` | S | the resource's | reconcile |
//! | `state` and others | | its contents, as in [`super::content`] | reconcile |
//! | `left` | BOOL | it speaks about this subject no more; then without contents | reconcile |
//! | `revision` | N | the resource's revision that this was copied at | reconcile |
//! | `rebuild` | S | the rebuild that wrote it, if one did: what follows creates no effect | reconcile |
//!
//! A resource's state in the partition of a subject that it speaks about. It is written in the transaction that
//! commits the resource's own conclusion, so copy and original never differ; it is emptied when the resource no
//! longer speaks about the subject (nothing is ever deleted). Each such change shows in the table's stream, and becomes a
//! signal.

use aws_sdk_dynamodb::types::AttributeValue;
use lastword_domain::name::{Role, SubjectId, SubjectKind};
use lastword_domain::{Contents, Link, ResourceKey, Revision, SubjectKey};
use serde::Deserialize;

use super::content;
use crate::error::StoreError;
use crate::item::{self, Item, Reading};

const KIND: &str = "member";
/// How a member's sort key begins, for whoever reads the table's stream.
pub const PREFIX: &str = "member#";
/// About what everything but the state takes of the item.
const OVERHEAD: usize = 480;

/// A member as its subject's rules see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberCopy {
    /// As what.
    pub role: Role,
    /// Which resource.
    pub resource: ResourceKey,
    /// What it is: one state, or several of which none was chosen.
    pub contents: Contents,
    /// The resource's revision at that time.
    pub revision: Revision,
}

pub(crate) fn key(link: &Link, resource: &ResourceKey) -> Item {
    let sort = format!("{PREFIX}{}#{}", link.role, resource.hash());
    Item::from([
        ("pk".into(), item::text(link.subject.hash().as_str())),
        ("sk".into(), item::text(sort)),
    ])
}

/// Why a copy is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Copying<'c> {
    pub(crate) revision: Revision,
    pub(crate) rebuild: Option<&'c str>,
}

pub(crate) fn encode(
    link: &Link,
    resource: &ResourceKey,
    contents: &Contents,
    copying: Copying<'_>,
) -> Item {
    let mut item = key(link, resource);
    named(link, &mut item);
    item::resource(resource, &mut item);
    copying.put(&mut item);
    content::encode(contents, OVERHEAD, &mut item);
    item
}

impl Copying<'_> {
    fn put(self, item: &mut Item) {
        item.insert("revision".into(), item::number(self.revision));
        if let Some(run) = self.rebuild {
            item.insert("rebuild".into(), item::text(run));
        }
    }
}

/// What stays of a member that left.
pub(crate) fn encode_left(link: &Link, resource: &ResourceKey, copying: Copying<'_>) -> Item {
    let mut item = key(link, resource);
    named(link, &mut item);
    item.insert("left".into(), AttributeValue::Bool(true));
    copying.put(&mut item);
    item
}

fn named(link: &Link, item: &mut Item) {
    item.insert(
        "subject_kind".into(),
        item::text(link.subject.kind.as_str()),
    );
    item.insert("subject_id".into(), item::text(link.subject.id.as_str()));
}

/// A member; `None` for one that left.
pub(crate) fn decode(item: &Item) -> Result<Option<MemberCopy>, StoreError> {
    let reading = Reading { kind: KIND, item };
    if reading.flag("left")? {
        return Ok(None);
    }
    let role = reading.name("sk", |sort| {
        let rest = sort.strip_prefix(PREFIX).unwrap_or(sort);
        Role::parse(rest.split_once('#').map_or(rest, |(role, _)| role))
    })?;
    Ok(Some(MemberCopy {
        role,
        resource: reading.resource()?,
        contents: content::decode(reading)?
            .ok_or_else(|| reading.corrupt("state", "is missing"))?,
        revision: reading
            .optional_number("revision")?
            .map(Revision::from_number)
            .ok_or_else(|| reading.corrupt("revision", "is missing"))?,
    }))
}

/// Whether an item of a subject's partition is a member.
pub(crate) fn is_one(item: &Item) -> bool {
    matches!(item.get("sk"), Some(AttributeValue::S(sort)) if sort.starts_with(PREFIX))
}

#[derive(Deserialize)]
struct Text {
    #[serde(rename = "S")]
    text: String,
}

#[derive(Deserialize)]
struct Image {
    sk: Text,
    subject_kind: Option<Text>,
    subject_id: Option<Text>,
    rebuild: Option<Text>,
}

/// A member's change, as the table's stream shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// Whose member.
    pub subject: SubjectKey,
    /// The rebuild that wrote it, if one did.
    pub rebuild: Option<String>,
}

/// The subject of a member that a record of the table's stream shows, as JSON; `None` when it shows something
/// else.
///
/// # Errors
/// When it is not an item of this table.
pub fn streamed(image: &str) -> Result<Option<Moved>, StoreError> {
    let corrupt = |attribute, why: String| StoreError::Corrupt {
        item: "streamed member",
        attribute,
        why,
    };
    let image: Image =
        serde_json::from_str(image).map_err(|error| corrupt("sk", error.to_string()))?;
    if !image.sk.text.starts_with(PREFIX) {
        return Ok(None);
    }
    let (Some(kind), Some(id)) = (image.subject_kind, image.subject_id) else {
        return Err(corrupt("subject_kind", "is missing".to_owned()));
    };
    let subject = SubjectKey {
        kind: SubjectKind::parse(&kind.text)
            .map_err(|error| corrupt("subject_kind", error.to_string()))?,
        id: SubjectId::parse(&id.text).map_err(|error| corrupt("subject_id", error.to_string()))?,
    };
    Ok(Some(Moved {
        subject,
        rebuild: image.rebuild.map(|run| run.text),
    }))
}

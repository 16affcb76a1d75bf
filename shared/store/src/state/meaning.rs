//! What a state means, as it stands in a projection's or a subject's item. The attributes are described there.

use aws_sdk_dynamodb::types::AttributeValue;
use lastword_domain::name::{Role, SubjectId, SubjectKind};
use lastword_domain::{Json, Link, Meaning, ReviewKey, SubjectKey};

use crate::error::StoreError;
use crate::item::{self, Item, Reading};

const VERDICT: &str = "verdict";
const LINKS: &str = "links";
const REVIEWS: &str = "reviews";

pub(crate) fn encode(meaning: &Meaning, item: &mut Item) {
    if let Some(verdict) = &meaning.verdict {
        item.insert(VERDICT.into(), item::text(verdict.as_str()));
    }
    if !meaning.links.is_empty() {
        let links = meaning.links.iter().map(|link| {
            let parts = [
                link.subject.kind.as_str(),
                link.subject.id.as_str(),
                link.role.as_str(),
            ];
            AttributeValue::L(parts.map(item::text).to_vec())
        });
        item.insert(LINKS.into(), AttributeValue::L(links.collect()));
    }
    if !meaning.reviews.is_empty() {
        let keys = meaning
            .reviews
            .iter()
            .map(|key| item::text(key.to_string()));
        item.insert(REVIEWS.into(), AttributeValue::L(keys.collect()));
    }
}

pub(crate) fn decode(reading: Reading<'_>) -> Result<Meaning, StoreError> {
    let verdict = match reading.optional_text(VERDICT)? {
        None => None,
        Some(text) => Some(Json::parse(text).map_err(|error| reading.corrupt(VERDICT, error))?),
    };
    let links = reading.list(LINKS)?.iter();
    let reviews = reading.list(REVIEWS)?.iter();
    let review = |value: &AttributeValue| {
        let text = value.as_s().ok();
        text.and_then(|text| ReviewKey::parse(text).ok())
            .ok_or_else(|| reading.corrupt(REVIEWS, "holds something else than reviews' keys"))
    };
    Ok(Meaning {
        verdict,
        links: links
            .map(|value| link(reading, value))
            .collect::<Result<_, _>>()?,
        reviews: reviews.map(review).collect::<Result<_, _>>()?,
    })
}

fn link(reading: Reading<'_>, value: &AttributeValue) -> Result<Link, StoreError> {
    let corrupt = || reading.corrupt(LINKS, "does not hold kind, id and role");
    let parts = value.as_l().map(Vec::as_slice).unwrap_or_default();
    let [
        AttributeValue::S(kind),
        AttributeValue::S(id),
        AttributeValue::S(role),
    ] = parts
    else {
        return Err(corrupt());
    };
    Ok(Link {
        subject: SubjectKey {
            kind: SubjectKind::parse(kind).map_err(|_| corrupt())?,
            id: SubjectId::parse(id).map_err(|_| corrupt())?,
        },
        role: Role::parse(role).map_err(|_| corrupt())?,
    })
}

//! What a state, or a subject's members together, mean: verdict, links and reviews. Functions of what is held and of
//! what is declared, and of nothing that was held before.
//!
//! Subjects are in [`crate::together`].

use std::collections::{BTreeMap, BTreeSet};

use lastword_config::On;
use lastword_domain::effect::outbox::Asked;
use lastword_domain::name::{IntegrationName, RuleName, SubjectId};
use lastword_domain::{
    Content, Contents, Digest, EffectRule, Evidence, Json, Link, Meaning, Projection, ResourceKey,
    ReviewKey, Standing, SubjectKey,
};

use crate::declared::{Declared, OfResource, RESOURCE, STATE};
use crate::effects::{About, with_verdict};
use crate::error::EvalError;
use crate::ruleset::{Judged, RuleSet};
use crate::scope::Scope;
use crate::value::Value;

/// The most subjects that one state may speak about: each is a write in the state's own transaction.
pub const MOST_LINKS: usize = 10;

/// Contents under equal evidence, of which none may be chosen.
const CONTESTED: &str = "lastword.contested";
/// A later version of what was deleted for good.
const CHANGED_AFTER_DELETION: &str = "lastword.changed-after-deletion";
/// One fact with different contents.
const FACT_CONTESTED: &str = "lastword.fact-contested";
/// A change is missing, and the source cannot be read instead.
const GAP: &str = "lastword.gap";
/// Rules that cannot be evaluated.
const RULE_FAILED: &str = "lastword.rule-failed";

/// What is known beside the contents.
#[derive(Debug, Clone, Copy, Default)]
pub struct Found<'f> {
    /// Identities of facts that came with different contents.
    pub contested: &'f [String],
    /// Whether a change is missing before others that wait.
    pub gap: Gap<'f>,
}

/// Whether a change is missing before others that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Gap<'f> {
    /// That was not looked for: what was known of it stays, while anything waits.
    #[default]
    NotLookedFor,
    /// None is.
    None,
    /// This number is, and there is time for it to come.
    Waits(&'f str),
    /// This number is, and only a person can help.
    Overdue(&'f str),
}

/// What something means, and what a person is shown of the reviews that this calls for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Meant {
    /// What is kept.
    pub meaning: Meaning,
    /// For reviews that are opened now.
    pub evidence: Evidence,
    /// What the declared actions say.
    pub asked: BTreeMap<EffectRule, Asked>,
}

impl Declared {
    /// What a projection means.
    #[must_use]
    pub fn meaning(
        &self,
        integration: &IntegrationName,
        resource: &ResourceKey,
        projection: &Projection,
        found: Found<'_>,
    ) -> Meant {
        let mut evidence = Evidence::new();
        let mut meaning = Meaning {
            reviews: own_reviews(projection, found, &mut evidence),
            ..Meaning::default()
        };
        let key = (integration.clone(), resource.kind.clone());
        let nothing = OfResource::default();
        let declared = self.resources.get(&key).unwrap_or(&nothing);
        let Some(contents) = &projection.contents else {
            return Meant {
                meaning,
                evidence,
                asked: BTreeMap::new(),
            };
        };
        let mut failed = BTreeMap::new();
        meaning.links = declared.links(resource, contents, &mut failed);
        if let Some(rules) = &declared.rules {
            let (verdict, reviews) = concluded(rules, resource, contents, &mut failed);
            meaning.verdict = verdict;
            meaning
                .reviews
                .extend(reviews.iter().map(|(key, _)| key.clone()));
            evidence.extend(shown(reviews));
        } else if !failed.is_empty() {
            meaning.verdict = Judged::undecided(failed.clone()).to_json().ok();
        }
        let on = On::Resource(key.0, key.1);
        let verdict = meaning.verdict.as_ref();
        let asked = match contents.standing() {
            Standing::Present(state) => {
                let scope = with_verdict(of_resource(resource, state), verdict);
                self.ask(&on, About::State(scope), &mut failed)
            }
            Standing::Deleted => self.ask(&on, About::Deleted, &mut failed),
            Standing::Contested(_) => self.ask(&on, About::InDoubt, &mut failed),
        };
        meaning.reviews.extend(failure(&failed, &contents.digest()));
        Meant {
            meaning,
            evidence,
            asked,
        }
    }
}

/// The reviews that need no rule.
fn own_reviews(
    projection: &Projection,
    found: Found<'_>,
    evidence: &mut Evidence,
) -> BTreeSet<ReviewKey> {
    let version = projection.version.as_ref().map(ToString::to_string);
    let version = version.unwrap_or_default();
    let missing = match found.gap {
        Gap::NotLookedFor | Gap::None => None,
        Gap::Waits(missing) | Gap::Overdue(missing) => key(GAP, &Digest::of_parts(&[missing])),
    };
    let still_missing = |review: &ReviewKey| match found.gap {
        Gap::NotLookedFor => projection.waiting,
        Gap::None | Gap::Waits(_) | Gap::Overdue(_) => missing.as_ref() == Some(review),
    };
    // What was contested stays so: facts are never taken back.
    let held = projection.meaning.reviews.iter();
    let held = held.filter(|review| match review.rule.as_str() {
        FACT_CONTESTED => true,
        GAP => still_missing(review),
        _ => false,
    });
    let mut reviews: BTreeSet<_> = held.cloned().collect();
    for identity in found.contested {
        let key = key(FACT_CONTESTED, &Digest::of_parts(&[identity]));
        evidence.extend(key.clone().map(|key| (key, vec![identity.clone()])));
        reviews.extend(key);
    }
    if let Gap::Overdue(number) = found.gap {
        let shown = vec![format!("change {number} is missing")];
        evidence.extend(missing.clone().map(|key| (key, shown)));
        reviews.extend(missing);
    }
    if let Some(Standing::Contested(contents)) = projection.standing() {
        let evidence = Digest::of_parts(&[&version, &contents.digest().to_text()]);
        reviews.extend(key(CONTESTED, &evidence));
    }
    if let Some(grave) = &projection.grave {
        let deleted = grave.version.as_ref();
        if deleted.is_some() && deleted < projection.version.as_ref() {
            let deleted = deleted.map(ToString::to_string).unwrap_or_default();
            let key = key(
                CHANGED_AFTER_DELETION,
                &Digest::of_parts(&[&deleted, &version]),
            );
            let shown = vec![
                format!("deleted at {deleted}"),
                format!("changed at {version}"),
            ];
            evidence.extend(key.clone().map(|key| (key, shown)));
            reviews.extend(key);
        }
    }
    reviews
}

/// Verdict and reviews of a resource's rules. They are evaluated over one present state only: a tombstone is deleted and
/// a contested state contested, and either allows nothing.
fn concluded(
    rules: &RuleSet,
    resource: &ResourceKey,
    contents: &Contents,
    failed: &mut BTreeMap<String, EvalError>,
) -> (Option<Json>, Vec<Called>) {
    let state = match contents.standing() {
        Standing::Present(state) => state,
        Standing::Deleted => return (word("deleted"), Vec::new()),
        Standing::Contested(_) => return (word("contested"), Vec::new()),
    };
    let mut judged = rules.decide(&of_resource(resource, state));
    // What it says of subjects takes nothing back of what its rules allow; but it is told with the rest.
    judged.failed.append(failed);
    let verdict = stored(&judged, failed);
    failed.append(&mut judged.failed.clone());
    let reviews = declared_reviews(&judged, &contents.digest()).collect();
    (verdict, reviews)
}

impl OfResource {
    /// The subjects that a state speaks about; of several contents, all that any of them speaks about. A deleted one
    /// speaks about none.
    fn links(
        &self,
        resource: &ResourceKey,
        contents: &Contents,
        failed: &mut BTreeMap<String, EvalError>,
    ) -> BTreeSet<Link> {
        let mut links = BTreeSet::new();
        let states = contents.iter().filter_map(|content| match content {
            Content::Present(state) => Some(state),
            Content::Deleted => None,
        });
        for state in states {
            let scope = of_resource(resource, state);
            for rule in &self.links {
                let ids = rule.link.texts(&scope).and_then(|ids| {
                    let parsed = ids.iter().map(|id| SubjectId::parse(id)).collect();
                    let parsed: Result<Vec<_>, _> = parsed;
                    parsed.map_err(|_| EvalError::NotANumber("link"))
                });
                match ids {
                    Ok(ids) => links.extend(ids.into_iter().map(|id| Link {
                        subject: SubjectKey {
                            kind: rule.subject.clone(),
                            id,
                        },
                        role: rule.role.clone(),
                    })),
                    Err(error) => {
                        failed.insert(format!("link.{}.{}", rule.subject, rule.role), error);
                    }
                }
            }
        }
        if links.len() > MOST_LINKS {
            failed.insert("link".to_owned(), EvalError::OverBudget);
            return BTreeSet::new();
        }
        links
    }
}

pub(crate) fn of_resource(resource: &ResourceKey, state: &Json) -> Scope {
    Scope::new()
        .with(STATE, Value::from_json(state))
        .with(RESOURCE, text(&resource_json(resource)))
}

pub(crate) fn resource_json(resource: &ResourceKey) -> String {
    serde_json::json!({
        "provider": resource.provider.as_str(),
        "account": resource.account.as_str(),
        "environment": resource.environment.as_str(),
        "type": resource.kind.as_str(),
        "id": resource.id.as_str(),
    })
    .to_string()
}

/// JSON that was just written, as a value; states keep their digits. One that is nested too deep is none.
pub(crate) fn text(json: &str) -> Value {
    Json::parse(json).map_or(Value::Null, |json| Value::from_json(&json))
}

/// Reviews that a rule calls for, known by their evidence; without any, by everything that was decided from.
pub(crate) fn declared_reviews<'j>(
    judged: &'j Judged,
    basis: &'j Digest,
) -> impl Iterator<Item = Called> + 'j {
    judged.reviews.iter().filter_map(move |(rule, evidence)| {
        let digest = evidence.as_ref().map_or(*basis, Json::meaning);
        let shown = evidence.as_ref().map(|json| json.as_str().to_owned());
        Some((key(rule, &digest)?, shown))
    })
}

/// A review that is called for, and the evidence that its rule names, if it does.
pub(crate) type Called = (ReviewKey, Option<String>);

/// What a person is shown of those whose rules name it.
pub(crate) fn shown(reviews: Vec<Called>) -> impl Iterator<Item = (ReviewKey, Vec<String>)> {
    let each = reviews.into_iter();
    each.filter_map(|(key, shown)| Some((key, vec![shown?])))
}

/// A review for rules that cannot be evaluated: once for the same rules over the same states.
pub(crate) fn failure(failed: &BTreeMap<String, EvalError>, basis: &Digest) -> Option<ReviewKey> {
    if failed.is_empty() {
        return None;
    }
    let basis = basis.to_text();
    let names = failed.keys().map(String::as_str);
    let parts: Vec<&str> = std::iter::once(basis.as_str()).chain(names).collect();
    key(RULE_FAILED, &Digest::of_parts(&parts))
}

pub(crate) fn key(rule: &str, evidence: &Digest) -> Option<ReviewKey> {
    Some(ReviewKey {
        rule: RuleName::parse(rule).ok()?,
        evidence: *evidence,
    })
}

/// A verdict that is only a word.
pub(crate) fn word(state: &str) -> Option<Json> {
    Json::parse(&format!(
        r#"{{"allowed":[],"data":{{}},"state":"{state}"}}"#
    ))
    .ok()
}

pub(crate) fn stored(judged: &Judged, failed: &mut BTreeMap<String, EvalError>) -> Option<Json> {
    match judged.to_json() {
        Ok(verdict) => Some(verdict),
        Err(_) => {
            failed.insert("data".to_owned(), EvalError::TooDeep);
            word(Judged::UNDECIDED)
        }
    }
}

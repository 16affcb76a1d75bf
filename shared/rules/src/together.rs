//! What a subject's members mean together.
//!
//! Law 12, whoever owns a field decides it: the members stay apart. No rule sees a mixture of them, a member that is
//! missing is shown as missing, and where two resources claim the one place of a role, none is chosen.

use std::collections::{BTreeMap, BTreeSet};

use lastword_config::On;
use lastword_domain::name::Role;
use lastword_domain::{
    Content, Contents, Digest, Evidence, Meaning, ResourceKey, ReviewKey, Standing, SubjectKey,
};

use crate::declared::{Declared, OfSubject, SUBJECT};
use crate::effects::{About, with_verdict};
use crate::meaning::{
    Meant, declared_reviews, failure, key, resource_json, shown, stored, text, word,
};
use crate::ruleset::Judged;
use crate::scope::Scope;

/// Several resources in a role for one.
const SEVERAL: &str = "lastword.several-members";
/// More than a subject's item can hold.
const TOO_LARGE: &str = "lastword.too-large";

/// A member as its subject sees it.
#[derive(Debug, Clone, Copy)]
pub struct Member<'m> {
    /// As what.
    pub role: &'m Role,
    /// Which resource.
    pub resource: &'m ResourceKey,
    /// What it is.
    pub contents: &'m Contents,
}

impl Declared {
    /// What a subject's members mean together. One without members means nothing.
    #[must_use]
    pub fn subject(&self, subject: &SubjectKey, members: &[Member<'_>]) -> Meant {
        let on = On::Subject(subject.kind.clone());
        let Some(declared) = self
            .subjects
            .get(&subject.kind)
            .filter(|_| !members.is_empty())
        else {
            // It calls for nothing, and is asked again when it has members again.
            return Meant {
                asked: self.ask(&on, About::Deleted, &mut BTreeMap::new()),
                ..Meant::default()
            };
        };
        let basis = basis(members);
        let scope = declared.scope(subject, members);
        let judged = declared.rules.decide(&scope);
        let mut failed = judged.failed.clone();
        let verdict = stored(&judged, &mut failed);
        let mut evidence: Evidence = declared.several(members).collect();
        let mut reviews: BTreeSet<_> = evidence.keys().cloned().collect();
        let called: Vec<_> = declared_reviews(&judged, &basis).collect();
        reviews.extend(called.iter().map(|(key, _)| key.clone()));
        let about = About::State(with_verdict(scope, verdict.as_ref()));
        let asked = self.ask(&on, about, &mut failed);
        reviews.extend(failure(&failed, &basis));
        evidence.extend(shown(called));
        Meant {
            asked,
            meaning: Meaning {
                verdict,
                links: BTreeSet::new(),
                reviews,
            },
            evidence,
        }
    }

    /// What is said of a subject whose verdict is larger than can be kept.
    #[must_use]
    pub fn too_large(&self, members: &[Member<'_>]) -> Meaning {
        Meaning {
            verdict: word(Judged::UNDECIDED),
            links: BTreeSet::new(),
            reviews: key(TOO_LARGE, &basis(members)).into_iter().collect(),
        }
    }
}

impl OfSubject {
    pub(crate) fn scope(&self, subject: &SubjectKey, members: &[Member<'_>]) -> Scope {
        let mut scope = Scope::new().with(SUBJECT, text(&subject_json(subject)));
        for (role, many) in &self.roles {
            let own: Vec<_> = of_role(members, role).map(member_json).collect();
            let value = match (own.as_slice(), many) {
                (all, true) => format!("[{}]", all.join(",")),
                ([], false) => r#"{"standing":"missing"}"#.to_owned(),
                ([one], false) => one.clone(),
                (all, false) => {
                    format!(r#"{{"standing":"several","members":[{}]}}"#, all.join(","))
                }
            };
            scope = scope.with(role.as_str(), text(&value));
        }
        scope
    }

    /// Roles for one that several resources claim.
    fn several<'s>(
        &'s self,
        members: &'s [Member<'_>],
    ) -> impl Iterator<Item = (ReviewKey, Vec<String>)> + 's {
        let one = self.roles.iter().filter(|(_, many)| !**many);
        one.filter_map(move |(role, _)| {
            let shown = of_role(members, role)
                .map(|member| format!("{role} {}", member.resource))
                .collect();
            let own: Vec<String> = of_role(members, role)
                .map(|member| member.resource.hash().to_string())
                .collect();
            let parts: Vec<&str> = std::iter::once(role.as_str())
                .chain(own.iter().map(String::as_str))
                .collect();
            let key = (own.len() > 1).then(|| key(SEVERAL, &Digest::of_parts(&parts)))??;
            Some((key, shown))
        })
    }
}

/// In the order of the resources' keys, which is nobody's order of arrival.
fn of_role<'m>(members: &'m [Member<'m>], role: &Role) -> impl Iterator<Item = &'m Member<'m>> {
    let mut own: Vec<_> = members
        .iter()
        .filter(|member| member.role == role)
        .collect();
    own.sort_by(|one, other| one.resource.cmp(other.resource));
    own.into_iter()
}

fn member_json(member: &Member<'_>) -> String {
    let resource = resource_json(member.resource);
    let state = |content: &Content| match content {
        Content::Present(state) => state.as_str().to_owned(),
        Content::Deleted => "null".to_owned(),
    };
    match member.contents.standing() {
        Standing::Present(state) => format!(
            r#"{{"standing":"present","resource":{resource},"state":{}}}"#,
            state.as_str()
        ),
        Standing::Deleted => format!(r#"{{"standing":"deleted","resource":{resource}}}"#),
        Standing::Contested(contents) => {
            let states: Vec<_> = contents.iter().map(state).collect();
            format!(
                r#"{{"standing":"contested","resource":{resource},"states":[{}]}}"#,
                states.join(",")
            )
        }
    }
}

fn subject_json(subject: &SubjectKey) -> String {
    serde_json::json!({ "kind": subject.kind.as_str(), "id": subject.id.as_str() }).to_string()
}

/// What is decided from: the members and what they say.
fn basis(members: &[Member<'_>]) -> Digest {
    let mut parts: Vec<String> = members
        .iter()
        .map(|member| {
            let (role, hash) = (member.role, member.resource.hash());
            format!("{role} {hash} {}", member.contents.digest())
        })
        .collect();
    parts.sort_unstable();
    Digest::of_parts(&parts.iter().map(String::as_str).collect::<Vec<_>>())
}

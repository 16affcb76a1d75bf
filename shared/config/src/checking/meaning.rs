//! Rules and subjects: their names, and what they refer to. The expressions themselves are compiled elsewhere.

use std::collections::BTreeMap;

use lastword_domain::name::{IntegrationName, ResourceType, Role, RuleName, SubjectKind};
use toml::Spanned;

use super::Checker;
use crate::integration::{Integration, Resource};
use crate::meaning::{Member, ReviewText, RuleText, RuleTexts, Subject, Subjects};
use crate::problem::line_of;
use crate::raw::{RawIntegration, RawMember, RawRules, RawSubject};

/// Reviews that are opened without a rule have these names.
const KEPT: &str = "lastword.";

type Integrations = BTreeMap<IntegrationName, Integration>;

impl Checker<'_> {
    /// Gives each kept resource type the rules that are declared for it.
    pub(super) fn meanings(
        &mut self,
        setting: &str,
        raw: &RawIntegration,
        kept: &mut BTreeMap<ResourceType, Resource>,
    ) {
        for (name, rules) in &raw.rules {
            let setting = format!("{setting}.rules.{}", name.get_ref());
            let texts = self.rule_texts(&setting, rules);
            let kind = self.name(name, &setting, ResourceType::parse);
            match kind.and_then(|kind| kept.get_mut(&kind)) {
                Some(resource) => resource.meaning = texts,
                None => self.report(
                    name.span().start,
                    &setting,
                    "no state of such a resource type is kept by this integration",
                ),
            }
        }
    }

    pub(super) fn subjects(
        &mut self,
        raw: &BTreeMap<Spanned<String>, Spanned<RawSubject>>,
        integrations: &Integrations,
    ) -> Subjects {
        let mut subjects = Subjects::new();
        for (name, subject) in raw {
            let setting = format!("subjects.{}", name.get_ref());
            let kind = self.name(name, &setting, SubjectKind::parse);
            let at = subject.span().start;
            let subject = subject.get_ref();
            if subject.members.is_empty() {
                let message = "it has no members: expected some, such as \
                               members.payment = { from = \"billing/invoice\", link = \"…\" }";
                self.report(at, &setting, message);
            }
            let mut members = BTreeMap::new();
            for (role, member) in &subject.members {
                let setting = format!("{setting}.members.{}", role.get_ref());
                let parsed = self.role(role, &setting);
                let member = self.member(&setting, member, integrations);
                members.extend(parsed.zip(member));
            }
            let rules = self.rule_texts(&format!("{setting}.rules"), &subject.rules);
            subjects.extend(kind.map(|kind| (kind, Subject { members, rules })));
        }
        subjects
    }

    /// A role is a variable in the subject's expressions.
    fn role(&mut self, role: &Spanned<String>, setting: &str) -> Option<Role> {
        const TAKEN: [&str; 7] = ["subject", "verdict", "true", "false", "null", "in", "has"];
        let text = role.get_ref();
        let plain = text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        if !plain
            || text.starts_with(|c: char| c.is_ascii_digit())
            || TAKEN.contains(&text.as_str())
        {
            let message = format!(
                "found {text:?}; a role is a variable in expressions: a-z, 0-9 and '_', not beginning with a digit, \
                 and none of {}",
                TAKEN.join(", ")
            );
            self.report(role.span().start, setting, message);
            return None;
        }
        self.name(role, setting, Role::parse)
    }

    fn member(
        &mut self,
        setting: &str,
        raw: &Spanned<RawMember>,
        integrations: &Integrations,
    ) -> Option<Member> {
        let raw = raw.get_ref();
        let link = self.rule_text(&format!("{setting}.link"), &raw.link);
        let from = raw.from.get_ref();
        let found = from.split_once('/').and_then(|(integration, resource)| {
            let integration = IntegrationName::parse(integration).ok()?;
            let resource = ResourceType::parse(resource).ok()?;
            let known = integrations.get(&integration)?;
            known
                .resources
                .contains_key(&resource)
                .then_some((integration, resource))
        });
        let Some((integration, resource)) = found else {
            let all = integrations.values().flat_map(|integration| {
                let kinds = integration.resources.keys();
                kinds.map(move |kind| format!("{}/{kind}", integration.name))
            });
            let known = all.collect::<Vec<_>>().join(", ");
            self.report(
                raw.from.span().start,
                &format!("{setting}.from"),
                format_args!("found {from:?}; kept are {known}"),
            );
            return None;
        };
        Some(Member {
            integration,
            resource,
            link,
            many: raw.many,
        })
    }

    fn rule_texts(&mut self, setting: &str, raw: &RawRules) -> RuleTexts {
        let mut texts = RuleTexts {
            state: raw
                .state
                .as_ref()
                .map(|text| self.rule_text(&format!("{setting}.state"), text)),
            ..RuleTexts::default()
        };
        for (name, text) in &raw.allow {
            let setting = format!("{setting}.allow.{}", name.get_ref());
            let text = self.rule_text(&setting, text);
            texts.allow.insert(name.get_ref().clone(), text);
        }
        for (name, text) in &raw.data {
            let setting = format!("{setting}.data.{}", name.get_ref());
            let text = self.rule_text(&setting, text);
            texts.data.insert(name.get_ref().clone(), text);
        }
        for (name, review) in &raw.review {
            let setting = format!("{setting}.review.{}", name.get_ref());
            let when = self.rule_text(&format!("{setting}.when"), &review.when);
            let evidence = review
                .evidence
                .as_ref()
                .map(|text| self.rule_text(&format!("{setting}.evidence"), text));
            if name.get_ref().starts_with(KEPT) {
                let message =
                    format!("names that begin with {KEPT:?} are kept for our own reviews");
                self.report(name.span().start, &setting, message);
            }
            if let Some(name) = self.name(name, &setting, RuleName::parse) {
                texts.review.insert(name, ReviewText { when, evidence });
            }
        }
        texts
    }

    /// An expression with its line. A text in three quotes begins on the line after them when nothing follows them.
    pub(super) fn rule_text(&mut self, setting: &str, text: &Spanned<String>) -> RuleText {
        let start = text.span().start;
        let rest = self.text.get(start..).unwrap_or_default();
        let quoted = ["\"\"\"", "'''"]
            .iter()
            .find_map(|quotes| rest.strip_prefix(quotes));
        let below = quoted.is_some_and(|inner| inner.starts_with(['\n', '\r']));
        RuleText {
            text: text.get_ref().clone(),
            line: line_of(self.text, start) + usize::from(below),
            setting: setting.to_owned(),
        }
    }
}

//! What a set of rules comes to.

use std::collections::BTreeMap;

use lastword_domain::Json;
use proptest::prelude::*;

use super::{compile, scope, value};
use crate::{EvalError, Expression, Judged, ReviewRule, RuleSet, Scope};

fn named(rules: &[(&str, &str)]) -> BTreeMap<String, Expression> {
    let rules = rules.iter();
    rules
        .map(|(name, text)| ((*name).to_owned(), compile(text)))
        .collect()
}

fn review(when: &str, evidence: Option<&str>) -> ReviewRule {
    ReviewRule {
        when: compile(when),
        evidence: evidence.map(compile),
    }
}

fn rules() -> RuleSet {
    RuleSet {
        state: Some(compile("state.paid ? 'paid' : 'open'")),
        allow: named(&[
            ("ship", "state.paid"),
            ("cancel", "!state.paid"),
            ("see", "true"),
        ]),
        data: named(&[
            ("amount", "state.amount"),
            ("parts", "state.parts.map(p, {'of': p})"),
        ]),
        review: BTreeMap::from([
            (
                "large".to_owned(),
                review("state.amount > 100", Some("state.amount")),
            ),
            ("unpaid".to_owned(), review("!state.paid", None)),
        ]),
    }
}

#[test]
fn what_can_be_decided_is_told_and_stored_with_its_digits() {
    let judged = rules().decide(&scope(r#"{"parts":["b","a"],"amount":1.10e3,"paid":true}"#));
    assert_eq!(
        judged.to_json().unwrap().as_str(),
        r#"{"allowed":["see","ship"],"data":{"amount":1.10e3,"parts":[{"of":"b"},{"of":"a"}]},"state":"paid"}"#
    );
    let large = Json::parse("1.10e3").unwrap();
    assert_eq!(
        judged.reviews,
        BTreeMap::from([("large".to_owned(), Some(large))])
    );
    assert!(judged.failed.is_empty());
}

#[test]
fn while_anything_is_undecided_nothing_is_allowed_and_reviews_are_still_told() {
    let judged = rules().decide(&scope(r#"{"amount":100.01,"paid":false}"#));
    assert_eq!(judged.state, Judged::UNDECIDED);
    assert!(judged.allowed.is_empty() && judged.data.is_empty());
    assert_eq!(judged.reviews.len(), 2);
    let missing = EvalError::MissingMember("parts".to_owned());
    assert_eq!(
        judged.failed,
        BTreeMap::from([("data.parts".to_owned(), missing)])
    );
    assert_eq!(
        judged.to_json().unwrap().as_str(),
        r#"{"allowed":[],"data":{},"failed":{"data.parts":"there is no member 'parts'"},"state":"undecided"}"#
    );
    let nothing = rules().decide(&Scope::new());
    let failed: Vec<_> = nothing.failed.keys().map(String::as_str).collect();
    assert_eq!(
        failed,
        [
            "allow.cancel",
            "allow.ship",
            "data.amount",
            "data.parts",
            "review.large",
            "review.unpaid",
            "state"
        ]
    );
}

#[test]
fn a_review_whose_evidence_fails_is_a_failure() {
    let rules = RuleSet {
        review: BTreeMap::from([("odd".to_owned(), review("true", Some("state.x")))]),
        ..RuleSet::default()
    };
    let judged = rules.decide(&scope("{}"));
    assert!(judged.reviews.is_empty() && judged.failed.contains_key("review.odd"));
}

#[test]
fn without_rules_it_is_decided_and_nothing_is_allowed() {
    let judged = RuleSet::default().decide(&Scope::new());
    assert_eq!(judged.state, "decided");
    assert!(judged.allowed.is_empty() && judged.failed.is_empty());
}

#[test]
fn one_budget_is_spent_on_all_rules() {
    let slow = "items.all(a, items.all(b, true))";
    let all: Vec<_> = (0..8).map(|n| format!("r{n}")).collect();
    let all: Vec<_> = all.iter().map(|name| (name.as_str(), slow)).collect();
    let rules = RuleSet {
        allow: named(&all),
        ..RuleSet::default()
    };
    let items =
        |count| Scope::new().with("items", value(&format!("[{}]", vec!["1"; count].join(","))));
    assert_eq!(rules.decide(&items(100)).allowed.len(), 8);
    let judged = rules.decide(&items(1200));
    assert!(
        judged
            .failed
            .values()
            .all(|error| *error == EvalError::OverBudget)
    );
    assert!(!judged.failed.is_empty() && judged.allowed.is_empty());
}

proptest! {
    #[test]
    fn the_order_of_members_and_of_variables_changes_nothing(
        members in proptest::collection::btree_map("[a-e]{1,2}", -5i64..200, 0..6).prop_flat_map(|members| {
            let members: Vec<_> = members.into_iter().collect();
            (Just(members.clone()).prop_shuffle(), Just(members).prop_shuffle())
        }),
    ) {
        let rules = RuleSet {
            state: Some(compile("state.map(k, k).filter(k, state[k] > 50).size() > 1 ? 'many' : 'few'")),
            allow: named(&[("all", "state.all(k, event[k] == state[k])"), ("a", "state.a > 0")]),
            data: named(&[("names", "state.map(k, [k, state[k]])"), ("whole", "[state, event]")]),
            review: BTreeMap::from([("b".to_owned(), review("state.exists(k, state[k] < 0)", Some("state")))]),
        };
        let json = |members: &[(String, i64)]| {
            let members: Vec<_> = members.iter().map(|(k, v)| format!("\"{k}\":{v}")).collect();
            value(&format!("{{{}}}", members.join(", ")))
        };
        let (one, other) = (json(&members.0), json(&members.1));
        let first = rules.decide(&Scope::new().with("state", one.clone()).with("event", other.clone()));
        let second = rules.decide(&Scope::new().with("event", one).with("state", other));
        let stored = |judged: &Judged| judged.to_json().unwrap().as_str().to_owned();
        prop_assert_eq!(stored(&first), stored(&second));
        prop_assert_eq!(first, second);
    }
}

use super::*;
use crate::contract::Contract;
use lastword_domain::name::{ResourceId, ResourceType};

fn rules(contract: &str, kind: &str) -> ResourceRules {
    Contract::builtin(contract)
        .unwrap()
        .resources
        .remove(&ResourceType::parse(kind).unwrap())
        .unwrap()
}

fn id(text: &str) -> ResourceId {
    ResourceId::parse(text).unwrap()
}

#[test]
fn a_versioned_body_proves_its_version_or_nothing() {
    let rules: ResourceRules = toml::from_str(
        "events=[\"order.*\"]\nid=\"body:/order/id\"\nstrategies=[\"version\"]\nsnapshot=\"/order\"\nversion=\"/order/version\"\ndeleted_by=[\"order.deleted\"]",
    )
    .unwrap();
    let proved = rules
        .evidence("order.changed", br#"{"order":{"id":1,"version":7}}"#)
        .unwrap();
    assert_eq!(proved.version.as_str(), "7");
    assert!(matches!(proved.content, Content::Present(_)));
    let gone = rules
        .evidence("order.deleted", br#"{"order":{"id":1,"version":"8"}}"#)
        .unwrap();
    assert_eq!(gone.content, Content::Deleted);
    for body in [
        "{}",
        "{\"order\":{\"version\":1.5}}",
        "x",
        "{\"order\":{\"version\":-1}}",
        // No object, or two readings of one.
        "{\"order\":{\"version\":1,\"status\":\"paid\",\"status\":\"cancelled\"}}",
    ] {
        assert!(
            rules.evidence("order.changed", body.as_bytes()).is_err(),
            "{body}"
        );
    }
    let long = format!("{{\"order\":{{\"version\":{}}}}}", "9".repeat(39));
    assert!(rules.evidence("order.changed", long.as_bytes()).is_err());
}

#[test]
fn a_snapshot_that_is_no_object_proves_nothing() {
    let rules: ResourceRules = toml::from_str(
        "events=[\"order.*\"]\nid=\"body:/id\"\nstrategies=[\"version\"]\nsnapshot=\"/order\"\nversion=\"/version\"",
    )
    .unwrap();
    let proves = |order: &str| {
        let body = format!("{{\"version\":1,\"order\":{order}}}");
        rules.evidence("order.changed", body.as_bytes()).is_ok()
    };
    assert!(proves("{}"));
    for order in ["[]", "\"paid\"", "7", "true", "null"] {
        assert!(!proves(order), "{order}");
    }
}

#[test]
fn an_answer_that_is_no_object_is_no_state() {
    let rules = rules("stripe", "customer");
    let seen = |body: &str| rules.seen(&id("cus_1"), body.as_bytes());
    assert!(matches!(
        seen(r#"{"id":"cus_1"}"#).unwrap().content,
        Content::Present(_)
    ));
    assert_eq!(
        seen(r#"{"id":"cus_1","deleted":true}"#).unwrap().content,
        Content::Deleted
    );
    for body in [
        "",
        "[]",
        "null",
        "<html>",
        "\"x\"",
        r#"{"id":"cus_1","name":"a","name":"b"}"#,
    ] {
        assert!(seen(body).is_err(), "{body}");
    }
}

#[test]
fn an_answer_that_is_another_object_or_does_not_say_which_it_is_is_not_believed() {
    let other = Err(NoEvidence("the object that was asked for"));
    let customer = rules("stripe", "customer");
    for body in [
        "{}",
        r#"{"id":"cus_2"}"#,
        r#"{"id":"cus_2","deleted":true}"#,
        r#"{"deleted":true}"#,
        r#"{"id":null}"#,
        r#"{"id":{"id":"cus_1"}}"#,
        r#"{"status":"down for maintenance"}"#,
    ] {
        assert_eq!(
            customer.seen(&id("cus_1"), body.as_bytes()),
            other,
            "{body}"
        );
    }
    // An id of one part may hold a slash, and is compared whole.
    assert!(customer.seen(&id("a/b"), br#"{"id":"a/b"}"#).is_ok());
    assert_eq!(customer.seen(&id("a/b"), br#"{"id":"b"}"#), other);
}

#[test]
fn an_object_known_by_its_number_in_a_repository_is_compared_by_the_number_s_digits() {
    let issue = rules("github", "issue");
    let shows = |number: &str| {
        let body = format!("{{\"id\":7,\"number\":{number}}}");
        issue.seen(&id("99/18446744073709551617"), body.as_bytes())
    };
    assert!(shows("18446744073709551617").is_ok());
    for number in ["18446744073709551616", "1.8446744073709551617e19", "99"] {
        assert!(shows(number).is_err(), "{number}");
    }
}

/// An answer that holds values at these pointers and nothing else.
fn holding(values: &[(String, serde_json::Value)]) -> String {
    let mut answer = serde_json::json!({});
    for (pointer, value) in values {
        let mut at = &mut answer;
        for name in pointer.split('/').skip(1) {
            at = &mut at[name];
        }
        *at = value.clone();
    }
    answer.to_string()
}

#[test]
fn of_every_kind_of_object_that_is_read_the_least_answer_that_its_contract_describes_is_believed() {
    for name in crate::Contract::names() {
        let contract = crate::Contract::builtin(name).unwrap();
        for (kind, rules) in contract
            .resources
            .iter()
            .filter(|(_, rules)| rules.read.is_some())
        {
            let parts = rules.id.as_slice().len();
            let id = vec!["7"; parts].join("/");
            let at = rules
                .read_at
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default();
            let mut values = Vec::new();
            for pointer in rules.read_id.iter().chain(&rules.read_version) {
                values.push((format!("{at}{pointer}"), serde_json::json!("7")));
            }
            let answer = holding(&values);
            let seen = rules.seen(&ResourceId::parse(&id).unwrap(), answer.as_bytes());
            assert!(
                matches!(&seen, Ok(seen) if matches!(seen.content, Content::Present(_))),
                "{name} {kind}: {seen:?} of {answer}"
            );
        }
    }
}

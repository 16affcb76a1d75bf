use super::*;
use crate::contract::Contract;
use crate::signature::SigningKey;
use lastword_domain::Content;

fn tenant(contract: &Contract, account: &str, further: &[&str], environment: &str) -> Tenant {
    Tenant {
        provider: contract.name.clone(),
        account: Account::parse(account).unwrap(),
        further: further.iter().map(|a| Account::parse(a).unwrap()).collect(),
        environment: Environment::parse(environment).unwrap(),
    }
}

/// Reads a body through the only door there is: a checked signature.
fn read(
    name: &str,
    tenant_of: (&str, &[&str], &str),
    headers: &[(&str, &str)],
    body: &str,
) -> Reading {
    let contract = Contract::builtin(name).unwrap();
    let reader = Reader::new(
        tenant(&contract, tenant_of.0, tenant_of.1, tenant_of.2),
        &contract.event,
        &contract.resources,
    );
    let key: SigningKey = contract.signature.key("whsec_x").unwrap();
    let signature = contract.signature.sign(body.as_bytes(), &key, 1000);
    let mut all: Headers = headers.iter().copied().collect();
    all.add(&contract.signature.header, &signature);
    let verified = contract
        .signature
        .verify(&all, body.as_bytes(), &[key], 1000)
        .unwrap();
    reader.read(&all, verified)
}

fn stripe(body: &str) -> Reading {
    read("stripe", ("acct_own", &["acct_other"], "live"), &[], body)
}

fn github(event: &str, body: &str) -> Reading {
    read(
        "github",
        ("10", &[], "main"),
        &[("X-GitHub-Event", event), ("x-github-delivery", "guid-1")],
        body,
    )
}

fn concerns(reading: Reading) -> Event {
    let Reading::Concerns(event) = reading else {
        panic!("{reading:?}")
    };
    event
}

#[test]
fn an_event_of_a_connected_account_is_that_account_s_and_of_none_is_our_own() {
    let body = |account| {
        format!(
            r#"{{"id":"evt_1","type":"invoice.paid","livemode":true{account},"data":{{"object":{{"id":"in_1"}}}}}}"#
        )
    };
    let own = concerns(stripe(&body("")));
    assert_eq!(
        own.resources[0].to_string(),
        "stripe/acct_own/live/invoice/in_1"
    );
    let null = concerns(stripe(&body(r#","account":null"#)));
    assert_eq!(null, own);
    let other = concerns(stripe(&body(r#","account":"acct_other""#)));
    assert_eq!(other.resources[0].account.as_str(), "acct_other");
    assert_ne!(other.identity.hash(), own.identity.hash());
    assert_eq!(
        stripe(&body(r#","account":"acct_stranger""#)),
        Reading::ForeignAccount
    );
}

#[test]
fn an_event_of_the_provider_s_other_world_concerns_nothing_here() {
    let body =
        r#"{"id":"evt_1","type":"invoice.paid","livemode":false,"data":{"object":{"id":"in_1"}}}"#;
    assert_eq!(stripe(body), Reading::OtherEnvironment);
}

#[test]
fn an_unrouted_type_is_named() {
    let body = r#"{"id":"evt_1","type":"invoice.upcoming","livemode":true,"data":{"object":{"object":"invoice"}}}"#;
    assert!(matches!(stripe(body), Reading::Unrouted(kind) if kind.as_str() == "invoice.upcoming"));
}

#[test]
fn a_body_that_is_not_json_or_lacks_its_id_is_kept_about_itself() {
    for body in [
        "not json",
        "{",
        "[]",
        "{}",
        "\"text\"",
        r#"{"id":"evt_1","type":"invoice.paid","livemode":true,"data":{}}"#,
    ] {
        let event = concerns(stripe(body));
        assert_eq!(event.resources[0].kind.as_str(), UNREADABLE, "{body}");
        assert_eq!(event.resources[0].account.as_str(), "acct_own");
    }
    assert_ne!(
        concerns(stripe("a")).identity,
        concerns(stripe("b")).identity
    );
    assert_eq!(
        concerns(github("issues", "nonsense")).identity.id.as_str(),
        "guid-1"
    );
}

#[test]
fn an_id_that_cannot_be_kept_exactly_is_refused_and_never_cut() {
    let body = |id: &str| {
        format!(
            r#"{{"id":"evt_1","type":"invoice.paid","livemode":true,"data":{{"object":{{"id":{id}}}}}}}"#
        )
    };
    assert!(matches!(
        stripe(&body("\"\"")),
        Reading::Refused(NameError::Empty { .. })
    ));
    assert!(matches!(
        stripe(&body(&format!("\"{}\"", "x".repeat(3000)))),
        Reading::Refused(NameError::TooLong { .. })
    ));
    for (id, exact) in [
        ("18446744073709551616", "18446744073709551616"),
        ("\"a#b/c \\u0007😊\"", "a#b/c \u{7}😊"),
    ] {
        assert_eq!(concerns(stripe(&body(id))).resources[0].id.as_str(), exact);
    }
}

#[test]
fn a_github_issue_is_known_by_its_repository_and_number() {
    let body =
        r#"{"action":"opened","issue":{"number":7},"repository":{"id":99,"owner":{"id":10}}}"#;
    let event = concerns(github("issues", body));
    assert_eq!(event.kind.as_str(), "issues.opened");
    assert_eq!(event.resources[0].to_string(), "github/10/main/issue/99/7");
    assert_eq!(
        github("star", body),
        Reading::Unrouted(EventType::parse("star.opened").unwrap())
    );
}

#[test]
fn another_event_name_over_a_signed_body_finds_no_id_and_touches_no_resource() {
    let body =
        r#"{"action":"opened","issue":{"number":7},"repository":{"id":99,"owner":{"id":10}}}"#;
    assert_eq!(
        concerns(github("pull_request", body)).resources[0]
            .kind
            .as_str(),
        UNREADABLE
    );
}

#[test]
fn a_part_of_an_id_that_holds_the_joint_is_refused() {
    let body =
        r#"{"action":"opened","issue":{"number":"7/8"},"repository":{"id":99,"owner":{"id":10}}}"#;
    assert!(matches!(github("issues", body), Reading::Refused(_)));
}

#[test]
fn two_different_ids_in_one_header_are_none() {
    let body =
        r#"{"action":"opened","issue":{"number":7},"repository":{"id":99,"owner":{"id":10}}}"#;
    let headers = [
        ("X-GitHub-Event", "issues"),
        ("X-GitHub-Delivery", "a"),
        ("x-github-delivery", "b"),
    ];
    assert_eq!(
        concerns(read("github", ("10", &[], "main"), &headers, body)).resources[0]
            .kind
            .as_str(),
        UNREADABLE
    );
}

#[test]
fn a_byte_order_mark_before_the_body_is_not_part_of_it() {
    let body = "\u{feff}{\"id\":\"evt_1\",\"type\":\"invoice.paid\",\"livemode\":true,\"data\":{\"object\":{\"id\":\"in_1\"}}}";
    assert_eq!(concerns(stripe(body)).identity.id.as_str(), "evt_1");
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
fn an_answer_that_is_no_object_is_no_state() {
    let rules = Contract::builtin("stripe")
        .unwrap()
        .resources
        .remove(&ResourceType::parse("customer").unwrap())
        .unwrap();
    assert!(matches!(
        rules.seen(br#"{"id":"cus_1"}"#).unwrap().0,
        Content::Present(_)
    ));
    assert_eq!(
        rules.seen(br#"{"id":"cus_1","deleted":true}"#).unwrap().0,
        Content::Deleted
    );
    for body in ["", "[]", "null", "<html>", "\"x\""] {
        assert!(rules.seen(body.as_bytes()).is_err(), "{body}");
    }
}

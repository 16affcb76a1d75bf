use super::*;
use crate::contract::Contract;
use crate::contract::ResourceRules;
use crate::headers::Headers;
use crate::request::Endpoint;
use crate::signature::FetchedKeys;
use lastword_domain::name::Environment;

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
) -> Reading<'static> {
    let contract = Contract::builtin(name).unwrap();
    let tenant = tenant(&contract, tenant_of.0, tenant_of.1, tenant_of.2);
    let reader = Reader::new(tenant, &contract, &contract.resources);
    read_by(&reader, &contract, headers, body)
}

/// As [`read`], by a reader that is at hand. A test's request lives as long as the test.
fn read_by(
    reader: &Reader,
    contract: &Contract,
    headers: &[(&str, &str)],
    body: &str,
) -> Reading<'static> {
    let mut keys = contract.signature.accept(None).unwrap();
    contract.signature.add_secret(&mut keys, "whsec_x").unwrap();
    let body: &'static str = String::leak(body.to_owned());
    let endpoint: &'static Endpoint = Box::leak(Box::default());
    let request = |headers: Headers| Request {
        method: "POST",
        query: "",
        headers: Box::leak(Box::new(headers)),
        body: body.as_bytes(),
        endpoint,
    };
    let mut all: Headers = headers.iter().copied().collect();
    let signed = contract.signature.sign(&request(all.clone()), &keys, 1000);
    for (name, value) in signed.unwrap().headers {
        all.add(&name, &value);
    }
    let request: &'static Request<'static> = Box::leak(Box::new(request(all)));
    let verified = contract
        .signature
        .verify(request, &keys, &FetchedKeys::new(), 1000, None);
    reader.read(request, verified.unwrap())
}

fn stripe(body: &str) -> Reading<'static> {
    read("stripe", ("acct_own", &["acct_other"], "live"), &[], body)
}

fn github(event: &str, body: &str) -> Reading<'static> {
    read(
        "github",
        ("10", &[], "main"),
        &[("X-GitHub-Event", event), ("x-github-delivery", "guid-1")],
        body,
    )
}

fn concerns(reading: Reading<'static>) -> Event<'static> {
    let Reading::Concerns(mut events) = reading else {
        panic!("{reading:?}")
    };
    assert_eq!(events.len(), 1);
    events.remove(0)
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
    assert_eq!(
        (&null.identity, &null.resources),
        (&own.identity, &own.resources)
    );
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
    assert!(
        matches!(stripe(body), Reading::Unrouted(Some(kind)) if kind.as_str() == "invoice.upcoming")
    );
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
        Reading::Unrouted(Some(EventType::parse("star.opened").unwrap()))
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

const ISSUE: &str =
    r#"{"action":"opened","issue":{"number":7},"repository":{"id":99,"owner":{"id":10}}}"#;

#[test]
fn a_comment_s_body_under_an_issue_s_name_is_kept_about_itself_and_touches_no_issue() {
    let comment = ISSUE
        .replace("opened", "deleted")
        .replacen('{', r#"{"comment":{"id":1},"#, 1);
    let event = concerns(github("issues", &comment));
    assert_eq!(event.kind.as_str(), UNREADABLE);
    assert_eq!(event.resources.len(), 1);
    assert_eq!(event.resources[0].kind.as_str(), UNREADABLE);
    let own = concerns(github("issues", &ISSUE.replace("opened", "deleted")));
    assert_eq!(own.kind.as_str(), "issues.deleted");
}

#[test]
fn a_type_whose_first_part_is_missing_or_ambiguous_is_unreadable_and_never_unrouted() {
    let named = |names: &[&str]| {
        let mut headers = vec![("X-GitHub-Delivery", "guid-1")];
        headers.extend(names.iter().map(|name| ("X-GitHub-Event", *name)));
        concerns(read("github", ("10", &[], "main"), &headers, ISSUE))
    };
    for names in [
        &[][..],
        &[""],
        &["issues", "star"],
        &["issues,star"],
        &["issues.deleted"],
    ] {
        assert_eq!(named(names).kind.as_str(), UNREADABLE, "{names:?}");
    }
    for names in [&["issues,issues"][..], &["issues", "issues"]] {
        assert_eq!(named(names).kind.as_str(), "issues.opened", "{names:?}");
    }
}

#[test]
fn an_event_of_which_one_resource_cannot_be_read_tells_the_others_and_is_kept_about_itself() {
    let contract = Contract::builtin("generic-hmac").unwrap();
    let rules = |place: &str| -> ResourceRules {
        toml::from_str(&format!(
            "events=[\"order.*\"]\nid=\"body:{place}\"\nstrategies=[\"version\"]"
        ))
        .unwrap()
    };
    let resources = [("order", "/order/id"), ("parcel", "/parcel/id")]
        .map(|(kind, place)| (ResourceType::parse(kind).unwrap(), rules(place)));
    let tenant = tenant(&contract, "main", &[], "live");
    let reader = Reader::new(tenant, &contract, &resources.into());
    let about = |rest: &str| {
        let body = format!(r#"{{"id":"e1","type":"order.changed","order":{{"id":"o1"}}{rest}}}"#);
        let event = concerns(read_by(&reader, &contract, &[], &body));
        assert_eq!(event.identity.id.as_str(), "e1");
        let told = event.resources.iter();
        told.map(|key| format!("{}/{}", key.kind, key.id))
            .collect::<Vec<_>>()
    };
    assert_eq!(about(r#","parcel":{"id":"p1"}"#), ["order/o1", "parcel/p1"]);
    for rest in ["", r#","parcel":{"id":{}}"#, r#","parcel":null"#] {
        assert_eq!(about(rest), ["order/o1", "unreadable-event/e1"], "{rest}");
    }
}

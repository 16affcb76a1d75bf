use http::HeaderValue;
use lastword_contracts::Contract;
use lastword_domain::Content;
use proptest::prelude::*;

use super::*;

/// A contract that claims as much as one can: every status is listed as proof of deletion.
fn greedy() -> (Api, ResourceRules) {
    let contract = Contract::builtin("stripe").unwrap();
    let mut api = contract.api.unwrap();
    api.absent = (100..=999)
        .map(|status| (status.to_string(), Absence::Deleted))
        .collect();
    let customer = contract.resources.into_iter();
    let (_, rules) = customer
        .into_iter()
        .find(|(kind, _)| kind.as_str() == "customer")
        .unwrap();
    (api, rules)
}

fn stripe() -> (Api, ResourceRules) {
    let (mut api, rules) = greedy();
    api.absent = Contract::builtin("stripe").unwrap().api.unwrap().absent;
    (api, rules)
}

fn id() -> ResourceId {
    ResourceId::parse("cus_1").unwrap()
}

fn answer(status: u16, headers: &[(http::HeaderName, &str)], body: &[u8]) -> Answer {
    let (api, rules) = stripe();
    let headers = headers
        .iter()
        .map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap()))
        .collect();
    let status = StatusCode::from_u16(status).unwrap();
    interpret(status, &headers, body, &api, &rules, &id())
}

fn busy(status: u16, seconds: Option<u64>) -> Answer {
    Answer::Busy {
        status,
        retry_after: seconds.map(Duration::from_secs),
    }
}

#[test]
fn an_object_is_seen_and_a_deleted_one_is_deleted_only_as_the_contract_says() {
    let seen = answer(200, &[], b"{\"id\":\"cus_1\"}");
    assert!(matches!(
        seen,
        Answer::Seen {
            content: Content::Present(_),
            version: None,
            status: None
        }
    ));
    let gone = answer(200, &[], b"{\"id\":\"cus_1\",\"deleted\":true}");
    assert!(matches!(
        gone,
        Answer::Seen {
            content: Content::Deleted,
            ..
        }
    ));
}

#[test]
fn an_empty_success_is_unreadable_and_not_nothing_there() {
    assert_eq!(answer(200, &[], b""), Unreadable::Empty.into());
    for status in [201, 202, 203, 204, 205, 206, 300, 304] {
        let found = answer(status, &[], b"{\"id\":\"cus_1\"}");
        assert_eq!(found, Unreadable::Status(status).into());
    }
}

#[test]
fn a_success_that_holds_no_object_is_not_understood() {
    for body in ["<html>", "[]", "null", "\"x\"", "{\"a\":1}x", " ", "\u{0}"] {
        let found = answer(200, &[], body.as_bytes());
        assert!(
            matches!(found, Answer::Unreadable(Unreadable::NotUnderstood(_))),
            "{body}: {found}"
        );
    }
}

#[test]
fn a_success_that_is_another_object_is_not_understood() {
    for body in [
        "{}",
        "{\"id\":\"cus_2\"}",
        "{\"id\":\"cus_2\",\"deleted\":true}",
        "{\"maintenance\":true}",
    ] {
        let found = answer(200, &[], body.as_bytes());
        assert!(
            matches!(found, Answer::Unreadable(Unreadable::NotUnderstood(_))),
            "{body}: {found}"
        );
    }
}

#[test]
fn an_encoded_answer_is_not_guessed_at() {
    let body = b"{\"id\":\"cus_1\"}";
    let encoded = answer(200, &[(CONTENT_ENCODING, "gzip")], body);
    assert_eq!(encoded, Unreadable::Encoded.into());
    let twice = [(CONTENT_ENCODING, "identity"), (CONTENT_ENCODING, "br")];
    assert_eq!(answer(200, &twice, body), Unreadable::Encoded.into());
    let plain = answer(200, &[(CONTENT_ENCODING, "Identity")], body);
    assert!(matches!(plain, Answer::Seen { .. }));
}

#[test]
fn what_not_there_proves_is_the_contracts_word_and_unlisted_it_proves_nothing() {
    assert_eq!(
        answer(404, &[], b""),
        Answer::Absent(Absence::DeletedIfTold)
    );
    assert_eq!(
        answer(410, &[], b""),
        Answer::Absent(Absence::ProvesNothing)
    );
    assert_eq!(answer(400, &[], b""), Unreadable::Status(400).into());
}

#[test]
fn a_refusal_is_a_refusal_and_a_limit_that_names_its_time_is_not() {
    assert_eq!(answer(401, &[], b""), Answer::Refused { status: 401 });
    assert_eq!(answer(403, &[], b""), Answer::Refused { status: 403 });
    assert_eq!(
        answer(403, &[(RETRY_AFTER, "60")], b""),
        busy(403, Some(60))
    );
    assert_eq!(
        answer(401, &[(RETRY_AFTER, "60")], b""),
        Answer::Refused { status: 401 }
    );
}

#[test]
fn the_time_a_busy_provider_asks_for_is_read_in_seconds_and_a_date_is_left_alone() {
    for (value, seconds) in [
        ("7", Some(7)),
        ("0", Some(0)),
        ("-1", None),
        ("+1", None),
        ("1.5", None),
        ("", None),
        ("99999999999999999999999", None),
        ("Fri, 31 Dec 1999 23:59:59 GMT", None),
    ] {
        let found = answer(429, &[(RETRY_AFTER, value)], b"");
        assert_eq!(found, busy(429, seconds), "{value}");
    }
    assert_eq!(answer(503, &[], b"{\"id\":1}"), busy(503, None));
}

proptest! {
    #[test]
    fn no_contract_can_turn_a_refusal_a_limit_an_outage_or_a_redirect_into_a_deletion(
        status in prop_oneof![Just(401u16), Just(403), Just(429), 500u16..600, 300u16..400, 201u16..300],
        body in any::<Vec<u8>>(),
    ) {
        let (api, rules) = greedy();
        let status = StatusCode::from_u16(status).unwrap();
        let found = interpret(status, &HeaderMap::new(), &body, &api, &rules, &id());
        let nothing = matches!(
            found,
            Answer::Refused { .. } | Answer::Busy { .. } | Answer::Unreadable(_)
        );
        prop_assert!(nothing, "{:?}", found);
    }

    #[test]
    fn a_body_cut_anywhere_is_never_taken_for_a_state(cut in 0usize..50) {
        let body = b"{\"id\":\"cus_1\",\"name\":\"\\u00fc\",\"deleted\":true,\"a\":[{}]}";
        let cut = cut.min(body.len() - 1);
        let found = answer(200, &[], &body[..cut]);
        prop_assert!(matches!(found, Answer::Unreadable(_)), "{:?}", found);
    }

    #[test]
    fn any_answer_is_interpreted_and_none_shows_its_body_when_printed(
        status in 100u16..1000, body in any::<Vec<u8>>(), object in any::<bool>(),
    ) {
        let body = if object { b"{\"id\":\"cus_1\",\"name\":\"Ada Lovelace\"}".to_vec() } else { [b"Ada Lovelace".as_slice(), &body].concat() };
        let found = answer(status, &[], &body);
        let printed = format!("{found} {found:?}");
        prop_assert!(!printed.contains("Ada"), "{}", printed);
        prop_assert_eq!(matches!(found, Answer::Seen { .. }), status == 200 && object);
    }
}

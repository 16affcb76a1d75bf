//! `vectors`: recorded requests, right and wrong ones. All of them are made here, and so are their secrets.

use serde_json::{Value, json};

use crate::bench::{Desk, NOW, SECRET, Said, signed};

const BODY: &str = r#"{"id":"evt_1","type":"thing.changed"}"#;
const STRIPE: &str = "whsec_of-this-test-only";

fn tried(vectors: &Value) -> Said {
    let desk = Desk::new();
    desk.put("vectors.json", json!({ "vectors": vectors }).to_string());
    desk.run(&["vectors", "vectors.json"])
}

/// What came of one alone: whether it passed, and its line.
fn alone(vector: Value) -> (bool, String) {
    let said = tried(&json!([vector]));
    assert_eq!(said.err, "");
    let passed = said.code == Some(0);
    let closing = if passed {
        "1 passed, 0 failed"
    } else {
        "0 passed, 1 failed"
    };
    assert_eq!(said.out.lines().last(), Some(closing));
    let line = said.out.lines().nth(1).unwrap();
    (
        passed,
        line.split_whitespace().collect::<Vec<_>>().join(" "),
    )
}

/// A delivery of Stripe's as recorded, with other or further members.
fn stripe(expect: &str, more: Value) -> Value {
    let mut vector = json!({
        "id": "one", "provider": "stripe", "expect": expect, "secret": STRIPE, "now_unix": NOW,
        "headers": headers(signed("stripe", STRIPE, &[], BODY).headers), "body_utf8": BODY,
    });
    let members = vector.as_object_mut().unwrap();
    members.extend(more.as_object().unwrap().clone());
    vector
}

fn headers(pairs: Vec<(String, String)>) -> Value {
    pairs
        .into_iter()
        .map(|(name, value)| (name, Value::from(value)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

#[test]
fn each_is_told_in_a_line_and_the_closing_line_counts_them() {
    let said = tried(&json!([
        stripe("valid", json!({ "id": "right" })),
        stripe(
            "invalid_signature",
            json!({ "id": "changed", "body_utf8": "{}" })
        ),
        stripe("valid", json!({ "id": "not-right", "body_utf8": "{}" })),
    ]));
    assert_eq!((said.err.as_str(), said.code), ("", Some(1)));
    let lines: Vec<_> = said.out.lines().collect();
    let words = |line: &str| {
        line.split_whitespace()
            .take(6)
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(words(lines[1]), "passed right stripe valid 200 new");
    assert_eq!(
        words(lines[2]),
        "passed changed stripe invalid_signature 401 signature-mismatch"
    );
    assert_eq!(
        words(lines[3]),
        "FAILED not-right stripe valid 401 signature-mismatch"
    );
    assert_eq!(lines[4..], ["", "2 passed, 1 failed"]);
    assert!(
        !said.out.contains("timestamp\":"),
        "no line of the handler is shown: {}",
        said.out
    );
}

#[test]
fn every_expectation_passes_for_what_it_names_and_fails_for_what_is_right() {
    for (expect, more) in [
        ("invalid_signature", json!({ "secret": "whsec_another" })),
        ("invalid_signature", json!({ "headers": {} })),
        (
            "malformed_header",
            json!({ "headers": { "Stripe-Signature": "v1" } }),
        ),
        ("timestamp_too_old", json!({ "now_unix": NOW + 301 })),
        ("timestamp_in_future", json!({ "now_unix": NOW - 301 })),
    ] {
        let (passed, line) = alone(stripe(expect, more));
        assert!(passed, "{line}");
        let (passed, line) = alone(stripe(expect, json!({})));
        assert!(!passed && line.contains("200 new another answer"), "{line}");
    }
    for edge in [NOW + 300, NOW - 300] {
        assert!(
            alone(stripe("valid", json!({ "now_unix": edge }))).0,
            "{edge}"
        );
    }
}

#[test]
fn without_a_clock_a_request_is_tried_at_the_time_it_was_signed() {
    let mut vector = stripe("valid", json!({}));
    vector.as_object_mut().unwrap().remove("now_unix");
    assert!(alone(vector).0);
    let mut vector = stripe("timestamp_too_old", json!({}));
    vector.as_object_mut().unwrap().remove("now_unix");
    assert!(alone(vector).0);
}

#[test]
fn schemes_that_an_integration_must_name_count_too() {
    let vector = |token: &str| {
        json!({
            "id": "token", "provider": "gitlab-token", "expect": "valid", "secret": SECRET,
            "headers": { "X-Gitlab-Token": token, "X-Gitlab-Event": "Push Hook" }, "body_utf8": BODY,
        })
    };
    assert!(alone(vector(SECRET)).0);
    assert!(!alone(vector("another")).0);
}

#[test]
fn a_handshake_is_answered_and_its_answer_is_compared() {
    let subscribe = |token: &str, response: &str| {
        json!({
            "id": "get", "provider": "whatsapp", "expect": "valid", "method": "GET", "secret": SECRET,
            "verify_token": "of-the-endpoint", "expected_response": response,
            "query": format!("hub.mode=subscribe&hub.challenge=1234&hub.verify_token={token}"),
        })
    };
    let (passed, line) = alone(subscribe("of-the-endpoint", "1234"));
    assert!(passed && line.contains("200 handshake"), "{line}");
    let (passed, line) = alone(subscribe("of-the-endpoint", "5678"));
    assert!(
        !passed && line.contains("answered \"1234\" and not \"5678\""),
        "{line}"
    );
    let mut wrong = subscribe("of-nobody", "1234");
    wrong["expect"] = "invalid_signature".into();
    let (passed, line) = alone(wrong);
    assert!(
        passed && line.contains("403 handshake-wrong-token"),
        "{line}"
    );
}

#[test]
fn an_unsigned_ping_is_answered_with_200() {
    let ping = |headers: Value| {
        json!({
            "id": "ping", "provider": "woocommerce", "expect": "unsigned_ping", "secret": SECRET,
            "headers": headers, "body_utf8": "webhook_id=7",
        })
    };
    let form = json!({ "Content-Type": "application/x-www-form-urlencoded" });
    assert!(alone(ping(form)).0);
    assert!(!alone(ping(json!({ "Content-Type": "application/json" }))).0);
}

#[test]
fn a_text_to_sign_is_compared_where_nothing_else_can_be() {
    let vector = |text: &str| {
        json!({
            "id": "text", "provider": "paypal", "expect": "message_string_only", "webhook_id": "WH-1",
            "headers": {
                "PAYPAL-TRANSMISSION-ID": "t-1", "PAYPAL-TRANSMISSION-TIME": "2026-11-30T00:00:00Z",
            },
            "body_utf8": "123456789", "data_to_sign": text,
        })
    };
    // The CRC-32 that every description of it gives for these nine digits.
    let (passed, line) = alone(vector("t-1|2026-11-30T00:00:00Z|WH-1|3421780262"));
    assert!(passed && line.contains("string only"), "{line}");
    let (passed, line) = alone(vector("t-1|2026-11-30T00:00:00Z|WH-1|0"));
    assert!(!passed && line.contains("another text is signed"), "{line}");
}

#[test]
fn what_a_body_speaks_of_is_what_the_integration_is_for() {
    let body = r#"{"id":"evt_1","type":"invoice.paid","account":"acct_7","livemode":true,"data":{"object":{"id":"in_1"}}}"#;
    let headers = headers(signed("stripe", STRIPE, &[], body).headers);
    let (passed, line) = alone(stripe(
        "valid",
        json!({ "headers": headers, "body_utf8": body }),
    ));
    assert!(passed && line.ends_with("200 new"), "{line}");
}

#[test]
fn headers_may_be_lists_and_a_body_may_be_base64() {
    let value = signed("stripe", STRIPE, &[], BODY).headers.remove(0).1;
    let (passed, line) = alone(stripe(
        "valid",
        json!({
            "headers": { "stripe-signature": [value], "X-Other": ["a", "b"] },
            "body_utf8": null,
            "body_base64": "eyJpZCI6ImV2dF8xIiwidHlwZSI6InRoaW5nLmNoYW5nZWQifQ==",
        }),
    ));
    assert!(passed, "{line}");
}

#[test]
fn what_cannot_be_tried_is_a_failed_line_that_says_why() {
    for (vector, why) in [
        (
            stripe("valid", json!({ "provider": "acme" })),
            "unknown contract \"acme\"",
        ),
        (
            stripe("vallid", json!({})),
            "unknown expectation; known are valid",
        ),
        (
            stripe("valid", json!({ "secret": "no-prefix" })),
            "does not begin with",
        ),
        (
            stripe("valid", json!({ "body_base64": "%" })),
            "body_base64: ",
        ),
        (
            stripe("valid", json!({ "headers": 7 })),
            "its headers are neither",
        ),
        (
            stripe("valid", json!({ "provider": "commercetools" })),
            "come through a queue",
        ),
        (
            stripe("message_string_only", json!({})),
            "does not state the text",
        ),
        (json!({ "expect": "valid" }), "it has no \"provider\""),
        (json!("nonsense"), "an entry that is no object"),
        (json!(null), "an entry that is no object"),
    ] {
        let (passed, line) = alone(vector);
        assert!(
            !passed && line.starts_with("FAILED") && line.contains(why),
            "{why}: {line}"
        );
    }
}

#[test]
fn json_says_the_same_for_programs() {
    let desk = Desk::new();
    let vectors = json!([
        stripe("valid", json!({})),
        stripe("valid", json!({ "headers": {} }))
    ]);
    // The list alone is a file too, and several files are one.
    desk.put("one.json", vectors.to_string());
    let said = desk.run(&["vectors", "one.json", "one.json", "--json"]);
    assert_eq!(said.code, Some(1));
    let told = said.json();
    assert_eq!((&told["passed"], &told["failed"]), (&2.into(), &2.into()));
    let second = &told["vectors"][1];
    assert_eq!(second["word"], "signature-missing");
    assert_eq!(
        (&second["status"], &second["passed"]),
        (&401.into(), &false.into())
    );
}

#[test]
fn a_file_that_cannot_be_read_exits_with_2() {
    let desk = Desk::new();
    desk.put("broken.json", "{");
    desk.put("other.json", "{\"events\":[]}");
    for (file, why) in [
        ("none.json", "none.json: No such file"),
        ("broken.json", "broken.json: EOF"),
        ("other.json", "other.json: expected a list of vectors"),
    ] {
        let said = desk.run(&["vectors", file]);
        assert_eq!((said.out.as_str(), said.code), ("", Some(2)), "{file}");
        assert!(said.err.contains(why), "{}", said.err);
    }
}

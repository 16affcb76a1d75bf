//! `sign`: what it prints makes a request that the front door takes.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;

use crate::{
    bench::{Desk, SECRET},
    everybody::everybody,
};

const ORDER: &str = r#"{"id":"e1","type":"order.changed","order":{"id":"o1","version":1}}"#;

#[test]
fn what_is_signed_verifies_and_is_printed_line_by_line() {
    let desk = Desk::new();
    desk.put("order.json", ORDER);
    let said = desk.run(&["sign", "erp", "order.json", "--secret", SECRET]);
    assert_eq!((said.err.as_str(), said.code), ("", Some(0)));
    let lines: Vec<_> = said.out.lines().collect();
    assert_eq!(lines[0], "content-type: application/json");
    assert!(
        lines[1].starts_with("X-Signature-256: sha256="),
        "{}",
        said.out
    );
    assert_eq!(lines.len(), 2);
}

#[test]
fn headers_that_are_signed_are_made_up_unless_they_are_given() {
    let desk = Desk::new();
    desk.put("body.json", r#"{"type":"thing.changed"}"#);
    desk.put("lastword.toml", everybody().0);
    let secret = &format!("whsec_{}", STANDARD.encode(SECRET));
    let sign = |more: &[&str]| {
        let mut arguments = vec![
            "sign",
            "standard-webhooks",
            "body.json",
            "--secret",
            secret,
            "--json",
        ];
        arguments.extend(more);
        desk.run(&arguments)
    };
    let (one, other) = (sign(&[]).json(), sign(&[]).json());
    let id = |told: &Value| told["headers"]["webhook-id"].as_str().unwrap().to_owned();
    assert_ne!(id(&one), id(&other));
    assert!(
        one["headers"]["webhook-signature"]
            .as_str()
            .unwrap()
            .starts_with("v1,")
    );
    let given = sign(&["--header", "Webhook-Id: msg_1", "--now", "1700000000"]).json();
    assert_eq!(given["headers"]["Webhook-Id"], "msg_1");
    assert_eq!(given["headers"]["webhook-timestamp"], "1700000000");
    let refused = sign(&["--header", "webhook-timestamp: 5"]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.err.contains("--now chooses the time"),
        "{}",
        refused.err
    );
}

#[test]
fn a_type_that_stands_in_a_header_must_be_given() {
    let desk = Desk::new();
    desk.put("issue.json", r#"{"action":"opened"}"#);
    let sign = ["sign", "code", "issue.json", "--secret", SECRET];
    let said = desk.run(&sign);
    assert_eq!((said.out.as_str(), said.code), ("", Some(2)));
    assert!(
        said.err.contains("--header \"X-GitHub-Event: ...\""),
        "{}",
        said.err
    );
    let mut more = sign.to_vec();
    more.extend(["--header", "X-GitHub-Event: issues"]);
    let said = desk.run(&more);
    assert_eq!(said.code, Some(0), "{}", said.err);
    for name in [
        "X-GitHub-Event: issues",
        "X-GitHub-Delivery: ",
        "X-Hub-Signature-256: sha256=",
    ] {
        assert!(said.out.contains(name), "{name} is not in {}", said.out);
    }
}

#[test]
fn who_signs_with_a_private_key_of_its_own_cannot_be_played() {
    let desk = Desk::new();
    desk.put("body.json", "{}");
    desk.put(
        "lastword.toml",
        "[integrations.bank]\ncontract = \"wise\"\naccount = \"1\"\nenvironment = \"live\"\n\
         signing_secrets = [\"env:KEY\"]\napi_key = \"env:API\"\n",
    );
    let said = desk.run(&["sign", "bank", "body.json"]);
    assert_eq!((said.out.as_str(), said.code), ("", Some(2)));
    assert!(
        said.err.contains("private key that only Wise has"),
        "{}",
        said.err
    );
}

#[test]
fn a_signature_that_belongs_into_the_body_is_told_with_its_place() {
    let desk = Desk::new();
    desk.put("lastword.toml", everybody().0);
    let secret = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    let item = |more: &str| {
        format!(
            r#"{{"notificationItems":[{{"NotificationRequestItem":{{"pspReference":"p1","merchantAccountCode":"mine","eventCode":"REPORT"{more}}}}}]}}"#
        )
    };
    desk.put("body.json", item(""));
    let sign = ["sign", "adyen", "body.json", "--secret", secret];
    let said = desk.run(&sign);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let line = said.out.lines().last().unwrap();
    let (place, value) = line.split_once(": ").unwrap();
    assert_eq!(place, "/additionalData/hmacSignature in each item");
    assert!(
        said.err.contains("does not hold this signature yet"),
        "{}",
        said.err
    );
    let mut curl = sign.to_vec();
    curl.extend(["--curl", "http://127.0.0.1:1/webhooks/adyen"]);
    assert_eq!(desk.run(&curl).code, Some(2));
    // Where it is put there, the file can be sent as it is.
    desk.put(
        "body.json",
        item(&format!(
            r#","additionalData":{{"hmacSignature":"{value}"}}"#
        )),
    );
    let said = desk.run(&curl);
    assert_eq!((said.err.as_str(), said.code), ("", Some(0)));
}

#[test]
fn a_secret_is_found_where_a_stack_finds_it_and_never_made_up() {
    let desk = Desk::new();
    desk.put("order.json", ORDER);
    let sign = ["sign", "erp", "order.json"];
    let said = desk.run(&sign);
    assert_eq!(said.code, Some(2));
    assert!(
        said.err
            .contains("ssm:/lastword/erp/signing is not set here"),
        "{}",
        said.err
    );
    assert!(!desk.path().join(".lastword").exists());
    std::fs::create_dir(desk.path().join(".lastword")).unwrap();
    let line = format!("\"ssm:/lastword/erp/signing\" = \"{SECRET}\"\n");
    desk.put(".lastword/secrets.toml", line);
    let found = desk.run(&sign);
    let given = desk.run(&["sign", "erp", "order.json", "--secret", SECRET]);
    assert_eq!(found.out, given.out);
    let config = lastword_config::BUILT_IN.replace("ssm:/lastword/erp/signing", "env:ERP_SIGNING");
    desk.put("lastword.toml", config);
    let set = desk
        .command(&sign)
        .env("ERP_SIGNING", SECRET)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(set.stdout).unwrap(), given.out);
}

#[test]
fn what_cannot_be_signed_says_why() {
    let desk = Desk::new();
    desk.put("order.json", ORDER);
    for (arguments, why) in [
        (
            vec!["sign", "epr", "order.json"],
            "has billing, carrier, code, erp",
        ),
        (
            vec!["sign", "erp", "none.json", "--secret", SECRET],
            "none.json: No such file",
        ),
        (
            vec!["sign", "erp", "order.json", "--secret", "a "],
            "--secret: it begins or ends with white space",
        ),
        (
            vec!["sign", "billing", "order.json", "--secret", SECRET],
            "does not begin with \"whsec_\"",
        ),
        (
            vec!["sign", "erp", "order.json", "--header", "nothing"],
            "expected \"Name: value\"",
        ),
        (
            vec!["sign", "erp", "order.json", "--config", "none.toml"],
            "none.toml: No such file",
        ),
    ] {
        let said = desk.run(&arguments);
        assert_eq!(
            (said.out.as_str(), said.code),
            ("", Some(2)),
            "{arguments:?}"
        );
        assert!(said.err.contains(why), "{arguments:?} says {}", said.err);
        assert!(!said.err.contains(SECRET), "{}", said.err);
    }
}

#[test]
fn a_curl_command_posts_the_file_with_its_headers() {
    let desk = Desk::new();
    desk.put("it's.json", ORDER);
    let url = "http://127.0.0.1:1/webhooks/erp?a=1&b=2";
    let said = desk.run(&[
        "sign",
        "erp",
        "it's.json",
        "--secret",
        SECRET,
        "--curl",
        url,
    ]);
    assert_eq!((said.err.as_str(), said.code), ("", Some(0)));
    assert!(
        said.out.starts_with(&format!("curl -X POST '{url}' \\\n")),
        "{}",
        said.out
    );
    assert!(
        said.out.contains("-H 'content-type: application/json'"),
        "{}",
        said.out
    );
    assert!(
        said.out.ends_with("--data-binary '@it'\\''s.json'\n"),
        "{}",
        said.out
    );
}

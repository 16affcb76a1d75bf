//! `check`, and how a wrong use is answered.

use serde_json::Value;

use crate::bench::{run, said};

const BROKEN: &str = r#"
[integrations.billing]
contract = "strpe"
account = "acct_1"
environment = "test"
signing_secrets = ["ssm:/a", "whsec_hunter2"]
"#;

#[tokio::test]
async fn the_example_is_right_and_shown_as_a_table() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(
        place.path().join("lastword.toml"),
        lastword_config::BUILT_IN,
    )
    .unwrap();
    let (out, err, code) = said(&run(place.path(), &["check"]).await);
    assert_eq!((err.as_str(), code), ("", Some(0)));
    for text in [
        "/webhooks/billing",
        "acct_1LastwordExample",
        "subscription: current",
        "order: version",
        "signing ssm:/lastword/erp/signing",
        "lastword.toml: nothing is wrong",
    ] {
        assert!(out.contains(text), "{text} is not in {out}");
    }
    assert!(!out.contains('\u{1b}'), "no colour where it is no terminal");
}

#[tokio::test]
async fn a_broken_file_is_told_by_file_line_and_setting_and_exits_with_1() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("broken.toml"), BROKEN).unwrap();
    let arguments = ["check", "--config", "broken.toml"];
    let (out, err, code) = said(&run(place.path(), &arguments).await);
    assert_eq!((out.as_str(), code), ("", Some(1)));
    assert!(
        err.contains("broken.toml:3: integrations.billing.contract: unknown contract"),
        "{err}"
    );
    assert!(
        err.contains("broken.toml:6: integrations.billing.signing_secrets:"),
        "{err}"
    );
    assert!(!err.contains("hunter2"), "{err}");
}

#[tokio::test]
async fn json_says_the_same_for_programs_also_of_a_variable_that_is_not_set() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("broken.toml"), BROKEN).unwrap();
    let arguments = ["check", "--json", "--config", "broken.toml"];
    let (out, _, code) = said(&run(place.path(), &arguments).await);
    let told: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((told["ok"].as_bool(), code), (Some(false), Some(1)));
    assert_eq!(told["problems"][0]["line"], 3);

    let right = lastword_config::BUILT_IN
        .replace("ssm:/lastword/erp/signing", "env:NOBODY_SETS_THIS_VARIABLE");
    std::fs::write(place.path().join("lastword.toml"), right).unwrap();
    let (out, _, code) = said(&run(place.path(), &["check", "--json"]).await);
    let told: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((told["ok"].as_bool(), code), (Some(true), Some(0)));
    let integrations = told["integrations"].as_array().unwrap();
    let erp = integrations.iter().find(|it| it["name"] == "erp").unwrap();
    assert_eq!(erp["secrets"][0]["set"], false);
    assert_eq!(erp["resources"][0]["strategy"], "version");
}

#[tokio::test]
async fn what_could_not_be_done_exits_with_2() {
    let place = tempfile::tempdir().unwrap();
    let resource = "stripe/acct_1/test/subscription/sub_1";
    for (arguments, why) in [
        (
            vec!["check", "--config", "none.toml"],
            "none.toml: No such file",
        ),
        (vec!["check", "--no-such-thing"], "unexpected argument"),
        (
            vec!["inspect", "stripe/acct_1"],
            "provider/account/environment/type/id",
        ),
        (vec!["inspect", resource], "nothing runs in .lastword"),
        (
            vec!["dev", "--api", "stripe=http://10.0.0.1:1"],
            "not this machine",
        ),
        (
            vec!["dev", "--clock", "1", "--processes"],
            "have no such switch",
        ),
    ] {
        let (out, err, code) = said(&run(place.path(), &arguments).await);
        assert_eq!((out.as_str(), code), ("", Some(2)), "{arguments:?}");
        assert!(err.contains(why), "{arguments:?} says {err}");
    }
}

use super::*;
use lastword_domain::Strategy;

const GOOD: &str = r#"
[integrations.billing]
contract = "stripe"
account = "acct_1"
environment = "live"
signing_secrets = ["ssm:/lastword/billing/signing", "env:OLD"]
api_key = "secretsmanager:stripe"
resources = ["subscription", "invoice"]

[integrations.billing.accounts.acct_2]
[integrations.billing.accounts.acct_3]
api_key = "env:THREE"

[integrations.erp]
contract = "generic-hmac"
account = "main"
environment = "live"
signing_secrets = ["env:ERP"]

[integrations.erp.define.order]
events = ["order.*"]
id = "body:/order/id"
version = "/order/version"
snapshot = "/order"
strategies = ["version"]
"#;

fn problems(text: &str) -> String {
    Config::parse("lastword.toml", text)
        .unwrap_err()
        .to_string()
}

fn changed(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    problems(&GOOD.replacen(from, to, 1))
}

#[test]
fn a_sound_file_is_taken() {
    let config = Config::parse("lastword.toml", GOOD).unwrap();
    let billing = config.integration("billing").unwrap();
    assert_eq!(billing.resources.len(), 2);
    let keys: Vec<_> = billing
        .api_keys
        .iter()
        .map(|(account, key)| format!("{account} {key}"))
        .collect();
    assert_eq!(
        keys,
        [
            "acct_1 secretsmanager:stripe",
            "acct_2 secretsmanager:stripe",
            "acct_3 env:THREE"
        ]
    );
    let order = &config
        .integration("erp")
        .unwrap()
        .resources
        .values()
        .next()
        .unwrap();
    assert_eq!(order.strategy, Strategy::Version);
    assert!(config.integration("Billing").is_none());
    assert!(config.integration("no such").is_none());
}

#[test]
fn the_file_that_is_built_in_is_sound() {
    if let Err(error) = Config::parse("lastword.toml", crate::BUILT_IN) {
        panic!("{error}");
    }
}

#[test]
fn each_mistake_is_told_with_its_line_what_was_found_and_what_is_expected() {
    let cases = [
        (
            "\"stripe\"",
            "\"strpe\"",
            "lastword.toml:3: integrations.billing.contract: unknown contract \"strpe\"; did you mean \"stripe\"?",
        ),
        (
            "\"live\"",
            "\"lve\"",
            "lastword.toml:5: integrations.billing.environment: found \"lve\"; Stripe events are of",
        ),
        (
            "[\"ssm:/lastword/billing/signing\", \"env:OLD\"]",
            "[]",
            "lastword.toml:6: integrations.billing.signing_secrets: found an empty list",
        ),
        (
            "api_key = \"secretsmanager:stripe\"\n",
            "",
            "lastword.toml:2: integrations.billing.api_key: missing; expected a secret reference",
        ),
        (
            "\"invoice\"]",
            "\"invoce\"]",
            "lastword.toml:8: integrations.billing.resources: found \"invoce\"; Stripe has",
        ),
        (
            "[\"version\"]",
            "[\"curent\"]",
            "found \"curent\", expected \"current\", \"version\"",
        ),
        (
            "strategies = [\"version\"]",
            "strategies = [\"current\"]",
            "needs a read API",
        ),
        (
            "integrations.erp.define",
            "integrations.billing.define",
            "does not let resource types be defined",
        ),
        ("account = \"acct_1\"\n", "", "missing field `account`"),
        (
            "account = \"acct_1\"",
            "acount = \"acct_1\"",
            "unknown field `acount`, expected one of",
        ),
        ("contract = \"stripe\"", "contract = 3", "lastword.toml:3:"),
        (
            "contract = \"stripe\"",
            "retention_days = 1\ncontract = \"stripe\"",
            "found 1; expected 4 to 3650 days",
        ),
    ];
    for (from, to, expected) in cases {
        let told = changed(from, to);
        assert!(told.contains(expected), "{to}\n{told}");
    }
}

#[test]
fn a_secret_written_into_the_file_is_refused_and_not_repeated() {
    let told = changed("\"env:OLD\"", "\"whsec_PRIVATE\"");
    assert!(
        told.contains("lastword.toml:6") && !told.contains("PRIVATE"),
        "{told}"
    );
}

#[test]
fn a_name_that_is_no_slug_is_refused_because_it_stands_in_a_url() {
    let told = problems(&GOOD.replace("integrations.erp", "integrations.ERP"));
    assert!(told.contains("found \"ERP\""), "{told}");
}

/// A second sender behind the contract of the first.
const CARRIER: &str = r#"
[integrations.carrier]
contract = "generic-hmac"
account = "main"
environment = "live"
signing_secrets = ["env:CARRIER"]
[integrations.carrier.define.parcel]
events = ["parcel.*"]
id = "body:/parcel/id"
version = "/parcel/version"
snapshot = "/parcel"
strategies = ["version"]
"#;

#[test]
fn two_integrations_that_speak_of_one_account_in_one_world_are_refused() {
    let told = problems(&format!("{GOOD}{CARRIER}"));
    for part in [
        "lastword.toml:27: integrations.carrier: erp and carrier both speak of",
        "\"main\" of generic-hmac in live",
        "would run together",
        "several signing secrets",
        "other account names",
    ] {
        assert!(told.contains(part), "{part}\n{told}");
    }
    // A further account of one that is another's own, or a further one of both.
    for (own, further) in [("carrier", "main"), ("carrier", "depot")] {
        let erp = format!(
            "[integrations.erp.accounts.depot]{}",
            CARRIER.replacen("main", own, 1)
        );
        let text = format!("{GOOD}{erp}[integrations.carrier.accounts.{further}]\n");
        let told = problems(&text);
        assert!(told.contains(&format!("the account {further:?}")), "{told}");
    }
}

#[test]
fn integrations_of_other_accounts_worlds_or_providers_stand_beside_each_other() {
    for (from, to) in [
        ("account = \"main\"", "account = \"carrier\""),
        ("environment = \"live\"", "environment = \"test\""),
    ] {
        let text = format!("{GOOD}{}", CARRIER.replace(from, to));
        if let Err(error) = Config::parse("lastword.toml", &text) {
            panic!("{error}");
        }
    }
    let same_account = GOOD.replace("\"main\"", "\"acct_1\"");
    assert!(Config::parse("lastword.toml", &same_account).is_ok());
}

#[test]
fn a_defined_type_is_checked_like_one_that_is_built_in() {
    for (from, to, expected) in [
        (
            "[\"order.*\"]",
            "[\"order.*.created\"]",
            "lastword.toml:21: found \"order.*.created\"; a '*' may stand only at a pattern's end",
        ),
        (
            "define.order]",
            "define.unreadable-event]",
            "define.unreadable-event: the name \"unreadable-event\" is kept for events that cannot be read",
        ),
        (
            "snapshot = \"/order\"",
            "snapshot = \"/order\"\nread = \"/orders/{0}\"",
            "a path to read needs `read_id`",
        ),
    ] {
        let told = changed(from, to);
        assert!(told.contains(expected), "{to}\n{told}");
    }
}

#[test]
fn all_mistakes_are_told_at_once() {
    let text = GOOD
        .replace("\"stripe\"", "\"strpe\"")
        .replace("\"env:ERP\"", "\"erp\"");
    let error = Config::parse("lastword.toml", &text).unwrap_err();
    assert_eq!(error.problems.len(), 2, "{error}");
}

#[test]
fn a_strategy_that_the_evidence_does_not_allow_is_refused() {
    let told = changed(
        "[integrations.billing.accounts.acct_2]",
        "[integrations.billing.strategies]\ninvoice = \"version\"\n[integrations.billing.accounts.acct_2]",
    );
    assert!(
        told.contains("found \"version\"; the contract's evidence allows current"),
        "{told}"
    );
}

#[test]
fn an_empty_file_and_one_that_is_no_toml_are_refused() {
    assert!(problems("").contains("expected at least one"));
    assert!(problems("[integrations").contains("lastword.toml:1"));
}

#[test]
fn limits_of_trying_again_are_checked() {
    let config = Config::parse(
        "x",
        &format!("[retry]\nattempts = 3\nfirst_delay_seconds = 0.5\n{GOOD}"),
    )
    .unwrap();
    assert_eq!(config.retry.attempts, 3);
    assert_eq!(config.retry.first_delay, Duration::from_millis(500));
    let told = problems(&format!("[retry]\nattempts = 0\n{GOOD}"));
    assert!(
        told.contains("lastword.toml:2: retry.attempts: found 0"),
        "{told}"
    );
    assert!(
        problems(&format!("[retry]\nfirst_delay_seconds = nan\n{GOOD}")).contains("expected 0.01")
    );
}

const OWN_API: &str = r#"
[integrations.erp]
contract = "generic-hmac"
account = "main"
environment = "live"
signing_secrets = ["env:ERP"]
api = { host = "https://erp.example.com", authorization = "Bearer {secret}", absent = { 404 = "proves-nothing" } }
api_key = "env:ERP_KEY"
[integrations.erp.define.order]
events = ["order.*"]
id = "body:/order/id"
strategies = ["current"]
read = "/orders/{0}"
read_id = "/id"
"#;

#[test]
fn a_general_contract_is_given_the_sender_s_own_api_and_a_provider_s_is_not() {
    let parsed = Config::parse("lastword.toml", OWN_API).unwrap();
    let erp = parsed.integration("erp").unwrap();
    let host = erp.contract.api.as_ref().unwrap().host.as_deref();
    assert_eq!(host, Some("https://erp.example.com"));
    let told = |text: &str| {
        Config::parse("lastword.toml", text)
            .unwrap_err()
            .to_string()
    };
    for host in [
        "http://erp.example.com",
        "https://erp.example.com/api",
        "https://u@erp",
        "erp.example.com",
    ] {
        let text = OWN_API.replace("https://erp.example.com", host);
        assert!(
            told(&text).contains("expected https:// and a name"),
            "{host}"
        );
    }
    let none = OWN_API.replace("api = ", "# ");
    assert!(told(&none).contains("needs a read API"), "{}", told(&none));
    let keyless = OWN_API.replace("api_key = ", "# ");
    assert!(
        told(&keyless).contains("api_key: missing"),
        "{}",
        told(&keyless)
    );
    let stripe = GOOD.replace(
        "contract = \"stripe\"",
        "contract = \"stripe\"\napi = { host = \"https://example.com\" }",
    );
    assert!(told(&stripe).contains("says itself how its objects are read"));
}

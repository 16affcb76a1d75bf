use std::time::Duration;

use crate::{Config, On};

const GOOD: &str = r#"
[integrations.billing]
contract = "stripe"
account = "acct_1"
environment = "live"
signing_secrets = ["env:OLD"]
api_key = "env:KEY"
[integrations.billing.facts.invoice.paid]
events = ["invoice.paid"]
id = ["/id"]
content = "/data/object"
[subjects.customer.members.subscription]
from = "billing/subscription"
link = "state.customer"
[destinations.mail]
url = "https://mail.example.com/messages"
[effects.receipt]
on = "billing/invoice/paid"
to = "mail"
data.invoice = "fact.id"
[effects.access]
on = "billing/subscription"
when = "state.status == 'active'"
[effects.welcome]
on = "customer"
when = "true"
while = "true"
settle_seconds = 60
version = 2
wording = "welcome"
[wordings.welcome]
template = "Welcome."
"#;

fn problems(text: &str) -> String {
    Config::parse("lastword.toml", text)
        .map(|_| String::new())
        .unwrap_or_else(|error| error.to_string())
}

#[test]
fn effects_of_facts_resources_and_subjects_are_taken() {
    let config = Config::parse("lastword.toml", GOOD).unwrap();
    let on: Vec<_> = config
        .effects
        .values()
        .map(|effect| effect.on.to_string())
        .collect();
    assert_eq!(
        on,
        ["billing/subscription", "billing/invoice/paid", "customer"]
    );
    let effect = |name: &str| {
        let mut all = config.effects.iter();
        all.find(|(found, _)| found.as_str() == name).unwrap().1
    };
    assert_eq!(effect("access").to.as_str(), "bus");
    assert_eq!(effect("receipt").to.as_str(), "mail");
    assert_eq!(effect("receipt").version, 1);
    let welcome = effect("welcome");
    assert!(matches!(welcome.on, On::Subject(_)));
    assert_eq!(
        (welcome.settle, welcome.version),
        (Duration::from_secs(60), 2)
    );
    assert_eq!(welcome.holds.as_ref().unwrap().line, 27);
}

#[test]
fn each_mistake_is_told_with_its_line_what_was_found_and_what_is_expected() {
    for (from, to, expected) in [
        (
            "on = \"customer\"",
            "on = \"order\"",
            "found \"order\"; expected a subject, integration/resource or integration/resource/fact: customer, ",
        ),
        (
            "on = \"billing/invoice/paid\"",
            "on = \"billing/invoice/lost\"",
            "lastword.toml:18: effects.receipt.on: found \"billing/invoice/lost\"",
        ),
        (
            "on = \"billing/subscription\"",
            "on = \"billing/\"",
            "effects.access.on: found \"billing/\"",
        ),
        (
            "to = \"mail\"",
            "to = \"fax\"",
            "lastword.toml:19: effects.receipt.to: found \"fax\"; destinations are bus, mail",
        ),
        (
            "settle_seconds = 60",
            "settle_seconds = 50000",
            "effects.welcome.settle_seconds: found 50000; expected 0 to 43200 (12 hours)",
        ),
        (
            "version = 2",
            "version = 0",
            "effects.welcome.version: found 0; versions are counted from 1",
        ),
        ("[effects.access]", "[effects.Access]", "found \"Access\""),
        (
            "[effects.access]",
            "[effects.access]\nurgent = true",
            "unknown field `urgent`",
        ),
        (
            "version = 2",
            "version = 2\nto = \"mail\"",
            "what is to be worded goes to the bus",
        ),
    ] {
        assert!(GOOD.contains(from), "{from}");
        let found = problems(&GOOD.replacen(from, to, 1));
        assert!(found.contains(expected), "{to}: {found}");
    }
}

#[test]
fn one_thing_calls_for_no_more_effects_than_are_looked_up_with_it() {
    let many = |count: usize| {
        let more = (3..=count).map(|n| format!("[effects.e{n}]\non = \"customer\"\n"));
        problems(&format!("{GOOD}{}", more.collect::<String>()))
    };
    assert_eq!(many(21), "");
    let found = many(23);
    assert!(
        found.contains("more than 20 effects on the same thing"),
        "{found}"
    );
}

#[test]
fn a_role_may_not_be_called_what_effects_call_their_verdict() {
    let found = problems(&GOOD.replace("members.subscription", "members.verdict"));
    assert!(found.contains("none of subject, verdict"), "{found}");
}

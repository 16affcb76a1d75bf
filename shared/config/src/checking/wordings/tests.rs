use crate::Config;

const GOOD: &str = r#"
[integrations.billing]
contract = "stripe"
account = "acct_1"
environment = "live"
signing_secrets = ["env:OLD"]
api_key = "env:KEY"
[effects.welcome]
on = "billing/subscription"
data.plan = "state.plan"
data.customer = "state.customer"
wording = "welcome"
[wordings.welcome]
template = "Welcome to {{ plan }}."
brief = "A short welcome."
must_mention = ["plan"]
never_says = ["Refund"]
fields = ["plan"]
[wordings.plain]
template = '''
Hello.
'''
"#;

fn problems(text: &str) -> String {
    Config::parse("lastword.toml", text)
        .map(|_| String::new())
        .unwrap_or_else(|error| error.to_string())
}

#[test]
fn a_wording_is_taken_with_what_it_says_and_with_what_it_leaves_out() {
    let config = Config::parse("lastword.toml", GOOD).unwrap();
    let of = |name: &str| {
        let mut all = config.wordings.iter();
        all.find(|(found, _)| found.as_str() == name).unwrap().1
    };
    let welcome = of("welcome");
    assert_eq!(welcome.template.text, "Welcome to {{ plan }}.");
    assert_eq!(welcome.most_characters, 600);
    assert!(welcome.never_says.contains("refund"));
    assert!(welcome.shows("plan") && !welcome.shows("customer"));
    let plain = of("plain");
    assert_eq!((plain.template.line, plain.brief.as_deref()), (21, None));
    assert!(plain.shows("anything"));
}

#[test]
fn each_mistake_is_told_with_its_line_what_was_found_and_what_is_expected() {
    for (from, to, expected) in [
        (
            "[wordings.welcome]",
            "[wordings.Welcome]",
            "lastword.toml:13: wordings.Welcome: found \"Welcome\"",
        ),
        (
            "wording = \"welcome\"",
            "wording = \"goodbye\"",
            "lastword.toml:12: effects.welcome.wording: found \"goodbye\"; wordings are plain, welcome",
        ),
        (
            "template = \"Welcome to {{ plan }}.\"\n",
            "",
            "wordings.welcome: it has no `template`; expected the approved text",
        ),
        (
            "\"Welcome to {{ plan }}.\"",
            "\" \\n\"",
            "lastword.toml:14: wordings.welcome.template: is empty",
        ),
        (
            "brief =",
            "most_characters = 19\nbrief =",
            "wordings.welcome.most_characters: found 19; expected 20 to 4000 characters",
        ),
        (
            "brief =",
            "most_characters = 4001\nbrief =",
            "found 4001; expected 20 to 4000 characters",
        ),
        (
            "must_mention = [\"plan\"]",
            "must_mention = [\"customer\"]",
            "lastword.toml:16: wordings.welcome.must_mention: found \"customer\", which is not among `fields`",
        ),
        (
            "fields = [\"plan\"]",
            "fields = [\"plan\", \"price\"]",
            "lastword.toml:18: wordings.welcome.fields: found \"price\", which effects.welcome has no data of",
        ),
        (
            "\"Refund\"",
            "\"re fund\"",
            "lastword.toml:17: wordings.welcome.never_says: found \"re fund\"; expected one word",
        ),
        ("\"Refund\"", "\"\"", "found \"\"; expected one word"),
        ("brief =", "short =", "unknown field `short`"),
    ] {
        assert!(GOOD.contains(from), "{from}");
        let found = problems(&GOOD.replacen(from, to, 1));
        assert!(found.contains(expected), "{to}: {found}");
    }
}

use lastword_config::Config;

use super::*;

const CONFIG: &str = r#"
[integrations.billing]
contract = "stripe"
account = "acct_1"
environment = "live"
signing_secrets = ["env:OLD"]
api_key = "env:KEY"
[effects.welcome]
on = "billing/subscription"
data.plan = "state.plan"
data.lines = "state.lines"
wording = "welcome"
[wordings.welcome]
never_says = ["refund"]
template = '''
{{ effect }} to {{ plan }}.
{% for line in lines %}{{ line.id }}: {{ line.amount }}
{% endfor %}'''
"#;

fn wordings(text: &str) -> Result<Wordings, String> {
    let config = Config::parse("lastword.toml", text).unwrap();
    Wordings::compile(&config).map_err(|error| error.to_string())
}

fn wanted(data: &str) -> Wanted {
    Wanted::read(&format!(
        r#"{{"detail-type":"Lastword Draft Wanted","source":"lastword","detail":{{"version":1,"key":"{}","effect":"welcome","wording":"welcome","about":{{"subject":{{"kind":"order","id":"7"}}}},"data":{data}}}}}"#,
        "A".repeat(43)
    ))
    .unwrap()
}

#[test]
fn the_approved_text_is_rendered_and_what_is_put_into_it_stays_text() {
    let wordings = wordings(CONFIG).unwrap();
    let data = r#"{"plan":"<b>{{ effect }} {% raw %}&","lines":[{"id":1,"amount":1.10},{"id":2,"amount":12345678901234567890}]}"#;
    assert_eq!(
        wordings.text(&wanted(data)).unwrap(),
        "welcome to <b>{{ effect }} {% raw %}&.\n1: 1.10\n2: 12345678901234567890"
    );
}

#[test]
fn a_member_of_the_data_does_not_hide_what_is_ours() {
    let wordings = wordings(CONFIG).unwrap();
    let text = wordings.text(&wanted(r#"{"plan":"p","lines":[],"effect":"other"}"#));
    assert_eq!(text.unwrap(), "welcome to p.");
}

#[test]
fn what_the_data_lacks_is_named_and_no_value_is() {
    let wordings = wordings(CONFIG).unwrap();
    for (data, expected) in [
        (
            r#"{"lines":[]}"#,
            "names `plan`, which the data lacks (line 1)",
        ),
        (
            r#"{"plan":"SECRET","lines":[{"id":"SECRET"}]}"#,
            "names `line.amount`, which the data lacks (line 2)",
        ),
        (
            r#"{"plan":"SECRET","lines":7}"#,
            "cannot be rendered (line 2)",
        ),
    ] {
        let error = wordings.text(&wanted(data)).unwrap_err().to_string();
        assert!(
            error.contains(expected) && !error.contains("SECRET"),
            "{error}"
        );
    }
}

#[test]
fn a_text_that_never_ends_or_says_nothing_is_an_error() {
    let template =
        "{% for a in range(10000) %}{% for b in range(10000) %}x{% endfor %}{% endfor %}";
    let at = CONFIG.find("template = ").unwrap();
    let endless = format!("{}template = '{template}'", &CONFIG[..at]);
    let error = wordings(&endless).unwrap().text(&wanted("{}")).unwrap_err();
    assert!(matches!(error, TextError::Failed { .. }), "{error}");
    let nothing = format!("{}template = '{{# nothing #}}'", &CONFIG[..at]);
    let error = wordings(&nothing).unwrap().text(&wanted("{}")).unwrap_err();
    assert!(matches!(error, TextError::Empty(_)), "{error}");
}

#[test]
fn what_is_wrong_with_a_template_is_told_with_its_line() {
    for (from, to, expected) in [
        (
            "{% endfor %}",
            "",
            "lastword.toml:17: wordings.welcome.template: it is no template: unexpected end",
        ),
        (
            "{{ plan }}",
            "{{ plan",
            "lastword.toml:17: wordings.welcome.template: it is no template: ",
        ),
        ("{{ plan }}", "{% include 'x' %}", "it is no template: "),
        (
            "{{ plan }}",
            "{{ price }}",
            "it names `price`, which effects.welcome has no data of",
        ),
        (
            "{{ plan }}",
            "Refund {{ refund }}",
            "it says \"refund\", which is among its `never_says`",
        ),
    ] {
        assert!(CONFIG.contains(from), "{from}");
        let error = wordings(&CONFIG.replacen(from, to, 1)).unwrap_err();
        assert!(error.contains(expected), "{to}: {error}");
    }
}

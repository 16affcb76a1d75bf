use std::env::VarError;

use super::*;

fn with(model: &str, secret: &str, seconds: &str) -> Result<Settings, String> {
    let lookup = |name: &str| match name {
        MODEL => Ok(model.to_owned()),
        SECRET => Ok(secret.to_owned()),
        SECONDS => Ok(seconds.to_owned()),
        _ => Err(VarError::NotPresent),
    };
    settings(&lookup).map_err(|error| error.to_string())
}

#[test]
fn a_model_is_off_or_named_whole() {
    let off = with("", "", "").unwrap();
    assert_eq!((off.named, off.time), (Named::Off, Duration::from_secs(8)));
    let id = "eu.anthropic.claude-haiku:0";
    let named = with(&format!("bedrock:{id}"), "", "25").unwrap();
    assert_eq!(named.named, Named::Bedrock(id.into()));
    assert_eq!(named.time, Duration::from_secs(25));
    for endpoint in [
        "https://api.example.com/v1#small",
        "http://127.0.0.1:11434/v1/#a:b",
        "http://[::1]:80#m",
        "http://localhost#m",
    ] {
        let named = with(&format!("openai:{endpoint}"), "ssm:/lastword/key", "1").unwrap();
        assert!(
            matches!(named.named, Named::OpenAi(_, Some(_))),
            "{endpoint}"
        );
    }
}

#[test]
fn what_cannot_be_used_stops_the_start_with_what_is_expected() {
    for (model, secret, seconds, expected) in [
        (
            "gpt",
            "",
            "",
            "LASTWORD_MODEL is \"gpt\", which cannot be used: it names no kind",
        ),
        ("bedrock:", "", "", "its id is none; expected bedrock:<id"),
        ("bedrock:a b", "", "", "its id is none"),
        ("openai:https://a.example", "", "", "no # with a model"),
        ("openai:https://a.example#", "", "", "no name of a model"),
        (
            "openai:http://a.example#m",
            "",
            "",
            "http is for this machine only",
        ),
        (
            "openai:http://127.0.0.1.example#m",
            "",
            "",
            "http is for this machine only",
        ),
        ("openai:ftp://a.example#m", "", "", "neither with https://"),
        ("openai:https://me:pass@a.example#m", "", "", "(not shown)"),
        (
            "openai:https://a.example?key=1#m",
            "",
            "",
            "a user or a query",
        ),
        (
            "",
            "ssm:/key",
            "",
            "only openai:<base url>#<model> takes a key",
        ),
        ("bedrock:m", "ssm:/key", "", "only openai:"),
        (
            "openai:https://a.example#m",
            "sk-123",
            "",
            "LASTWORD_MODEL_SECRET is \"(not shown)\"",
        ),
        (
            "",
            "",
            "0",
            "LASTWORD_MODEL_SECONDS is \"0\", which cannot be used: expected a whole number from 1 to 25",
        ),
        ("", "", "26", "from 1 to 25"),
        ("", "", "8.5", "from 1 to 25"),
    ] {
        let error = with(model, secret, seconds).unwrap_err();
        assert!(
            error.contains(expected),
            "{model} {secret} {seconds}: {error}"
        );
        assert!(
            !error.contains("pass@") && !error.contains("sk-123"),
            "{error}"
        );
    }
}

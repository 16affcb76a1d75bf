//! The port, over real sockets: both forms of question and answer, and every way in which no text comes of it.

#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test has no public parts, and its helpers fail it by panicking"
)]

mod standin;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use lastword_config::{Config, SecretRef, SecretValue};
use lastword_draft::asking::{Asked, Bedrock, Endpoint, Model, OpenAi, Question};
use lastword_draft::data::members;
use lastword_runtime::{ClientSettings, Clients, Endpoints, Patience, Vault};
use lastword_store::NotTaken;
use serde_json::{Value, json};
use standin::{Says, StandIn};

const AMPLE: Duration = Duration::from_secs(20);

fn question() -> Question {
    let config = Config::parse(
        "lastword.toml",
        "[integrations.billing]\ncontract = \"stripe\"\naccount = \"a\"\nenvironment = \"live\"\n\
         signing_secrets = [\"env:S\"]\napi_key = \"env:K\"\n\
         [wordings.w]\ntemplate = \"Hello.\"\nbrief = \"Be kind.\"\nmost_characters = 50\n",
    )
    .unwrap();
    let wording = config.wordings.values().next().unwrap();
    Question::new(wording, &members(r#"{"total":1.10}"#).unwrap())
}

fn bedrock(url: &str) -> Model {
    let endpoints = Endpoints {
        bedrock: Some(url.to_owned()),
        ..Endpoints::default()
    };
    let clients = Clients::new(ClientSettings::local(endpoints, Patience::background()));
    Model::Bedrock(Box::new(Bedrock::new(&clients, "eu.maker.small:0", AMPLE)))
}

fn openai(url: &str) -> Model {
    let reference = SecretRef::parse("env:KEY").unwrap();
    let key = SecretValue::accept("sk-test".to_owned().into()).unwrap();
    let vault = Vault::fixed(Arc::new(BTreeMap::from([(reference.clone(), key)])));
    let endpoint = Endpoint::parse(&format!("{url}/v1#small")).unwrap();
    Model::OpenAi(Box::new(
        OpenAi::new(endpoint, Some((reference, Arc::new(vault)))).unwrap(),
    ))
}

/// As Converse and chat completions say a text, and why they stopped.
fn both(text: &str, stops: [&str; 2]) -> [Value; 2] {
    [
        json!({
            "output": {"message": {"role": "assistant", "content": [
                {"reasoningContent": {"reasoningText": {"text": "thinking", "signature": "x"}}}, {"text": text}
            ]}},
            "stopReason": stops[0],
            "usage": {"inputTokens": 30, "outputTokens": 5, "totalTokens": 35}, "metrics": {"latencyMs": 7},
        }),
        json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1_796_065_200, "model": "small",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text, "refusal": null},
                "logprobs": null, "finish_reason": stops[1]}],
            "usage": {"prompt_tokens": 30, "completion_tokens": 5, "total_tokens": 35},
        }),
    ]
}

async fn asked(says: [Says; 2], time: Duration) -> [Asked; 2] {
    let [one, other] = says;
    let (one, other) = (StandIn::start(one).await, StandIn::start(other).await);
    [
        bedrock(&one.url()).ask(&question(), time).await,
        openai(&other.url()).ask(&question(), time).await,
    ]
}

#[tokio::test]
async fn both_are_asked_as_they_are_documented_and_once() {
    let said = both("All is well.", ["end_turn", "stop"]);
    let [one, other] = said.map(|body| Says::Answer(200, body.to_string()));
    let (one, other) = (StandIn::start(one).await, StandIn::start(other).await);
    let asked = bedrock(&one.url()).ask(&question(), AMPLE).await;
    assert_eq!(asked, Asked::Text("All is well.".to_owned()));
    let asked = openai(&other.url()).ask(&question(), AMPLE).await;
    assert_eq!(asked, Asked::Text("All is well.".to_owned()));

    let told = one.heard();
    let [heard] = told.as_slice() else {
        panic!("asked {} times", told.len());
    };
    assert_eq!(heard.line, "POST /model/eu.maker.small%3A0/converse");
    assert!(heard.authorization.starts_with("AWS4-HMAC-SHA256 "));
    let body = &heard.body;
    assert_eq!(
        body["messages"],
        json!([{"role": "user", "content": [{"text": "<data>\n{\"total\":1.10}\n</data>"}]}])
    );
    assert_eq!(
        body["inferenceConfig"],
        json!({"temperature": 0.0, "maxTokens": 50})
    );
    assert!(
        body["system"][0]["text"]
            .as_str()
            .unwrap()
            .ends_with("Be kind.")
    );
    assert_eq!(body.get("toolConfig"), None);

    let told = other.heard();
    let [heard] = told.as_slice() else {
        panic!("asked {} times", told.len());
    };
    assert_eq!(heard.line, "POST /v1/chat/completions");
    assert_eq!(heard.authorization, "Bearer sk-test");
    let body = &heard.body;
    assert_eq!(
        (
            &body["model"],
            &body["temperature"],
            &body["max_tokens"],
            &body["stream"]
        ),
        (&json!("small"), &json!(0), &json!(50), &json!(false))
    );
    assert_eq!(body["messages"][0]["role"], "system");
    assert_eq!(
        body["messages"][1],
        json!({"role": "user", "content": "<data>\n{\"total\":1.10}\n</data>"})
    );
    assert_eq!(body.get("tools"), None);
}

#[tokio::test]
async fn what_did_not_come_to_its_own_end_is_not_taken() {
    for (stops, why) in [
        (["max_tokens", "length"], NotTaken::TooLong),
        (["content_filtered", "content_filter"], NotTaken::Refused),
        (["guardrail_intervened", "tool_calls"], NotTaken::Refused),
        (["tool_use", "something new"], NotTaken::Refused),
    ] {
        let says = both("A text.", stops).map(|body| Says::Answer(200, body.to_string()));
        assert_eq!(
            asked(says, AMPLE).await,
            [Asked::Not(why), Asked::Not(why)],
            "{stops:?}"
        );
    }
}

#[tokio::test]
async fn an_error_is_a_refusal_and_is_not_asked_again() {
    for status in [400, 401, 403, 404, 429, 500, 503] {
        for model in [bedrock, openai] {
            let body = r#"{"message":"no","error":{"message":"no"}}"#;
            let standin = StandIn::start(Says::Answer(status, body.to_owned())).await;
            let asked = model(&standin.url()).ask(&question(), AMPLE).await;
            assert_eq!(asked, Asked::Not(NotTaken::Refused), "{status}");
            assert_eq!(standin.heard().len(), 1, "{status}");
        }
    }
}

#[tokio::test]
async fn what_is_no_answer_is_as_good_as_none() {
    for body in [
        "",
        "hello",
        "[]",
        "{}",
        r#"{"choices":[]}"#,
        r#"{"output":{}}"#,
    ] {
        let says = [(); 2].map(|()| Says::Answer(200, body.to_owned()));
        for asked in asked(says, AMPLE).await {
            // Without a reason to stop, Bedrock's answer has come to no end.
            let none = [Asked::Not(NotTaken::Down), Asked::Not(NotTaken::Refused)];
            assert!(none.contains(&asked), "{body}: {asked:?}");
        }
    }
}

#[tokio::test]
async fn who_cannot_be_reached_is_down() {
    let gone = {
        let standin = StandIn::start(Says::Nothing).await;
        standin.url()
    };
    for model in [bedrock, openai] {
        let asked = model(&gone).ask(&question(), AMPLE).await;
        assert_eq!(asked, Asked::Not(NotTaken::Down));
    }
}

#[tokio::test]
async fn who_does_not_answer_in_time_is_slow() {
    let time = Duration::from_millis(200);
    let [one, other] = asked([Says::Nothing, Says::Nothing], time).await;
    assert_eq!([one, other], [(); 2].map(|()| Asked::Not(NotTaken::Slow)));
}

#[tokio::test]
async fn an_answer_without_end_is_cut_off() {
    let text = "a".repeat(70 * 1024);
    let says = both(&text, ["end_turn", "stop"]).map(|body| Says::Answer(200, body.to_string()));
    let [one, other] = asked(says, AMPLE).await;
    assert_eq!(one, Asked::Not(NotTaken::Down));
    assert_eq!(other, Asked::Not(NotTaken::TooLong));
}

#[tokio::test]
async fn nobody_is_asked_when_it_is_off() {
    assert_eq!(
        Model::Off.ask(&question(), AMPLE).await,
        Asked::Not(NotTaken::Off)
    );
}

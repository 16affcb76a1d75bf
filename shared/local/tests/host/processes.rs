//! Real bootstraps poll the Runtime API: this test binary starts itself as one, over the real runtime crate.

use std::{
    collections::BTreeMap,
    path::Path,
    time::{Duration, Instant},
};

use lambda_runtime::{Error, LambdaEvent, service_fn};
use lastword_local::{
    clients,
    function::FunctionErrorKind,
    processes::{Output, ProcessSpec, Processes},
    runtime_api::RuntimeApi,
    ssm::Ssm,
};
use serde_json::{Value, json};

use crate::bench::eventually;

const SOON: Duration = Duration::from_secs(10);

/// What the child runs. Run by anyone but a host, it does nothing.
#[tokio::test]
#[ignore = "a stand-in for a bootstrap binary"]
async fn bootstrap() {
    if std::env::var("AWS_LAMBDA_RUNTIME_API").is_err() {
        return;
    }
    lambda_runtime::run(service_fn(async |event: LambdaEvent<Value>| {
        match event.payload["do"].as_str() {
            Some("fail") => return Err(Error::from("no good")),
            Some("die") => std::process::exit(7),
            Some("hang") => std::future::pending().await,
            _ => {}
        }
        Ok(json!({
            "echo": event.payload,
            "pid": std::process::id(),
            "name": event.context.env_config.function_name,
            "arn": event.context.invoked_function_arn,
            "greeting": std::env::var("GREETING").ok(),
            "home": std::env::var("HOME").ok(),
        }))
    }))
    .await
    .unwrap();
}

fn spec() -> ProcessSpec {
    let args = [
        "--exact",
        "processes::bootstrap",
        "--ignored",
        "--nocapture",
        "--test-threads=1",
    ];
    ProcessSpec {
        args: args.map(Into::into).to_vec(),
        env: vec![("GREETING".to_owned(), "hello".to_owned())],
        output: Output::Discard,
        ..ProcessSpec::new(std::env::current_exe().unwrap())
    }
}

async fn ask(api: &RuntimeApi, what: &str) -> Value {
    let payload = json!({ "do": what }).to_string();
    serde_json::from_str(&api.function().invoke(payload, SOON).await.unwrap()).unwrap()
}

fn alive(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

#[tokio::test]
async fn a_real_binary_answers_with_only_the_environment_it_was_given() {
    let api = RuntimeApi::new("reconcile");
    let started = Instant::now();
    let processes = Processes::start(&api, &spec(), 1);
    let reply = ask(&api, "echo").await;
    assert_eq!(reply["echo"], json!({ "do": "echo" }));
    assert_eq!(reply["name"], "reconcile");
    assert!(
        reply["arn"]
            .as_str()
            .unwrap()
            .ends_with(":function:reconcile")
    );
    assert_eq!(reply["greeting"], "hello");
    assert_eq!(reply["home"], Value::Null);
    let life = processes.lives().remove(0);
    let (spawned, polled) = (life.spawned.unwrap(), life.first_next.unwrap());
    let answered = life.first_response.unwrap();
    assert!(started <= spawned && spawned <= polled && polled <= answered);
    processes.stop().await;
    assert!(!alive(life.pid.unwrap()), "ended and reaped");
}

#[tokio::test]
async fn an_error_of_the_binary_is_the_functions_error_and_the_process_lives_on() {
    let api = RuntimeApi::new("f");
    let processes = Processes::start(&api, &spec(), 1);
    let payload = json!({ "do": "fail" }).to_string();
    let error = api.function().invoke(payload, SOON).await.unwrap_err();
    assert_eq!(error.kind, FunctionErrorKind::Failed);
    assert!(error.message.contains("no good"), "{error}");
    ask(&api, "echo").await;
    assert_eq!(processes.lives()[0].starts, 1);
}

#[tokio::test]
async fn a_process_that_dies_fails_its_invocation_at_once_and_is_started_again() {
    let api = RuntimeApi::new("f");
    let processes = Processes::start(&api, &spec(), 1);
    let payload = json!({ "do": "die" }).to_string();
    let error = api
        .function()
        .invoke(payload, Duration::from_secs(60))
        .await
        .unwrap_err();
    assert_eq!(error.kind, FunctionErrorKind::Lost);
    ask(&api, "echo").await;
    assert_eq!(processes.lives()[0].starts, 2);
}

#[tokio::test]
async fn a_process_that_overruns_its_deadline_is_replaced() {
    let api = RuntimeApi::new("f");
    let processes = Processes::start(&api, &spec(), 1);
    let first = ask(&api, "echo").await["pid"].as_u64().unwrap();
    let payload = json!({ "do": "hang" }).to_string();
    let error = api
        .function()
        .invoke(payload, Duration::from_millis(50))
        .await
        .unwrap_err();
    assert_eq!(error.kind, FunctionErrorKind::TimedOut);
    assert_ne!(ask(&api, "echo").await["pid"].as_u64().unwrap(), first);
    drop(processes);
}

#[tokio::test]
async fn two_instances_work_at_the_same_time() {
    let api = RuntimeApi::new("f");
    let processes = Processes::start(&api, &spec(), 2);
    eventually("both ask for work", async || {
        processes
            .lives()
            .iter()
            .all(|life| life.first_next.is_some())
    })
    .await;
    let hanging = tokio::spawn({
        let function = api.function();
        async move {
            function
                .invoke(json!({ "do": "hang" }).to_string(), SOON)
                .await
        }
    });
    // If the hanging one held up the queue, this would not come back.
    ask(&api, "echo").await;
    hanging.abort();
}

#[tokio::test]
async fn dropping_the_processes_ends_them() {
    let api = RuntimeApi::new("f");
    let processes = Processes::start(&api, &spec(), 1);
    let pid = u32::try_from(ask(&api, "echo").await["pid"].as_u64().unwrap()).unwrap();
    drop(processes);
    eventually("the child is gone", async || {
        // A killed child may stay a zombie until the runtime reaps it.
        !alive(pid)
            || std::fs::read_to_string(format!("/proc/{pid}/stat"))
                .is_ok_and(|s| s.contains(") Z "))
    })
    .await;
}

#[tokio::test]
async fn the_real_sdk_reads_parameters_and_learns_which_are_unknown() {
    let values = BTreeMap::from([("/lastword/key".to_owned(), "s3cret".to_owned())]);
    let ssm = Ssm::start(values).await.unwrap();
    let client = aws_sdk_ssm::Client::new(&clients::config(&ssm.url()));
    let reply = client
        .get_parameters()
        .names("/lastword/key")
        .names("/lastword/none")
        .with_decryption(true)
        .send()
        .await
        .unwrap();
    assert_eq!(reply.parameters()[0].value(), Some("s3cret"));
    assert_eq!(reply.invalid_parameters(), ["/lastword/none"]);
}

//! The real binaries of the functions, as the cloud runs them: over the Runtime API, with only the
//! environment they are given.

use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::{
    binaries::Binaries,
    parts::{Functions, Parts},
};
use crate::{
    machine::{BUS, Failure, INBOX_TABLE, STATE_TABLE},
    processes::{Life, Output, ProcessSpec, Processes},
    runtime_api::RuntimeApi,
};

const INGESTS: usize = 2;
const RELAYS: usize = 1;
const RECONCILES: usize = 4;
const DISPATCHES: usize = 2;
const DRAFTS: usize = 1;
/// How long a binary may take to ask for work.
const PATIENCE: Duration = Duration::from_secs(30);
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Starts the binaries and waits until each asks for work.
pub(super) async fn functions(
    parts: &Parts,
    binaries: &Binaries,
) -> Result<(Functions, Vec<Processes>), Failure> {
    let run = |name: &str, memory_mb, variables, instances| {
        let api = RuntimeApi::new(name);
        let spec = ProcessSpec {
            env: variables,
            memory_mb,
            output: Output::Append(parts.log.clone()),
            ..ProcessSpec::new(binaries.of(name))
        };
        let processes = Processes::start(&api, &spec, instances);
        (api.function(), processes)
    };
    let (ingest, ingests) = run("ingest", 512, for_ingest(parts), INGESTS);
    let (relay, relays) = run("relay", 256, for_relay(parts), RELAYS);
    let (reconcile, reconciles) = run("reconcile", 512, for_reconcile(parts), RECONCILES);
    let (dispatch, dispatches) = run("dispatch", 256, for_dispatch(parts), DISPATCHES);
    let (draft, drafts) = run("draft", 256, for_draft(parts), DRAFTS);
    for (name, processes) in [
        ("ingest", &ingests),
        ("relay", &relays),
        ("reconcile", &reconciles),
        ("dispatch", &dispatches),
        ("draft", &drafts),
    ] {
        ready(processes)
            .await
            .map_err(|why| format!("{name} did not start: {why}; see {}", parts.log.display()))?;
    }
    let functions = Functions {
        ingest,
        relay,
        reconcile,
        dispatch,
        draft,
        reconciles: RECONCILES,
        dispatches: DISPATCHES,
    };
    Ok((
        functions,
        vec![ingests, relays, reconciles, dispatches, drafts],
    ))
}

async fn ready(processes: &Processes) -> Result<(), String> {
    let all = async {
        loop {
            let lives = processes.lives();
            // A process that died was perhaps unlucky; one that died twice cannot start.
            if let Some(why) = lives.iter().find_map(|life| end_of(life, 2)) {
                return Err(why);
            }
            if lives.iter().all(|life| life.first_next.is_some()) {
                return Ok(());
            }
            sleep(LOOK_AGAIN).await;
        }
    };
    match timeout(PATIENCE, all).await {
        Ok(ended) => ended,
        Err(_) => Err("it does not ask for work".to_owned()),
    }
}

fn end_of(life: &Life, starts: u32) -> Option<String> {
    let ended = life.last_end.clone()?;
    (life.starts >= starts || life.starts == 0).then_some(ended)
}

type Variables = Vec<(String, String)>;

fn for_ingest(parts: &Parts) -> Variables {
    let mut all = common(parts);
    all.extend(parts.secrets.variables());
    all.push(("LASTWORD_INBOX_TABLE".into(), INBOX_TABLE.into()));
    all
}

fn for_relay(parts: &Parts) -> Variables {
    let mut all = common(parts);
    all.push(("LASTWORD_QUEUE_URL".into(), parts.queue_url.clone()));
    all.extend(outwards(parts));
    all
}

fn for_dispatch(parts: &Parts) -> Variables {
    let mut all = for_ingest(parts);
    all.push(("LASTWORD_STATE_TABLE".into(), STATE_TABLE.into()));
    all.extend(outwards(parts));
    let destinations = parts.destinations.clone();
    all.push(("LASTWORD_LOCAL_DESTINATIONS".into(), destinations));
    all
}

/// Without a model: the approved texts wait.
fn for_draft(parts: &Parts) -> Variables {
    let mut all = common(parts);
    all.push(("LASTWORD_STATE_TABLE".into(), STATE_TABLE.into()));
    all
}

/// Where effects and events go.
fn outwards(parts: &Parts) -> Variables {
    let effects = parts.effects_url.clone();
    vec![
        ("LASTWORD_EFFECTS_QUEUE_URL".into(), effects),
        ("LASTWORD_BUS".into(), BUS.into()),
    ]
}

fn for_reconcile(parts: &Parts) -> Variables {
    let mut all = for_ingest(parts);
    all.push(("LASTWORD_STATE_TABLE".into(), STATE_TABLE.into()));
    all.push(("LASTWORD_QUEUE_URL".into(), parts.queue_url.clone()));
    all.push(("LASTWORD_LOCAL_API".into(), parts.api.clone()));
    all
}

/// Where the stores are, and which configuration; `None` is the one that was built in.
fn common(parts: &Parts) -> Variables {
    let file = parts.file.as_ref().map(|file| file.display().to_string());
    let endpoints = &parts.endpoints;
    [
        ("AWS_ENDPOINT_URL_DYNAMODB", endpoints.dynamodb.clone()),
        ("AWS_ENDPOINT_URL_SQS", endpoints.sqs.clone()),
        ("AWS_ENDPOINT_URL_SSM", endpoints.ssm.clone()),
        (
            "AWS_ENDPOINT_URL_EVENTBRIDGE",
            endpoints.eventbridge.clone(),
        ),
        ("LASTWORD_CONFIG", file),
        ("LASTWORD_LOG", std::env::var("LASTWORD_LOG").ok()),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name.to_owned(), value?)))
    .collect()
}

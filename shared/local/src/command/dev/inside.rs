//! The handlers of the cloud in this process, over real SDK calls to the local stores.

use std::{sync::Arc, time::SystemTime};

use lastword_destinations::{Bus, DestinationOverrides, Sender};
use lastword_dispatch::Dispatcher;
use lastword_draft::{Model, Wordings};
use lastword_ingest::{Clock, Ingest, keys::KeyRing};
use lastword_provider::{HostOverrides, ProviderClient};
use lastword_queue::Queue;
use lastword_reconcile::{Handler, Reconciler};
use lastword_relay::Relay;
use lastword_runtime::{ClientSettings, Clients, Patience, Vault};
use lastword_store::{Drafts, Inbox, Moment, State};
use serde::Serialize;

use super::parts::{self, Functions, Parts};
use crate::{
    function::{Function, FunctionError, Invocation},
    machine::{BUS, Failure, INBOX_TABLE, STATE_TABLE},
};

/// Reconcile's batches at once: the template's default.
const RECONCILES: usize = 10;
/// Dispatch's batches at once: the template's default.
const DISPATCHES: usize = 10;

/// Makes the functions as their own starts do.
pub(super) async fn functions(parts: &Parts) -> Result<Functions, Failure> {
    let back = clients(parts, Patience::background());
    let ingest = ingest(parts, back.clone()).await?;
    let relay = relay(Relay::new(
        Queue::new(back.sqs(), &parts.queue_url),
        Queue::new(back.sqs(), &parts.effects_url),
        Bus::new(back.eventbridge(), BUS),
    ));
    let reconcile = reconcile(parts, &back).await?;
    let dispatch = dispatch(parts, &back).await?;
    Ok(Functions {
        ingest,
        relay,
        reconcile,
        dispatch,
        draft: draft(parts, &back)?,
        reconciles: RECONCILES,
        dispatches: DISPATCHES,
    })
}

fn clients(parts: &Parts, patience: Patience) -> Clients {
    Clients::new(ClientSettings::local(parts.endpoints.clone(), patience))
}

async fn ingest(parts: &Parts, back: Clients) -> Result<Function, Failure> {
    let clock: Clock = match parts.clock {
        None => Arc::new(Moment::now),
        Some(seconds) => Arc::new(move || Moment::from_unix_ms(seconds.saturating_mul(1000))),
    };
    let keys = KeyRing::load(&parts.config, parts.secrets.source(back)).await?;
    let front = clients(parts, Patience::ingest());
    let inbox = Inbox::new(front.dynamodb(), INBOX_TABLE);
    let ingest = Arc::new(Ingest::new(parts.config.clone(), keys, inbox, clock));
    Ok(Function::in_process("ingest", move |it: Invocation| {
        let ingest = Arc::clone(&ingest);
        async move { written(&ingest.handle_text(&it.payload).await) }
    }))
}

fn relay(relay: Relay) -> Function {
    let relay = Arc::new(relay);
    Function::in_process("relay", move |it: Invocation| {
        let relay = Arc::clone(&relay);
        async move {
            let reply = relay.handle_text(&it.payload).await.map_err(failed)?;
            written(&reply)
        }
    })
}

async fn reconcile(parts: &Parts, back: &Clients) -> Result<Function, Failure> {
    let source = parts.secrets.source(back.clone());
    let vault = Vault::open(source, parts.config.api_secrets()).await?;
    let reconciler = Reconciler::new(
        Arc::new(parts.config.clone()),
        State::new(back.dynamodb(), INBOX_TABLE, STATE_TABLE),
        ProviderClient::new(HostOverrides::parse(&parts.api)?)?,
        Arc::new(vault),
        Arc::new(Moment::now),
    )?;
    let handler = Handler::new(reconciler, Queue::new(back.sqs(), &parts.queue_url));
    let handler = Arc::new(handler);
    Ok(Function::in_process("reconcile", move |it: Invocation| {
        let handler = Arc::clone(&handler);
        async move {
            let left = it
                .deadline
                .duration_since(SystemTime::now())
                .unwrap_or_default();
            let reply = handler.handle_text(&it.payload, left).await;
            written(&reply.map_err(failed)?)
        }
    }))
}

async fn dispatch(parts: &Parts, back: &Clients) -> Result<Function, Failure> {
    let source = parts.secrets.source(back.clone());
    let vault = Vault::open(source, parts.config.destination_secrets()).await?;
    let overrides = DestinationOverrides::parse(&parts.destinations)?;
    let dispatcher = Dispatcher::new(
        Arc::new(parts.config.clone()),
        State::new(back.dynamodb(), INBOX_TABLE, STATE_TABLE),
        Sender::new(back, BUS, Arc::new(vault), overrides)?,
        Arc::new(Moment::now),
    )?;
    let queue = Queue::new(back.sqs(), &parts.effects_url);
    let handler = Arc::new(lastword_dispatch::Handler::new(dispatcher, queue));
    Ok(Function::in_process("dispatch", move |it: Invocation| {
        let handler = Arc::clone(&handler);
        async move {
            let left = it
                .deadline
                .duration_since(SystemTime::now())
                .unwrap_or_default();
            let reply = handler.handle_text(&it.payload, left).await;
            written(&reply.map_err(failed)?)
        }
    }))
}

/// Without a model: the approved texts wait.
fn draft(parts: &Parts, back: &Clients) -> Result<Function, Failure> {
    let handler = Arc::new(lastword_draft::Handler::new(
        Wordings::compile(&parts.config)?,
        Model::Off,
        parts::DRAFT_TIMEOUT,
        Drafts::new(back.dynamodb(), STATE_TABLE),
        Arc::new(Moment::now),
    ));
    Ok(Function::in_process("draft", move |it: Invocation| {
        let handler = Arc::clone(&handler);
        async move {
            handler.handle_text(&it.payload).await.map_err(failed)?;
            Ok("null".to_owned())
        }
    }))
}

fn written(reply: &impl Serialize) -> Result<String, FunctionError> {
    serde_json::to_string(reply).map_err(failed)
}

fn failed(error: impl ToString) -> FunctionError {
    FunctionError::failed(error.to_string())
}

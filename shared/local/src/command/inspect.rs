//! `lastword inspect`: the story of one resource or subject, without bodies; changes nothing.

mod effects;
mod meaning;
mod resource;
mod subject;

use std::path::Path;

use lastword_runtime::{ClientSettings, Clients, Endpoints, Patience, environment};
use lastword_store::{State, StoreError};

use super::{
    Outcome,
    cli::{About, DIRECTORY, Inspect},
    stack::Stack,
};
use crate::machine::Failure;

const STATE: &str = "LASTWORD_STATE_TABLE";
const INBOX: &str = "LASTWORD_INBOX_TABLE";

pub(super) async fn run(asked: &Inspect) -> Outcome {
    let state = open(asked.dir.as_deref())?;
    match &asked.about {
        About::Resource(resource) => resource::tell(&state, resource, asked).await,
        About::Subject(subject) => subject::tell(&state, subject, asked).await,
    }
}

/// Why a story could not be read.
pub(super) fn unread(error: StoreError) -> String {
    format!("the story could not be read, is the stack running? {error}")
}

/// The tables of the running stack, or of the account that the environment describes.
pub(super) fn open(directory: Option<&Path>) -> Result<State, Failure> {
    if directory.is_none() && environment::optional(STATE)?.is_some() {
        let clients = Clients::from_env(Patience::background())?;
        let (inbox, state) = (environment::required(INBOX)?, environment::required(STATE)?);
        return Ok(State::new(clients.dynamodb(), inbox, state));
    }
    let stack = Stack::find(directory.unwrap_or(Path::new(DIRECTORY)))?;
    let endpoints = Endpoints {
        dynamodb: Some(stack.dynamodb),
        ..Endpoints::default()
    };
    let clients = Clients::new(ClientSettings::local(endpoints, Patience::background()));
    Ok(State::new(
        clients.dynamodb(),
        stack.inbox_table,
        stack.state_table,
    ))
}

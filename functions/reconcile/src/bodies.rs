//! What the events' own bodies prove of a resource. A body that does not hold what the contract says proves nothing: its
//! event stays, marked, and can be driven again.

use lastword_contracts::{Evidence, ResourceRules};
use lastword_domain::decide::{Change, Ranked, Snapshot};
use lastword_domain::{EventRef, Mark, Outcome, Reason, Version};
use lastword_store::{LoadedEvent, State, StoreError};

/// An event that proves nothing: it stays, and can be driven again.
#[must_use]
pub fn failed(event: &LoadedEvent, reason: Reason) -> Mark {
    Mark {
        event: event.reference.clone(),
        outcome: Outcome::Failed,
        reason,
    }
}

/// What the bodies prove, and the marks of those that prove nothing.
#[derive(Debug, Default)]
pub struct Proofs {
    /// One for each body that holds what the contract says.
    pub snapshots: Vec<Snapshot>,
    /// One for each that does not.
    pub failed: Vec<Mark>,
}

/// Reads the versioned snapshots out of the signals' bodies.
///
/// # Errors
/// When a body cannot be read from the store.
pub async fn proofs(
    state: &State,
    rules: &ResourceRules,
    pending: &[&LoadedEvent],
) -> Result<Proofs, StoreError> {
    let read = |kind: &str, body: &[u8]| rules.evidence(kind, body);
    let (found, failed) = each(state, pending, read).await?;
    let snapshot = |(event, evidence): (EventRef, Evidence)| Snapshot {
        event,
        version: evidence.version,
        content: evidence.content,
    };
    Ok(Proofs {
        snapshots: found.into_iter().map(snapshot).collect(),
        failed,
    })
}

/// Reads the statuses out of the signals' bodies.
///
/// # Errors
/// When a body cannot be read from the store.
pub async fn ranked(
    state: &State,
    rules: &ResourceRules,
    pending: &[&LoadedEvent],
) -> Result<(Vec<Ranked>, Vec<Mark>), StoreError> {
    let read = |kind: &str, body: &[u8]| rules.ranked(kind, body);
    let (found, failed) = each(state, pending, read).await?;
    let ranked = found.into_iter().map(|(event, (status, content))| Ranked {
        event,
        status,
        content,
    });
    Ok((ranked.collect(), failed))
}

/// Reads the numbered changes out of the signals' bodies.
///
/// # Errors
/// When a body cannot be read from the store.
pub async fn changes(
    state: &State,
    rules: &ResourceRules,
    pending: &[&LoadedEvent],
) -> Result<(Vec<Change>, Vec<Mark>), StoreError> {
    let read = |kind: &str, body: &[u8]| rules.change(kind, body);
    let (found, failed) = each(state, pending, read).await?;
    let changes = found.into_iter().map(|(event, (number, delta))| Change {
        event: Some(event),
        number,
        delta,
    });
    Ok((changes.collect(), failed))
}

/// The greatest version that the signals' own bodies prove, where the contract says where one stands: no read may be
/// older.
///
/// # Errors
/// When a body cannot be read from the store.
pub async fn proven(
    state: &State,
    rules: &ResourceRules,
    pending: &[&LoadedEvent],
) -> Result<Option<Version>, StoreError> {
    if rules.version.is_none() {
        return Ok(None);
    }
    let read = |_: &str, body: &[u8]| rules.proves(body).ok_or(());
    let (found, _) = each(state, pending, read).await?;
    Ok(found.into_iter().map(|(_, version)| version).max())
}

/// What is read out of each body, and a mark for each that cannot be read.
async fn each<T, E>(
    state: &State,
    pending: &[&LoadedEvent],
    read: impl Fn(&str, &[u8]) -> Result<T, E>,
) -> Result<(Vec<(EventRef, T)>, Vec<Mark>), StoreError> {
    let (mut found, mut marks) = (Vec::new(), Vec::new());
    for event in pending {
        let Some(stored) = &event.stored else {
            marks.push(failed(event, Reason::EventGone));
            continue;
        };
        let body = state.inbox().body(stored).await?;
        match read(stored.kind.as_str(), &body) {
            Ok(value) => found.push((event.reference.clone(), value)),
            Err(_) => marks.push(failed(event, Reason::Unparsable)),
        }
    }
    Ok((found, marks))
}

//! Saves positions, and only those behind which nothing is queued; see the decision one level up.

use std::{path::Path, path::PathBuf, sync::Arc, time::Duration};

use tokio::{task::spawn_blocking, time::sleep};

use super::{Shared, position};

/// The pause between two looks at the queues, and so between two saves.
const PAUSE: Duration = Duration::from_millis(25);

pub(super) async fn run(shared: Arc<Shared>, path: PathBuf) {
    let mut accepted = shared.accepted.subscribe();
    accepted.mark_changed();
    while accepted.changed().await.is_ok() {
        while !keep_once(&shared, &path).await {
            sleep(PAUSE).await;
        }
        sleep(PAUSE).await;
    }
}

/// Saves what was accepted before the queues are seen empty; answers whether that is on disk now.
pub(super) async fn keep_once(shared: &Shared, path: &Path) -> bool {
    // The order matters: the position first, the queues second.
    let positions = shared.accepted.borrow().clone();
    if positions == *shared.saved.borrow() {
        return true;
    }
    for gauge in &shared.config.downstream {
        match gauge.is_empty().await {
            Ok(true) => {}
            Ok(false) => return false,
            Err(error) => {
                shared.trouble(&error.to_string());
                return false;
            }
        }
    }
    let (path, stream) = (path.to_owned(), shared.config.stream_arn.clone());
    let copy = positions.clone();
    match spawn_blocking(move || position::save(&path, &stream, &copy)).await {
        Ok(Ok(())) => {
            shared.saved.send_replace(positions);
            true
        }
        Ok(Err(error)) => {
            shared.trouble(&format!("the position could not be saved: {error}"));
            false
        }
        Err(_) => false,
    }
}

//! The table store with its streams, over a file; may not be reached but through its endpoint.

use std::{net::SocketAddr, path::Path, time::Duration};

use dynoxide::{Database, server};
use tokio::{
    sync::oneshot,
    task::{JoinHandle, spawn_blocking},
    time::timeout,
};

use super::StoresError;
use crate::loopback;

/// How long a shutdown waits for calls that are still running.
const PATIENCE: Duration = Duration::from_secs(2);

/// Each write asks for the highest sequence number of its stream, and nothing ever trims the records:
/// without this index a write costs a scan of all of them. The table exists as soon as the database has
/// been opened once, so the index is added right after, over a connection of our own.
const INDEX: &str = "CREATE INDEX IF NOT EXISTS stream_records_by_position \
     ON _stream_records(table_name, CAST(sequence_number AS INTEGER))";

pub(super) struct Tables {
    database: Database,
    address: SocketAddr,
    // Dropping the sender is the signal to stop.
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Tables {
    pub(super) async fn start(file: &Path, port: u16) -> Result<Self, StoresError> {
        let path = file.display().to_string();
        let database = spawn_blocking(move || open(&path))
            .await
            .map_err(|error| StoresError::Database(error.to_string()))??;
        let (listener, address) = loopback::listen(port)
            .await
            .map_err(StoresError::io(format!("port {port}")))?;
        let (stop, stopped) = oneshot::channel::<()>();
        let served = database.clone();
        let task = tokio::spawn(async move {
            let until = async {
                drop(stopped.await);
            };
            drop(server::serve_with_shutdown(listener, served, until).await);
        });
        Ok(Self {
            database,
            address,
            stop,
            task,
        })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) async fn sweep_ttl(&self) -> Result<usize, StoresError> {
        let database = self.database.clone();
        spawn_blocking(move || database.sweep_ttl())
            .await
            .map_err(|error| StoresError::Database(error.to_string()))?
            .map_err(|error| StoresError::Database(error.to_string()))
    }

    pub(super) async fn shutdown(self) {
        let Self { stop, mut task, .. } = self;
        drop(stop);
        if timeout(PATIENCE, &mut task).await.is_err() {
            task.abort();
        }
    }
}

fn open(path: &str) -> Result<Database, StoresError> {
    let database = Database::new(path).map_err(|error| StoresError::Database(error.to_string()))?;
    rusqlite::Connection::open(path)
        .and_then(|connection| connection.execute_batch(INDEX))
        .map_err(|error| StoresError::Database(error.to_string()))?;
    Ok(database)
}

//! Starts the embedded stores (tables with streams, FIFO queues) in this process, for as long as it lives.
//!
//! Tables are always a file, also for a temporary place: only a file can be given the index without which
//! every write scans all stream records. Queues are memory only: what is queued is gone when the process
//! is, so whoever feeds a queue must be able to feed it again.

mod queues;
mod sqs;
mod tables;

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

pub use self::queues::{QueueDepth, QueueGauge, QueuePair, QueueSpec, create_queue_pair};
use self::{sqs::Sqs, tables::Tables};
use crate::clients;

/// Where the data is kept.
#[derive(Clone, Debug)]
pub enum Place {
    /// A directory that outlives the process; made if it is missing.
    Directory(PathBuf),
    /// A directory that is removed at the end.
    Temporary,
}

/// Which ports to take; 0 is any free one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ports {
    /// For tables and streams.
    pub dynamodb: u16,
    /// For queues.
    pub sqs: u16,
}

/// Why a store could not be started or used.
#[derive(Debug, thiserror::Error)]
pub enum StoresError {
    /// A file, a directory or a port.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// Why it failed.
        source: io::Error,
    },
    /// Another process uses the same directory.
    #[error("{0} is in use by another process")]
    InUse(PathBuf),
    /// The database refused.
    #[error("database: {0}")]
    Database(String),
    /// A call to one of the stores failed.
    #[error("{0}")]
    Call(String),
}

impl StoresError {
    fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}

/// The running stores. Dropping them closes both endpoints.
pub struct Stores {
    tables: Tables,
    sqs: Sqs,
    directory: PathBuf,
    // Released last: the lock that keeps a second process out, then a temporary place itself.
    lock: File,
    temporary: Option<TempDir>,
}

impl Stores {
    /// Starts both on free ports.
    ///
    /// # Errors
    /// When the place cannot be used or no port can be opened.
    pub async fn start(place: Place) -> Result<Self, StoresError> {
        Self::start_on(place, Ports::default()).await
    }

    /// Starts both on given ports.
    ///
    /// # Errors
    /// When the place cannot be used or a port is taken.
    pub async fn start_on(place: Place, ports: Ports) -> Result<Self, StoresError> {
        let (directory, temporary) = match place {
            Place::Directory(path) => (path, None),
            Place::Temporary => {
                let made = TempDir::new().map_err(StoresError::io("temporary directory"))?;
                (made.path().to_owned(), Some(made))
            }
        };
        let lock = claim(&directory)?;
        let tables = Tables::start(&directory.join("tables.sqlite"), ports.dynamodb).await?;
        let sqs = Sqs::start(ports.sqs).await?;
        Ok(Self {
            tables,
            sqs,
            directory,
            lock,
            temporary,
        })
    }

    /// Where the data is.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The endpoint of tables and streams.
    #[must_use]
    pub fn dynamodb_url(&self) -> String {
        format!("http://{}", self.tables.address())
    }

    /// The endpoint of queues.
    #[must_use]
    pub fn sqs_url(&self) -> String {
        format!("http://{}", self.sqs.address())
    }

    /// A client for the tables.
    #[must_use]
    pub fn dynamodb(&self) -> aws_sdk_dynamodb::Client {
        clients::dynamodb(&self.dynamodb_url())
    }

    /// A client for the streams.
    #[must_use]
    pub fn streams(&self) -> aws_sdk_dynamodbstreams::Client {
        clients::streams(&self.dynamodb_url())
    }

    /// A client for the queues.
    #[must_use]
    pub fn sqs(&self) -> aws_sdk_sqs::Client {
        clients::sqs(&self.sqs_url())
    }

    /// Deletes expired items now, as the cloud does some day; answers how many.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn sweep_ttl(&self) -> Result<usize, StoresError> {
        self.tables.sweep_ttl().await
    }

    /// Closes both endpoints, lets running calls finish, and lets go of the place.
    pub async fn shutdown(self) {
        self.sqs.shutdown().await;
        self.tables.shutdown().await;
        drop(self.lock);
        drop(self.temporary);
    }
}

/// Makes the directory and takes its lock, so that two hosts never run the same mappings.
fn claim(directory: &Path) -> Result<File, StoresError> {
    fs::create_dir_all(directory).map_err(StoresError::io(directory.display().to_string()))?;
    let path = directory.join("in-use.lock");
    let lock = File::create(&path).map_err(StoresError::io(path.display().to_string()))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(fs::TryLockError::WouldBlock) => Err(StoresError::InUse(directory.to_owned())),
        Err(fs::TryLockError::Error(error)) => {
            Err(StoresError::io(path.display().to_string())(error))
        }
    }
}

//! What a running stack tells the other commands: where everything listens, in `dev.json`. No secret.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::machine::Failure;

const FILE: &str = "dev.json";

/// Where everything of a running stack is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Stack {
    /// Where webhooks are posted to.
    pub(super) url: String,
    /// The endpoint of each integration.
    pub(super) webhooks: BTreeMap<String, String>,
    /// The endpoint of tables and streams.
    pub(super) dynamodb: String,
    /// The endpoint of queues.
    pub(super) sqs: String,
    /// The endpoint of the parameter store.
    pub(super) ssm: String,
    /// The signals' queue.
    pub(super) queue_url: String,
    /// The effects' queue.
    pub(super) effects_url: String,
    /// The endpoint of the event bus.
    pub(super) bus: String,
    /// The table of accepted events.
    pub(super) inbox_table: String,
    /// The table of what is known.
    pub(super) state_table: String,
    /// Where made up secrets are written.
    pub(super) secrets: PathBuf,
    /// Where the functions' lines are written.
    pub(super) log: PathBuf,
    /// Where the data is.
    pub(super) directory: PathBuf,
}

impl Stack {
    /// The one that runs in a directory, or ran there and was killed.
    pub(super) fn find(directory: &Path) -> Result<Self, Failure> {
        let path = directory.join(FILE);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let message = format!(
                    "nothing runs in {}: start `lastword dev`, name its directory with --dir, or set \
                     LASTWORD_STATE_TABLE and LASTWORD_INBOX_TABLE to look into an account",
                    directory.display()
                );
                return Err(message.into());
            }
            Err(error) => return Err(format!("{}: {error}", path.display()).into()),
        };
        serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", path.display()).into())
    }

    /// Says that it runs: a whole file or none.
    pub(super) fn publish(&self) -> io::Result<()> {
        let path = self.directory.join(FILE);
        let beside = path.with_extension("json.new");
        fs::write(&beside, self.line())?;
        fs::rename(beside, path)
    }

    /// Says that nothing runs in a directory.
    pub(super) fn retract(directory: &Path) -> io::Result<()> {
        match fs::remove_file(directory.join(FILE)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// As one line of JSON.
    pub(super) fn line(&self) -> String {
        let mut line = serde_json::to_string(self).unwrap_or_default();
        line.push('\n');
        line
    }
}

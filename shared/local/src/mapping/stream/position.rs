//! Keeps the position of a stream on disk; writes a whole file or none.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

/// The last handled sequence number of each shard.
pub(super) type Positions = BTreeMap<String, String>;

#[derive(Deserialize, Serialize)]
struct Saved {
    stream: String,
    shards: Positions,
}

/// The positions saved for `stream`. None of another stream: a table that was made anew has a new one.
pub(super) fn load(path: &Path, stream: &str) -> Result<Positions, String> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Positions::new()),
        Err(error) => return Err(format!("{}: {error}", path.display())),
    };
    let saved: Saved =
        serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    if saved.stream == stream {
        Ok(saved.shards)
    } else {
        Ok(Positions::new())
    }
}

/// Saves the positions so that a crash at any moment leaves the old file or the new one.
pub(super) fn save(path: &Path, stream: &str, shards: &Positions) -> io::Result<()> {
    let saved = Saved {
        stream: stream.to_owned(),
        shards: shards.clone(),
    };
    let beside: PathBuf = path.with_extension("new");
    let mut file = File::create(&beside)?;
    file.write_all(&serde_json::to_vec(&saved)?)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    if let Some(directory) = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    {
        File::open(directory)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_position_is_read_back_for_its_own_stream_only() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("position.json");
        assert!(load(&path, "a").unwrap().is_empty());
        let positions = Positions::from([("shard".to_owned(), "7".to_owned())]);
        save(&path, "a", &positions).unwrap();
        assert_eq!(load(&path, "a").unwrap(), positions);
        assert!(load(&path, "b").unwrap().is_empty());
    }

    #[test]
    fn a_broken_file_is_reported_and_not_believed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("position.json");
        fs::write(&path, "{").unwrap();
        assert!(load(&path, "a").is_err());
    }
}

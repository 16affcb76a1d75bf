//! Finds the functions' real binaries beside this one, and builds them when they are missing or older.

use std::{
    env::{self, consts::EXE_SUFFIX},
    fs, io,
    path::{Path, PathBuf},
    process::Stdio,
    time::SystemTime,
};

use tokio::process::Command;

use crate::{command::show, machine::Failure};

const NAMES: [&str; 5] = ["ingest", "relay", "reconcile", "dispatch", "draft"];

/// Where they are.
pub(super) struct Binaries {
    directory: PathBuf,
}

impl Binaries {
    /// The path of one.
    pub(super) fn of(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}{EXE_SUFFIX}"))
    }

    /// Finds all, or builds them.
    pub(super) async fn find() -> Result<Self, Failure> {
        let program = env::current_exe()?;
        let directory = program.parent().unwrap_or(Path::new(".")).to_owned();
        let found = Self { directory };
        // This program holds the same handlers, so it is rebuilt whenever one of them changes.
        let newest = modified(&program)?;
        let fresh = |name| found.since(name).is_some_and(|built| built >= newest);
        if !NAMES.into_iter().all(fresh) {
            show::remark("bringing the functions up to date (cargo build) …");
            if let Err(why) = build(&found.directory).await {
                found.make_do(&why)?;
            }
        }
        match NAMES.into_iter().find(|name| found.since(name).is_none()) {
            None => Ok(found),
            Some(name) => Err(format!("{} was not built", found.of(name).display()).into()),
        }
    }

    fn since(&self, name: &str) -> Option<SystemTime> {
        modified(&self.of(name)).ok()
    }

    /// Older ones are better than none, and it is said.
    fn make_do(&self, why: &str) -> Result<(), Failure> {
        if NAMES.into_iter().any(|name| self.since(name).is_none()) {
            return Err(format!("the functions' binaries could not be built: {why}").into());
        }
        show::remark(&format!(
            "not brought up to date ({why}); older binaries are used"
        ));
        Ok(())
    }
}

fn modified(path: &Path) -> io::Result<SystemTime> {
    fs::metadata(path)?.modified()
}

/// Builds into the directory that this program was built into, with its profile.
async fn build(directory: &Path) -> Result<(), String> {
    let profile = match directory.file_name().and_then(|name| name.to_str()) {
        None | Some("debug") => "dev",
        Some(name) => name,
    };
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--quiet", "--locked", "--profile", profile]);
    for name in NAMES {
        command.args(["--package", &format!("lastword-{name}")]);
    }
    if let Some(target) = directory.parent() {
        command.arg("--target-dir").arg(target);
    }
    // The workspace around this program; else the one that somebody stands in.
    let workspace = directory
        .ancestors()
        .find(|above| above.join("functions/ingest/Cargo.toml").is_file());
    if let Some(workspace) = workspace {
        command.current_dir(workspace);
    }
    // Standard output is kept for the answer.
    let ended = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .status()
        .await
        .map_err(|error| format!("cargo: {error}"))?;
    if ended.success() {
        Ok(())
    } else {
        Err(format!("cargo: {ended}"))
    }
}

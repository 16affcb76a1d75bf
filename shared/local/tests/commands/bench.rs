//! What the tests share: the command in a place of its own, and what it said; asserts nothing.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use lastword_contracts::{Contract, Endpoint, Headers, Keys, Request, signature::Signed};
use serde_json::Value;
use tempfile::TempDir;

/// A secret of this run, and a time.
pub(crate) const SECRET: &str = "a-secret-that-only-this-test-has";
pub(crate) const NOW: u64 = 1_700_000_000;

/// What a command said, and how it ended.
pub(crate) struct Said {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: Option<i32>,
}

impl Said {
    /// What it printed with `--json`.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }
}

/// A directory in which commands run.
pub(crate) struct Desk(TempDir);

impl Desk {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Puts a file there.
    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path().join(name), content).unwrap();
    }

    /// The command with these arguments, not yet started.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lastword"));
        command
            .args(arguments)
            .current_dir(self.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        let output = self.command(arguments).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Said {
            out: text(output.stdout),
            err: text(output.stderr),
            code: output.status.code(),
        }
    }
}

/// What a provider's sender adds to a body, by the first scheme of its contract.
pub(crate) fn signed(contract: &str, secret: &str, headers: &[(&str, &str)], body: &str) -> Signed {
    let contract = Contract::builtin(contract).unwrap();
    let schemes = &contract.signature;
    let mut keys: Keys = schemes.accept(None).unwrap();
    schemes.add_secret(&mut keys, secret).unwrap();
    let headers: Headers = headers.iter().copied().collect();
    let request = Request {
        method: "POST",
        query: "",
        headers: &headers,
        body: body.as_bytes(),
        endpoint: &Endpoint::default(),
    };
    schemes.sign(&request, &keys, NOW).unwrap()
}

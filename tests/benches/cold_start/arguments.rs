//! What is asked for.

use std::path::PathBuf;

use crate::Failure;

/// The command line.
pub(crate) struct Arguments {
    /// Starts of each variant.
    pub(crate) runs: usize,
    /// Blocks of warm events of each variant.
    pub(crate) blocks: usize,
    /// Bytes of every webhook.
    pub(crate) body: usize,
    pub(crate) json: bool,
    pub(crate) build: bool,
    /// Further ingest binaries, to compare ways of building it.
    pub(crate) also: Vec<(String, PathBuf)>,
}

const USAGE: &str = "\
--runs N          starts of each binary (15)
--blocks N        blocks of 100 warm events of each binary (20)
--body N          bytes of every webhook (4096)
--json            one JSON document instead of tables
--no-build        take the release binaries as they are
--also NAME=PATH  measure a further build of ingest beside it; may be repeated";

impl Arguments {
    pub(crate) fn read(mut given: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let mut arguments = Self {
            runs: 15,
            blocks: 20,
            body: 4096,
            json: false,
            build: true,
            also: Vec::new(),
        };
        while let Some(name) = given.next() {
            let mut value = || given.next().ok_or_else(|| format!("{name} needs a value"));
            match name.as_str() {
                "--runs" => arguments.runs = value()?.parse()?,
                "--blocks" => arguments.blocks = value()?.parse()?,
                "--body" => arguments.body = value()?.parse()?,
                "--json" => arguments.json = true,
                "--no-build" => arguments.build = false,
                "--also" => {
                    let value = value()?;
                    let (label, path) = value.split_once('=').ok_or("--also NAME=PATH")?;
                    arguments.also.push((label.to_owned(), path.into()));
                }
                // What cargo itself passes to every bench.
                "--bench" => {}
                other => return Err(format!("unknown: {other}\n{USAGE}").into()),
            }
        }
        if arguments.runs == 0 || arguments.blocks == 0 {
            return Err("at least one run and one block".into());
        }
        Ok(arguments)
    }
}

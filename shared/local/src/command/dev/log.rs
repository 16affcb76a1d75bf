//! Where the functions' lines go: a file, and for people a short form on standard error. Standard output
//! belongs to the command's own answer.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::Path,
};

use lastword_runtime::{Level, Line};
use serde_json::{Map, Value};

use crate::{
    command::show::{self, BAD, PLAIN, QUIET},
    mapping::{Note, Observer},
};

/// Takes whole lines, one at a time.
pub(super) struct Log {
    file: File,
    /// Somebody watches.
    told: bool,
}

impl Log {
    /// Adds to the end of a file.
    pub(super) fn open(path: &Path, told: bool) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self { file, told })
    }
}

impl Write for Log {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.file.write_all(line)?;
        if self.told
            && let Some(short) = short(line)
        {
            show::remark(&short);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// `19:16:38.042 delivery integration=billing outcome=new status=200`
fn short(line: &[u8]) -> Option<String> {
    let line: Map<String, Value> = serde_json::from_slice(line).ok()?;
    let text = |name: &str| line.get(name).and_then(Value::as_str).unwrap_or_default();
    let style = match text("level") {
        "WARN" | "ERROR" => BAD,
        _ => PLAIN,
    };
    let time = text("timestamp").get(11..23).unwrap_or_default();
    let mut short = format!(
        "{} {}",
        show::painted(time, QUIET),
        show::painted(&show::harmless(text("message")), style)
    );
    // A metric's name begins with a capital letter, and repeats what the fields say.
    let fields = line.iter().filter(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_lowercase())
            && !["timestamp", "level", "message"].contains(&name.as_str())
    });
    for (name, value) in fields {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        short.push_str(&format!(" {name}={}", show::harmless(&value)));
    }
    Some(short)
}

/// Writes what happens to the mappings into the log.
pub(super) fn observer() -> Observer {
    std::sync::Arc::new(|note| {
        let (level, message, mapping) = match &note {
            Note::Accepted { .. } => return,
            Note::Failed { mapping, .. } => (Level::Info, "some of a batch comes again", *mapping),
            Note::SetAside { mapping, .. } => (Level::Error, "records were given up", *mapping),
            Note::Trouble { mapping, .. } => (Level::Warn, "a mapping is in trouble", *mapping),
        };
        let line = Line::new(level, message).field("mapping", mapping);
        match note {
            Note::Accepted { .. } => {}
            Note::Failed { again, reason, .. } => {
                line.field("again", again as u64)
                    .field("reason", reason)
                    .emit();
            }
            Note::SetAside { pointer, .. } => line.field("pointer", pointer).emit(),
            Note::Trouble { reason, .. } => line.field("reason", reason).emit(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_told_short_without_its_metrics() {
        let line = br#"{"timestamp":"2026-11-30T19:16:38.042Z","level":"INFO","message":"delivery","integration":"billing","outcome":"new","status":200,"Deliveries":1,"_aws":{}}"#;
        let told = anstream::adapter::strip_str(&short(line).unwrap()).to_string();
        assert_eq!(
            told,
            "19:16:38.042 delivery integration=billing outcome=new status=200"
        );
        assert!(short(b"not JSON").is_none());
    }
}

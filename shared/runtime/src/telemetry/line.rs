//! Builds a line straight into the bytes that are written.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{json, to_writer};

use super::value::LONGEST_TEXT;
use super::writer::write;
use super::{Level, Unit, Value};

const NAMESPACE: &str = "Lastword";

/// Something that happened, told to people. Left out if its level is filtered.
///
/// Field names are ours and fixed; `timestamp`, `level`, `message` and `_aws` are taken.
#[must_use = "a line is written by `emit`"]
#[derive(Debug)]
pub struct Line {
    draft: Option<Vec<u8>>,
}

impl Line {
    /// Begins a line. The message is fixed text that reads alone; what varies goes into fields.
    pub fn new(level: Level, message: &'static str) -> Self {
        Self {
            draft: level.passes().then(|| begin(level, message, now())),
        }
    }

    /// Adds a field.
    pub fn field<'a>(mut self, name: &'static str, value: impl Into<Value<'a>>) -> Self {
        if let Some(draft) = &mut self.draft {
            member(draft, name, &value.into());
        }
        self
    }

    /// Adds what went wrong, with its causes, as the field `error`.
    pub fn error(mut self, error: &dyn std::error::Error) -> Self {
        if let Some(draft) = &mut self.draft {
            member(draft, "error", &Value::error(error));
        }
        self
    }

    /// Writes the line.
    pub fn emit(self) {
        if let Some(draft) = self.draft {
            finish(draft);
        }
    }
}

/// Something that happened and is counted. Always written.
#[must_use = "a line is written by `emit`"]
#[derive(Debug)]
pub struct Measured {
    draft: Vec<u8>,
    at: Duration,
    dimensions: Vec<&'static str>,
    metrics: Vec<(&'static str, Unit)>,
}

impl Measured {
    /// Begins a line that counts.
    pub fn new(level: Level, message: &'static str) -> Self {
        let at = now();
        Self {
            draft: begin(level, message, at),
            at,
            dimensions: Vec::new(),
            metrics: Vec::new(),
        }
    }

    /// Adds a field that is only read.
    pub fn field<'a>(mut self, name: &'static str, value: impl Into<Value<'a>>) -> Self {
        member(&mut self.draft, name, &value.into());
        self
    }

    /// Adds a field that the metrics are kept apart by. It must have few different values: every one is a
    /// metric to pay for, so the name of an integration may stand here and that of a resource may not.
    pub fn dimension(mut self, name: &'static str, value: &str) -> Self {
        // CloudWatch refuses a dimension without a value, and the whole line's metrics with it.
        let value = if value.is_empty() { "none" } else { value };
        member(&mut self.draft, name, &value.into());
        self.dimensions.push(name);
        self
    }

    /// Adds a metric.
    pub fn metric(mut self, name: &'static str, value: u64, unit: Unit) -> Self {
        member(&mut self.draft, name, &value.into());
        self.metrics.push((name, unit));
        self
    }

    /// Writes the line.
    pub fn emit(mut self) {
        if !self.metrics.is_empty() {
            let metrics: Vec<_> = self
                .metrics
                .iter()
                .map(|(name, unit)| json!({"Name": name, "Unit": unit.as_str()}))
                .collect();
            let about = json!({
                "Timestamp": u64::try_from(self.at.as_millis()).unwrap_or(u64::MAX),
                "CloudWatchMetrics": [{"Namespace": NAMESPACE, "Dimensions": [self.dimensions], "Metrics": metrics}],
            });
            name(&mut self.draft, "_aws");
            push(&mut self.draft, &about);
        }
        finish(self.draft);
    }
}

/// The clock is read here and nowhere further in; before 1970 counts as 1970.
fn now() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}

fn begin(level: Level, message: &str, at: Duration) -> Vec<u8> {
    let mut draft = Vec::with_capacity(512);
    draft.extend_from_slice(b"{\"timestamp\":\"");
    draft.extend_from_slice(rfc3339(at).as_bytes());
    draft.extend_from_slice(b"\",\"level\":\"");
    draft.extend_from_slice(level.as_str().as_bytes());
    draft.push(b'"');
    member(&mut draft, "message", &message.into());
    draft
}

fn finish(mut draft: Vec<u8>) {
    draft.extend_from_slice(b"}\n");
    write(&draft);
}

fn member(draft: &mut Vec<u8>, key: &str, value: &Value<'_>) {
    match value {
        Value::Absent => return,
        Value::Text(_) | Value::Unsigned(_) | Value::Signed(_) | Value::Flag(_) => name(draft, key),
    }
    match value {
        Value::Text(text) if text.len() > LONGEST_TEXT => push(draft, &cut(text)),
        Value::Text(text) => push(draft, text),
        Value::Unsigned(number) => push(draft, number),
        Value::Signed(number) => push(draft, number),
        Value::Flag(flag) => push(draft, flag),
        Value::Absent => {}
    }
}

fn name(draft: &mut Vec<u8>, key: &str) {
    draft.push(b',');
    push(draft, key);
    draft.push(b':');
}

fn push<T: serde::Serialize + ?Sized>(draft: &mut Vec<u8>, value: &T) {
    let before = draft.len();
    if to_writer(&mut *draft, value).is_err() {
        // Cannot happen for text, numbers and flags; the line stays JSON if it ever does.
        draft.truncate(before);
        draft.extend_from_slice(b"null");
    }
}

fn cut(text: &str) -> String {
    let kept = text
        .get(..text.floor_char_boundary(LONGEST_TEXT))
        .unwrap_or_default();
    format!("{kept}… ({} bytes)", text.len())
}

/// `2026-11-30T19:16:38.042Z`. Lambda reads the level of a line only beside a timestamp of this form.
pub(super) fn rfc3339(at: Duration) -> String {
    let (seconds, millis) = (at.as_secs(), at.subsec_millis());
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    // Days are counted from 1 March of the year 0, so that the leap day is the last of its year.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

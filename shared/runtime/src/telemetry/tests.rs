//! Lines as they are written.

use std::cell::Cell;
use std::env::VarError;
use std::io::{self, Write};
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::line::rfc3339;
use super::writer::write_to;
use super::*;

fn only_line(captured: &Captured) -> Json {
    let text = captured.text();
    assert_eq!(text.matches('\n').count(), 1, "{text}");
    assert!(text.ends_with("}\n"));
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_line_is_one_json_object_with_its_fields() {
    let captured = capture(Level::Info);
    let absent: Option<u64> = None;
    Line::new(Level::Warn, "event kept as a variant")
        .field("integration", "stripe \"live\"\n")
        .field("parts", 3_usize)
        .field("lag", Duration::from_millis(1500))
        .field("duplicate", false)
        .field("account", absent)
        .emit();
    let mut line = only_line(&captured);
    assert!(line["timestamp"].as_str().unwrap().ends_with('Z'));
    line.as_object_mut().unwrap().remove("timestamp");
    let expected = json!({
        "level": "WARN", "message": "event kept as a variant", "integration": "stripe \"live\"\n",
        "parts": 3, "lag": 1500, "duplicate": false,
    });
    assert_eq!(line, expected);
}

#[test]
fn metrics_travel_in_the_embedded_format() {
    let captured = capture(Level::Info);
    Measured::new(Level::Info, "delivery answered")
        .dimension("integration", "stripe")
        .metric("accepted", 1, Unit::Count)
        .metric("took", 12, Unit::Milliseconds)
        .field("status", 200_u16)
        .emit();
    let line = only_line(&captured);
    assert_eq!(
        (&line["integration"], &line["accepted"], &line["took"]),
        (&json!("stripe"), &json!(1), &json!(12))
    );
    assert!(line["_aws"]["Timestamp"].as_u64().unwrap() > 1_700_000_000_000);
    let expected = json!([{
        "Namespace": "Lastword",
        "Dimensions": [["integration"]],
        "Metrics": [{"Name": "accepted", "Unit": "Count"}, {"Name": "took", "Unit": "Milliseconds"}],
    }]);
    assert_eq!(line["_aws"]["CloudWatchMetrics"], expected);
}

#[test]
fn a_dimension_without_a_value_does_not_cost_the_metrics() {
    let captured = capture(Level::Info);
    Measured::new(Level::Info, "refused")
        .dimension("integration", "")
        .metric("refused", 1, Unit::Count)
        .emit();
    assert_eq!(only_line(&captured)["integration"], "none");
}

thread_local! {
    static CONVERTED: Cell<u32> = const { Cell::new(0) };
}

struct Costly;

impl From<Costly> for Value<'_> {
    fn from(_: Costly) -> Self {
        CONVERTED.set(CONVERTED.get() + 1);
        Self::Flag(true)
    }
}

#[test]
fn a_filtered_line_is_not_even_prepared() {
    let captured = capture(Level::Warn);
    Line::new(Level::Info, "quiet")
        .field("costly", Costly)
        .error(&io::Error::other("unread"))
        .emit();
    assert_eq!((CONVERTED.get(), captured.text().as_str()), (0, ""));
    Line::new(Level::Warn, "loud")
        .field("costly", Costly)
        .emit();
    assert_eq!(CONVERTED.get(), 1);
}

#[test]
fn counting_goes_on_when_the_logs_are_quiet() {
    let captured = capture(Level::Error);
    Measured::new(Level::Info, "delivery answered")
        .metric("accepted", 1, Unit::Count)
        .emit();
    assert_eq!(only_line(&captured)["accepted"], 1);
}

#[test]
fn text_of_a_body_s_length_is_cut_between_characters() {
    let captured = capture(Level::Info);
    Line::new(Level::Info, "long")
        .field("text", "é".repeat(50_000).as_str())
        .emit();
    let line = only_line(&captured);
    let text = line["text"].as_str().unwrap();
    assert!(
        text.len() < 1100 && text.ends_with("… (100000 bytes)"),
        "{text}"
    );
}

#[test]
fn an_error_is_told_with_its_causes() {
    #[derive(Debug, thiserror::Error)]
    #[error("the inbox did not answer")]
    struct Outer(#[source] io::Error);

    let captured = capture(Level::Info);
    Line::new(Level::Error, "event not stored")
        .error(&Outer(io::Error::other("connection reset")))
        .emit();
    assert_eq!(
        only_line(&captured)["error"],
        "the inbox did not answer: connection reset"
    );
}

struct Broken {
    writes: u32,
}

impl Write for Broken {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        self.writes += 1;
        Err(io::Error::other("closed"))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_line_that_cannot_be_written_disturbs_nobody() {
    let mut broken = Broken { writes: 0 };
    write_to(&mut broken, b"{}\n");
    assert_eq!(broken.writes, 1);
}

#[test]
fn our_own_variable_goes_before_lambda_s_and_nonsense_is_passed_over() {
    let level = |own: Option<&'static str>, lambda: Option<&'static str>| {
        Level::from_lookup(&move |name| {
            let value = if name == "LASTWORD_LOG" { own } else { lambda };
            value.map(str::to_owned).ok_or(VarError::NotPresent)
        })
    };
    assert_eq!(level(None, None), Level::Info);
    assert_eq!(level(None, Some("WARN")), Level::Warn);
    assert_eq!(level(Some("debug"), Some("WARN")), Level::Debug);
    assert_eq!(level(Some("loud"), Some("FATAL")), Level::Error);
}

#[test]
fn timestamps_are_right_across_leap_days_and_centuries() {
    let cases = [
        (0, "1970-01-01T00:00:00.000Z"),
        (951_782_399, "2000-02-28T23:59:59.000Z"),
        (951_782_400, "2000-02-29T00:00:00.000Z"),
        (951_868_800, "2000-03-01T00:00:00.000Z"),
        (1_709_164_800, "2024-02-29T00:00:00.000Z"),
        (1_767_225_599, "2025-12-31T23:59:59.000Z"),
        (4_107_542_400, "2100-03-01T00:00:00.000Z"),
    ];
    for (seconds, expected) in cases {
        assert_eq!(rfc3339(Duration::from_secs(seconds)), expected);
    }
    assert_eq!(
        rfc3339(Duration::from_millis(1_042)),
        "1970-01-01T00:00:01.042Z"
    );
}

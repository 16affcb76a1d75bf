//! The tables, and the targets beside what was found.

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use crate::Failure;
use crate::figures::Figures;
use crate::life::{Start, Variant};

/// `init` of ingest to that of the bare binary.
const MOST_INIT: f64 = 1.5;
/// Ingest's size in MB (of a million bytes).
const MOST_MB: f64 = 7.0;
/// Ingest's warm CPU to the floor.
const MOST_CPU: f64 = 1.3;

pub(crate) struct Report {
    /// Bytes of every webhook.
    body: usize,
    rows: Vec<Row>,
    /// HMAC, four members, compression.
    pub(crate) pieces: Duration,
    /// The machine's load before and after.
    pub(crate) load: String,
}

struct Row {
    label: String,
    beside: usize,
    megabytes: f64,
    init: Figures,
    first_response: Figures,
    first_cpu: Figures,
    peak: Figures,
    warm_cpu: Figures,
    warm_peak: Figures,
}

/// A figure of a row: how it is called, and where it is.
type Column = (&'static str, fn(&Row) -> &Figures);

const COLUMNS: [Column; 6] = [
    ("init ms", |row| &row.init),
    ("first response ms", |row| &row.first_response),
    ("CPU ms until then", |row| &row.first_cpu),
    ("peak MB until then", |row| &row.peak),
    ("warm CPU us/event", |row| &row.warm_cpu),
    ("peak MB warm", |row| &row.warm_peak),
];

struct Verdict {
    what: &'static str,
    found: f64,
    most: f64,
}

impl Report {
    pub(crate) fn new(variants: &[Variant], body: usize) -> Result<Self, Failure> {
        let row = |variant: &Variant| -> Result<Row, Failure> {
            let bytes = std::fs::metadata(&variant.program)?.len();
            Ok(Row {
                label: variant.label.clone(),
                beside: variant.beside,
                megabytes: Duration::from_micros(bytes).as_secs_f64(),
                init: Figures::default(),
                first_response: Figures::default(),
                first_cpu: Figures::default(),
                peak: Figures::default(),
                warm_cpu: Figures::default(),
                warm_peak: Figures::default(),
            })
        };
        Ok(Self {
            body,
            rows: variants.iter().map(row).collect::<Result<_, _>>()?,
            pieces: Duration::ZERO,
            load: String::new(),
        })
    }

    /// Adds a start of the variant of this number.
    pub(crate) fn started(&mut self, at: usize, start: &Start) {
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        if let Some(row) = self.rows.get_mut(at) {
            row.init.add(milliseconds(start.init));
            row.first_response.add(milliseconds(start.first_response));
            row.first_cpu.add(milliseconds(start.cpu));
            row.peak.add(megabytes(start.peak_kib));
        }
    }

    /// Adds the CPU of one event, as a block of them showed it.
    pub(crate) fn warm(&mut self, at: usize, cpu: Duration) {
        if let Some(row) = self.rows.get_mut(at) {
            row.warm_cpu.add(cpu.as_secs_f64() * 1e6);
        }
    }

    /// Adds the peak of a process that was warm.
    pub(crate) fn warm_peak(&mut self, at: usize, kib: u64) {
        if let Some(row) = self.rows.get_mut(at) {
            row.warm_peak.add(megabytes(kib));
        }
    }

    fn bare(&self) -> Option<&Row> {
        self.rows.first()
    }

    /// The bare one that asks the same services before its first event: what a parameter costs is nobody's
    /// overhead.
    fn beside(&self, row: &Row) -> Option<&Row> {
        self.rows.get(row.beside)
    }

    fn pieces_us(&self) -> f64 {
        self.pieces.as_secs_f64() * 1e6
    }

    /// What an event costs at the least: runtime, decoding and SDK as the bare binary shows, and the pieces.
    fn floor(&self) -> f64 {
        let bare = self.bare().map_or(f64::NAN, |row| row.warm_cpu.median());
        bare + self.pieces_us()
    }

    fn verdicts(&self, row: &Row) -> [Verdict; 3] {
        let to_bare = |figures: fn(&Row) -> &Figures, more| {
            let bare = self.beside(row).map(figures);
            bare.map_or(f64::NAN, |bare| figures(row).ratio(bare, more))
        };
        [
            Verdict {
                what: "init / bare",
                found: to_bare(|row| &row.init, 0.0),
                most: MOST_INIT,
            },
            Verdict {
                what: "binary MB",
                found: row.megabytes,
                most: MOST_MB,
            },
            Verdict {
                what: "warm CPU / floor",
                found: to_bare(|row| &row.warm_cpu, self.pieces_us()),
                most: MOST_CPU,
            },
        ]
    }

    fn judged(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().skip(2)
    }

    pub(crate) fn json(&self) -> Value {
        let row = |row: &Row| {
            let mut object = serde_json::Map::new();
            object.insert("label".to_owned(), json!(row.label));
            object.insert("binary MB".to_owned(), json!(row.megabytes));
            for (name, figures) in COLUMNS {
                object.insert(name.to_owned(), figures(row).json());
            }
            Value::Object(object)
        };
        let targets = |row: &Row| {
            let verdicts = self.verdicts(row).map(|verdict| {
                json!({ "what": verdict.what, "found": verdict.found, "most": verdict.most, "met": verdict.met() })
            });
            json!({ "label": row.label, "targets": verdicts })
        };
        json!({
            "body bytes": self.body,
            "load": self.load,
            "binaries": self.rows.iter().map(row).collect::<Vec<_>>(),
            "floor us": { "bare": self.floor() - self.pieces_us(), "pieces": self.pieces_us(), "sum": self.floor() },
            "targets": self.judged().map(targets).collect::<Vec<_>>(),
        })
    }
}

impl Verdict {
    fn met(&self) -> bool {
        self.found <= self.most
    }
}

fn megabytes(kib: u64) -> f64 {
    Duration::from_micros(kib * 1024).as_secs_f64()
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wide = self
            .rows
            .iter()
            .map(|row| row.label.len())
            .max()
            .unwrap_or_default()
            .max(16);
        writeln!(f, "{} byte events; load {}\n", self.body, self.load)?;
        writeln!(f, "{:wide$}  {:>9}", "binary", "MB")?;
        for held in &self.rows {
            writeln!(f, "{:wide$}  {:>9.2}", held.label, held.megabytes)?;
        }
        for (name, figures) in COLUMNS {
            writeln!(
                f,
                "\n{name:wide$}  {:>9}  {:>9}  {:>9}  {:>9}",
                "min", "median", "max", "/ bare"
            )?;
            for row in &self.rows {
                let (all, bare) = (figures(row), self.beside(row).map(figures));
                let ratio = bare.map_or(f64::NAN, |bare| all.ratio(bare, 0.0));
                writeln!(
                    f,
                    "{:wide$}  {:>9.2}  {:>9.2}  {:>9.2}  {ratio:>9.2}",
                    row.label,
                    all.least(),
                    all.median(),
                    all.most(),
                )?;
            }
        }
        writeln!(
            f,
            "\nfloor of an event: bare {:.1} + HMAC, members, compression {:.1} = {:.1} us CPU\n",
            self.floor() - self.pieces_us(),
            self.pieces_us(),
            self.floor(),
        )?;
        writeln!(
            f,
            "{:wide$}  {:16}  {:>9}  {:>9}",
            "target", "", "found", "at most"
        )?;
        for row in self.judged() {
            for verdict in self.verdicts(row) {
                let word = if verdict.met() { "met" } else { "MISSED" };
                writeln!(
                    f,
                    "{:wide$}  {:16}  {:>9.2}  {:>9.2}  {word}",
                    row.label, verdict.what, verdict.found, verdict.most
                )?;
            }
        }
        Ok(())
    }
}

//! Makes what a function needs of each contract: the same without its comments and without what only a person
//! reads, as JSON. That is a quarter of the text, read faster at every start, and by a reader that a function
//! has anyway.
//!
//! The files as they are written are built in too (`Contract::explained`), in a list of their own: a program that
//! never asks for it does not carry it.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use toml::{Table, Value};

/// Tables that only a person, or the sweep's author, reads.
const TOLD: [&str; 4] = ["order", "absence", "list", "quota"];
/// Members of any table that only a person reads.
const WORDS: [&str; 4] = ["source", "certainty", "note", "distinct"];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut names: Vec<String> = fs::read_dir(&folder)?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|file| file.strip_suffix(".toml").map(str::to_owned))
        .filter(|name| name != "Cargo")
        .collect();
    names.sort();
    let (mut leans, mut wholes) = (String::from("&["), String::from("&["));
    for name in &names {
        let file = folder.join(format!("{name}.toml"));
        println!("cargo::rerun-if-changed={}", file.display());
        let lean = out.join(format!("{name}.json"));
        fs::write(&lean, lean_text(&file)?)?;
        leans.push_str(&format!("({name:?}, include_str!({lean:?})),\n"));
        wholes.push_str(&format!("({name:?}, include_str!({file:?})),\n"));
    }
    fs::write(out.join("lean.rs"), leans + "]")?;
    fs::write(out.join("whole.rs"), wholes + "]")?;
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", folder.display());
    Ok(())
}

fn lean_text(file: &Path) -> Result<String, Box<dyn Error>> {
    let told = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let text = fs::read_to_string(file).map_err(|error| told(&error))?;
    let mut table: Table = toml::from_str(&text).map_err(|error| told(&error))?;
    for name in TOLD {
        table.remove(name);
    }
    if let Some(Value::Table(acknowledge)) = table.get_mut("acknowledge") {
        acknowledge.retain(|name, _| name == "body");
    }
    without_words(&mut table);
    serde_json::to_string(&table).map_err(|error| told(&error).into())
}

fn without_words(table: &mut Table) {
    for word in WORDS {
        table.remove(word);
    }
    for (_, value) in table.iter_mut() {
        match value {
            Value::Table(table) => without_words(table),
            Value::Array(values) => values.iter_mut().for_each(|value| {
                if let Value::Table(table) = value {
                    without_words(table);
                }
            }),
            Value::String(_)
            | Value::Integer(_)
            | Value::Float(_)
            | Value::Boolean(_)
            | Value::Datetime(_) => {}
        }
    }
}

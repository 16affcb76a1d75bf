//! The recorded requests of every provider, through the handler: an API Gateway event in, a status out. They
//! were signed by another program than this one.

use std::path::{Path, PathBuf};

use lastword_contracts::Contract;

use crate::bench::Desk;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../contracts/vectors")
}

fn all_pass(files: &[String]) -> String {
    let mut arguments = vec!["vectors"];
    arguments.extend(files.iter().map(String::as_str));
    let said = Desk::new().run(&arguments);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    let closing = said.out.lines().last().unwrap_or_default().to_owned();
    assert!(closing.ends_with(" passed, 0 failed"), "{closing}");
    closing
}

#[test]
fn every_contract_has_recorded_requests_and_every_one_ends_as_it_must() {
    let by_http = |name: &&str| !Contract::builtin(name).unwrap().by_queue();
    let files: Vec<_> = Contract::names()
        .filter(by_http)
        .map(|name| folder().join(format!("{name}.json")).display().to_string())
        .collect();
    println!("{}", all_pass(&files));
}

#[test]
fn requests_that_others_recorded_end_as_they_say_where_they_are_at_hand() {
    let beside =
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference/vectors.json");
    let file = std::env::var("LASTWORD_VECTORS").map_or_else(|_| beside(), PathBuf::from);
    if file.is_file() {
        println!("{}", all_pass(&[file.display().to_string()]));
    } else {
        println!("no vectors of others at hand; nothing is claimed about them");
    }
}

//! What the deployment must be, read from `template.yaml`.
//!
//! Every test here also breaks the template in the ways it is meant to notice, and fails if it does not
//! notice them. So a check that has gone blind, or a template that has moved away from under it, shows.
#![cfg(test)]

mod alarms;
mod document;
mod drafts;
mod edge;
mod effects;
mod feeds;
mod functions;
mod iam;
mod permissions;
mod signals;
mod stores;
mod streams;
mod table;

use document::{Node, Template};
use std::fmt::Debug;
use std::path::Path;

#[derive(Default)]
struct Complaints(Vec<String>);

impl Complaints {
    fn unless(&mut self, holds: bool, complaint: impl FnOnce() -> String) {
        if !holds {
            self.0.push(complaint());
        }
    }

    fn unless_equal<T: PartialEq + Debug>(&mut self, what: &str, actual: T, expected: T) {
        self.unless(actual == expected, || {
            format!("{what} is {actual:?}, not {expected:?}")
        });
    }

    /// The subject has these values at these paths.
    fn unless_has(&mut self, name: &str, subject: Node<'_>, values: &[(&str, &str)]) {
        for (path, expected) in values {
            self.unless_equal(
                &format!("{name}/{path}"),
                subject.at(path).text().as_str(),
                *expected,
            );
        }
    }
}

fn uphold(check: fn(&Template, &mut Complaints), breaches: &[(&str, &str)]) {
    let text = std::fs::read_to_string(root().join("template.yaml")).unwrap();
    let complaints = complaints(check, &text);
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    for (from, to) in breaches {
        assert!(text.contains(from), "nothing left to break: {from:?}");
        let broken = text.replacen(from, to, 1);
        assert!(
            !self::complaints(check, &broken).is_empty(),
            "not noticed: {from:?} became {to:?}"
        );
    }
}

fn complaints(check: fn(&Template, &mut Complaints), text: &str) -> Vec<String> {
    let mut complaints = Complaints::default();
    check(&Template::parse(text), &mut complaints);
    complaints.0
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The logical id in `!Ref Id` or `!GetAtt Id.Attribute`.
fn target(reference: &str) -> &str {
    let id = reference
        .trim_start_matches("!Ref ")
        .trim_start_matches("!GetAtt ");
    id.split('.').next().unwrap_or_default()
}

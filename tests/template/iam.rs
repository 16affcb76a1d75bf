//! Asks a role whether it may do something, as IAM would. It knows the operators that the template uses, and
//! stops at any other: what it cannot evaluate it must not call harmless.

use crate::document::{Node, Template};
use crate::permissions::role;

/// What somebody with a function's role asks of AWS.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) action: &'a str,
    /// As the template writes it.
    pub(crate) resource: &'a str,
    /// What AWS knows of the request besides: a key and its values, or no such key.
    pub(crate) context: &'a [(&'a str, &'a [&'a str])],
}

/// Whether the function may, where these conditions of the template hold.
pub(crate) fn may(
    template: &Template,
    function: &str,
    held: &[&str],
    request: Request<'_>,
) -> bool {
    let function = template.at("Resources").at(function);
    role(template, function)
        .at("Properties/Policies")
        .list()
        .into_iter()
        .flat_map(|policy| policy.at("PolicyDocument/Statement").elements())
        .filter(|(exists, _)| exists.is_empty() || held.contains(&exists.as_str()))
        .any(|(_, statement)| {
            let about = |part: &str, wanted: &str| {
                let all = statement.at(part).list();
                all.into_iter().any(|it| like(&it.text(), wanted))
            };
            statement.at("Effect").is("Allow")
                && about("Action", request.action)
                && about("Resource", request.resource)
                && holds(statement, request.context)
        })
}

fn holds(statement: Node<'_>, context: &[(&str, &[&str])]) -> bool {
    statement
        .at("Condition")
        .entries()
        .all(|(operator, tests)| {
            tests.entries().all(|(key, wanted)| {
                let given = context
                    .iter()
                    .find(|(name, _)| *name == key)
                    .map_or(&[] as &[&str], |(_, values)| values);
                let wanted = wanted.texts();
                match operator {
                    "Null" => wanted.contains(if given.is_empty() { "true" } else { "false" }),
                    "StringEquals" => {
                        !given.is_empty() && given.iter().all(|it| wanted.contains(*it))
                    }
                    "StringLike" => {
                        !given.is_empty()
                            && given.iter().all(|it| wanted.iter().any(|to| like(to, it)))
                    }
                    // True of no values at all.
                    "ForAllValues:StringEquals" => given.iter().all(|it| wanted.contains(*it)),
                    "ForAllValues:StringLike" => {
                        given.iter().all(|it| wanted.iter().any(|to| like(to, it)))
                    }
                    _ => panic!("{operator} cannot be evaluated"),
                }
            })
        })
}

fn like(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((before, after)) => text.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len())
                .filter_map(|at| rest.get(at..))
                .any(|rest| like(after, rest))
        }),
    }
}

#[test]
fn a_star_stands_for_anything() {
    assert!(like("draft#*", "draft#1"));
    assert!(like("a*b*c", "a1b2bc"));
    assert!(!like("draft#*", "a draft#1"));
    assert!(!like("draft#", "draft#1"));
}

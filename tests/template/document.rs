//! Reads `template.yaml`; knows CloudFormation's notation, and nothing of what ought to be in it.

use saphyr::{LoadableYamlNode, YamlOwned};
use std::collections::{BTreeMap, BTreeSet};

/// A part of the template, or the place where it would be.
#[derive(Clone, Copy)]
pub(crate) struct Node<'a>(Option<&'a YamlOwned>);

/// The whole template.
pub(crate) struct Template(YamlOwned);

impl Template {
    pub(crate) fn parse(text: &str) -> Self {
        let mut documents = YamlOwned::load_from_str(text).unwrap();
        assert_eq!(documents.len(), 1, "a template is one document");
        Self(documents.remove(0))
    }

    pub(crate) fn at(&self, path: &str) -> Node<'_> {
        Node(Some(&self.0)).at(path)
    }

    /// The resources of one type, by logical id.
    pub(crate) fn resources(&self, kind: &str) -> BTreeMap<&str, Node<'_>> {
        self.at("Resources")
            .entries()
            .filter(|(_, resource)| resource.at("Type").is(kind))
            .collect()
    }

    /// The functions, by logical id.
    pub(crate) fn functions(&self) -> BTreeMap<&str, Node<'_>> {
        self.resources("AWS::Serverless::Function")
    }

    /// A function's property: its own, else the one that all functions share.
    pub(crate) fn function_property(&self, function: Node<'_>, path: &str) -> String {
        let own = function.at("Properties").at(path);
        let shared = self.at("Globals/Function").at(path);
        if own.exists() { own } else { shared }.text()
    }

    /// Every policy statement in the template, also those that stand under a condition: where, and the
    /// statement.
    pub(crate) fn statements(&self) -> Vec<(String, Node<'_>)> {
        let mut found = Vec::new();
        Node(Some(&self.0)).collect_statements("", &mut found);
        found
    }
}

impl<'a> Node<'a> {
    pub(crate) fn exists(self) -> bool {
        self.0.is_some()
    }

    /// Follows mapping keys separated by slashes.
    pub(crate) fn at(self, path: &str) -> Self {
        path.split('/').fold(self, |node, key| {
            Self(node.0.and_then(|yaml| yaml.as_mapping_get(key)))
        })
    }

    pub(crate) fn entries(self) -> impl Iterator<Item = (&'a str, Self)> {
        self.0
            .and_then(|yaml| yaml.as_mapping())
            .into_iter()
            .flatten()
            .map(|(key, value)| (key.as_str().unwrap(), Self(Some(value))))
    }

    pub(crate) fn keys(self) -> BTreeSet<&'a str> {
        self.entries().map(|(key, _)| key).collect()
    }

    /// The elements of a list; a single value counts as a list of one, as in a policy.
    pub(crate) fn list(self) -> Vec<Self> {
        match self.0 {
            None => Vec::new(),
            Some(YamlOwned::Sequence(elements)) => {
                elements.iter().map(|element| Self(Some(element))).collect()
            }
            Some(_) => vec![self],
        }
    }

    /// The elements of a list with those that an `!If` puts into it: what must hold, and the element. No
    /// text means that nothing must. What an `!If` leaves out is no element.
    pub(crate) fn elements(self) -> Vec<(String, Self)> {
        let mut found = Vec::new();
        self.collect_elements("", &mut found);
        found
    }

    fn collect_elements(self, held: &str, found: &mut Vec<(String, Self)>) {
        for element in self.list() {
            if element.is("!Ref AWS::NoValue") {
                continue;
            }
            let Some([condition, then, otherwise]) = element.choice() else {
                found.push((held.to_owned(), element));
                continue;
            };
            let and = if held.is_empty() { "" } else { " and " };
            let condition = condition.text();
            then.collect_elements(&format!("{held}{and}{condition}"), found);
            otherwise.collect_elements(&format!("{held}{and}not {condition}"), found);
        }
    }

    /// What stands in an `!If`: the condition, and the value for either case.
    fn choice(self) -> Option<[Self; 3]> {
        let yaml = self.0?;
        let inner = yaml.get_tagged_node()?;
        let tag = yaml.get_tag()?;
        if format!("{}{}", tag.handle, tag.suffix) != "!If" {
            return None;
        }
        Self(Some(inner)).list().try_into().ok()
    }

    pub(crate) fn texts(self) -> BTreeSet<String> {
        self.list().into_iter().map(Self::text).collect()
    }

    pub(crate) fn is(self, expected: &str) -> bool {
        self.text() == expected
    }

    pub(crate) fn number(self) -> Option<i64> {
        self.0.and_then(|yaml| yaml.as_integer())
    }

    /// The value as a line of text, with a function call as it is written: `!Ref InboxTable`. Empty
    /// when there is none.
    pub(crate) fn text(self) -> String {
        self.0.map(written).unwrap_or_default()
    }

    fn collect_statements(self, path: &str, found: &mut Vec<(String, Self)>) {
        for (key, value) in self.entries() {
            let path = format!("{path}/{key}");
            if key == "Statement" {
                found.extend(
                    value
                        .elements()
                        .into_iter()
                        .map(|(_, it)| (path.clone(), it)),
                );
            }
            value.collect_statements(&path, found);
        }
        if let Some(YamlOwned::Sequence(elements)) = self.0 {
            for element in elements {
                Self(Some(element)).collect_statements(path, found);
            }
        }
        if let Some(YamlOwned::Tagged(_, inner)) = self.0 {
            Self(Some(inner)).collect_statements(path, found);
        }
    }
}

fn written(yaml: &YamlOwned) -> String {
    if let Some(inner) = yaml.get_tagged_node() {
        let tag = yaml.get_tag().unwrap();
        return format!("{}{} {}", tag.handle, tag.suffix, written(inner));
    }
    if let Some(elements) = yaml.as_sequence() {
        let elements: Vec<String> = elements.iter().map(written).collect();
        return format!("[{}]", elements.join(", "));
    }
    if let Some(entries) = yaml.as_mapping() {
        let entries: Vec<String> = entries
            .iter()
            .map(|(key, value)| format!("{}: {}", written(key), written(value)))
            .collect();
        return format!("{{{}}}", entries.join(", "));
    }
    if let Some(text) = yaml.as_str() {
        return text.to_owned();
    }
    if let Some(number) = yaml.as_integer() {
        return number.to_string();
    }
    if let Some(yes) = yaml.as_bool() {
        return yes.to_string();
    }
    format!("{yaml:?}")
}

#[test]
fn function_calls_read_as_they_are_written() {
    let template = Template::parse(
        "a: !Ref Inbox\nb: !GetAtt Inbox.Arn\nc: !Sub \"${Inbox}/x\"\nd: !If [Has, [!Ref A, 1], true]\n",
    );
    assert_eq!(template.at("a").text(), "!Ref Inbox");
    assert_eq!(template.at("b").text(), "!GetAtt Inbox.Arn");
    assert_eq!(template.at("c").text(), "!Sub ${Inbox}/x");
    assert_eq!(template.at("d").text(), "!If [Has, [!Ref A, 1], true]");
    assert_eq!(template.at("e").text(), "");
}

#[test]
fn statements_are_found_wherever_they_hide() {
    let template = Template::parse(
        "a: [{b: !If [C, {Statement: {x: 1}}, {}]}]\nd: {Statement: [{x: 2}, {x: 3}]}\n\
         e: {Statement: [{x: 4}, !If [C, {x: 5}, !Ref AWS::NoValue]]}\nf: {Statement: !If [C, [{x: 6}], {x: 7}]}\n",
    );
    let mut found: Vec<i64> = template
        .statements()
        .iter()
        .filter_map(|(_, statement)| statement.at("x").number())
        .collect();
    found.sort_unstable();
    assert_eq!(found, [1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn elements_of_a_list_say_under_what_condition_they_stand_in_it() {
    let template = Template::parse(
        "a: [1, !If [C, 2, !Ref AWS::NoValue], !If [D, !If [E, 3, 4], [5, 6]], !Ref G]\nb: !If [C, 7, 8]\n",
    );
    let elements = |path| -> Vec<String> {
        template
            .at(path)
            .elements()
            .into_iter()
            .map(|(held, element)| format!("{held}: {}", element.text()))
            .collect()
    };
    assert_eq!(
        elements("a"),
        [
            ": 1",
            "C: 2",
            "D and E: 3",
            "D and not E: 4",
            "not D: 5",
            "not D: 6",
            ": !Ref G"
        ]
    );
    assert_eq!(elements("b"), ["C: 7", "not C: 8"]);
    assert!(elements("c").is_empty());
}

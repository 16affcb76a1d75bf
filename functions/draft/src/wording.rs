//! The approved texts, compiled once at a start. May not ask a model, and may not leave out what it has no value for.

use std::collections::BTreeSet;

use lastword_config::{Config, ConfigError, Problem, Wording};
use lastword_domain::name::WordingName;
use minijinja::{AutoEscape, Environment, ErrorKind, UndefinedBehavior};

use crate::event::Wanted;

/// Steps that one rendering may take: a template that goes through lists within lists must end.
const MOST_STEPS: u64 = 1_000_000;
/// Names that a template has besides the members of the data.
const BESIDES: [&str; 2] = ["effect", "about"];

/// Every wording of a configuration.
#[derive(Debug)]
pub struct Wordings {
    declared: lastword_config::Wordings,
    templates: Environment<'static>,
}

/// Why there is no approved text. What is shown is the template's own, and never a value.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// The configuration has no such wording.
    #[error("there is no wording {0}")]
    Unknown(WordingName),
    /// The data lacks what the template names.
    #[error(
        "the template of wording {wording} names `{named}`, which the data lacks (line {line})"
    )]
    Lacks {
        /// Which wording.
        wording: WordingName,
        /// What is lacking, as the template writes it.
        named: String,
        /// Counted within the template, from 1.
        line: usize,
    },
    /// The template cannot be rendered with this data.
    #[error("the template of wording {wording} cannot be rendered (line {line}): {why}")]
    Failed {
        /// Which wording.
        wording: WordingName,
        /// Counted within the template, from 1.
        line: usize,
        /// What kind of failure.
        why: String,
    },
    /// The template makes an empty text of it.
    #[error("the template of wording {0} makes an empty text of this data")]
    Empty(WordingName),
}

impl Wordings {
    /// Compiles the template of every wording. A filter that there is not shows itself only when it is rendered.
    ///
    /// # Errors
    /// Lists what is wrong, each with its line: what is no template, names what an effect that uses it has no data
    /// of, or says itself what no text may say.
    pub fn compile(config: &Config) -> Result<Self, ConfigError> {
        let mut templates = Environment::new();
        // It would show all of the data.
        templates.remove_global("debug");
        templates.set_undefined_behavior(UndefinedBehavior::Strict);
        templates.set_auto_escape_callback(|_| AutoEscape::None);
        templates.set_fuel(Some(MOST_STEPS));
        let mut problems = Vec::new();
        for (name, wording) in &config.wordings {
            let text = wording.template.text.clone();
            match templates.add_template_owned(name.as_str().to_owned(), text) {
                Ok(()) => problems.extend(self::problems(config, &templates, name, wording)),
                Err(error) => {
                    let why = error.detail().map(str::to_owned);
                    let why = why.unwrap_or_else(|| error.kind().to_string());
                    let message = format!("it is no template: {why}");
                    let line = error.line().unwrap_or(1);
                    problems.push(wording.template.problem(line, message));
                }
            }
        }
        if problems.is_empty() {
            let declared = config.wordings.clone();
            return Ok(Self {
                declared,
                templates,
            });
        }
        problems.sort_by_key(|problem| problem.line);
        Err(ConfigError {
            file: config.file.clone(),
            problems,
        })
    }

    /// What a wording says.
    ///
    /// # Errors
    /// When there is none of this name.
    pub fn of(&self, name: &WordingName) -> Result<&Wording, TextError> {
        let found = self.declared.get(name);
        found.ok_or_else(|| TextError::Unknown(name.clone()))
    }

    /// The approved text. What is put into it is text there, whatever it looks like.
    ///
    /// # Errors
    /// When there is no such wording, or its template lacks something or says nothing.
    pub fn text(&self, wanted: &Wanted) -> Result<String, TextError> {
        let name = &wanted.wording;
        let template = self.templates.get_template(name.as_str());
        let template = template.map_err(|_| TextError::Unknown(name.clone()))?;
        let members = wanted.data.iter();
        let members = members.map(|(member, value)| (member.clone(), value.for_template()));
        // What is ours has its name for itself: a member of that name does not hide it.
        let ours = [
            (
                "effect".to_owned(),
                minijinja::Value::from(wanted.effect.as_str()),
            ),
            ("about".to_owned(), wanted.about.for_template()),
        ];
        let values: minijinja::Value = members.chain(ours).collect();
        let text = template
            .render(values)
            .map_err(|error| failed(name, template.source(), &error))?;
        let text = text.trim();
        if text.is_empty() {
            return Err(TextError::Empty(name.clone()));
        }
        Ok(text.to_owned())
    }
}

fn failed(wording: &WordingName, source: &str, error: &minijinja::Error) -> TextError {
    let wording = wording.clone();
    let line = error.line().unwrap_or(1);
    let named = error.range().and_then(|range| source.get(range));
    match (error.kind(), named) {
        (ErrorKind::UndefinedError, Some(named)) => TextError::Lacks {
            wording,
            named: named
                .trim_matches(['{', '}', '%', ' ', '-', '\n'])
                .to_owned(),
            line,
        },
        // Its details may hold values; its kind does not.
        (kind, _) => TextError::Failed {
            wording,
            line,
            why: kind.to_string(),
        },
    }
}

/// What is wrong with a template that is one.
fn problems(
    config: &Config,
    templates: &Environment<'_>,
    name: &WordingName,
    wording: &Wording,
) -> Vec<Problem> {
    let Ok(template) = templates.get_template(name.as_str()) else {
        return Vec::new();
    };
    let known: BTreeSet<&str> = templates
        .globals()
        .map(|(known, _)| known)
        .chain(BESIDES)
        .collect();
    let named: BTreeSet<String> = template.undeclared_variables(false).into_iter().collect();
    let mut problems = Vec::new();
    for (effect, told) in &config.effects {
        if told.wording.as_ref() != Some(name) {
            continue;
        }
        for member in named.iter().filter(|one| !known.contains(one.as_str())) {
            if !told.data.contains_key(member) {
                let message = format!("it names `{member}`, which effects.{effect} has no data of");
                problems.push(wording.template.problem(1, message));
            }
        }
    }
    let said = said(template.source());
    for word in wording
        .never_says
        .iter()
        .filter(|word| said.contains(*word))
    {
        let message = format!("it says {word:?}, which is among its `never_says`");
        problems.push(wording.template.problem(1, message));
    }
    problems
}

/// The words that a template says itself, in lower case: what stands outside its braces.
fn said(template: &str) -> BTreeSet<String> {
    let mut outside = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        outside.push_str(before);
        outside.push(' ');
        let end = [("{", "}}"), ("%", "%}"), ("#", "#}")]
            .into_iter()
            .find_map(|(open, close)| after.strip_prefix(open)?.split_once(close));
        rest = end.map_or(after, |(_, after)| after);
    }
    outside.push_str(rest);
    crate::fit::words(&outside).map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests;

//! Finds and reads the configuration; may not say what is wrong in it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use lastword_config::{BUILT_IN, Config, ConfigError};
use lastword_draft::Wordings;
use lastword_rules::Declared;

use super::cli::CONFIGURATION;
use crate::machine::Failure;

/// A configuration's text, and where it is from.
pub(super) struct Source {
    /// The file; `None` is the one that was built in.
    file: Option<PathBuf>,
    text: String,
}

impl Source {
    /// A file that somebody named.
    pub(super) fn named(file: &Path) -> Result<Self, Failure> {
        let text =
            fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(Self {
            file: Some(file.to_owned()),
            text,
        })
    }

    /// The file that somebody named, else the one that lies here, else the one that was built in.
    pub(super) fn found(named: Option<&Path>) -> Result<Self, Failure> {
        if let Some(file) = named {
            return Self::named(file);
        }
        match fs::read_to_string(CONFIGURATION) {
            Ok(text) => Ok(Self {
                file: Some(CONFIGURATION.into()),
                text,
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self {
                file: None,
                text: BUILT_IN.to_owned(),
            }),
            Err(error) => Err(format!("{CONFIGURATION}: {error}").into()),
        }
    }

    /// The file, for who stands elsewhere.
    pub(super) fn absolute(&self) -> io::Result<Option<PathBuf>> {
        self.file.as_deref().map(std::path::absolute).transpose()
    }

    /// How it is called in messages.
    pub(super) fn name(&self) -> String {
        match &self.file {
            Some(file) => file.display().to_string(),
            None => "lastword.toml (built in)".to_owned(),
        }
    }

    /// Reads it, rules and approved texts included: a configuration with one that cannot be compiled is wrong.
    pub(super) fn parse(&self) -> Result<Config, ConfigError> {
        let config = Config::parse(&self.name(), &self.text)?;
        Declared::compile(&config)?;
        Wordings::compile(&config)?;
        Ok(config)
    }
}

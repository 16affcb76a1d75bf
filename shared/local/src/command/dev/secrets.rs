//! Secrets on one machine: from the environment, from a file that a person may edit, or made up once and
//! written there. Prints references, never a value.

use std::{
    collections::BTreeMap,
    env::VarError,
    fs::{self, OpenOptions},
    hash::{BuildHasher as _, RandomState},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use lastword_config::{Config, Integration, SecretRef};
use lastword_domain::Digest;
use lastword_runtime::{Clients, SecretSource};

use crate::machine::Failure;

const HEAD: &str = "\
# Secrets of this machine, read when a stack starts: \"reference\" = \"value\". What was missing was made up.
";

const FILE: &str = "secrets.toml";

/// The value of every secret that the configuration names.
pub(super) struct Secrets {
    values: BTreeMap<SecretRef, String>,
    /// What was missing everywhere.
    pub(super) made_up: Vec<SecretRef>,
    /// Where made up ones are written.
    pub(super) file: PathBuf,
}

impl Secrets {
    /// Finds every secret, and makes up and keeps what is missing.
    pub(super) fn settle(
        config: &Config,
        directory: &Path,
        variable: impl Fn(&str) -> Result<String, VarError>,
    ) -> Result<Self, Failure> {
        let file = directory.join(FILE);
        let text = text_of(&file)?;
        let written = read(&file, &text)?;
        let (mut values, mut made_up) = (BTreeMap::new(), Vec::new());
        let mut added = String::new();
        for (reference, endpoint) in wanted(config) {
            let value = match from_environment(&reference, &variable)? {
                Some(value) => value,
                None => match written.get(&reference.to_string()) {
                    Some(value) => value.clone(),
                    None => {
                        let value = made(endpoint);
                        added.push_str(&format!("\"{reference}\" = \"{value}\"\n"));
                        made_up.push(reference.clone());
                        value
                    }
                },
            };
            values.insert(reference, value);
        }
        if !added.is_empty() {
            keep(&file, &text, &added).map_err(|error| format!("{}: {error}", file.display()))?;
        }
        Ok(Self {
            values,
            made_up,
            file,
        })
    }

    /// Those that the parameter store serves, by the name it is asked for.
    pub(super) fn parameters(&self) -> BTreeMap<String, String> {
        self.values
            .iter()
            .filter_map(|(reference, value)| Some((reference.parameter()?, value.clone())))
            .collect()
    }

    /// Those that are variables.
    pub(super) fn variables(&self) -> BTreeMap<String, String> {
        self.values
            .iter()
            .filter(|(reference, _)| reference.parameter().is_none())
            .map(|(reference, value)| (reference.name().to_owned(), value.clone()))
            .collect()
    }

    /// The source that a function has in the cloud, over this machine's parameter store.
    pub(super) fn source(&self, clients: Clients) -> SecretSource {
        let variables = self.variables();
        let look_up = move |name: &str| variables.get(name).cloned().ok_or(VarError::NotPresent);
        SecretSource::new(look_up, clients)
    }
}

/// The value of one secret, where a stack in this directory would find it; makes nothing up.
pub(in crate::command) fn look_up(
    reference: &SecretRef,
    directory: &Path,
    variable: impl Fn(&str) -> Result<String, VarError>,
) -> Result<Option<String>, Failure> {
    if let Some(value) = from_environment(reference, variable)? {
        return Ok(Some(value));
    }
    let file = directory.join(FILE);
    let mut written = read(&file, &text_of(&file)?)?;
    Ok(written.remove(&reference.to_string()))
}

/// The file's text; none when there is no such file.
fn text_of(file: &Path) -> Result<String, Failure> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(format!("{}: {error}", file.display()).into()),
    }
}

/// Every reference once, with the endpoint whose signatures it checks.
fn wanted(config: &Config) -> BTreeMap<SecretRef, Option<&Integration>> {
    let mut wanted = BTreeMap::new();
    for integration in config.integrations.values() {
        for reference in &integration.signing {
            wanted.insert(reference.clone(), Some(integration));
        }
        if let Some(reference) = &integration.handshake_token {
            wanted.entry(reference.clone()).or_default();
        }
    }
    for reference in config
        .api_secrets()
        .into_iter()
        .chain(config.destination_secrets())
    {
        wanted.entry(reference).or_default();
    }
    wanted
}

/// A value of the form that the endpoint's provider gives its secrets.
fn made(endpoint: Option<&Integration>) -> String {
    let random = random();
    let seed = random.as_bytes();
    let made = endpoint.and_then(|integration| {
        let schemes = &integration.contract.signature;
        schemes.made_up_secret(&integration.schemes, seed)
    });
    made.unwrap_or_else(|| random.to_text())
}

fn from_environment(
    reference: &SecretRef,
    variable: impl Fn(&str) -> Result<String, VarError>,
) -> Result<Option<String>, Failure> {
    if reference.parameter().is_some() {
        return Ok(None);
    }
    match variable(reference.name()) {
        Ok(value) => Ok(Some(value).filter(|value| !value.is_empty())),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err(format!("{reference} is not UTF-8").into()),
    }
}

/// What is wrong is told by its line, without the line: it may hold a secret.
fn read(file: &Path, text: &str) -> Result<BTreeMap<String, String>, Failure> {
    const EXPECTED: &str = "expected lines of the form \"reference\" = \"value\"";
    let table: toml::Table = toml::from_str(text).map_err(|error| {
        let before = text.get(..error.span().map_or(0, |span| span.start));
        let line = before.unwrap_or_default().matches('\n').count() + 1;
        format!("{}:{line}: cannot be read; {EXPECTED}", file.display())
    })?;
    table
        .into_iter()
        .map(|(reference, value)| match value.as_str() {
            Some(value) => Ok((reference, value.to_owned())),
            None => Err(format!("{}: {reference}: not a text; {EXPECTED}", file.display()).into()),
        })
        .collect()
}

/// The old text with the added lines, readable by its owner only: the whole new file, or the old one.
fn keep(file: &Path, text: &str, added: &str) -> io::Result<()> {
    let beside = file.with_extension("toml.new");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut out = options.open(&beside)?;
    let text = if text.is_empty() { HEAD } else { text };
    out.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    out.write_all(added.as_bytes())?;
    out.sync_all()?;
    fs::rename(beside, file)
}

/// 43 characters that nobody guesses: the keys of the standard library's hashers are the system's own
/// randomness, and the digest hides them.
fn random() -> Digest {
    let words: Vec<String> = (0..4_u8)
        .map(|word| RandomState::new().hash_one(word).to_string())
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Digest::of_parts(&words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        let text = lastword_config::BUILT_IN
            .replace("ssm:/lastword/billing/signing", "env:BILLING_SIGNING");
        Config::parse("lastword.toml", &text).unwrap()
    }

    fn unset(_: &str) -> Result<String, VarError> {
        Err(VarError::NotPresent)
    }

    #[test]
    fn what_is_missing_is_made_up_once_and_only_the_owner_can_read_it() {
        let place = tempfile::tempdir().unwrap();
        let first = Secrets::settle(&config(), place.path(), unset).unwrap();
        // Six of the integrations, and the one that sends mail.
        assert_eq!(first.made_up.len(), 7);
        let signing = first.variables().remove("BILLING_SIGNING").unwrap();
        assert!(signing.starts_with("whsec_") && signing.len() > 40);
        let second = Secrets::settle(&config(), place.path(), unset).unwrap();
        assert!(second.made_up.is_empty());
        assert_eq!(second.values, first.values);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(&first.file).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn a_variable_that_is_set_wins_and_is_not_written_down() {
        let place = tempfile::tempdir().unwrap();
        let set = |_: &str| Ok("whsec_of-the-environment".to_owned());
        let secrets = Secrets::settle(&config(), place.path(), set).unwrap();
        assert_eq!(
            secrets.variables()["BILLING_SIGNING"],
            "whsec_of-the-environment"
        );
        let text = fs::read_to_string(&secrets.file).unwrap();
        assert!(!text.contains("BILLING_SIGNING"), "{text}");
    }

    #[test]
    fn what_a_person_wrote_is_taken_and_stays() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("secrets.toml");
        fs::write(
            &file,
            "# mine\n\"ssm:/lastword/erp/signing\" = \"of-a-person\"",
        )
        .unwrap();
        let secrets = Secrets::settle(&config(), place.path(), unset).unwrap();
        assert_eq!(secrets.parameters()["/lastword/erp/signing"], "of-a-person");
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("# mine\n"), "{text}");
        Secrets::settle(&config(), place.path(), unset).unwrap();
    }

    #[test]
    fn a_broken_file_is_told_by_its_line_and_its_content_is_not_repeated() {
        for text in ["\n\"a\" = hunter2\n", "\n\"a\" = [\"hunter2\"]\n"] {
            let error = read(Path::new("secrets.toml"), text).unwrap_err();
            let error = error.to_string();
            assert!(error.starts_with("secrets.toml:"), "{error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}

//! Secrets: where one is kept, and a value that cannot be printed.
//!
//! A [`SecretRef`] may be logged and written in configuration files. A [`SecretValue`] has no `Display`, no
//! `Serialize` and no `Clone`, and is wiped when dropped. It is taken exactly as stored: a value with a
//! newline at its end is refused and not trimmed, because the other side, which may not trim, would then
//! compute another signature.

use std::fmt;
use std::str::FromStr;

use zeroize::Zeroizing;

const EXPECTED: &str = "expected env:NAME, ssm:/path or secretsmanager:name";

/// Where a secret is kept. Not itself secret.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecretRef {
    kind: Kind,
    name: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Kind {
    Env,
    Ssm,
    SecretsManager,
}

impl Kind {
    const fn scheme(self) -> &'static str {
        match self {
            Self::Env => "env",
            Self::Ssm => "ssm",
            Self::SecretsManager => "secretsmanager",
        }
    }
}

/// A text that is no secret reference.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is not a secret reference: {problem}; {EXPECTED}")]
pub struct InvalidSecretRef {
    found: String,
    problem: &'static str,
}

impl SecretRef {
    /// Reads `env:NAME`, `ssm:/path` or `secretsmanager:name`.
    ///
    /// # Errors
    /// Says what was found, unless that may be the secret itself.
    pub fn parse(text: &str) -> Result<Self, InvalidSecretRef> {
        let refused = |found: &str, problem| InvalidSecretRef {
            found: found.to_owned(),
            problem,
        };
        let Some((scheme, name)) = text.split_once(':') else {
            // Somebody may have written the secret itself here, so it is not repeated.
            return Err(refused(
                "(not shown)",
                "it has no scheme, and is perhaps the secret itself",
            ));
        };
        let kind = match scheme {
            "env" => Kind::Env,
            "ssm" => Kind::Ssm,
            "secretsmanager" => Kind::SecretsManager,
            other => {
                return Err(refused(
                    &format!("{}:…", known_part(other)),
                    "its scheme is unknown",
                ));
            }
        };
        match fault_of_name(kind, name) {
            None => Ok(Self {
                kind,
                name: name.to_owned(),
            }),
            Some(problem) => Err(refused(text, problem)),
        }
    }

    /// The name within its kind of place: of a variable, a parameter or a secret.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name to ask the parameter store for, or `None` for a variable.
    #[must_use]
    pub fn parameter(&self) -> Option<String> {
        match self.kind {
            Kind::Env => None,
            Kind::Ssm => Some(self.name.clone()),
            // The parameter store reads through to Secrets Manager: one endpoint, one TLS handshake at start.
            Kind::SecretsManager => Some(format!("/aws/reference/secretsmanager/{}", self.name)),
        }
    }
}

/// A scheme is shown only as far as it looks like one.
fn known_part(scheme: &str) -> &str {
    let looks_like_one = scheme.len() <= 20 && scheme.chars().all(|c| c.is_ascii_lowercase());
    if looks_like_one { scheme } else { "" }
}

fn fault_of_name(kind: Kind, name: &str) -> Option<&'static str> {
    let (allowed, problem): (&[u8], _) = match kind {
        Kind::Env => (b"_", "a variable has letters, digits and _"),
        Kind::Ssm if !name.starts_with('/') => return Some("a parameter's path begins with /"),
        Kind::Ssm => (
            b"_.-/:",
            "a parameter's path has letters, digits and _ . - / and a : before its version",
        ),
        Kind::SecretsManager => (
            b"/_+=.@-",
            "a secret's name has letters, digits and / _ + = . @ -",
        ),
    };
    if name.is_empty() {
        return Some("it names nothing");
    }
    let fits = name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || allowed.contains(&byte));
    (!fits).then_some(problem)
}

impl fmt::Display for SecretRef {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.kind.scheme(), self.name)
    }
}

impl FromStr for SecretRef {
    type Err = InvalidSecretRef;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

/// A secret. Wiped when dropped; prints as `[redacted]`.
pub struct SecretValue(Zeroizing<String>);

impl SecretValue {
    /// Takes a value as it is stored, or says why it cannot be one.
    ///
    /// # Errors
    /// Says what is wrong with it, and never shows it.
    pub fn accept(value: Zeroizing<String>) -> Result<Self, &'static str> {
        if value.is_empty() {
            return Err("it is empty");
        }
        if value.trim() != value.as_str() {
            return Err(
                "it begins or ends with white space or a newline, which is not removed silently; store it without",
            );
        }
        Ok(Self(value))
    }

    /// The secret, for the one computation that needs it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("[redacted]")
    }
}

impl fmt::Display for SecretValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("[redacted]")
    }
}

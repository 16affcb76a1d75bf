//! A JSON text kept exactly as it came, and a digest of what it says.
//!
//! Numbers are never read into a machine number: `2868860079149422351`, `1.10` and `1e400` stay what
//! they are. Two texts say the same when they differ only in white space, in the order of an object's
//! members or in how a string is escaped; a webhook and the read API may render one object both ways.
//! A text whose object has a member twice is refused: readers differ in which of the two they believe.
//!
//! The digest is made in one pass, forward only, so its cost is that of the text's size and not of its
//! depth. A member's value is digested for itself, which lets members be put in order when their object
//! ends, without keeping or reading again what they hold.

mod patch;

use std::borrow::Cow;

use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use crate::digest::Digest;

/// A well-formed JSON text.
#[derive(Debug, Clone)]
pub struct Json {
    text: Box<str>,
    meaning: Digest,
}

/// Why a text is not taken.
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    /// Not JSON.
    #[error("not JSON: {0}")]
    Malformed(#[from] serde_json::Error),
    /// Nested deeper than is read.
    #[error("JSON nested more than {} deep", Json::MOST_DEPTH)]
    TooDeep,
    /// An object has a member twice. Its name may be a customer's and is not shown.
    #[error("an object in it has a member twice")]
    Doubled,
}

impl Json {
    /// The deepest nesting that is read.
    pub const MOST_DEPTH: usize = 100;

    /// Takes a JSON text, whole.
    ///
    /// # Errors
    /// When it is not JSON, is nested too deep, or has a member twice.
    pub fn parse(text: &str) -> Result<Self, JsonError> {
        let raw: &RawValue = serde_json::from_str(text)?;
        let text = raw.get();
        Ok(Self {
            text: text.into(),
            meaning: meaning(Tokens(text))?,
        })
    }

    /// The text, exactly as it came.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What it says: equal for two texts that differ only in rendering.
    #[must_use]
    pub fn meaning(&self) -> Digest {
        self.meaning
    }
}

/// Equality is of meaning, not of rendering.
impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.meaning == other.meaning
    }
}

impl Eq for Json {}

/// A well-formed text's braces, brackets, strings and plain values, each once and in order. White space,
/// commas and colons are left out: between the others they say nothing.
struct Tokens<'t>(&'t str);

impl<'t> Iterator for Tokens<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];
        let text = self
            .0
            .trim_start_matches(|c| BLANKS.contains(&c) || matches!(c, ',' | ':'));
        let length = match text.bytes().next()? {
            b'{' | b'}' | b'[' | b']' => 1,
            b'"' => string_length(text),
            _ => text
                .find(|c| BLANKS.contains(&c) || matches!(c, ',' | ']' | '}'))
                .unwrap_or(text.len()),
        };
        let (token, rest) = text.split_at_checked(length)?;
        self.0 = rest;
        Some(token)
    }
}

/// The bytes of the string that a text begins with, both quotes among them.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn meaning<'t>(mut tokens: impl Iterator<Item = &'t str>) -> Result<Digest, JsonError> {
    let mut hasher = Sha256::new();
    if let Some(first) = tokens.next() {
        feed(first, &mut tokens, &mut hasher, 0)?;
    }
    Ok(Digest::of(&hasher.finalize()))
}

/// Writes the meaning of the value that begins with this token into the hash: a tag for its kind, then its
/// content, of which every part says where it ends.
fn feed<'t>(
    token: &'t str,
    tokens: &mut impl Iterator<Item = &'t str>,
    hasher: &mut Sha256,
    depth: usize,
) -> Result<(), JsonError> {
    if depth > Json::MOST_DEPTH {
        return Err(JsonError::TooDeep);
    }
    match token.as_bytes().first() {
        Some(b'{') => {
            let mut members = Vec::new();
            while let Some(name) = tokens.next().filter(|token| *token != "}") {
                let mut own = Sha256::new();
                if let Some(value) = tokens.next() {
                    feed(value, tokens, &mut own, depth + 1)?;
                }
                members.push((unescaped(name)?, own.finalize()));
            }
            members.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
            if !members.is_sorted_by(|(one, _), (next, _)| one < next) {
                return Err(JsonError::Doubled);
            }
            count(hasher, b'{', members.len());
            for (name, value) in members {
                string(hasher, &name);
                hasher.update(value);
            }
        }
        Some(b'[') => {
            hasher.update(b"[");
            while let Some(item) = tokens.next().filter(|token| *token != "]") {
                feed(item, tokens, hasher, depth + 1)?;
            }
            hasher.update(b"]");
        }
        Some(b'"') => string(hasher, &unescaped(token)?),
        // A number, true, false or null: its own text.
        Some(_) | None => {
            count(hasher, b'=', token.len());
            hasher.update(token.as_bytes());
        }
    }
    Ok(())
}

/// A string's content. Without an escape it stands between the quotes as it is.
fn unescaped(token: &str) -> Result<Cow<'_, str>, JsonError> {
    let inner = token.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
    match inner.filter(|inner| !inner.contains('\\')) {
        Some(plain) => Ok(Cow::Borrowed(plain)),
        None => Ok(Cow::Owned(serde_json::from_str(token)?)),
    }
}

fn string(hasher: &mut Sha256, text: &str) {
    count(hasher, b'"', text.len());
    hasher.update(text.as_bytes());
}

fn count(hasher: &mut Sha256, tag: u8, length: usize) {
    hasher.update([tag]);
    hasher.update((length as u64).to_be_bytes());
}

#[cfg(test)]
mod tests;

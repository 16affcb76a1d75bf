//! SHA-256 over exact bytes, and over parts that must not run into each other.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Of these exact bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Of several parts. Each part is preceded by its length, so that no two lists of parts share a
    /// digest by moving a border: `["ab", "c"]` and `["a", "bc"]` differ.
    #[must_use]
    pub fn of_parts(parts: &[&str]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part.as_bytes());
        }
        Self(hasher.finalize().into())
    }

    /// From its 32 bytes, as stored.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        <[u8; 32]>::try_from(bytes).ok().map(Self)
    }

    /// Its 32 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// 43 characters of `A-Z a-z 0-9 - _`: fits every key, group id and URL.
    #[must_use]
    pub fn to_text(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    /// From [`Digest::to_text`]'s 43 characters.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        URL_SAFE_NO_PAD
            .decode(text)
            .ok()
            .and_then(|bytes| Self::from_bytes(&bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(
            Digest::of_parts(&["ab", "c"]),
            Digest::of_parts(&["a", "bc"])
        );
        assert_ne!(Digest::of_parts(&["a", ""]), Digest::of_parts(&["a"]));
    }

    proptest! {
        #[test]
        fn its_text_has_43_characters_and_leads_back(bytes in proptest::array::uniform32(any::<u8>())) {
            let digest = Digest::from_bytes(&bytes).unwrap();
            prop_assert_eq!(digest.to_text().len(), 43);
            prop_assert_eq!(Digest::from_text(&digest.to_text()), Some(digest));
        }
    }
}

//! A documented monotonic version: a whole number of up to 38 digits.
//!
//! 38 is what the store's number type compares exactly; a longer number is refused, because a rounded
//! comparison would let two versions tie that do not.

use std::cmp::Ordering;
use std::fmt;

/// A version as the provider counts it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Version(Box<str>);

/// Why a text is no version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VersionError {
    /// Not only digits.
    #[error("a version is a whole number without sign, point or exponent")]
    NotWhole,
    /// More digits than the store compares exactly.
    #[error("a version of {found} digits; {most} are the most that compare exactly", most = Version::MOST_DIGITS)]
    TooLong {
        /// Digits found.
        found: usize,
    },
}

impl Version {
    /// The most digits.
    pub const MOST_DIGITS: usize = 38;

    /// From decimal digits; leading zeros say nothing and are dropped.
    ///
    /// # Errors
    /// When the text is not a whole number or has more than 38 digits.
    pub fn parse(text: &str) -> Result<Self, VersionError> {
        if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
            return Err(VersionError::NotWhole);
        }
        let digits = match text.trim_start_matches('0') {
            "" => "0",
            digits => digits,
        };
        if digits.len() > Self::MOST_DIGITS {
            return Err(VersionError::TooLong {
                found: digits.len(),
            });
        }
        Ok(Self(digits.into()))
    }

    /// Its decimal digits, without leading zeros.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0
            .len()
            .cmp(&other.0.len())
            .then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_version_of_39_digits_is_refused_and_one_of_38_is_exact() {
        let most = "9".repeat(38);
        assert_eq!(Version::parse(&most).unwrap().as_str(), most);
        assert_eq!(
            Version::parse(&"9".repeat(39)),
            Err(VersionError::TooLong { found: 39 })
        );
    }

    #[test]
    fn what_is_not_a_whole_number_is_no_version() {
        for text in ["", "-1", "1.0", "1e3", "0x1", " 1", "١"] {
            assert_eq!(
                Version::parse(text),
                Err(VersionError::NotWhole),
                "{text:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn versions_compare_as_the_numbers_they_are(a in any::<u128>(), b in any::<u128>()) {
            let (a, b) = (a % 10u128.pow(38), b % 10u128.pow(38));
            let (x, y) = (Version::parse(&a.to_string()).unwrap(), Version::parse(&format!("00{b}")).unwrap());
            prop_assert_eq!(x.cmp(&y), a.cmp(&b));
        }
    }
}

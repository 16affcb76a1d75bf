//! Request headers as a receiver must read them: whatever the casing, and every value of a repeated one.

/// Headers of one request, in the order received.
#[derive(Clone, Default)]
pub struct Headers(Vec<(Box<str>, Box<str>)>);

/// Law 14: a value may be a credential, so only names are shown.
impl std::fmt::Debug for Headers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|(name, _)| name))
            .finish()
    }
}

impl Headers {
    /// Adds a value; an earlier value of the same name stays.
    pub fn add(&mut self, name: &str, value: &str) {
        self.0.push((name.into(), value.into()));
    }

    /// Every value of this name, in any casing.
    pub fn all<'a, 'n>(&'a self, name: &'n str) -> impl Iterator<Item = &'a str> + use<'a, 'n> {
        self.0
            .iter()
            .filter(move |(held, _)| held.eq_ignore_ascii_case(name))
            .map(|(_, value)| &**value)
    }

    /// Every value of every name that begins so, in any casing.
    pub fn starting<'a, 'n>(
        &'a self,
        start: &'n str,
    ) -> impl Iterator<Item = &'a str> + use<'a, 'n> {
        self.0
            .iter()
            .filter(move |(held, _)| {
                let held = held.get(..start.len());
                held.is_some_and(|held| held.eq_ignore_ascii_case(start))
            })
            .map(|(_, value)| &**value)
    }

    /// The one value of this name. A repetition of the same value is that value; two different values
    /// are none, because choosing between them would be a guess. Some gateways join a repeated header's
    /// values with commas, so a comma separates values here too.
    #[must_use]
    pub fn one(&self, name: &str) -> Option<&str> {
        let mut values = self
            .all(name)
            .flat_map(|value| value.split(','))
            .map(str::trim);
        let first = values.next()?;
        values.all(|value| value == first).then_some(first)
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for Headers {
    fn from_iter<T: IntoIterator<Item = (&'a str, &'a str)>>(pairs: T) -> Self {
        Self(
            pairs
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_found_in_any_casing_and_two_different_values_are_none() {
        let headers: Headers = [
            ("X-Id", "1"),
            ("x-ID", "1"),
            ("X-Other", "1"),
            ("x-other", "2"),
        ]
        .into_iter()
        .collect();
        assert_eq!(headers.one("x-id"), Some("1"));
        assert_eq!(headers.one("X-OTHER"), None);
        assert_eq!(headers.all("x-other").collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(headers.one("missing"), None);
    }

    #[test]
    fn values_that_a_gateway_joined_are_one_value_only_when_they_are_equal() {
        let one = |value: &str| {
            let headers: Headers = [("x", value)].into_iter().collect();
            headers.one("x").map(str::to_owned)
        };
        for same in [
            "issues",
            "issues,issues",
            "issues, issues",
            " issues ,issues",
        ] {
            assert_eq!(one(same).as_deref(), Some("issues"), "{same}");
        }
        for different in ["issues,star", "issues,", ",issues", "issues,Issues"] {
            assert_eq!(one(different), None, "{different}");
        }
    }
}

//! A destination as it is written.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawDestination {
    pub(crate) url: Option<Spanned<String>>,
    pub(crate) queue: Option<Spanned<String>>,
    pub(crate) secret: Option<Spanned<String>>,
    pub(crate) secret_header: Option<Spanned<String>>,
    #[serde(default)]
    pub(crate) headers: BTreeMap<Spanned<String>, Spanned<String>>,
    pub(crate) timeout_seconds: Option<Spanned<i64>>,
    pub(crate) idempotent: Option<Spanned<bool>>,
    pub(crate) remembers_hours: Option<Spanned<i64>>,
    pub(crate) lookup: Option<RawLookUp>,
    pub(crate) retry_on: Option<Vec<Spanned<i64>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawLookUp {
    pub(crate) url: Spanned<String>,
    pub(crate) wait_seconds: Option<Spanned<i64>>,
    pub(crate) found: Option<Spanned<String>>,
}

impl RawDestination {
    /// Where each setting stands that only HTTP has.
    pub(crate) fn of_http(&self) -> Vec<(&'static str, usize)> {
        fn at<T>(value: &Option<Spanned<T>>) -> Option<usize> {
            value.as_ref().map(|value| value.span().start)
        }
        let all = [
            ("secret", at(&self.secret)),
            ("secret_header", at(&self.secret_header)),
            (
                "headers",
                self.headers.keys().next().map(|name| name.span().start),
            ),
            ("timeout_seconds", at(&self.timeout_seconds)),
            ("idempotent", at(&self.idempotent)),
            ("remembers_hours", at(&self.remembers_hours)),
            (
                "lookup",
                self.lookup.as_ref().map(|one| one.url.span().start),
            ),
            (
                "retry_on",
                self.retry_on
                    .as_ref()
                    .and_then(|all| all.first())
                    .map(|one| one.span().start),
            ),
        ];
        all.into_iter()
            .filter_map(|(name, at)| Some((name, at?)))
            .collect()
    }
}

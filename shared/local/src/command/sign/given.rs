//! The headers beside a body: those that somebody gave, those that are made up, those that signing makes.

use lastword_contracts::{Contract, Headers, signature::Scheme, source::Source};

use crate::machine::Failure;

/// Headers so far; each name once, whatever its casing.
pub(super) struct Given(Vec<(String, String)>);

impl Given {
    pub(super) fn of(headers: &[(String, String)]) -> Self {
        Self(headers.to_vec())
    }

    fn holds(&self, name: &str) -> bool {
        let mut held = self.0.iter();
        held.any(|(held, _)| held.eq_ignore_ascii_case(name))
    }

    fn make_up(&mut self, name: &str) {
        if !self.holds(name) {
            self.0.push((name.to_owned(), made_up()));
        }
    }

    /// Without one, a client chooses one itself, which the receiver may not take.
    pub(super) fn media_type(&mut self, known: &[String], body: &[u8]) {
        const NAME: &str = "content-type";
        if self.holds(NAME) {
            return;
        }
        let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok();
        let fits = |media: &&String| media.ends_with("json") == is_json;
        if let Some(media) = known.iter().find(fits).or_else(|| known.first()) {
            self.0.insert(0, (NAME.to_owned(), media.clone()));
        }
    }

    /// An event's id may be anything; its type chooses what becomes of it, so nobody makes it up.
    pub(super) fn event(&mut self, contract: &Contract) -> Result<(), Failure> {
        let rules = &contract.event;
        for name in rules.id.as_slice().iter().filter_map(Source::header) {
            self.make_up(name);
        }
        let first = rules.kind.as_slice().first().and_then(Source::header);
        match first {
            Some(name) if rules.type_otherwise.is_none() && !self.holds(name) => Err(format!(
                "{} names an event's type in the header {name}; give it with --header \"{name}: ...\"",
                contract.title
            )
            .into()),
            Some(_) | None => Ok(()),
        }
    }

    /// What the scheme reads and signing does not make itself.
    pub(super) fn signed(&mut self, scheme: &Scheme, own: &[(String, String)]) {
        for name in scheme.headers() {
            if !own.iter().any(|(made, _)| made.eq_ignore_ascii_case(name)) {
                self.make_up(name);
            }
        }
    }

    /// Adds what signing made. What somebody gave is not silently replaced.
    pub(super) fn add(&mut self, made: &[(String, String)]) -> Result<(), Failure> {
        for (name, value) in made {
            let held = self
                .0
                .iter()
                .find(|(held, _)| held.eq_ignore_ascii_case(name));
            match held {
                None => self.0.push((name.clone(), value.clone())),
                Some((_, held)) if held == value => {}
                Some(_) => {
                    let hint = "leave it out; --now chooses the time";
                    return Err(format!("the header {name} is made by signing: {hint}").into());
                }
            }
        }
        Ok(())
    }

    pub(super) fn headers(&self) -> Headers {
        let all = self.0.iter();
        all.map(|(name, value)| (name.as_str(), value.as_str()))
            .collect()
    }

    pub(super) fn all(self) -> Vec<(String, String)> {
        self.0
    }
}

/// As providers write ids of deliveries: a random UUID.
fn made_up() -> String {
    let random = fastrand::u128(..);
    let versioned = random & !(0xf << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{versioned:032x}");
    let mut text = String::with_capacity(36);
    for (at, digit) in hex.chars().enumerate() {
        if matches!(at, 8 | 12 | 16 | 20) {
            text.push('-');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_up_id_is_a_random_uuid() {
        let (one, other) = (made_up(), made_up());
        assert_ne!(one, other);
        let lengths: Vec<_> = one.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
        let parts: Vec<_> = one.split('-').collect();
        assert!(
            parts[2].starts_with('4') && "89ab".contains(&parts[3][..1]),
            "{one}"
        );
    }

    #[test]
    fn the_media_type_is_one_that_the_body_is_of() {
        let known = [
            "application/x-www-form-urlencoded".to_owned(),
            "application/json".to_owned(),
        ];
        let media = |body: &[u8]| {
            let mut given = Given::of(&[]);
            given.media_type(&known, body);
            given.all().remove(0).1
        };
        assert_eq!(media(b"{}"), known[1]);
        assert_eq!(media(b"a=1"), known[0]);
    }
}

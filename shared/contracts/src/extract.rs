//! Values out of a JSON body, by pointer, without reading the rest.
//!
//! A body is walked once; what no pointer leads to is skipped without being built. Numbers keep their
//! digits: an id above 2^53 is that id. A member that a pointer leads through and that stands twice in
//! its object is refused, because readers differ in which of the two they believe.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::value::RawValue;

/// A JSON pointer (RFC 6901).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct Pointer(Vec<Box<str>>);

impl Pointer {
    /// From its text: empty for the whole body, else `/`-separated names.
    ///
    /// # Errors
    /// Says what was found and what is expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self(Vec::new()));
        }
        let Some(rest) = text.strip_prefix('/') else {
            return Err(format!(
                "found {text:?}, expected a JSON pointer such as \"/data/object/id\""
            ));
        };
        Ok(Self(
            rest.split('/')
                .map(|name| name.replace("~1", "/").replace("~0", "~").into_boxed_str())
                .collect(),
        ))
    }
}

impl Pointer {
    /// The plain value that it leads to in a JSON text; none where there is none, or where the text is no
    /// JSON. For single values that are not looked up for every event.
    #[must_use]
    pub fn text<'t>(&self, json: &'t str) -> Option<Cow<'t, str>> {
        let (extractor, slot) = self.alone();
        extractor.extract(json).ok()?.text(slot).ok().flatten()
    }

    /// The value that it leads to in a JSON text, as it stands there.
    #[must_use]
    pub fn raw<'t>(&self, json: &'t str) -> Option<&'t str> {
        let (extractor, slot) = self.alone();
        extractor.extract(json).ok()?.raw(slot)
    }

    /// Whether it leads through the other.
    #[must_use]
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        !other.0.is_empty() && self.0.starts_with(&other.0)
    }

    fn alone(&self) -> (Extractor, Slot) {
        let mut extractor = Extractor::default();
        let slot = extractor.add(self);
        (extractor, slot)
    }
}

impl TryFrom<String> for Pointer {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for name in &self.0 {
            write!(f, "/{}", name.replace('~', "~0").replace('/', "~1"))?;
        }
        Ok(())
    }
}

/// Pointers arranged as a tree, made once, used for every body.
#[derive(Debug, Clone, Default)]
pub struct Extractor {
    root: Node,
    slots: usize,
}

#[derive(Debug, Clone, Default)]
struct Node {
    slot: Option<usize>,
    children: Vec<(Box<str>, Node)>,
}

/// Which value of an [`Extractor`]'s answer belongs to a pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot(usize);

/// The values found, by slot.
#[derive(Debug, Default)]
pub struct Found<'a>(Vec<Option<&'a RawValue>>);

impl Extractor {
    /// Adds a pointer; the same pointer again has the same slot.
    pub fn add(&mut self, pointer: &Pointer) -> Slot {
        let mut node = &mut self.root;
        for name in &pointer.0 {
            let at = match node.children.iter().position(|(held, _)| held == name) {
                Some(at) => at,
                None => {
                    node.children.push((name.clone(), Node::default()));
                    node.children.len() - 1
                }
            };
            // The position was just found or made.
            let Some((_, child)) = node.children.get_mut(at) else {
                return Slot(usize::MAX);
            };
            node = child;
        }
        let next = self.slots;
        let slot = *node.slot.get_or_insert(next);
        self.slots = self.slots.max(slot + 1);
        Slot(slot)
    }

    /// Whether nothing is looked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots == 0
    }

    /// Walks the body once.
    ///
    /// # Errors
    /// When the body is not JSON, or a member on a pointer's way stands twice.
    pub fn extract<'a>(&self, body: &'a str) -> Result<Found<'a>, serde_json::Error> {
        let mut found = vec![None; self.slots];
        let mut deserializer = serde_json::Deserializer::from_str(body);
        Member {
            node: &self.root,
            found: &mut found,
        }
        .deserialize(&mut deserializer)?;
        deserializer.end()?;
        Ok(Found(found))
    }
}

impl<'a> Found<'a> {
    /// The value's own JSON text; `null` counts as not there.
    #[must_use]
    pub fn raw(&self, slot: Slot) -> Option<&'a str> {
        self.0
            .get(slot.0)
            .copied()
            .flatten()
            .map(RawValue::get)
            .filter(|text| *text != "null")
    }

    /// A string's content, or the digits of a number, or `true`/`false`. `Err` for an object or a list.
    ///
    /// # Errors
    /// When the value is not a plain one.
    pub fn text(&self, slot: Slot) -> Result<Option<Cow<'a, str>>, NotPlain> {
        let Some(raw) = self.raw(slot) else {
            return Ok(None);
        };
        match raw.as_bytes().first() {
            Some(b'"') => borrowed(raw).map(Some).map_err(|_| NotPlain),
            Some(b'{' | b'[') | None => Err(NotPlain),
            Some(_) => Ok(Some(Cow::Borrowed(raw))),
        }
    }
}

/// An object or a list where a plain value was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an object or a list where a text or a number was expected")]
pub struct NotPlain;

fn borrowed(raw: &str) -> Result<Cow<'_, str>, serde_json::Error> {
    // Without an escape the content stands between the quotes as it is.
    match raw
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
    {
        Some(plain) if !plain.contains('\\') => Ok(Cow::Borrowed(plain)),
        Some(_) | None => serde_json::from_str::<String>(raw).map(Cow::Owned),
    }
}

/// One member's value: kept when a pointer ends here, walked when one leads on.
struct Member<'n, 'f, 'de> {
    node: &'n Node,
    found: &'f mut Vec<Option<&'de RawValue>>,
}

impl<'de> DeserializeSeed<'de> for Member<'_, '_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let walk = Walk {
            children: &self.node.children,
            found: self.found,
        };
        let Some(slot) = self.node.slot else {
            return deserializer.deserialize_any(walk);
        };
        let raw = <&RawValue>::deserialize(deserializer)?;
        if let Some(place) = walk.found.get_mut(slot) {
            *place = Some(raw);
        }
        if walk.children.is_empty() {
            return Ok(());
        }
        serde_json::Deserializer::from_str(raw.get())
            .deserialize_any(walk)
            .map_err(D::Error::custom)
    }
}

struct Walk<'n, 'f, 'de> {
    children: &'n [(Box<str>, Node)],
    found: &'f mut Vec<Option<&'de RawValue>>,
}

impl<'de> Visitor<'de> for Walk<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut met = vec![false; self.children.len()];
        while let Some(name) = map.next_key_seed(Name(self.children))? {
            let known = name.and_then(|at| Some((self.children.get(at)?, met.get_mut(at)?)));
            match known {
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
                Some(((name, _), true)) => {
                    return Err(A::Error::custom(format_args!(
                        "the member {name:?} stands twice"
                    )));
                }
                Some(((_, child), met)) => {
                    *met = true;
                    map.next_value_seed(Member {
                        node: child,
                        found: self.found,
                    })?;
                }
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }
    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }
    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// Finds a member's name among a node's children without keeping the name.
struct Name<'n>(&'n [(Box<str>, Node)]);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Option<usize>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = Option<usize>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member's name")
    }
    fn visit_str<E>(self, name: &str) -> Result<Option<usize>, E> {
        Ok(self.0.iter().position(|(held, _)| &**held == name))
    }
}

#[cfg(test)]
mod tests;

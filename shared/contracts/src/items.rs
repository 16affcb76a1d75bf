//! Several events in one body: `/events/*`, or `/entry/*/changes/*` where lists stand in lists.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::extract::Pointer;

/// The way to a body's items; `*` stands for every element of a list.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Items {
    /// What leads to each list, from the element of the one before.
    lists: Vec<Pointer>,
    /// What leads from the last list's element to the item.
    within: Pointer,
}

/// Why a body's items cannot be told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoItems {
    /// Something else stands where a list or an item should.
    #[error("it is not made of items as the contract says")]
    Shape,
    /// More than a delivery may hold.
    #[error("it holds more than {} items", Items::MOST)]
    TooMany,
}

impl Items {
    /// The most items of one body. The largest batch that a provider documents holds a thousand.
    pub const MOST: usize = 1000;

    /// The items, each as it stands in the text; `None` when there is no such list at all, as in a body of
    /// another kind.
    ///
    /// # Errors
    /// When it is not the shape that is expected.
    pub fn of<'t>(&self, json: &'t str) -> Result<Option<Vec<&'t str>>, NoItems> {
        let Some((first, inner)) = self.lists.split_first() else {
            return Ok(None);
        };
        let Some(list) = first.raw(json) else {
            return Ok(None);
        };
        let mut found = elements(list)?;
        for pointer in inner {
            let mut next = Vec::new();
            for element in found {
                let list = pointer.raw(element).ok_or(NoItems::Shape)?;
                next.extend(elements(list)?);
                if next.len() > Self::MOST {
                    return Err(NoItems::TooMany);
                }
            }
            found = next;
        }
        let items = found.into_iter();
        let items = items.map(|element| self.within.raw(element).ok_or(NoItems::Shape));
        items.collect::<Result<_, _>>().map(Some)
    }
}

fn elements(list: &str) -> Result<Vec<&str>, NoItems> {
    let elements: Vec<&RawValue> = serde_json::from_str(list).map_err(|_| NoItems::Shape)?;
    if elements.len() > Items::MOST {
        return Err(NoItems::TooMany);
    }
    Ok(elements.into_iter().map(RawValue::get).collect())
}

impl TryFrom<String> for Items {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut parts = text.split("/*");
        let mut lists = Vec::new();
        let mut last = parts.next().unwrap_or_default();
        for part in parts {
            lists.push(Pointer::parse(last)?);
            last = part;
        }
        if lists.is_empty() {
            return Err(format!(
                "found {text:?}, expected a way through a list such as \"/events/*\""
            ));
        }
        Ok(Self {
            lists,
            within: Pointer::parse(last)?,
        })
    }
}

impl std::fmt::Display for Items {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for list in &self.lists {
            write!(f, "{list}/*")?;
        }
        write!(f, "{}", self.within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(way: &str, json: &str) -> Result<Option<Vec<String>>, NoItems> {
        let items = Items::try_from(way.to_owned()).unwrap().of(json)?;
        Ok(items.map(|all| all.into_iter().map(str::to_owned).collect()))
    }

    #[test]
    fn items_of_lists_in_lists_are_taken_to_the_byte() {
        let json = r#"{"entry":[{"changes":[{"a": 1.10}, 2]},{"changes":[]},{"changes":["x"]}]}"#;
        let found = items("/entry/*/changes/*", json).unwrap().unwrap();
        assert_eq!(found, [r#"{"a": 1.10}"#, "2", "\"x\""]);
        assert_eq!(items("/*", "[1,2]").unwrap().unwrap(), ["1", "2"]);
        let wrapped = items("/list/*/item", r#"{"list":[{"item":{"b":2}}]}"#);
        assert_eq!(wrapped.unwrap().unwrap(), [r#"{"b":2}"#]);
    }

    #[test]
    fn a_body_without_the_list_is_one_event_and_another_shape_is_told() {
        assert_eq!(items("/events/*", r#"{"id":1}"#), Ok(None));
        assert_eq!(items("/events/*", r#"{"events":{}}"#), Err(NoItems::Shape));
        assert_eq!(items("/a/*/b/*", r#"{"a":[{}]}"#), Err(NoItems::Shape));
        let many = format!("[{}0]", "0,".repeat(Items::MOST));
        assert_eq!(items("/*", &many), Err(NoItems::TooMany));
    }

    #[test]
    fn a_way_without_a_list_is_refused() {
        assert!(Items::try_from("/events".to_owned()).is_err());
    }
}

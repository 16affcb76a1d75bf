//! The path that reads an object: a contract's template and the parts of an id.
//!
//! A provider chooses ids, so an id may hold anything. Whatever it holds, it stays one segment of the
//! path: it cannot become a query, a fragment or a step upwards. What cannot be kept so is refused.

/// Why a template and an id make no path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// The contract's template is not sound.
    #[error("the contract's path {0}")]
    Template(&'static str),
    /// The id has another number of parts than the template has places.
    #[error(
        "the id has {found} parts between slashes, the contract's path has places for {wanted}"
    )]
    Parts {
        /// Parts of the id.
        found: usize,
        /// Places in the template.
        wanted: usize,
    },
    /// A part of the id is empty; the path would lead to another kind of thing.
    #[error("a part of the id is empty")]
    Empty,
    /// A part of the id is `.` or `..`. Encoding does not help: readers of URLs decode first.
    #[error("the id holds a step through directories")]
    Dots,
}

enum Piece<'t> {
    Literal(&'t str),
    Part(usize),
}

/// The path of one object. The id is split at slashes only where the template has several places.
///
/// # Errors
/// Says what is wrong with the template or with the id.
pub fn path(template: &str, id: &str) -> Result<String, PathError> {
    let (pieces, wanted) = pieces(template)?;
    let parts: Vec<&str> = if wanted == 1 {
        vec![id]
    } else {
        id.split('/').collect()
    };
    if parts.len() != wanted {
        return Err(PathError::Parts {
            found: parts.len(),
            wanted,
        });
    }
    for part in &parts {
        if part.is_empty() {
            return Err(PathError::Empty);
        }
        // Also inside a part: `%2F` is a slash again for whoever decodes before routing.
        if part.split(['/', '\\']).any(is_dots) {
            return Err(PathError::Dots);
        }
    }
    let mut path = String::with_capacity(template.len() + id.len());
    for piece in pieces {
        match piece {
            Piece::Literal(text) => path.push_str(text),
            Piece::Part(number) => {
                let part = parts.get(number).ok_or(PathError::Template(SKIPS))?;
                encode(part, &mut path);
            }
        }
    }
    Ok(path)
}

const SKIPS: &str = "leaves out one of the id's parts";

/// The template in pieces, and how many parts an id must have. Every part has a place: a template that
/// left one out would lead from two ids to one object.
fn pieces(template: &str) -> Result<(Vec<Piece<'_>>, usize), PathError> {
    const BRACES: &str = "has braces that are not a place such as {0}";
    if !template.starts_with('/') {
        return Err(PathError::Template("does not begin with a slash"));
    }
    if template.split(['/', '?']).any(is_dots) {
        return Err(PathError::Template("steps through directories"));
    }
    let mut pieces = Vec::new();
    let mut places = Vec::new();
    let mut rest = template;
    while let Some((literal, behind)) = rest.split_once('{') {
        let (number, behind) = behind.split_once('}').ok_or(PathError::Template(BRACES))?;
        let number = match number.as_bytes() {
            [digit @ b'0'..=b'9'] => usize::from(digit - b'0'),
            _ => return Err(PathError::Template(BRACES)),
        };
        pieces.push(Piece::Literal(checked(literal)?));
        pieces.push(Piece::Part(number));
        places.push(number);
        rest = behind;
    }
    pieces.push(Piece::Literal(checked(rest)?));
    places.sort_unstable();
    places.dedup();
    if places.is_empty() {
        return Err(PathError::Template("has no place for the id"));
    }
    if places.iter().enumerate().any(|(at, number)| at != *number) {
        return Err(PathError::Template(SKIPS));
    }
    Ok((pieces, places.len()))
}

fn checked(literal: &str) -> Result<&str, PathError> {
    let sound = |byte: u8| is_unreserved(byte) || b"/?&=:@!$'()*+,;".contains(&byte);
    if literal.bytes().all(sound) {
        Ok(literal)
    } else {
        Err(PathError::Template(
            "holds a character that a path cannot hold",
        ))
    }
}

fn is_dots(segment: &str) -> bool {
    segment == "." || segment == ".."
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// Everything but unreserved characters is encoded, and so is a dot that follows a dot: some gateways
/// refuse or fold two of them wherever they stand.
fn encode(part: &str, path: &mut String) {
    for byte in part.bytes() {
        let second_dot = byte == b'.' && path.ends_with('.');
        if is_unreserved(byte) && !second_dot {
            path.push(char::from(byte));
        } else {
            path.push_str(&format!("%{byte:02X}"));
        }
    }
}

#[cfg(test)]
mod tests;

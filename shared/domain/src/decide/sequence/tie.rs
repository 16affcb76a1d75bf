//! Different changes under one number, side by side.

use super::ledger::{Ledger, Under};
use super::walk::Walk;
use super::{Delta, Logged};
use crate::digest::Digest;
use crate::projection::{Content, Contents, Projection};
use crate::status::Status;
use crate::version::Version;

/// Shows a tie, if everything below it is applied. A tie that is held and of which nothing new is known stays as it is
/// shown.
pub(super) fn show(
    walk: &mut Walk,
    tied: Option<&Version>,
    ledger: &Ledger<'_>,
    first: &Version,
) -> Result<(), Vec<Logged>> {
    let reached = tied.filter(|tied| walk.reaches(tied, first));
    if let Some(under) = reached.and_then(|tied| ledger.under(tied)) {
        let contents = contents(under, &walk.projection)?;
        walk.show_tie(contents);
    }
    Ok(())
}

/// What the changes under a tied number say. A change that is not at hand may be held as one of them already;
/// otherwise it is missing.
fn contents(under: &Under<'_>, held: &Projection) -> Result<Contents, Vec<Logged>> {
    let mut deltas: Vec<Delta> = under.told().cloned().collect();
    let mut missing = Vec::new();
    for logged in under.only_logged() {
        match held_delta(held, logged.digest) {
            Some(delta) => deltas.push(delta),
            None => missing.push(logged.clone()),
        }
    }
    let same = |(one, other): (&Delta, &Delta)| one.content() == other.content();
    let alike = deltas.iter().zip(deltas.iter().skip(1)).all(same);
    // A patch and a whole that read alike are two changes all the same.
    let status = |delta: &Delta| alike.then(|| Status::parse(delta.word()).ok()).flatten();
    let pairs = deltas.iter().map(|delta| (delta.content(), status(delta)));
    match Contents::several(pairs) {
        Some(contents) if missing.is_empty() => Ok(contents),
        Some(_) | None => Err(missing),
    }
}

fn held_delta(held: &Projection, digest: Digest) -> Option<Delta> {
    let readings = |content: &Content| match content {
        Content::Present(json) => vec![Delta::Patch(json.clone()), Delta::Whole(json.clone())],
        Content::Deleted => vec![Delta::Deleted],
    };
    let contents = held.contents.iter().flat_map(Contents::iter);
    contents
        .flat_map(readings)
        .find(|delta| delta.digest() == digest)
}

//! Strategy `version`: the greatest documented version wins; a tie between different contents has no
//! winner.
//!
//! Where what is deleted can come back, what is held is a pair: the greatest version seen, and the set of contents
//! seen under it. Joining two such pairs keeps the greater version, or at equal versions the union of the sets.
//!
//! Where a deletion is final it stands above every snapshot, whatever its version. What is held is then that pair of
//! the snapshots while no deletion is known, and from then on two versions, the greatest of a deletion and the
//! greatest of anything, each joined to the greater.
//!
//! Either join is commutative, associative and idempotent, so order and repetition of arrival cannot show (law 4, and
//! law 6: a tie is a conflict, never a silent winner).

use super::{Conclusion, Terms, is_final};
use crate::decision::{Mark, Outcome, Reason};
use crate::key::EventRef;
use crate::projection::{Content, Contents, Grave, Projection, Proof, Standing};
use crate::version::Version;

/// What one event's own body proves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The event whose body this is.
    pub event: EventRef,
    /// The version it speaks of.
    pub version: Version,
    /// What the resource was at that version.
    pub content: Content,
}

/// Concludes from the bodies of all the signals at once.
pub fn conclude_versions(held: &Projection, snapshots: &[Snapshot], terms: Terms) -> Conclusion {
    if let Some(grave) = final_grave(held, snapshots, terms) {
        return conclude_deleted(held, snapshots, grave);
    }
    let mut joined = held.version.clone().zip(held.contents.clone());
    for snapshot in snapshots {
        joined = Some(join(joined, snapshot));
    }
    let Some((version, contents)) = joined else {
        return Conclusion::Quiet { marks: Vec::new() };
    };
    let contested = matches!(contents.standing(), Standing::Contested(_));
    if contested && terms.can_read && snapshots.iter().any(|snapshot| snapshot.version == version) {
        return Conclusion::Reread;
    }
    let marks = snapshots
        .iter()
        .map(|snapshot| mark(snapshot, held, &version, contested))
        .collect();
    let next = Projection {
        grave: grave(held, &version, &contents),
        contents: Some(contents),
        version: Some(version),
        ..held.advanced()
    };
    Conclusion::of(held, next, marks)
}

fn join(held: Option<(Version, Contents)>, snapshot: &Snapshot) -> (Version, Contents) {
    let new = Contents::one(snapshot.content.clone());
    match held {
        None => (snapshot.version.clone(), new),
        Some((version, contents)) => match snapshot.version.cmp(&version) {
            std::cmp::Ordering::Less => (version, contents),
            std::cmp::Ordering::Equal => (version, contents.union(new)),
            std::cmp::Ordering::Greater => (snapshot.version.clone(), new),
        },
    }
}

/// What a tombstone that can be undone rests on: the one version that is held.
fn grave(held: &Projection, version: &Version, contents: &Contents) -> Option<Grave> {
    if contents.standing() != Standing::Deleted {
        return None;
    }
    let known = held.version.as_ref() == Some(version) && held.contents.as_ref() == Some(contents);
    let event = Grave {
        proof: Proof::Event,
        version: Some(version.clone()),
    };
    Some(held.grave.clone().filter(|_| known).unwrap_or(event))
}

fn mark(snapshot: &Snapshot, held: &Projection, greatest: &Version, contested: bool) -> Mark {
    let known = held.version.as_ref() == Some(greatest)
        && held
            .contents
            .as_ref()
            .is_some_and(|contents| contents.contains(&snapshot.content));
    let (outcome, reason) = if snapshot.version < *greatest {
        (Outcome::Stale, Reason::VersionOlder)
    } else if contested {
        (Outcome::Conflict, Reason::VersionTie)
    } else if known {
        (Outcome::Duplicate, Reason::VersionSame)
    } else {
        (Outcome::Applied, Reason::VersionGreater)
    };
    Mark {
        event: snapshot.event.clone(),
        outcome,
        reason,
    }
}

/// Where a deletion is final and one is known: what it rests on, after these snapshots.
fn final_grave(held: &Projection, snapshots: &[Snapshot], terms: Terms) -> Option<Grave> {
    if terms.comes_back {
        return None;
    }
    let event = |version: &Version| Grave {
        proof: Proof::Event,
        version: Some(version.clone()),
    };
    let told = snapshots
        .iter()
        .filter(|snapshot| snapshot.content == Content::Deleted)
        .map(|snapshot| &snapshot.version)
        .max()
        .map(event);
    // A deletion that was contested under other terms is one.
    let among = |contents: &Contents| contents.contains(&Content::Deleted);
    let buried = is_final(held, terms) || held.contents.as_ref().is_some_and(among);
    let old = buried.then(|| {
        held.grave.clone().unwrap_or(Grave {
            proof: Proof::Event,
            version: held.version.clone(),
        })
    });
    match (old, told) {
        (Some(old), Some(told)) if told.version > old.version => Some(told),
        (Some(old), _) => Some(old),
        (None, told) => told,
    }
}

fn conclude_deleted(held: &Projection, snapshots: &[Snapshot], grave: Grave) -> Conclusion {
    let told = snapshots.iter().map(|snapshot| &snapshot.version).max();
    let version = held.version.as_ref().max(told).cloned();
    let marks = snapshots
        .iter()
        .map(|snapshot| mark_deleted(snapshot, held, &grave, version.as_ref()))
        .collect();
    let next = Projection {
        contents: Some(Contents::one(Content::Deleted)),
        version,
        grave: Some(grave),
        ..held.advanced()
    };
    Conclusion::of(held, next, marks)
}

fn mark_deleted(
    snapshot: &Snapshot,
    held: &Projection,
    grave: &Grave,
    greatest: Option<&Version>,
) -> Mark {
    let after = |version: Option<&Version>| version.is_some() && version > grave.version.as_ref();
    let own = Some(&snapshot.version);
    let (outcome, reason) = match snapshot.content {
        Content::Present(_) if grave.version.is_some() && after(own) => {
            (Outcome::Conflict, Reason::DeletedThenChanged)
        }
        Content::Present(_) => (Outcome::Stale, Reason::DeletedFinal),
        Content::Deleted if own < grave.version.as_ref() => (Outcome::Stale, Reason::VersionOlder),
        Content::Deleted if held.grave.as_ref() == Some(grave) => {
            (Outcome::Duplicate, Reason::VersionSame)
        }
        // What changed later was told before.
        Content::Deleted if after(greatest) => (Outcome::Conflict, Reason::DeletedThenChanged),
        Content::Deleted => (Outcome::Applied, Reason::VersionGreater),
    };
    Mark {
        event: snapshot.event.clone(),
        outcome,
        reason,
    }
}

#[cfg(test)]
mod tests;

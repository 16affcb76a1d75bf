//! One step after the other, as far as the count is there without a gap.

use super::ledger::{Burial, Ledger, following};
use super::{Delta, Logged};
use crate::decide::Terms;
use crate::json::{Json, JsonError};
use crate::projection::{Content, Contents, Grave, Projection, Proof, Standing};
use crate::version::Version;

/// How far it came.
pub(super) struct Walk {
    /// What is held after the last step.
    pub(super) projection: Projection,
    /// The known changes of which the next step needs the bodies.
    pub(super) needs: Vec<Logged>,
    /// A change that cannot be applied.
    pub(super) broken: Option<Version>,
}

impl Walk {
    /// From what is held. Nothing is applied any more when a tie was found at or below the last applied number.
    pub(super) fn of(
        held: &Projection,
        ledger: &Ledger<'_>,
        tied: Option<&Version>,
        first: &Version,
        terms: Terms,
    ) -> Self {
        let mut walk = Self {
            projection: held.clone(),
            needs: Vec::new(),
            broken: None,
        };
        if tied.is_none_or(|tied| held.version.as_ref() < Some(tied)) {
            walk.run(ledger, tied, first, terms);
        }
        walk
    }

    /// The number of the last step.
    pub(super) fn version(&self) -> Option<&Version> {
        self.projection.version.as_ref()
    }

    /// Whether everything before this number is applied.
    pub(super) fn reaches(&self, number: &Version, first: &Version) -> bool {
        self.version() >= Some(number) || following(self.version(), first).as_ref() == Some(number)
    }

    /// Up to a gap, a tie, or a change whose body is not at hand. What is deleted for good is only counted on.
    fn run(&mut self, ledger: &Ledger<'_>, tied: Option<&Version>, first: &Version, terms: Terms) {
        while let Some(number) = following(self.version(), first) {
            let Some(under) = ledger.under(&number) else {
                return;
            };
            if !Burial::of(&self.projection, terms).covers(&number) {
                if tied == Some(&number) {
                    return;
                }
                let Some(delta) = under.only() else {
                    self.needs = ledger.needed_after(self.version(), first);
                    return;
                };
                if self.apply(delta, &number).is_err() {
                    self.broken = Some(number);
                    return;
                }
            }
            self.projection.version = Some(number);
        }
    }

    fn apply(&mut self, delta: &Delta, number: &Version) -> Result<(), JsonError> {
        let content = match delta {
            Delta::Whole(json) => Content::Present(json.clone()),
            Delta::Deleted => Content::Deleted,
            Delta::Patch(patch) => Content::Present(self.base()?.patched(patch)?),
        };
        self.projection.grave = match content {
            Content::Present(_) => None,
            Content::Deleted => Some(Grave {
                proof: Proof::Event,
                version: Some(number.clone()),
            }),
        };
        self.projection.contents = Some(Contents::one(content));
        Ok(())
    }

    /// What a patch is applied to. What is held under no number is not of this count.
    fn base(&self) -> Result<Json, JsonError> {
        match self.projection.standing() {
            Some(Standing::Present(json)) if self.version().is_some() => Ok(json.clone()),
            Some(Standing::Present(_) | Standing::Deleted | Standing::Contested(_)) | None => {
                Json::parse("{}")
            }
        }
    }

    /// The changes under a tied number take the place of whatever was made of them.
    pub(super) fn show_tie(&mut self, contents: Contents) {
        self.projection.contents = Some(contents);
        self.projection.grave = None;
    }
}

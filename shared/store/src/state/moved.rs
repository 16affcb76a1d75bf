//! What a projection's change takes along in its transaction: its copies in subjects' partitions, and its reviews.

use aws_sdk_dynamodb::types::TransactWriteItem;
use lastword_domain::Link;

use super::commit::Commit;
use super::member::Copying;
use super::review::Holder;
use super::{State, member};
use crate::error::StoreError;

impl State {
    /// The copies of this resource in the partitions of the subjects that it speaks about.
    pub(super) fn member_writes(
        &self,
        commit: &Commit<'_>,
    ) -> Result<Vec<TransactWriteItem>, StoreError> {
        let held = commit.held();
        let next = match (commit.next, commit.rebuild) {
            (Some(next), _) => next,
            (None, Some(_)) => held,
            (None, None) => return Ok(Vec::new()),
        };
        let repaired = |link: &Link| commit.rebuild.is_some_and(|it| it.copies.contains(link));
        let mut writes = Vec::new();
        let copying = Copying {
            revision: held.revision.next(),
            rebuild: commit.rebuild.map(|it| it.report.run.as_str()),
        };
        for left in held.meaning.links.difference(&next.meaning.links) {
            let item = member::encode_left(left, commit.resource, copying);
            writes.push(self.put_write(item)?);
        }
        let Some(contents) = &next.contents else {
            return Ok(writes);
        };
        for link in &next.meaning.links {
            // A copy that says the same stays as it is.
            let same = held.contents.as_ref() == Some(contents);
            if !same || !held.meaning.links.contains(link) || repaired(link) {
                let item = member::encode(link, commit.resource, contents, copying);
                writes.push(self.put_write(item)?);
            }
        }
        Ok(writes)
    }

    pub(super) async fn reviews_of(
        &self,
        commit: &Commit<'_>,
    ) -> Result<Vec<TransactWriteItem>, StoreError> {
        let Some(next) = commit.next else {
            return Ok(Vec::new());
        };
        let subjects = next.meaning.links.iter();
        let identifiers: Vec<_> = subjects
            .map(|link| format!("{} of {}", link.role, link.subject))
            .collect();
        let holder = Holder {
            hash: commit.resource.hash(),
            about: commit.resource.to_string(),
            identifiers: &identifiers,
            evidence: commit.evidence,
        };
        self.review_writes(&holder, &commit.held().meaning, &next.meaning, commit.now)
            .await
    }
}

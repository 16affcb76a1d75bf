//! The State table: what is known, and why. One partition holds the whole story of a resource.

mod census;
pub mod change;
mod commit;
pub mod content;
pub mod decision;
pub mod draft;
pub mod effect;
pub mod fact;
mod failures;
mod load;
mod meaning;
pub mod member;
mod moved;
mod outbox;
pub mod page;
mod places;
pub mod projection;
pub mod rebuild;
mod recomputing;
pub mod review;
pub mod sending;
mod story;
pub mod streamed;
pub mod subject;
mod superseding;

use std::time::Duration;

use aws_sdk_dynamodb::Client;

use crate::meter::Meter;
pub use census::{Census, Cursor, Listed, Page};
pub use commit::{Commit, Committed, Recommit};
pub use decision::{Decision, Failure};
pub use draft::{Draft, Drafts, NotTaken};
pub use effect::KeptEffect;
pub use fact::KeptFact;
pub use load::{Bodies, Loaded, LoadedEvent, MOST_ACTIONS};
pub use member::MemberCopy;
pub use rebuild::KeptReport;
pub use recomputing::FactPointer;
pub use review::{Closed, Review};
pub use sending::{Claim, Current, LoadedEffect, Recorded, Writer, Written};
pub use story::Story;
pub use subject::{LoadedSubject, SubjectCommit, SubjectStory};
pub use superseding::{Ruled, Ruling};

/// The State table, and the Inbox rows its conclusions rest on.
#[derive(Debug, Clone)]
pub struct State {
    client: Client,
    table: String,
    inbox: crate::inbox::Inbox,
    inbox_table: String,
    /// Counts write units.
    pub writes: Meter,
    /// Counts read units.
    pub reads: Meter,
}

impl State {
    /// Works on these tables.
    #[must_use]
    pub fn new(client: Client, inbox_table: impl Into<String>, table: impl Into<String>) -> Self {
        let inbox_table = inbox_table.into();
        Self {
            inbox: crate::inbox::Inbox::new(client.clone(), inbox_table.clone()),
            client,
            table: table.into(),
            inbox_table,
            writes: Meter::default(),
            reads: Meter::default(),
        }
    }

    /// The drafts about what is in this table.
    #[must_use]
    pub fn drafts(&self) -> Drafts {
        Drafts::new(self.client.clone(), self.table.clone())
    }

    /// Reads bodies of the Inbox.
    #[must_use]
    pub fn inbox(&self) -> &crate::inbox::Inbox {
        &self.inbox
    }
}

/// Whether a sort key is one of this table's: the Inbox has none of them.
#[must_use]
pub fn is_of_state(sort: &str) -> bool {
    let prefixes = [
        decision::PREFIX,
        page::PREFIX,
        fact::PREFIX,
        change::PREFIX,
        member::PREFIX,
        review::PREFIX,
        effect::PREFIX,
        draft::PREFIX,
    ];
    ["projection", "subject", rebuild::SORT].contains(&sort)
        || prefixes.iter().any(|prefix| sort.starts_with(prefix))
}

/// A few short pauses of random length, for requests in conflict with each other.
#[derive(Debug, Default)]
pub(crate) struct Pauses(u32);

impl Pauses {
    const MOST: u32 = 4;

    /// Pauses and says whether to try again.
    pub(crate) async fn pause(&mut self) -> bool {
        if self.0 >= Self::MOST {
            return false;
        }
        self.0 += 1;
        tokio::time::sleep(Duration::from_millis(fastrand::u64(5..=20) << self.0)).await;
        true
    }
}

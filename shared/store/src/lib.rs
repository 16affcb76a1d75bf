//! Everything that knows DynamoDB.
//!
//! One module for each kind of item, its schema on top, its keys and attribute names private to it. SDK
//! errors are understood in one place ([`error`]). This room decides nothing: it writes what a
//! conclusion says, under the condition that makes it true, or says that it could not.
//!
//! | table | item | module |
//! |---|---|---|
//! | Inbox | event and variant | [`inbox::event`] |
//! | Inbox | body part | [`inbox::part`] |
//! | State | projection | [`state::projection`] |
//! | State | decision | [`state::decision`] |
//! | State | page of decisions | [`state::page`] |
//! | State | fact | [`state::fact`] |
//! | State | change that waits or was applied | [`state::change`] |
//! | State | member of a subject | [`state::member`] |
//! | State | subject | [`state::subject`] |
//! | State | review | [`state::review`] |
//! | State | report of the last rebuild | [`state::rebuild`] |

pub mod body;
pub mod error;
pub mod inbox;
mod item;
pub mod meter;
pub mod moment;
pub mod state;
pub mod tables;

pub use error::StoreError;
pub use inbox::{Accepted, Inbox, NewEvent, StoredEvent, Streamed};
pub use meter::Meter;
pub use moment::Moment;
pub use state::{
    Bodies, Census, Claim, Closed, Commit, Committed, Current, Cursor, Decision, Draft, Drafts,
    FactPointer, Failure, KeptEffect, KeptFact, KeptReport, Listed, Loaded, LoadedEffect,
    LoadedEvent, LoadedSubject, MOST_ACTIONS, MemberCopy, NotTaken, Page, Recommit, Recorded,
    Review, Ruled, Ruling, State, Story, SubjectCommit, SubjectStory, Writer, Written,
};

//! The laws, against the real handlers, the real SDK and the embedded stores. Each test tries to break one.

#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test has no public parts, and its helpers fail it by panicking"
)]

mod budget;
mod crashes;
mod decisions;
mod delivery;
mod drafts;
mod effects;
mod example_budget;
mod facts;
mod faults;
mod front_door;
mod identity;
mod interleavings;
mod many;
mod meaning_budget;
mod own_api;
mod payloads;
mod poison;
mod reading;
mod rebuild;
mod reviews;
mod rules;
mod samples;
mod secrets;
mod senders;
mod sequence;
mod shop;
mod sizes;
mod stories;
mod subjects;
mod transition;
mod version;
mod world;
